package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"swapkeep/internal/failpoint"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// An indexRequest is the body of POST /transactions/index.
type indexRequest struct {
	ChainID   string      `json:"chainId"`
	TxHash    common.Hash `json:"txHash"`
	RequestID common.Hash `json:"requestId"`
}

// A paidDeposit is an order whose last step was mined.
type paidDeposit struct {
	id    common.Hash // the request's, at the provider
	tx    common.Hash // of the deposit or swap
	order swap.Order
}

// paidOrder returns what the provider is told about an order and polled for.
func (p *Provider) paidOrder(o swap.Order) (paidDeposit, error) {
	last := len(o.Plan.Steps) - 1
	if last < 0 || o.Plan.Steps[last].Call == nil || len(o.Results) <= last || o.Results[last].Tx == (common.Hash{}) {
		return paidDeposit{}, refuse(swap.Undecodable, "plan", "needs the transaction that paid, and the order has none")
	}
	x, err := checkOffer(o.Offer, o.Terms, p.solver)
	if err != nil {
		return paidDeposit{}, err
	}
	return paidDeposit{x.id, o.Results[last].Tx, o}, nil
}

// Submit reports the mined transaction to the provider, which would find it by itself
// later, and returns the request's id. It may be repeated. Since the input is paid, no
// answer refuses the order: every failure of the call is temporary.
func (p *Provider) Submit(ctx context.Context, o swap.Order) (string, error) {
	s, err := p.paidOrder(o)
	if err != nil {
		return "", err
	}
	return s.id.Hex(), asTemporary(p.index(ctx, s))
}

// index asks the provider to look at the transaction.
func (p *Provider) index(ctx context.Context, s paidDeposit) error {
	body, err := json.Marshal(indexRequest{strconv.FormatUint(s.order.Terms.SrcChain, 10), s.tx, s.id})
	if err != nil {
		return err
	}
	failpoint.Point("bridge.before_index")
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodPost, Path: "/transactions/index", Body: body, Repeatable: true})
	failpoint.Point("bridge.after_index")
	if err != nil {
		return service.Refusal(err)
	}
	return readIndexed(reply.Body)
}

// readIndexed reads a reply to POST /transactions/index.
func readIndexed(raw []byte) error {
	var r struct {
		Message *string `json:"message"`
	}
	if err := service.Read("index", raw, &r); err != nil {
		return garbage("reply", err)
	}
	if r.Message == nil {
		return refuse(swap.ProviderInvalidResponse, "message", "did not say that it took note of the deposit")
	}
	return nil
}

// asTemporary turns a permanent refusal into a temporary one.
func asTemporary(err error) error {
	var r *swap.Refusal
	if !errors.As(err, &r) || r.Temporary() {
		return err
	}
	again := refuse(swap.ProviderDown, r.Field, "has not taken note of the payment yet; it is told again")
	again.Err, again.Data = r, r.Data
	return again
}
