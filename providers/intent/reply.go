package intent

import (
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/swap"
)

// contractCall is the only deposit method that is used (spec section 8).
const contractCall = "CONTRACT_CALL"

// nativeFiller is the type of the routes of the provider's own filler, whose deposits go to
// the built-in contracts. For other fillers the contract is unknown until the deposit is
// built.
const nativeFiller = "native-filler"

// quoteReply is the reply to POST /v1/quotes.
type quoteReply struct {
	QuoteID string            `json:"quoteId"`
	Routes  []json.RawMessage `json:"routes"`
	Name    string            `json:"name"` // of an error that came with a success status
}

// A route is one entry of a quote. A streamed line has the quote's id in it.
type route struct {
	QuoteID        string     `json:"quoteId,omitempty"`
	RouteID        string     `json:"routeId"`
	Type           string     `json:"type"`
	DepositMethods []string   `json:"depositMethods"`
	Quote          routeQuote `json:"quote"`
}

// A routeQuote is what a route promises. The slippage that it names is ignored: its unit is
// nowhere documented, and the minimum is checked against the request.
type routeQuote struct {
	AmountIn       *wire.Amount `json:"amountIn"`
	AmountOut      *wire.Amount `json:"amountOut"`
	MinAmountOut   *wire.Amount `json:"minAmountOut"`
	Seconds        *wire.Ratio  `json:"expectedDurationSeconds"`
	ValidBefore    *wire.Number `json:"validBefore"`
	QuoteExpiresAt *wire.Number `json:"quoteExpiresAt"`
	statedFee
}

const (
	maxRoutes   = 32       // per quote; further ones are ignored
	maxRoute    = 16 << 10 // bytes of one route; honest ones have half a kilobyte
	maxID       = 160      // characters of the provider's ids
	maxDuration = 7 * 24 * time.Hour
)

// An storedRoute is what an offer keeps of a route: the quote's id and the route's raw JSON.
type storedRoute struct {
	QuoteID string          `json:"quoteId"`
	Route   json.RawMessage `json:"route"`
}

// readRoute parses one route and checks it against the request. It is pure.
func readRoute(quoteID string, raw []byte, r swap.QuoteRequest) (parsedRoute, error) {
	if len(raw) > maxRoute {
		return parsedRoute{}, refuse(swap.ProviderInvalidResponse, "route", "sent a route of %d bytes", len(raw))
	}
	var t route
	if err := service.Read("route", raw, &t); err != nil {
		return parsedRoute{}, garbage("route", err)
	}
	if t.QuoteID != "" {
		quoteID = t.QuoteID
	}
	if !isID(quoteID) || !isID(t.RouteID) {
		return parsedRoute{}, refuse(swap.ProviderInvalidResponse, "routeId", "sent a route without sound ids")
	}
	f := parsedRoute{
		quoteID: quoteID, routeID: t.RouteID, raw: raw,
		depositable: t.Type == nativeFiller || r.From() != r.Account,
		callable:    len(t.DepositMethods) == 0 || slices.Contains(t.DepositMethods, contractCall), // absent: decided at build
	}
	return f, t.Quote.read(&f, r)
}

// read checks a route's figures and records them in f.
func (q routeQuote) read(f *parsedRoute, r swap.QuoteRequest) (err error) {
	switch {
	case q.AmountIn == nil || q.AmountOut == nil || q.Seconds == nil || q.ValidBefore == nil:
		return refuse(swap.ProviderInvalidResponse, "quote", "left out a figure of a route")
	case !q.AmountIn.Is(r.AmountIn):
		return refuse(swap.NotAsAccepted, "amountIn", "answered with another amount than was asked for")
	}
	if err := q.readAmounts(f, r.SlippageBps); err != nil {
		return err
	}
	if err := q.statedFee.read(f, r); err != nil {
		return err
	}
	seconds, _ := q.Seconds.Float64()
	if seconds < 0 || seconds > maxDuration.Seconds() {
		return refuse(swap.ProviderInvalidResponse, "expectedDurationSeconds", "expects a route to take no sound time")
	}
	f.duration = time.Duration(seconds * float64(time.Second))
	f.expiresAt, err = q.expiry()
	return err
}

// readAmounts sets the route's output and minimum. A stated minimum must be within the requested
// slippage; if none is stated, the minimum is the output less the slippage.
func (q routeQuote) readAmounts(f *parsedRoute, slippageBps int) error {
	f.amountOut, f.minStated = q.AmountOut.Int, q.MinAmountOut != nil
	f.minOut = minAfterSlippage(f.amountOut, slippageBps)
	if f.minStated {
		if q.MinAmountOut.Cmp(f.minOut) < 0 || q.MinAmountOut.Cmp(f.amountOut) > 0 {
			return refuse(swap.NotAsAccepted, "minAmountOut", "states a minimum that is not within the slippage that was asked for")
		}
		f.minOut = q.MinAmountOut.Int
	}
	if f.minOut.Sign() <= 0 {
		return refuse(swap.AmountTooSmall, "amountOut", "would pay nothing for so little; enter a larger amount")
	}
	return nil
}

// expiry is when the route expires, by the provider's clock: the earlier of validBefore (the
// contract's limit) and quoteExpiresAt (the price's).
func (q routeQuote) expiry() (time.Time, error) {
	at := q.ValidBefore.Int
	if q.QuoteExpiresAt != nil && q.QuoteExpiresAt.Cmp(at) < 0 {
		at = q.QuoteExpiresAt.Int
	}
	if at.BitLen() > 40 { // the year 36812
		return time.Time{}, refuse(swap.ProviderInvalidResponse, "validBefore", "states an expiry that is no time")
	}
	return time.Unix(at.Int64(), 0).UTC(), nil
}

// isID accepts opaque ids that are bounded and printable.
func isID(s string) bool {
	return s != "" && len(s) <= maxID && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c <= ' ' || c > '~' })
}

// minAfterSlippage is the amount less the slippage, rounded down.
func minAfterSlippage(amount *big.Int, slippageBps int) *big.Int {
	n := new(big.Int).Mul(amount, big.NewInt(int64(10_000-slippageBps)))
	return n.Div(n, big.NewInt(10_000))
}
