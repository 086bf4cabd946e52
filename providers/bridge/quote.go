package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const (
	// quoteLife is this wallet's own: the API states no expiry. Later the user is protected
	// by the minimum that is sent with the request.
	quoteLife   = 30 * time.Second
	maxDuration = 7 * 24 * time.Hour

	exactInput = "EXACT_INPUT"
)

// quoteRequest is the body of POST /quote/v2. The refund address is always sent, since the
// documentation is inconsistent about its default.
type quoteRequest struct {
	User                string   `json:"user"`
	Recipient           string   `json:"recipient"`
	OriginChainID       uint64   `json:"originChainId"`
	DestinationChainID  uint64   `json:"destinationChainId"`
	OriginCurrency      string   `json:"originCurrency"`
	DestinationCurrency string   `json:"destinationCurrency"`
	Amount              string   `json:"amount"`
	TradeType           string   `json:"tradeType"`
	RefundTo            string   `json:"refundTo"`
	SlippageTolerance   string   `json:"slippageTolerance"` // basis points
	AppFees             []appFee `json:"appFees,omitempty"`
	ProtocolData        bool     `json:"includeProtocolData,omitempty"` // the order that the deposit names, and its signature
}

type appFee struct {
	Recipient string `json:"recipient"`
	Fee       string `json:"fee"` // basis points
}

// Quote requests an EXACT_INPUT price. It may be repeated; each reply is a request of its
// own at the provider, which has no effect without its deposit.
func (p *Provider) Quote(ctx context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	d, err := checkRequest(r)
	if err != nil {
		return nil, err
	}
	if d.wraps(r.SrcChain, r.DstChain, r.TokenIn, r.TokenOut) {
		return []swap.Offer{wrapOffer(r, p.now())}, nil
	}
	ends, err := p.checkChains(ctx, r.SrcChain, r.DstChain)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(newQuoteRequest(r))
	if err != nil {
		return nil, err
	}
	reply, err := p.quotes.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/quote/v2", Body: body, Repeatable: true})
	if err != nil {
		return nil, service.Refusal(err)
	}
	q, err := readQuote(reply.Body, r, p.solver)
	if err != nil {
		return nil, err
	}
	if err := q.checkListed(ends, p.now()); err != nil {
		return nil, err
	}
	if q.offer.Expires, err = expiry(reply); err != nil {
		return nil, err
	}
	return []swap.Offer{q.offer}, nil
}

func newQuoteRequest(r swap.QuoteRequest) quoteRequest {
	q := quoteRequest{
		User: r.From().Hex(), Recipient: r.Recipient.Hex(), RefundTo: r.RefundTo.Hex(),
		OriginChainID: r.SrcChain, OriginCurrency: r.TokenIn.Hex(), DestinationChainID: r.DstChain, DestinationCurrency: r.TokenOut.Hex(),
		Amount: r.AmountIn.String(), TradeType: exactInput, SlippageTolerance: strconv.Itoa(r.SlippageBps), ProtocolData: true,
	}
	if r.FeeBps > 0 {
		q.AppFees = []appFee{{r.FeeReceiver.Hex(), strconv.Itoa(r.FeeBps)}}
	}
	return q
}

// expiry returns when a quote ends by our clock. The service's Date only shortens that: a
// quote dated before we asked is older than it looks. A clock too far off is refused.
func expiry(reply *rest.Reply) (time.Time, error) {
	skew, _ := reply.Skew()
	if skew < 0 {
		skew = min(skew+time.Second, 0) // the header has whole seconds, rounded down
	}
	life := quoteLife + min(skew, 0)
	if skew.Abs() > wire.MaxSkew || life <= 0 {
		return time.Time{}, service.Skewed(skew)
	}
	return reply.Received.Add(life), nil
}

// A parsedQuote is a quote that was checked to be for its request.
type parsedQuote struct {
	offer   swap.Offer
	id      common.Hash  // the request's, at the provider
	call    chain.Call   // the one that pays the input
	role    contractRole // what it calls
	refunds refund
	order   *order      // named by the deposit; nil if the quote has none
	orderID common.Hash // of the order that the call pays for, as its bytes say; zero on one chain
}

