package gasless

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

const (
	signScheme   = "EIP712"
	signatureLen = 65
)

// submission is the body of POST /order.
type submission struct {
	QuoteID    string        `json:"quote_id"`
	Signature  hexutil.Bytes `json:"signature"`
	SignScheme string        `json:"sign_scheme"`
}

// Submit posts the signed order once and returns the provider's id for it. The provider
// takes one order per quote, so repeating it makes no second order. If the id is unknown or
// already used, the order's status is queried at once. Any other error leaves open whether
// the order was accepted, unless its code is not temporary.
func (p *Provider) Submit(ctx context.Context, o swap.Order) (string, error) {
	s, err := p.signedOrder(o)
	if err != nil {
		return "", err
	}
	if !p.now().Before(s.order.core.expiresAt()) {
		return "", refuse(swap.QuoteExpired, "expiry", "cannot settle the order any more: it has expired")
	}
	body, err := json.Marshal(submission{s.quoteID, s.signature, signScheme})
	if err != nil {
		return "", err
	}
	err = p.post(ctx, s, body)
	if isCode(err, invalidQuoteID) {
		return p.confirmSubmitted(ctx, o, s.quoteID)
	}
	return s.quoteID, err
}

func (p *Provider) post(ctx context.Context, s signed, body []byte) error {
	v := s.order.expected.venue
	reply, err := p.orders[v.protocol.name].Do(ctx, rest.Call{Method: http.MethodPost, Path: v.path("/order"), Body: body})
	if err != nil {
		return service.Refusal(err)
	}
	return s.order.readPosted(reply.Body)
}

// readPosted checks a reply to POST /order, which counts only if it is about this order.
func (o order) readPosted(raw []byte) error {
	var r struct {
		Status string       `json:"status"`
		Expiry *wire.Number `json:"expiry"`
		TxHash *string      `json:"txHash"`
	}
	if err := decode("order", raw, &r); err != nil {
		return err
	}
	if _, err := hashOf(r.TxHash); err != nil {
		return err
	}
	if r.Status == "" || !r.Expiry.Is(o.core.expiry) {
		return refuse(swap.ProviderInvalidResponse, "expiry", "answered about another order than it was given")
	}
	return nil
}

// confirmSubmitted finds out whether a used quote id was used by this order.
func (p *Provider) confirmSubmitted(ctx context.Context, o swap.Order, id string) (string, error) {
	_, err := p.Status(ctx, o)
	switch {
	case err == nil:
		return id, nil
	case errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}):
		return "", refuse(swap.ProviderRefused, "quoteId", "no longer knows the quote; get a new one")
	}
	return "", err
}

// statuses maps the API's status words to states. Words that are not in it, some of which
// the API's texts mention, are not final.
var statuses = map[string]swap.State{
	"Pending":   swap.Settling,
	"Success":   swap.Settling, // its meaning is nowhere defined
	"Settled":   swap.Settling, // mined, without enough confirmations yet
	"Confirmed": swap.Filled,
	"Failed":    swap.Failed,
}

// Status reports what the provider claims about an order. Replies do not repeat the order's
// id; one whose tokens are not the order's is refused.
func (p *Provider) Status(ctx context.Context, o swap.Order) (swap.Claim, error) {
	s, err := p.signedOrder(o)
	if err != nil {
		return swap.Claim{}, err
	}
	v := s.order.expected.venue
	reply, err := p.orders[v.protocol.name].Do(ctx, rest.Call{Method: http.MethodGet, Path: v.path("/order-status"), Query: url.Values{"quote_id": {s.quoteID}}})
	if err != nil {
		err = service.Refusal(err)
	}
	var claim swap.Claim
	if err == nil {
		claim, err = s.order.readStatus(reply.Body)
	}
	if isCode(err, invalidQuoteID) {
		return swap.Claim{}, refuse(swap.OrderUnknown, "quoteId", "has no such order")
	}
	if o.ProviderOrderID == "" {
		claim.ProviderOrderID = s.quoteID
	}
	return claim, err
}

// readStatus parses a reply to /order-status.
func (o order) readStatus(raw []byte) (swap.Claim, error) {
	var r struct {
		Status  string                  `json:"status"`
		TxHash  *string                 `json:"txHash"`
		Amounts map[string]*wire.Amount `json:"amounts"`
	}
	if err := decode("order-status", raw, &r); err != nil {
		return swap.Claim{}, err
	}
	if r.Status == "" {
		return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "status", "left out the order's status")
	}
	if _, ours := ofToken(r.Amounts, o.core.buy); len(r.Amounts) > 1 || len(r.Amounts) == 1 && !ours {
		return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "amounts", "answered about another order than it was asked for")
	}
	tx, err := hashOf(r.TxHash)
	if err != nil {
		return swap.Claim{}, err
	}
	claim := swap.Claim{State: swap.Settling, ProviderStatus: wire.Printable(r.Status), Tx: tx}
	if state, ok := statuses[r.Status]; ok {
		claim.State = state
	}
	if tx != (common.Hash{}) {
		claim.Chain = o.expected.chain
	}
	if claim.State == swap.Failed {
		claim.Reason = "the gasless provider says that the order failed"
	}
	return claim, nil
}

// hashOf parses a transaction hash; an absent one is zero.
func hashOf(s *string) (common.Hash, error) {
	if s == nil || *s == "" {
		return common.Hash{}, nil
	}
	b, err := hexutil.Decode(strings.ToLower(*s))
	if err != nil || len(b) != common.HashLength {
		return common.Hash{}, refuse(swap.ProviderInvalidResponse, "txHash", "names a transaction that is none")
	}
	return common.Hash(b), nil
}

// signed is the order that the account signed, with its signature and the provider's quote
// id.
type signed struct {
	checkedQuote
	signature []byte
}

// signedOrder finds the order that the plan had signed. It must equal the order of the
// offer, because the quote id is that offer's.
func (p *Provider) signedOrder(o swap.Order) (signed, error) {
	typed, signature, err := lastSigned(o)
	if err != nil {
		return signed{}, err
	}
	s, err := p.readStoredOffer(o.Offer, o.Terms)
	if err != nil {
		return signed{}, err
	}
	if !sameHash(typed, s.order.typedData()) {
		return signed{}, refuse(swap.NotAsAccepted, "offer", "gave another order than the one that was signed")
	}
	return signed{s, signature}, nil
}

// lastSigned is the typed data and the signature of the plan's last step.
func lastSigned(o swap.Order) (apitypes.TypedData, []byte, error) {
	last := len(o.Plan.Steps) - 1
	if last < 0 || o.Plan.Steps[last].TypedData == nil || len(o.Results) <= last || len(o.Results[last].Signature) != signatureLen {
		return apitypes.TypedData{}, nil, refuse(swap.Undecodable, "signature", "needs a signed order, and the plan has none")
	}
	return *o.Plan.Steps[last].TypedData, o.Results[last].Signature, nil
}

// Proof returns the logs of a fill, whole or partial, and the order's expiry, from the
// signed bytes alone. No I/O.
func (p *Provider) Proof(o swap.Order) (swap.Proof, error) {
	typed, _, err := lastSigned(o)
	if err != nil {
		return swap.Proof{}, err
	}
	d, err := decodeTyped(o.Terms, typed)
	if err != nil {
		return swap.Proof{}, err
	}
	return swap.Proof{Fill: d.fill(d.expected, d.core), Trace: d.trace(d.expected, d.core), Ends: d.core.expiresAt()}, nil
}
