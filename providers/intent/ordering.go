package intent

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"time"
)

// leastLife is how much of a quote's life must be left to execute a route: the deposit
// still has to be signed and mined.
const leastLife = 30 * time.Second

// A found is a route that was parsed and checked.
type found struct {
	quoteID, routeID string
	callable         bool      // accepts a contract call as the deposit
	own              bool      // the provider's own filler takes it
	ends             time.Time // expiry, by the provider's clock until gathered.take adjusts it to ours
	out, least       *big.Int
	stated           bool // the provider stated least
	tellsFee         bool // the provider says which referrer's fee it takes
	feeBps           int  // that fee, in bps
	takes            time.Duration
	raw              json.RawMessage
}

// lasting reports whether enough of the quote's life is left at now.
func (f found) lasting(now time.Time) bool { return f.ends.Sub(now) > leastLife }

// unusable says why a route may not be executed; "" if it may.
func (f found) unusable(now time.Time) string {
	switch {
	case !f.callable:
		return "its deposit is no contract call, which is the only kind that is made here"
	case !f.own:
		return "its deposit goes to a contract that is not built in; choose another route"
	case !f.lasting(now):
		return "its quote ends within 30 seconds; get a new one"
	}
	return ""
}

// order sorts routes as the spec says (section 1, route ordering): executable contract
// calls first, then those with enough life left, the larger output and the shorter
// duration. Ids come last, for a stable order.
func order(routes []found, now time.Time) {
	slices.SortFunc(routes, func(a, b found) int {
		return cmp.Or(
			first(a.callable && a.own, b.callable && b.own),
			first(a.lasting(now), b.lasting(now)),
			b.out.Cmp(a.out),
			cmp.Compare(a.takes, b.takes),
			cmp.Compare(a.routeID, b.routeID),
			cmp.Compare(a.quoteID, b.quoteID),
		)
	})
}

// first sorts true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
