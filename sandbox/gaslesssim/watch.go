package gaslesssim

import (
	"errors"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/core/types"
)

// watch advances a chain's orders with each block, until the server is closed or the
// chain stops.
func (s *Server) watch(m *market) error {
	heads := make(chan *types.Header, 64)
	sub, err := m.Client.SubscribeNewHead(s.background, heads)
	if err != nil {
		return err
	}
	s.watching.Go(func() {
		defer sub.Unsubscribe()
		for {
			select {
			case <-heads:
				for _, o := range s.orders(m) {
					_ = s.advance(o) // retried with the next block
				}
			case <-sub.Err():
				return
			case <-s.background.Done():
				return
			}
		}
	})
	return nil
}

// resendAfterBlocks is the number of blocks for which a settlement may be unknown to its chain
// before it is sent again. During a reorganisation it is unknown for a moment.
const resendAfterBlocks = 2

// lost reports whether the chain has dropped the order's settlement.
func (s *Server) lost(o *order) (bool, error) {
	_, _, err := o.market.Client.TransactionByHash(s.background, o.tx)
	if err == nil {
		o.missing = 0
		return false, nil
	}
	if !errors.Is(err, ethereum.NotFound) {
		return false, err
	}
	o.missing++
	return o.missing >= resendAfterBlocks, nil
}
