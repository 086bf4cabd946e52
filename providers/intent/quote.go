package intent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const (
	exactInput = "EXACT_INPUT"
	// maxLife is the longest that a quote is used, whatever expiry the provider states.
	maxLife = 10 * time.Minute
)

// quoteRequest is the body of POST /v1/quotes.
type quoteRequest struct {
	TradeType         string      `json:"tradeType"`
	FromChainID       uint64      `json:"fromChainId"`
	ToChainID         uint64      `json:"toChainId"`
	Amount            string      `json:"amount"`
	FromToken         string      `json:"fromToken"`
	ToToken           string      `json:"toToken"`
	FromAddress       string      `json:"fromAddress"`
	Recipient         string      `json:"recipient"`
	RefundTo          string      `json:"refundTo"`
	DepositMethods    []string    `json:"depositMethods"`
	SlippageTolerance json.Number `json:"slippageTolerance"`
	Referrer          string      `json:"referrer,omitempty"`
	ReferrerFeeBps    int         `json:"referrerFeeBps,omitempty"`
}

// Quote requests EXACT_INPUT routes in one reply. It may be repeated.
func (p *Provider) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	body, err := p.quoteBody(r)
	if err != nil {
		return nil, err
	}
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: quotesPath, Body: body, Repeatable: true})
	if err != nil {
		return nil, service.Refusal(err)
	}
	return p.readReply(ctx, reply, r)
}

// Stream is Quote that also passes each route to report as its filler answers. If the stream
// breaks off, the routes received so far are returned.
func (p *Provider) Stream(ctx context.Context, r swap.QuoteRequest, report func(swap.Offer)) ([]swap.Offer, error) {
	body, err := p.quoteBody(r)
	if err != nil {
		return nil, err
	}
	var g *routeCollector
	reply, err := p.api.Stream(ctx, rest.Call{Method: http.MethodPost, Path: quotesPath, Query: url.Values{"mode": {"stream"}}, Body: body}, func(head *rest.Reply, line []byte) error {
		if g == nil {
			skew, err := service.Skew(head)
			if err != nil {
				return err
			}
			g = &routeCollector{request: r, skew: skew, now: p.now}
		}
		if f, ok := g.add("", line); ok {
			report(f.offer(r, p.now()))
		}
		if g.full() {
			return errTooManyRoutes
		}
		return nil
	})
	switch {
	case g != nil && len(g.routes) > 0 && !errors.Is(err, context.Canceled):
		return g.offers(ctx)
	case err != nil && !errors.Is(err, errTooManyRoutes):
		return nil, service.Refusal(err)
	case g != nil:
		return g.offers(ctx)
	}
	return p.readReply(ctx, reply, r)
}

const quotesPath = "/v1/quotes"

// errTooManyRoutes ends a stream that does not stop by itself.
var errTooManyRoutes = errors.New("more routes than are looked at")

// quoteBody checks a request and encodes its body.
func (p *Provider) quoteBody(r swap.QuoteRequest) ([]byte, error) {
	from, to, err := checkRequest(r)
	if err == nil {
		err = p.checkDepositChain(r)
	}
	if err != nil {
		return nil, err
	}
	q := quoteRequest{
		TradeType: exactInput, FromChainID: from, FromToken: r.TokenIn.Hex(), ToChainID: to, ToToken: r.TokenOut.Hex(),
		Amount: r.AmountIn.String(), FromAddress: r.From().Hex(), Recipient: r.Recipient.Hex(), RefundTo: r.RefundTo.Hex(),
		DepositMethods: []string{contractCall}, SlippageTolerance: slippageFraction(r.SlippageBps),
	}
	if r.FeeBps > 0 {
		q.Referrer, q.ReferrerFeeBps = r.FeeReceiver.Hex(), r.FeeBps
	}
	return json.Marshal(q)
}

// slippageFraction converts bps to the API's JSON number. Its unit is nowhere documented; a
// fraction is what others send in production (docs/providers/intent.md), and in any unit it
// is never looser than what was requested.
func slippageFraction(bps int) json.Number {
	return json.Number(strconv.FormatFloat(float64(bps)/10_000, 'f', -1, 64))
}

// checkRequest refuses what this provider cannot serve, and returns its ids of both chains.
func checkRequest(r swap.QuoteRequest) (from, to uint64, err error) {
	zero := common.Address{}
	src, err := networkOf(r.SrcChain)
	if err != nil {
		return 0, 0, err
	}
	if to, err = destinationChainID(src, r.DstChain); err != nil {
		return 0, 0, err
	}
	switch {
	case r.SrcChain == r.DstChain && r.TokenIn == r.TokenOut:
		err = refuse(swap.SameToken, "tokenOut", "cannot swap a token for itself; choose another")
	case r.AmountIn == nil || r.AmountIn.Sign() <= 0:
		err = refuse(swap.AmountZero, "amountIn", "needs an amount above zero")
	case r.AmountIn.BitLen() > 256:
		err = refuse(swap.BadRequest, "amountIn", "cannot take an amount of more than 256 bits")
	case r.Account == zero || r.Recipient == zero || r.RefundTo == zero:
		err = refuse(swap.BadRequest, "account", "needs an account, a recipient and a refund address")
	case r.SlippageBps < swap.MinSlippageBps || r.SlippageBps > swap.MaxSlippageBps:
		err = refuse(swap.SlippageBounds, "slippage", "takes a slippage above 0 and at most 50 %%")
	case r.FeeBps < 0 || r.FeeBps > swap.DefaultFees().MaxFeeBps || (r.FeeBps > 0) == (r.FeeReceiver == zero):
		err = refuse(swap.BadRequest, "feeBps", "cannot be asked for a fee of %d bps to %s", r.FeeBps, r.FeeReceiver)
	}
	return src.ProviderChainID, to, err
}

