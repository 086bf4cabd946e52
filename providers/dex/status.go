package dex

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// An orderStatus is one of the API's statuses of an order.
type orderStatus struct {
	word  string
	state swap.State
	note  string // added to the claim's reason, for the user
}

// orderStatuses are all statuses. None proves anything: an order reported as cancelled,
// expired or in error can still be filled until its deadline.
var orderStatuses = []orderStatus{
	{"unverified", swap.Settling, ""},
	{"open", swap.Settling, ""},
	// The API's documentation calls this final; its service resumes such orders.
	{"insufficient-funds", swap.Settling, "the balance or allowance is too low to fill it; it can still be filled until it expires"},
	{"filled", swap.Filled, ""},
	{"expired", swap.Expired, ""},
	{"cancelled", swap.Cancelled, ""},
	{"error", swap.Failed, ""},
}

// listedOrder is one order in the reply to GET /orders. The cosigner's data are read from
// the encoding, which contains all of them.
type listedOrder struct {
	Type         string         `json:"type"`
	Status       string         `json:"orderStatus"`
	OrderID      *common.Hash   `json:"orderId"`
	EncodedOrder *hexutil.Bytes `json:"encodedOrder"`
	Signature    *hexutil.Bytes `json:"signature"`
	ChainID      *wire.Quantity `json:"chainId"`
	Nonce        *wire.Quantity `json:"nonce"`
	Swapper      *address       `json:"swapper"`
	TxHash       *common.Hash   `json:"txHash"`
}

// Status looks the order up by its hash, and refuses a reply about another one. It returns
// [swap.OrderUnknown] if the API does not know the order.
func (p *Provider) Status(ctx context.Context, o swap.Order) (swap.Claim, error) {
	s, err := p.signed(o)
	if err != nil {
		return swap.Claim{}, err
	}
	query := url.Values{"orderId": {s.id.Hex()}}
	reply, err := p.orders.Do(ctx, rest.Call{Method: http.MethodGet, Path: "/orders", Query: query})
	if err != nil {
		return swap.Claim{}, statusRefusal(err)
	}
	c, err := s.claim(reply.Body, o.Terms)
	if o.ProviderOrderID == "" {
		c.ProviderOrderID = s.id.Hex()
	}
	return c, err
}

// statusRefusal gives the reason of a failed GET /orders. The API reports an unknown order
// either as a 404 or as an empty list.
func statusRefusal(err error) error {
	var e *rest.Error
	if errors.As(err, &e) && e.Kind == rest.BadStatus && e.Status == http.StatusNotFound && e.Code != "" && e.Code != upstreamTimeout {
		return unknownOrder()
	}
	return service.Refusal(err)
}

func unknownOrder() error {
	return refuse(swap.OrderUnknown, "orderId", "the dex provider does not know the order")
}

// claim reads a reply to GET /orders.
func (s signedOrder) claim(raw []byte, t swap.Terms) (swap.Claim, error) {
	var reply struct {
		Orders *[]listedOrder `json:"orders"`
	}
	if err := service.Read("orders", raw, &reply); err != nil {
		return swap.Claim{}, garbage("reply", err)
	}
	switch {
	case reply.Orders == nil:
		return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "orders", "the dex provider's reply has no orders")
	case len(*reply.Orders) == 0:
		return swap.Claim{}, unknownOrder()
	case len(*reply.Orders) > 1:
		return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "orders", "the dex provider lists %d orders of one id", len(*reply.Orders))
	}
	l := (*reply.Orders)[0]
	encoded, err := s.same(l, t)
	if err != nil {
		return swap.Claim{}, err
	}
	return l.claim(encoded, t)
}

// same requires a listed order to be ours in everything that was signed.
func (s signedOrder) same(l listedOrder, t swap.Terms) (encodedOrder, error) {
	ours := map[string]bool{
		"type":         l.Type == s.kind.listed,
		"orderId":      l.OrderID != nil && *l.OrderID == s.id,
		"chainId":      l.ChainID.IsID(t.SrcChain),
		"nonce":        l.Nonce != nil && l.Nonce.Cmp(s.nonce) == 0,
		"swapper":      l.Swapper == nil || l.Swapper.is(t.Account), // the API may leave it out
		"signature":    l.Signature != nil && bytes.Equal(*l.Signature, s.signature),
		"encodedOrder": l.EncodedOrder != nil,
	}
	for field, same := range ours {
		if !same {
			return encodedOrder{}, refuse(swap.ProviderInvalidResponse, field, "the dex provider's reply is about another order")
		}
	}
	encoded, err := s.kind.decode(*l.EncodedOrder)
	if err == nil && encoded.checkIs(s.dutchOrder) != nil {
		err = refuse(swap.ProviderInvalidResponse, "encodedOrder", "the dex provider's reply is about another order")
	}
	return encoded, err
}

// claim translates the API's status. The transaction counts for a fill only: cancelled
// orders have been seen to name one too.
func (l listedOrder) claim(encoded encodedOrder, t swap.Terms) (swap.Claim, error) {
	for _, w := range orderStatuses {
		if w.word != l.Status {
			continue
		}
		c := swap.Claim{State: w.state, ProviderStatus: w.word}
		if w.state == swap.Filled && l.TxHash != nil {
			c.Tx, c.Chain = *l.TxHash, t.SrcChain
		}
		var reasons []string
		if w.note != "" {
			reasons = append(reasons, w.note)
		}
		if why := encoded.cosignerFault(t.SrcChain); why != "" {
			reasons = append(reasons, "the cosigner's data is not sound: "+why)
		}
		c.Reason = strings.Join(reasons, "; ")
		return c, nil
	}
	return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "orderStatus", "the dex provider has a word for the order that this version does not know")
}
