package sandbox

import (
	"context"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox/contracts"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// priceMover is the service account that moves the prices of pools and oracles.
const priceMover = "priceMover"

func (s *Sandbox) openMarket(set *contracts.Set, o Options) error {
	var err error
	s.market, err = market.New(set, s.operatorChains(), market.Options{
		Mover: operator.NewAccount(s.services[priceMover].Key), Seed: o.Seed,
		Settle: func(ctx context.Context, chain uint64, tx common.Hash) (*types.Receipt, error) {
			return s.Chain(chain).MineTransaction(ctx, tx)
		},
	})
	return err
}

// Market returns the market, which holds and moves all prices.
func (s *Sandbox) Market() *market.Market { return s.market }

// market deploys the oracles, their tokens and the contract that moves prices, and funds
// that contract and the oracle pools.
func (g *genesis) market() {
	o := g.network.Oracles()
	for _, t := range o.ExtraTokens {
		g.deploy(tokenContract(t), t.Address, t.Name, t.Symbol, t.Decimals)
	}
	for _, d := range market.Deployments(g.network, g.services[priceMover].Address) {
		g.deploy(d.Contract, d.At, d.Args...)
	}
	g.Fund(network.Market, treasuryNative)
	for _, p := range o.Pools {
		for _, symbol := range []string{p.A, p.B} {
			t, ok := o.Token(g.network, symbol)
			if !ok {
				g.Fail(fmt.Errorf("chain %d has no %s for its pool %s", g.network.ID, symbol, p.At))
				return
			}
			g.give(t, p.At, t.Units(p.Dollars))
		}
	}
}

// controlMarket moves prices, at once or by a drift, and answers with the new state of
// the market.
func (s *Sandbox) controlMarket(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Moves []market.Move `json:"moves"`
		Start bool          `json:"start"` // go to the starting prices before the moves
		Drift market.Drift  `json:"drift"`
	}{Drift: s.market.Drift()})
	if err != nil {
		return nil, err
	}
	if args.Drift != s.market.Drift() {
		err = s.market.SetDrift(args.Drift)
	}
	if err == nil && args.Start {
		err = s.market.Restart(r.Context())
	}
	if err == nil && len(args.Moves) > 0 {
		err = s.market.Move(r.Context(), args.Moves...)
	}
	if err != nil {
		return nil, err
	}
	return s.market.Report(r.Context())
}

func controlOracles(m *market.Market, chain uint64, r *http.Request) error {
	change, err := body(r, market.Change{})
	if err != nil {
		return err
	}
	return m.SetOracles(r.Context(), chain, change)
}

// onOracles calls do and answers with the chain's oracles as they are afterwards.
func onOracles(do func(*market.Market, uint64, *http.Request) error) func(*Sandbox, *http.Request) (any, error) {
	return func(s *Sandbox, r *http.Request) (any, error) {
		c, err := s.chainNamed(r.PathValue("chain"))
		if err == nil {
			err = do(s.market, c.ID, r)
		}
		if err != nil {
			return nil, err
		}
		return s.market.Oracles(r.Context(), c.ID)
	}
}