// readQuote turns a reply into an offer, or refuses it. It does no I/O, so an offer that
// comes back from storage is read again in the same way.
func readQuote(raw []byte, r swap.QuoteRequest, solver common.Address) (parsedQuote, error) {
	d, err := checkRequest(r)
	if err != nil {
		return parsedQuote{}, err
	}
	q, err := decodeQuote(raw)
	if err != nil {
		return parsedQuote{}, err
	}
	out := parsedQuote{}
	if out.id, err = q.id(); err != nil {
		return parsedQuote{}, err
	}
	if err := q.echoes(r); err != nil {
		return parsedQuote{}, err
	}
	tx, err := q.payingStep(r)
	if err != nil {
		return parsedQuote{}, err
	}
	out.call = chain.Call{ChainID: r.SrcChain, From: r.From(), To: tx.To.Address, Value: tx.Value.Int, Data: tx.calldata}
	t := termsFor(r)
	out.role = d.roleOf(out.call.To, t)
	effect, err := decodeCall(t, out.call)
	if err != nil {
		return parsedQuote{}, err
	}
	if err := q.checkExpected(effect, r, d); err != nil {
		return parsedQuote{}, err
	}
	if out.order, err = q.order(effect, r, out.call.Data, solver); err != nil {
		return parsedQuote{}, err
	}
	if out.refunds, err = q.refund(r, effect.Kind == swap.Deposit); err != nil {
		return parsedQuote{}, err
	}
	if out.orderID, err = q.orderID(effect, r, out.call.Data); err != nil {
		return parsedQuote{}, err
	}
	out.offer, err = q.offer(r, tx, out, raw)
	return out, err
}

// termsFor are terms as far as a request decides what a step may do.
func termsFor(r swap.QuoteRequest) swap.Terms {
	return swap.Terms{
		Provider: swap.Bridge, Account: r.Account, Isolated: r.Isolated, Recipient: r.Recipient, RefundTo: r.RefundTo, SrcChain: r.SrcChain, DstChain: r.DstChain,
		TokenIn: r.TokenIn, TokenOut: r.TokenOut, AmountIn: r.AmountIn, FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver,
	}
}

// checkExpected compares what the quote says the protocol expects with the step that pays.
func (q quoteReply) checkExpected(f swap.Effect, r swap.QuoteRequest, d deployment) error {
	if q.Protocol == nil || q.Protocol.V2 == nil {
		return nil
	}
	direct, v2 := f.Kind == swap.Deposit, q.Protocol.V2
	if v2.OrderID != nil {
		id, err := parseHash(*v2.OrderID)
		if err != nil || direct && id != f.DepositID {
			return refuse(swap.NotAsAccepted, "orderId", "wants a deposit made for another order than it expects")
		}
	}
	p := v2.Details
	switch {
	case p == nil:
		return nil
	case p.Depository != nil && !p.Depository.Is(d.depository):
		return refuse(swap.NotPinned, "depository", "expects the deposit at %s, which is not its built-in contract on chain %d", p.Depository, d.chain)
	case direct && (!p.Currency.Is(r.TokenIn) || !p.Amount.Is(r.AmountIn)):
		return refuse(swap.NotAsAccepted, "paymentDetails", "expects another deposit than the input")
	}
	return nil
}

// order returns the order that the deposit names, nil if the quote has none. It must be
// signed by the solver, and be for this request and no other.
func (q quoteReply) order(f swap.Effect, r swap.QuoteRequest, calldata []byte, solver common.Address) (*order, error) {
	if q.Protocol == nil || q.Protocol.V2 == nil || wire.IsNull(q.Protocol.V2.Order) {
		return nil, nil
	}
	v2 := *q.Protocol.V2
	o, err := readOrder(v2.Order)
	if err != nil {
		return nil, err
	}
	id := o.id()
	switch {
	case f.Kind == swap.Deposit && id != f.DepositID, f.Kind == swap.Opaque && !bytes.Contains(calldata, id[:]),
		v2.OrderID != nil && !strings.EqualFold(*v2.OrderID, id.Hex()):
		return nil, refuse(swap.NotAsAccepted, "orderData", "wants a deposit that is not for the order that it shows")
	case v2.Signature == nil || !signedBy(solver, id, *v2.Signature):
		return nil, refuse(swap.NotAsAccepted, "orderSignature", "shows an order that its built-in solver has not signed")
	}
	return &o, o.check(v2, r, q.Details.CurrencyOut.Minimum.Int, solver)
}

