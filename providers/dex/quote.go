package dex

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const (
	quoteLife = 30 * time.Second // the API's own advice; quotes carry no expiry
	// minQuoteLife is how much of a quote's life must be left for anybody to act on it.
	minQuoteLife = 5 * time.Second
	// maxIntegratorBips is the API's bound on integratorFees.
	maxIntegratorBips = 500
)

// quoteRequest is the body of POST /quote.
type quoteRequest struct {
	Type              string          `json:"type"`
	Amount            string          `json:"amount"`
	TokenInChainID    uint64          `json:"tokenInChainId"`
	TokenOutChainID   uint64          `json:"tokenOutChainId"`
	TokenIn           common.Address  `json:"tokenIn"`
	TokenOut          common.Address  `json:"tokenOut"`
	Swapper           string          `json:"swapper"`
	Recipient         string          `json:"recipient,omitempty"` // the swapper if left out
	SlippageTolerance json.Number     `json:"slippageTolerance"`   // percent
	Urgency           string          `json:"urgency"`
	RoutingPreference string          `json:"routingPreference,omitempty"`
	Protocols         []string        `json:"protocols,omitempty"`
	PermitAmount      string          `json:"permitAmount,omitempty"`
	IntegratorFees    []integratorFee `json:"integratorFees,omitempty"`
}

type integratorFee struct {
	Bips      int    `json:"bips"`
	Recipient string `json:"recipient"`
}

// Quote requests EXACT_INPUT prices: where there are auctions, the better of one and the
// pools. If the answer is an auction, usable or not, or a routing that was not requested,
// the pools alone are asked in the same round: the auction is compared with what they give,
// and if it is unusable their offer remains. It may be repeated.
func (p *Provider) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	pr, err := checkRequest(r)
	if err != nil {
		return nil, err
	}
	if pr.auction == nil || p.noAuctions.has(r.SrcChain, p.now()) {
		return only(p.ask(ctx, r, pr, false))
	}
	best, err := p.ask(ctx, r, pr, true)
	switch {
	case err == nil && best.order == nil:
		return only(best, nil)
	case p.dropAuction(r.SrcChain, err):
		return only(p.ask(ctx, r, pr, false))
	case err != nil && (best.offer.Routing == "" || best.offer.Routing == classic):
		return nil, err
	}
	pools, errPools := p.ask(ctx, r, pr, false)
	if errPools != nil && ctx.Err() != nil {
		swap.PartRefused(ctx, err)
		return nil, errPools // it says nothing about the pools
	}
	unread := err
	if err == nil {
		err = p.checkAuctionMinimum(ctx, best.offer, pools.offer.AmountOut)
	}
	switch {
	case err != nil && errPools != nil:
		swap.PartRefused(ctx, errPools)
		return nil, err
	case err != nil:
		swap.PartRefused(ctx, unread)
		return only(pools, nil)
	case errPools != nil:
		swap.PartRefused(ctx, errPools)
		return only(best, nil)
	}
	return []swap.Offer{best.offer, pools.offer}, nil
}

func only(q parsedQuote, err error) ([]swap.Offer, error) {
	if err != nil {
		return nil, err
	}
	return []swap.Offer{q.offer}, nil
}

// ask requests one price, from the pools or from the better of them and the auction. With
// the error of an unusable answer it returns the answer's routing.
func (p *Provider) ask(ctx context.Context, r swap.QuoteRequest, pr tokenPair, auction bool) (parsedQuote, error) {
	reply, err := p.post(ctx, "/quote", newQuoteRequest(r, pr, auction))
	if err != nil {
		return parsedQuote{}, service.Refusal(err)
	}
	q, err := p.readQuote(reply.Body, r)
	if err != nil {
		return parsedQuote{offer: swap.Offer{Routing: routingOf(reply.Body)}}, err
	}
	if q.order != nil && !auction {
		return parsedQuote{}, refuse(swap.NotAsAccepted, "routing", "the dex provider answered with an auction, which was not asked for")
	}
	if q.offer.Expires, err = expiry(reply); err != nil {
		return parsedQuote{}, err
	}
	if err := q.checkLifetime(reply.Received); err != nil {
		return parsedQuote{offer: swap.Offer{Routing: q.offer.Routing}}, err // unusable, so its amounts are not returned
	}
	return q, nil
}

func (p *Provider) post(ctx context.Context, path string, request quoteRequest) (*rest.Reply, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	return p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: path, Body: body, Repeatable: true})
}

