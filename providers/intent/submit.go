package intent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// submission is the body of PUT /v1/deposit/submit.
type submission struct {
	QuoteID string      `json:"quoteId"`
	RouteID string      `json:"routeId"`
	TxHash  common.Hash `json:"txHash"`
}

// Submit registers the mined deposit and returns the provider's id for the order. The same
// hash gives the same order, so it may be repeated. The money has been sent, so no answer of
// the provider is a final refusal. If the order may exist already, or the quote is lost, it
// is searched by its transaction.
func (p *Provider) Submit(ctx context.Context, o swap.Order) (string, error) {
	d, err := minedDeposit(o)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(submission{d.quoteID, d.routeID, d.tx})
	if err != nil {
		return "", err
	}
	reply, err := p.orders.Do(ctx, rest.Call{Method: http.MethodPut, Path: "/v1/deposit/submit", Body: body})
	var id string
	if err != nil {
		err = service.Refusal(err)
	} else {
		id, err = d.readSubmitted(reply.Body)
	}
	if err == nil || !mayExist(err) {
		return id, asTemporary(err)
	}
	found, missing := p.findByDeposit(ctx, o, d)
	if missing != nil {
		return "", asTemporary(err)
	}
	return found.ID, nil
}

// readSubmitted returns the order's id from a reply to PUT /v1/deposit/submit.
func (d depositRef) readSubmitted(raw []byte) (string, error) {
	var r struct {
		OrderID string `json:"orderId"`
		TxHash  string `json:"txHash"`
		Name    string `json:"name"` // of an error that came with a success status
	}
	if err := service.Read("submit", raw, &r); err != nil {
		return "", garbage("reply", err)
	}
	switch {
	case r.Name != "" && r.OrderID == "":
		return "", failure(r.Name)
	case !isID(r.OrderID):
		return "", refuse(swap.ProviderInvalidResponse, "orderId", "left out the order's name")
	case r.TxHash != "" && !sameHash(r.TxHash, d.tx):
		return "", refuse(swap.ProviderInvalidResponse, "txHash", "answered about another deposit than it was told of")
	}
	return r.OrderID, nil
}

// asTemporary makes a refusal temporary: whatever the provider says, the deposit is mined and will
// be submitted again.
func asTemporary(err error) error {
	var r *swap.Refusal
	if !errors.As(err, &r) || r.Temporary() {
		return err
	}
	again := *r
	again.Code = swap.ProviderDown
	return &again
}

// depositRef is what identifies an order to the provider.
type depositRef struct {
	quoteID, routeID string
	tx               common.Hash
}

// minedDeposit is the mined deposit of an order. After a speed-up that is the replacement,
// not the first transaction.
func minedDeposit(o swap.Order) (depositRef, error) {
	if _, err := depositOf(o); err != nil {
		return depositRef{}, err
	}
	last := len(o.Plan.Steps) - 1
	if len(o.Results) <= last || o.Results[last].Tx == (common.Hash{}) {
		return depositRef{}, refuse(swap.Undecodable, "deposit", "needs a mined deposit, and the order has none yet")
	}
	f, err := readStoredRoute(o.Offer)
	return depositRef{f.quoteID, f.routeID, o.Results[last].Tx}, err
}
