package intentsim

import (
	"context"
	"log/slog"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A builtDeposit is a route whose deposit was built but not yet seen.
type builtDeposit struct {
	quote *quote
	route *route
}

// index creates orders for deposits on chain that were never submitted, and corrects the
// hash of orders whose deposit is in another transaction. It does so only if
// Settings.Indexing is set.
func (s *Server) index(ctx context.Context) {
	for c, wanted := range s.builtDeposits() {
		if err := s.indexChain(ctx, c, wanted); err != nil && ctx.Err() == nil {
			slog.Warn("the intent provider cannot read deposits", "chain", c.ID, "err", err)
		}
	}
}

// builtDeposits returns the routes that were built and have no known deposit, by source chain
// and by what names them.
func (s *Server) builtDeposits() map[*chain]map[mark]builtDeposit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.settings.Indexing {
		return nil
	}
	all := map[*chain]map[mark]builtDeposit{}
	for _, q := range s.quotes {
		for _, r := range q.routes {
			if !r.built {
				continue
			}
			if o := s.orderOf(q.id, r.id); o != nil && o.Status != Created {
				continue
			}
			if all[q.from] == nil {
				all[q.from] = map[mark]builtDeposit{}
			}
			all[q.from][s.mark(q, r)] = builtDeposit{q, r}
		}
	}
	return all
}

func (s *Server) indexChain(ctx context.Context, c *chain, wanted map[mark]builtDeposit) error {
	filter := ethereum.FilterQuery{Topics: [][]common.Hash{{}}}
	for m, b := range wanted {
		filter.Addresses, filter.Topics[0] = append(filter.Addresses, m.contract), append(filter.Topics[0], m.event)
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
		for m, b := range wanted {
			if m.in([]*types.Log{&l}) != nil {
				s.recordDeposit(b, l.TxHash)
			}
		}
	}
	return nil
}

// recordDeposit records a deposit in its order, which it creates if there is none.
func (s *Server) recordDeposit(b builtDeposit, tx common.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orderOf(b.quote.id, b.route.id)
	if o == nil {
		s.createOrder(b.quote, b.route, tx)
		return
	}
	o.DepositTxHash = &tx
}