// readReply parses a reply with all routes. The reply to a stream without any line has no body.
func (p *Provider) readReply(ctx context.Context, reply *rest.Reply, r swap.QuoteRequest) ([]swap.Offer, error) {
	skew, err := service.Skew(reply)
	if err != nil {
		return nil, err
	}
	g := &routeCollector{request: r, skew: skew, now: p.now}
	if reply.Body == nil {
		return g.offers(ctx)
	}
	var q quoteReply
	if err := service.Read("quote", reply.Body, &q); err != nil {
		return nil, garbage("reply", err)
	}
	switch {
	case q.Name != "":
		return nil, failure(q.Name)
	case q.Routes == nil:
		return nil, refuse(swap.ProviderInvalidResponse, "routes", "left out its routes")
	}
	for _, raw := range q.Routes {
		if g.full() {
			break
		}
		g.add(q.QuoteID, raw)
	}
	return g.offers(ctx)
}

// routeCollector collects the routes of one reply, whole or streamed.
type routeCollector struct {
	request swap.QuoteRequest
	skew    time.Duration
	now     func() time.Time

	parsed   int // routes parsed, accepted or not
	routes   []parsedRoute
	firstErr []error // why each refused route was refused
}

func (g *routeCollector) full() bool { return g.parsed >= maxRoutes }

// add parses one route and keeps it unless it has expired or repeats a route's ids. If the
// provider's clock is ahead of ours the difference shortens the route's life; if it is
// behind nothing is added.
func (g *routeCollector) add(quoteID string, raw []byte) (f parsedRoute, ok bool) {
	g.parsed++
	f, err := readRoute(quoteID, raw, g.request)
	if err == nil {
		now := g.now()
		if f.expiresAt = f.expiresAt.Add(-max(g.skew, 0)); f.expiresAt.After(now.Add(maxLife)) {
			f.expiresAt = now.Add(maxLife)
		}
		if !f.expiresAt.After(now) {
			err = refuse(swap.QuoteExpired, "validBefore", "sent routes that have expired; get a new quote, and check this machine's clock")
		}
	}
	if err != nil {
		g.firstErr = append(g.firstErr, err)
		return f, false
	}
	if slices.ContainsFunc(g.routes, func(o parsedRoute) bool { return o.quoteID == f.quoteID && o.routeID == f.routeID }) {
		return f, false
	}
	g.routes = append(g.routes, f)
	return f, true
}

// offers returns the routes as offers, in their order. If none deposits into a built-in
// contract or from an isolated account it fails, with the reason of the first refused route where there is one.
func (g *routeCollector) offers(ctx context.Context) ([]swap.Offer, error) {
	now := g.now()
	sortRoutes(g.routes, now)
	offers := make([]swap.Offer, len(g.routes))
	for i, f := range g.routes {
		offers[i] = f.offer(g.request, now)
	}
	left := g.firstErr
	own := slices.ContainsFunc(g.routes, func(f parsedRoute) bool { return f.depositable })
	if !own && len(left) > 0 {
		left = left[1:] // the first is the reason
	}
	for _, err := range left {
		swap.PartRefused(ctx, err)
	}
	switch {
	case own:
		return offers, nil
	case len(g.firstErr) > 0:
		return nil, g.firstErr[0]
	case len(offers) > 0:
		return nil, refuse(swap.NotPinned, "to", "has routes alone whose deposits go to contracts that are not built in; choose another route")
	}
	return nil, refuse(swap.NoRoute, "tokenOut", "has no route for this pair and amount; try another provider")
}

// offer converts a route to an offer. It expires while there is still time to deposit.
func (f parsedRoute) offer(r swap.QuoteRequest, now time.Time) swap.Offer {
	raw, err := json.Marshal(storedRoute{f.quoteID, f.raw})
	if err != nil {
		panic(err) // f.raw was decoded from JSON
	}
	o := swap.Offer{
		Provider: swap.Intent, Request: r, Routing: wire.Printable(f.routeID),
		AmountOut: f.amountOut, MinOut: f.minOut, Duration: f.duration, Expires: f.expiresAt.Add(-minQuoteLife), Unusable: f.unusable(now), Raw: raw,
	}
	if !f.minStated {
		o.Route = "states no minimum"
	}
	f.setFee(&o, r)
	return o
}
