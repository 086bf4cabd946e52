package dexsim

import (
	"context"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox/operator"
)

// lateLead is how long before the deadline a late fill is sent, in seconds.
const lateLead = 5

// startFillers starts a filler for every running chain that has a reactor.
func (s *Server) startFillers() {
	ctx, end := context.WithCancel(context.Background())
	s.ended = end
	for _, m := range s.chains {
		if m.IsRunning() && (m.reactor(v2Kind) != (common.Address{}) || m.reactor(v3Kind) != (common.Address{})) {
			s.fills.Go(func() { s.fillOrders(ctx, m) })
		}
	}
}

// Close stops the fillers.
func (s *Server) Close() error {
	s.ended()
	s.fills.Wait()
	return nil
}

// wake makes the filler check the orders before the next block.
func (m *market) wake() {
	select {
	case m.posted <- struct{}{}:
	default: // it is about to check anyway
	}
}

// fillOrders checks the chain's orders with every block and every new order.
func (s *Server) fillOrders(ctx context.Context, m *market) {
	heads := make(chan *types.Header, 64)
	sub, err := m.Client.SubscribeNewHead(ctx, heads)
	if err != nil {
		return // the chain has stopped already
	}
	defer sub.Unsubscribe()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.Err():
			return
		case <-heads:
		case <-m.posted:
		}
		for len(heads) > 0 {
			<-heads
		}
		for _, o := range s.orders.list(func(o *order) bool { return o.market == m }) {
			if err := s.fillIfDue(ctx, o); err != nil {
				s.orders.update(o, func(o *order) { o.lastError = err.Error() })
			}
		}
	}
}

// fillIfDue fills an order that is open and due. A fill that was lost in a reorganisation is
// sent again.
func (s *Server) fillIfDue(ctx context.Context, o *order) error {
	now := s.orders.progress(o)
	if now.outcome.Fill == "never" {
		return nil
	}
	stands, err := s.statusOnChain(ctx, o)
	if err != nil || stands.status != "open" {
		return err
	}
	head, err := o.market.Client.HeaderByNumber(ctx, nil)
	if err != nil || !o.due(now.outcome, head) {
		return err
	}
	if now.sent != (common.Hash{}) {
		_, waits, err := o.market.Client.TransactionByHash(ctx, now.sent)
		if waits || (err != nil && !errors.Is(err, ethereum.NotFound)) {
			return err
		}
	}
	sent, err := s.fill(ctx, o)
	if err != nil {
		return err
	}
	s.orders.update(o, func(o *order) { o.sent, o.lastError = sent, "" })
	return nil
}

func (o *order) due(outcome Outcome, head *types.Header) bool {
	if outcome.Fill == "late" {
		return int64(head.Time) >= o.terms.common().Deadline.Int64()-lateLead
	}
	return head.Number.Uint64() >= o.block+outcome.Blocks
}

// signedOrder is the reactor's argument.
type signedOrder struct {
	Order []byte
	Sig   []byte
}

// fill submits the order to the reactor, which takes the outputs from the filler's
// balance. Native outputs are sent along; any excess is returned.
func (s *Server) fill(ctx context.Context, o *order) (common.Hash, error) {
	data, err := s.abis.reactor.Pack("execute", signedOrder{o.encoded, o.signature})
	if err != nil {
		return common.Hash{}, err
	}
	value := new(big.Int)
	for i, l := range o.terms.outputs() {
		if l.token == native {
			value.Add(value, l.start).Add(value, o.data.outputs[i])
		}
	}
	return s.Filler.Send(ctx, o.market.Chain, operator.Call{To: o.terms.common().Reactor, Value: value, Data: data})
}
