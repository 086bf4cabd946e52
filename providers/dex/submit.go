package dex

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// A signedOrder is the auction order that a plan's last step has the account sign.
type signedOrder struct {
	dutchOrder
	chain     uint64
	id        common.Hash // its hash
	signature []byte      // nil before it was signed
}

// signed reads an order's last step and what it left, by its bytes alone.
func (p *Provider) signed(o swap.Order) (signedOrder, error) {
	pr, err := checkTerms(o.Terms)
	if err != nil {
		return signedOrder{}, err
	}
	last := len(o.Plan.Steps) - 1
	if last < 0 || o.Plan.Steps[last].Typed == nil || o.Plan.Steps[last].Typed.PrimaryType != witnessPermit {
		return signedOrder{}, refuse(swap.NotUnderstood, "step", "the order's last step is no auction order")
	}
	s := signedOrder{chain: o.Terms.SrcChain}
	if s.dutchOrder, _, _, err = p.orderIn(o.Terms, pr, *o.Plan.Steps[last].Typed); err != nil {
		return s, err
	}
	if last < len(o.Results) {
		s.signature = o.Results[last].Signature
	}
	s.id = s.hash()
	return s, nil
}

// Submit posts the signed order, with the quote as it came. The order's name is its
// hash, so posting it again makes no second one. It is sent once: whether it arrived
// is for [Provider.Status] to say.
func (p *Provider) Submit(ctx context.Context, o swap.Order) (ref string, err error) {
	s, err := p.signed(o)
	if err != nil {
		return "", err
	}
	body, err := s.request(o)
	if err != nil {
		return "", err
	}
	reply, err := p.orders.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/order", Body: body})
	if err != nil {
		return "", orderRefusal(err)
	}
	return s.readTaken(reply.Body)
}

// readTaken is the order's name of a reply to POST /order, which must be its hash.
func (s signedOrder) readTaken(raw []byte) (ref string, err error) {
	var taken struct {
		OrderID *common.Hash `json:"orderId"`
	}
	if err := service.Read("order", raw, &taken); err != nil {
		return "", garbage("reply", err)
	}
	if taken.OrderID == nil || *taken.OrderID != s.id {
		return "", refuse(swap.ProviderGarbage, "orderId", "the dex provider took the order under another id")
	}
	return s.id.Hex(), nil
}

// request is the body of POST /order. The quote is put in as it came.
func (s signedOrder) request(o swap.Order) ([]byte, error) {
	if err := s.by(o.Terms.Account); err != nil {
		return nil, err
	}
	var e envelope
	var q auctionQuote
	if err := service.Read("quote", o.Offer.Raw, &e); err != nil {
		return nil, garbage("quote", err)
	}
	if err := service.Read("quote.auction", e.Quote, &q); err != nil {
		return nil, garbage("quote", err)
	}
	if e.Routing != s.kind.routing || q.OrderID == nil || *q.OrderID != s.id {
		return nil, refuse(swap.NotAsAccepted, "orderId", "the quote is for another order than the one that was signed")
	}
	body := append([]byte(`{"signature":"`), hexutil.Encode(s.signature)...)
	body = append(append(body, `","quote":`...), e.Quote...)
	return append(append(append(body, `,"routing":"`...), s.kind.routing...), `"}`...), nil
}

// by wants the account's own signature.
func (s signedOrder) by(account common.Address) error {
	refused := refuse(swap.NotUnderstood, "signature", "the step left no signature of the account over the order")
	if len(s.signature) != signatureLen || s.signature[signatureLen-1] < 27 {
		return refused
	}
	signature, digest := bytes.Clone(s.signature), s.digest(s.chain)
	signature[signatureLen-1] -= 27
	if key, err := crypto.SigToPub(digest[:], signature); err != nil || crypto.PubkeyToAddress(*key) != account {
		return refused
	}
	return nil
}

// orderRefusal gives a failed POST /order its reason. The API's own refusals of the
// order say that it did not take it; all else leaves that open.
func orderRefusal(err error) error {
	reason := service.Refusal(err)
	var e *rest.Error
	var r *swap.Refusal
	if !errors.As(err, &e) || !errors.As(reason, &r) || r.Temporary() {
		return reason
	}
	if slices.Contains([]swap.Code{swap.InsufficientFunds, swap.ProviderRefused}, r.Code) {
		return reason
	}
	return &swap.Refusal{Code: swap.ProviderRefused, Reason: "the dex provider did not take the order", Err: e, Data: r.Data, Said: r.Said, By: r.By}
}