// orderID returns the id of the order that a call pays for, which the call's bytes must have: the
// payment on the other chain is known by it.
func (q quoteReply) orderID(f swap.Effect, r swap.QuoteRequest, calldata []byte) (common.Hash, error) {
	if f.Kind == swap.Deposit || r.SrcChain == r.DstChain {
		return f.DepositID, nil
	}
	none := refuse(swap.Undecodable, "orderId", "wants a payment that names no order")
	if q.Protocol == nil || q.Protocol.V2 == nil || q.Protocol.V2.OrderID == nil {
		return common.Hash{}, none
	}
	id, err := parseHash(*q.Protocol.V2.OrderID)
	if err != nil || !isOrderID(id) || !bytes.Contains(calldata, id[:]) {
		return common.Hash{}, none
	}
	return id, nil
}

// routings name what is called, so that a fresh quote is of the accepted kind.
var routings = map[contractRole]string{roleDepository: "DEPOSIT", roleRouter: "ROUTER", roleUnpinned: "UNPINNED_ROUTER"}

// offer returns the reply as an offer.
func (q quoteReply) offer(r swap.QuoteRequest, tx transaction, x parsedQuote, raw []byte) (swap.Offer, error) {
	out, minOut, err := q.minOut(r.SlippageBps)
	if err != nil {
		return swap.Offer{}, err
	}
	if err := q.appFee(r); err != nil {
		return swap.Offer{}, err
	}
	o := swap.Offer{
		Provider: swap.Bridge, Request: r, Routing: routings[x.role], Route: "Relay", Refund: x.refunds.shown(r),
		AmountOut: out, MinOut: minOut, Gas: tx.gas(), Raw: raw,
	}
	if o.Duration, err = q.Details.duration(); err != nil {
		return swap.Offer{}, err
	}
	switch {
	case r.FeeBps == 0:
	case q.Fees.App.positive():
		o.Fees = []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: r.FeeBps}}
	default: // that no fee is shown proves nothing
		o.FeeRequested = r.FeeBps
	}
	return o, nil
}

// minBoundTime is how long beyond the expected duration a solver must be bound: for the user
// to accept, and the deposit to be mined.
const minBoundTime = 2 * time.Minute

// duration returns how long the provider expects to take, 0 if it does not say.
func (d details) duration() (time.Duration, error) {
	if d.TimeEstimate == nil {
		return 0, nil
	}
	seconds, _ := d.TimeEstimate.Float64()
	if seconds < 0 || seconds > maxDuration.Seconds() {
		return 0, refuse(swap.ProviderInvalidResponse, "timeEstimate", "expects to take no sound time")
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// checkListed requires a router that is called to be on the API's own list too, the order's
// chains to be the request's by their names, and the solver to be bound for as long as the
// swap is expected to take.
func (x parsedQuote) checkListed(ends [2]listedChain, now time.Time) error {
	here, there := ends[0], ends[1]
	if o := x.order; o != nil {
		switch out := o.Output; {
		case here.name == "" || there.name == "" || o.Inputs[0].Payment.Chain != here.name || out.Chain != there.name:
			return refuse(swap.NotAsAccepted, "orderData", "shows an order between other chains than were asked for")
		case time.Unix(int64(out.Deadline), 0).Before(now.Add(x.offer.Duration + minBoundTime)):
			return refuse(swap.NotAsAccepted, "orderData", "shows an order that the solver is not bound to for long enough")
		}
	}
	if x.role == roleDepository {
		return nil
	}
	return here.checkRouter(x.call.To, x.offer.Request.TokenIn)
}