// checkRequest refuses what this provider cannot serve.
func checkRequest(r swap.QuoteRequest) (tokenPair, error) {
	zero := common.Address{}
	pr, err := pairOf(r.SrcChain, r.TokenIn, r.TokenOut)
	switch {
	case swap.SupportOf(swap.DEX, r.SrcChain).Support != swap.Active:
		return pr, refuse(swap.UnsupportedNetwork, "srcChainId", "the dex provider does not serve chain %d; choose another provider or network", r.SrcChain)
	case err != nil:
		return pr, err
	case r.SrcChain != r.DstChain:
		return pr, refuse(swap.UnsupportedRoute, "dstChainId", "the dex provider swaps on one chain only; choose the bridge or intent provider")
	case r.TokenIn == r.TokenOut:
		return pr, refuse(swap.SameToken, "tokenOut", "token in and token out are the same; choose another")
	case r.AmountIn == nil || r.AmountIn.Sign() <= 0:
		return pr, refuse(swap.AmountZero, "amountIn", "enter an amount above zero")
	case r.AmountIn.BitLen() > 256:
		return pr, refuse(swap.BadRequest, "amountIn", "the amount has more than 256 bits")
	case !pr.holds(r.AmountIn):
		return pr, refuse(swap.BadRequest, "amountIn", "the amount is above what Permit2 can allow exactly; enter a smaller one")
	case !pr.isToken(r.TokenIn) || !pr.isToken(r.TokenOut):
		return pr, refuse(swap.BadRequest, "tokenIn", "a contract of the swap itself is no token; choose another")
	case r.Account == zero || r.Recipient == zero:
		return pr, refuse(swap.BadRequest, "account", "choose an account")
	case reserved(r.Recipient, pr.deployment) || reserved(r.Account, pr.deployment):
		return pr, refuse(swap.BadRequest, "recipient", "%s is a contract of the swap itself; choose another recipient", r.Recipient)
	case r.SlippageBps < swap.MinSlippageBps || r.SlippageBps > swap.MaxSlippageBps:
		return pr, refuse(swap.SlippageBounds, "slippage", "slippage must be above 0 and at most 50 %%")
	case r.FeeBps < 0 || r.FeeBps > maxIntegratorBips || (r.FeeBps > 0) == (r.FeeReceiver == zero):
		return pr, refuse(swap.BadRequest, "feeBps", "a fee of %d bps to %s cannot be asked for", r.FeeBps, r.FeeReceiver)
	case r.FeeBps > 0 && (r.FeeReceiver == r.Recipient || r.FeeReceiver == r.Account || reserved(r.FeeReceiver, pr.deployment)):
		return pr, refuse(swap.BadRequest, "feeReceiver", "the fee receiver is a party to the swap; configure another")
	case (pr.wrap || pr.unwrap) && r.Recipient != r.Account:
		return pr, refuse(swap.UnsupportedRoute, "recipient", "wrapping pays the account itself; send it on afterwards")
	case (pr.wrap || pr.unwrap) && r.FeeBps > 0:
		return pr, refuse(swap.BadRequest, "feeBps", "wrapping carries no fee")
	}
	return pr, nil
}

// reserved reports whether an address has a special meaning to the router, or would keep
// what it is sent.
func reserved(a common.Address, d deployment) bool {
	return a == msgSender || a == addressThis || a == d.router || a == d.wrapped || a == permit2 || a == d.reactor
}

func newQuoteRequest(r swap.QuoteRequest, pr tokenPair, auction bool) quoteRequest {
	q := quoteRequest{
		Type: exactInput, Amount: r.AmountIn.String(),
		TokenInChainID: r.SrcChain, TokenOutChainID: r.DstChain, TokenIn: r.TokenIn, TokenOut: r.TokenOut,
		Swapper: r.Account.Hex(), SlippageTolerance: percent(r.SlippageBps), Urgency: "normal",
	}
	if pr.wrap || pr.unwrap {
		return q
	}
	q.RoutingPreference, q.PermitAmount = "BEST_PRICE", "EXACT"
	q.Protocols = pr.pools(r)
	if auction {
		q.Protocols = append(q.Protocols, pr.auction.protocol)
	}
	if r.Recipient != r.Account {
		q.Recipient = r.Recipient.Hex()
	}
	if r.FeeBps > 0 {
		q.IntegratorFees = []integratorFee{{r.FeeBps, r.FeeReceiver.Hex()}}
	}
	return q
}

