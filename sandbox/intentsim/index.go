package intentsim

import (
	"context"
	"log/slog"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
)

// A built is a route whose deposit was built but not yet seen.
type built struct {
	quote *quote
	route *route
}

// index creates orders for deposits on chain that were never submitted, and corrects the
// hash of orders whose deposit is in another transaction. It does so only if
// Settings.Indexing is set.
func (s *Server) index(ctx context.Context) {
	for c, wanted := range s.unseen() {
		if err := s.indexChain(ctx, c, wanted); err != nil && ctx.Err() == nil {
			slog.Warn("the intent provider cannot read deposits", "chain", c.ID, "err", err)
		}
	}
}

// unseen returns the routes that were built and have no known deposit, by source chain
// and deposit id.
func (s *Server) unseen() map[*chain]map[common.Hash]built {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.settings.Indexing {
		return nil
	}
	all := map[*chain]map[common.Hash]built{}
	for _, q := range s.quotes {
		for _, r := range q.routes {
			if !r.built {
				continue
			}
			if o := s.orderOf(q.id, r.id); o != nil && o.Status != Created {
				continue
			}
			if all[q.from] == nil {
				all[q.from] = map[common.Hash]built{}
			}
			all[q.from][depositID(q.id, r.id)] = built{q, r}
		}
	}
	return all
}

func (s *Server) indexChain(ctx context.Context, c *chain, wanted map[common.Hash]built) error {
	filter := ethereum.FilterQuery{Addresses: []common.Address{c.IntentDeposit()}, Topics: [][]common.Hash{{s.deposit.Events["Deposited"].ID}, {}}}
	for id, b := range wanted {
		filter.Topics[1] = append(filter.Topics[1], id)
		from := new(big.Int).SetUint64(b.quote.fromBlock)
		if filter.FromBlock == nil || from.Cmp(filter.FromBlock) < 0 {
			filter.FromBlock = from
		}
	}
	logs, err := c.Client.FilterLogs(ctx, filter)
	if err != nil {
		return err
	}
	for _, l := range logs {
		s.found(wanted[l.Topics[1]], l.TxHash)
	}
	return nil
}

// found records a deposit in its order, which it creates if there is none.
func (s *Server) found(b built, tx common.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orderOf(b.quote.id, b.route.id)
	if o == nil {
		s.open(b.quote, b.route, tx)
		return
	}
	o.DepositTxHash = &tx
}
