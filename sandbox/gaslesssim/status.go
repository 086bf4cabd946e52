package gaslesssim

import (
	"context"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox/eip55"
)

// finalAfter is the number of confirmations, its own block included, that make a
// settlement final.
const finalAfter = 3

// statusReply is the response of GET order-status.
type statusReply struct {
	Status  string                   `json:"status"`
	TxHash  *common.Hash             `json:"txHash"`
	Amounts map[eip55.Address]string `json:"amounts"`
}

// jamStatusReply adds JAM's member, which is null.
type jamStatusReply struct {
	statusReply
	Surplus *float64 `json:"surplus"`
}

// orderStatus answers GET order-status.
func (s *Server) orderStatus(ctx context.Context, r *request) (any, error) {
	ids := r.URL.Query()["quote_id"]
	if len(ids) != 1 {
		return nil, problems{{[]string{"query", "quote_id"}, "Field required", "missing"}}
	}
	o, err := s.orderOfQuote(r, ids[0])
	if err != nil {
		return nil, err
	}
	reply, err := s.trueStatus(ctx, o)
	if err != nil {
		return nil, err
	}
	settings := s.Settings()
	lies[r.protocol.behaviour(&settings).Status](s, o, &reply)
	if r.protocol == jam {
		return jamStatusReply{statusReply: reply}, nil
	}
	return reply, nil
}

// trueStatus returns the true status of an order.
func (s *Server) trueStatus(ctx context.Context, o *order) (statusReply, error) {
	reply := statusReply{Status: "Pending", TxHash: o.sent()}
	head, err := o.market.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return statusReply{}, err
	}
	if reply.TxHash == nil {
		if o.over(head) {
			reply.Status = "Failed"
		}
		return reply, nil
	}
	receipt, err := o.market.Receipt(ctx, *reply.TxHash)
	if errors.Is(err, ethereum.NotFound) {
		return reply, nil
	}
	if err != nil {
		return statusReply{}, err
	}
	blocks := new(big.Int).Sub(head.Number, receipt.BlockNumber)
	switch {
	case receipt.Status != types.ReceiptStatusSuccessful:
		reply.Status = "Failed"
		return reply, nil
	case blocks.Cmp(big.NewInt(finalAfter-1)) >= 0:
		reply.Status = "Confirmed"
	default:
		reply.Status = "Settled"
	}
	reply.Amounts = map[eip55.Address]string{eip55.Address(o.buy): o.received().String()}
	return reply, nil
}

// over reports whether an order without a transaction will not get one.
func (o *order) over(head *types.Header) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped || head.Time >= uint64(o.expiry)
}

// received returns what the receiver gets of the payment.
func (o *order) received() *big.Int {
	paid := o.paid()
	if o.firm() {
		return paid
	}
	net := new(big.Int).Sub(paid, part(paid, o.feeBps))
	return net.Sub(net, part(paid, o.protocolFeeBps))
}

// lies are false statuses of an order, by name.
var lies = map[string]func(s *Server, o *order, r *statusReply){
	"": func(*Server, *order, *statusReply) {},
	// silent: pending forever.
	"silent": func(_ *Server, _ *order, r *statusReply) { *r = statusReply{Status: "Pending"} },
	// failed: reported as failed, whatever the chain says.
	"failed": func(_ *Server, _ *order, r *statusReply) { *r = statusReply{Status: "Failed"} },
	// settled: reported as final, in a transaction that does not exist.
	"settled": func(_ *Server, o *order, r *statusReply) {
		made := crypto.Keccak256Hash([]byte(o.id))
		*r = statusReply{Status: "Confirmed", TxHash: &made, Amounts: map[eip55.Address]string{eip55.Address(o.buy): o.net.String()}}
	},
	// foreign: reported as final, in the transaction of another order.
	"foreign": func(s *Server, o *order, r *statusReply) {
		*r = statusReply{Status: "Confirmed", TxHash: s.another(o), Amounts: map[eip55.Address]string{eip55.Address(o.buy): o.net.String()}}
	},
	// backwards: every other response is pending again.
	"backwards": func(_ *Server, o *order, r *statusReply) {
		if o.poll()%2 == 0 {
			*r = statusReply{Status: "Pending"}
		}
	},
	// unknown: a status that is not in the enumeration.
	"unknown": func(_ *Server, _ *order, r *statusReply) { r.Status = "Expired" },
}

// another returns the settlement of another order on the same chain; nil if there is
// none.
func (s *Server) another(o *order) *common.Hash {
	for _, other := range s.orders(o.market) {
		if other != o {
			if hash := other.sent(); hash != nil {
				return hash
			}
		}
	}
	return nil
}

// poll counts the polls of the order's status.
func (o *order) poll() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.polls++
	return o.polls
}
