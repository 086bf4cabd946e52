package intent

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"time"
)

// minQuoteLife is how much of a quote's life must be left to execute a route: the deposit
// still has to be signed and mined.
const minQuoteLife = 30 * time.Second

// A parsedRoute is a route that was parsed and checked.
type parsedRoute struct {
	quoteID, routeID  string
	callable          bool      // accepts a contract call as the deposit
	depositable       bool      // the provider's own filler takes it, at a built-in contract, or an isolated account makes it
	expiresAt         time.Time // expiry, by the provider's clock until gathered.add adjusts it to ours
	amountOut, minOut *big.Int
	minStated         bool // the provider stated least
	feeStated         bool // the provider says which referrer's fee it takes
	feeBps            int  // that fee, in bps
	duration          time.Duration
	raw               json.RawMessage
}

// hasTimeLeft reports whether enough of the quote's life is left at now.
func (f parsedRoute) hasTimeLeft(now time.Time) bool { return f.expiresAt.Sub(now) > minQuoteLife }

// unusable says why a route may not be executed; "" if it may.
func (f parsedRoute) unusable(now time.Time) string {
	switch {
	case !f.callable:
		return "its deposit is no contract call, which is the only kind that is made here"
	case !f.depositable:
		return "its deposit goes to a contract that is not built in; choose another route"
	case !f.hasTimeLeft(now):
		return "its quote ends within 30 seconds; get a new one"
	}
	return ""
}

// sortRoutes sorts routes as the spec says (section 1, route ordering): executable contract
// calls first, then those with enough life left, the larger output and the shorter
// duration. Ids come last, for a stable order.
func sortRoutes(routes []parsedRoute, now time.Time) {
	slices.SortFunc(routes, func(a, b parsedRoute) int {
		return cmp.Or(
			trueFirst(a.callable && a.depositable, b.callable && b.depositable),
			trueFirst(a.hasTimeLeft(now), b.hasTimeLeft(now)),
			b.amountOut.Cmp(a.amountOut),
			cmp.Compare(a.duration, b.duration),
			cmp.Compare(a.routeID, b.routeID),
			cmp.Compare(a.quoteID, b.quoteID),
		)
	})
}

// trueFirst sorts true before false.
func trueFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