// percent converts basis points to the API's JSON number in percent.
func percent(bps int) json.Number {
	return json.Number(strconv.FormatFloat(float64(bps)/100, 'f', -1, 64))
}

// expiry returns when a quote ends by our clock. The service's Date only shortens that: a
// quote dated before we asked is older than it looks. A clock too far off is refused.
func expiry(reply *rest.Reply) (time.Time, error) {
	skew, _ := reply.Skew()
	if skew < 0 {
		skew = min(skew+time.Second, 0) // the header has whole seconds, rounded down
	}
	life := quoteLife + min(skew, 0)
	if skew.Abs() > wire.MaxSkew || life < minQuoteLife {
		return time.Time{}, service.Skewed(skew)
	}
	return reply.Received.Add(life), nil
}

// A parsedQuote is a quote that was checked to be for its request.
type parsedQuote struct {
	offer  swap.Offer
	quote  envelope    // as received
	permit *permit     // to be signed; nil for none
	order  *dutchOrder // to be signed; nil unless the routing is an auction
}

// checkLifetime refuses a permit or an order that ends too soon or lasts too long.
func (q parsedQuote) checkLifetime(now time.Time) error {
	if err := q.permit.checkLifetime(now); err != nil {
		return err
	}
	return q.order.checkLifetime(now)
}

// readQuote turns a reply to /quote into an offer, or refuses it. It does no I/O, so an
// offer that comes back from storage is read again in the same way.
func (p *Provider) readQuote(raw []byte, r swap.QuoteRequest) (parsedQuote, error) {
	q, err := p.readings.Read(raw, r, func(raw []byte) (parsedQuote, error) { return p.parseQuote(raw, r) })
	q.offer.Raw = raw
	return q, err
}

func (p *Provider) parseQuote(raw []byte, r swap.QuoteRequest) (parsedQuote, error) {
	pr, err := checkRequest(r)
	if err != nil {
		return parsedQuote{}, err
	}
	e, err := decodeReply(raw, pr)
	if err != nil {
		return parsedQuote{}, err
	}
	o := swap.Offer{
		Provider: swap.DEX, Request: r, Routing: e.Routing, Raw: raw,
		Duration: blockTime(r.SrcChain),
	}
	if pr.auctioned(e.Routing) {
		return readAuction(o, e, p.orderTermsOf(r, pr))
	}
	return readClassic(o, e, pr)
}

// readClassic reads a quote for the account's own call: through pools, or between the two
// forms of the native coin.
func readClassic(o swap.Offer, e envelope, pr tokenPair) (parsedQuote, error) {
	r := o.Request
	var q quoteBody
	if err := service.Read("quote.classic", e.Quote, &q); err != nil {
		return parsedQuote{}, garbage("quote", err)
	}
	if err := q.echoes(e, r, pr); err != nil {
		return parsedQuote{}, err
	}
	permit, err := readPermitData(e.PermitData, r, pr)
	if err != nil {
		return parsedQuote{}, err
	}
	if q.GasUseEstimate != nil {
		o.Gas = q.GasUseEstimate.Uint64()
	}
	if pr.wrap || pr.unwrap {
		o.Route, o.AmountOut, o.MinOut = "1:1", q.Output.Amount.Int, q.Output.Amount.Int
		return parsedQuote{offer: o, quote: e, permit: permit}, nil
	}
	o.Route = printable(q.RouteString)
	if o.AmountOut, o.MinOut, o.Fees, err = q.split(r, pr); err != nil {
		return parsedQuote{}, err
	}
	o.QuotedMin = statedMinimum(q.Outputs, o)
	return parsedQuote{offer: o, quote: e, permit: permit}, nil
}

func blockTime(chainID uint64) time.Duration {
	n, _ := chain.NetworkByID(chainID)
	return n.BlockTime
}

// maxRoute bounds the provider's route text that a person is shown.
const maxRoute = 200

// printable keeps printable ASCII only: nothing that moves or hides text.
func printable(s string) string {
	out := make([]rune, 0, maxRoute)
	for _, c := range s {
		if c >= ' ' && c <= '~' && len(out) < maxRoute {
			out = append(out, c)
		}
	}
	return string(out)
}

// minAfterSlippage returns n less the slippage, rounded down as the API does.
func minAfterSlippage(n *big.Int, slippageBps int) *big.Int {
	f := new(big.Int).Mul(n, big.NewInt(int64(10_000-slippageBps)))
	return f.Div(f, big.NewInt(10_000))
}
