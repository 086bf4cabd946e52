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

// A signedOrder is the auction order in a plan's last step, which the account signs.
type signedOrder struct {
	dutchOrder
	chain     uint64
	id        common.Hash // its hash
	signature []byte      // nil before it is signed
}

// signed reads the auction order and its signature from an order's last step. No I/O.
func (p *Provider) signed(o swap.Order) (signedOrder, error) {
	pr, err := checkTerms(o.Terms)
	if err != nil {
		return signedOrder{}, err
	}
	last := len(o.Plan.Steps) - 1
	if last < 0 || o.Plan.Steps[last].TypedData == nil || o.Plan.Steps[last].TypedData.PrimaryType != witnessPermit {
		return signedOrder{}, refuse(swap.Undecodable, "step", "the order's last step is no auction order")
	}
	s := signedOrder{chain: o.Terms.SrcChain}
	if s.dutchOrder, _, _, err = p.orderIn(o.Terms, pr, *o.Plan.Steps[last].TypedData); err != nil {
		return s, err
	}
	if last < len(o.Results) {
		s.signature = o.Results[last].Signature
	}
	s.id = s.hash()
	return s, nil
}

// Submit posts the signed order, with the quote as received. The order's id is its hash, so
// posting it again makes no second one. The request is sent once: [Provider.Status] tells
// whether it arrived.
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
	return s.readOrderReply(reply.Body)
}

// readOrderReply returns the order's id in a reply to POST /order, which must be its hash.
func (s signedOrder) readOrderReply(raw []byte) (ref string, err error) {
	var taken struct {
		OrderID *common.Hash `json:"orderId"`
	}
	if err := service.Read("order", raw, &taken); err != nil {
		return "", garbage("reply", err)
	}
	if taken.OrderID == nil || *taken.OrderID != s.id {
		return "", refuse(swap.ProviderInvalidResponse, "orderId", "the dex provider took the order under another id")
	}
	return s.id.Hex(), nil
}

// request returns the body of POST /order. The quote is inserted as it came.
func (s signedOrder) request(o swap.Order) ([]byte, error) {
	if err := s.checkSigner(o.Terms.Account); err != nil {
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

// checkSigner requires the signature to be the account's own.
func (s signedOrder) checkSigner(account common.Address) error {
	refused := refuse(swap.Undecodable, "signature", "the step left no signature of the account over the order")
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

// orderRefusal gives the reason of a failed POST /order. The API's own refusal of the order
// means that it did not take it; every other failure leaves that open.
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
	return &swap.Refusal{Code: swap.ProviderRefused, Reason: "the dex provider did not take the order", Err: e, Data: r.Data, QuotedText: r.QuotedText, QuotedFrom: r.QuotedFrom}
}
