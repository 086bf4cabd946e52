package gaslesssim

import (
	"context"
	"net/http"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
)

// Controls returns the simulator's requests of the control endpoint.
func (s *Server) Controls() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /orders": func(r *http.Request) (any, error) { return s.Orders(r.Context()) },
	}
}

// An Order is the true state of an order, whatever Behaviour.Status claims.
type Order struct {
	QuoteID  string        `json:"quoteId"`
	Protocol string        `json:"protocol"`
	Chain    uint64        `json:"chain"`
	Taker    eip55.Address `json:"taker"`
	Nonce    string        `json:"nonce"`
	Expiry   int64         `json:"expiry"`
	Outcome  string        `json:"outcome"`
	Status   string        `json:"status"`
	TxHash   *common.Hash  `json:"txHash"`
}

// Orders returns the orders accepted since the last Reset, oldest quote first.
func (s *Server) Orders(ctx context.Context) ([]Order, error) {
	all := []Order{}
	for _, o := range s.orders(nil) {
		status, err := s.trueStatus(ctx, o)
		if err != nil {
			return nil, err
		}
		all = append(all, Order{
			QuoteID: o.id, Protocol: o.protocol.name, Chain: o.market.ID, Taker: eip55.Address(o.taker), Nonce: o.nonce.String(),
			Expiry: o.expiry, Outcome: o.Outcome, Status: status.Status, TxHash: status.TxHash,
		})
	}
	return all, nil
}
