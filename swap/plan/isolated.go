package plan

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// IsolatedAccounts hands out the accounts' isolated accounts. *keys.Vault is behind it.
type IsolatedAccounts interface {
	// NextIsolated returns owner's first isolated account, with a number of at least from,
	// that no order took. It records nothing. It fails with SessionRequired when the keys are
	// locked and it is not known.
	NextIsolated(ctx context.Context, owner common.Address, from uint32) (number uint32, isolated common.Address, err error)
	// TakeIsolated makes the vault sign for an isolated account from now on. It fails with
	// engine.ErrIsolatedTaken if an order took it before.
	TakeIsolated(ctx context.Context, owner common.Address, number uint32) error
}

// An IsolatingProvider is one whose call goes, on some chains, always to contracts that are
// not built in, so that it must be made from an isolated account. Of others see wantsIsolated.
type IsolatingProvider interface {
	// IsolatesOn reports whether it does on a chain.
	IsolatesOn(chainID uint64) bool
}

// MayIsolate reports whether a provider's call from a chain may need an isolated account.
func MayIsolate(p swap.Provider, chainID uint64) bool {
	i, knows := p.(IsolatingProvider)
	return swap.Isolates(p.Kind()) && swap.SupportOf(p.Kind(), chainID).Support == swap.Active && (!knows || i.IsolatesOn(chainID))
}

// maxIsolatedTried bounds how many isolated accounts are looked at for one that is unused.
const maxIsolatedTried = 5

// isolate returns the request with an isolated account, where the provider's call must be
// made from one.
func (pl *Planner) isolate(ctx context.Context, p swap.Provider, r swap.QuoteRequest) (swap.QuoteRequest, error) {
	if i, ok := p.(IsolatingProvider); !ok || pl.Isolated == nil || !i.IsolatesOn(r.SrcChain) {
		return r, nil
	}
	return pl.withIsolated(ctx, r)
}

// wantsIsolated reports whether a provider that names its contracts only with an offer was
// refused for one that is not built in: it may be asked for an isolated account.
func wantsIsolated(p swap.Provider, err error) bool {
	_, knows := p.(IsolatingProvider)
	var refused *swap.Refusal
	return !knows && swap.Isolates(p.Kind()) && errors.As(err, &refused) && refused.Code == swap.NotPinned && refused.Field == "to"
}

// asksAgain reports whether a refused request is to be repeated for an isolated account.
func (pl *Planner) asksAgain(p swap.Provider, r swap.QuoteRequest, err error) bool {
	return pl.Isolated != nil && r.Isolated == (common.Address{}) && wantsIsolated(p, err)
}

// withIsolated returns the request with the account's first isolated account that has never
// sent anything on the source chain.
func (pl *Planner) withIsolated(ctx context.Context, r swap.QuoteRequest) (swap.QuoteRequest, error) {
	from := uint32(0)
	for range maxIsolatedTried {
		number, isolated, err := pl.Isolated.NextIsolated(ctx, r.Account, from)
		if err != nil {
			return r, fmt.Errorf("isolated account: %w", err)
		}
		n, err := pl.Nodes.Nonces(ctx, r.SrcChain, isolated)
		if err != nil {
			return r, err
		}
		if n.Highest == 0 {
			r.Isolated, r.Number = isolated, number
			return r, nil
		}
		from = number + 1
	}
	return r, swap.Refuse(swap.UnsupportedRoute, "the next %d isolated accounts have been used before", maxIsolatedTried)
}

// Gas assumed for what no node can estimate yet, in units.
const (
	coinTransferGas  = 21_000
	tokenTransferGas = 65_000
	sweepGas         = coinTransferGas + tokenTransferGas
)

// isolationGas returns the gas that an isolated account costs on top of an offer's own, in
// units: what moves the input and the gas to it, and what is left back.
func isolationGas(r swap.QuoteRequest) uint64 {
	switch {
	case r.Isolated == (common.Address{}):
		return 0
	case r.TokenIn == chain.Native:
		return 2 * coinTransferGas
	}
	return 2*coinTransferGas + tokenTransferGas
}

// fundSteps returns the transfers to the isolated account that are not among the done steps.
// With the input goes gas for its steps and for moving back what is left, half more than
// they need now, but no more than the gas ceiling.
func (pl *Planner) fundSteps(ctx context.Context, t swap.Terms, o swap.Offer, steps, done []swap.Step) ([]swap.Step, error) {
	if !t.IsIsolated() {
		return nil, nil
	}
	gas := new(big.Int)
	back := swap.Step{Kind: swap.CallStep, Call: &chain.Call{ChainID: t.SrcChain, From: t.Isolated, To: t.Account, Value: new(big.Int), Gas: sweepGas}}
	for _, s := range append(slices.Clone(steps), back) {
		c, err := pl.Nodes.Cost(ctx, callToCost(t, o, s, true))
		if err != nil {
			return nil, fmt.Errorf("gas for the isolated account: %w", err)
		}
		gas.Add(gas, c.Max)
	}
	if gas = oneAndHalf(gas); gas.Cmp(t.GasCeiling) > 0 {
		gas = t.GasCeiling
	}
	steps = swap.FundSteps(t, gas)
	return slices.DeleteFunc(steps, func(s swap.Step) bool {
		return slices.ContainsFunc(done, func(d swap.Step) bool {
			return d.Effect.Kind == swap.Fund && d.Effect.Spends[0].Token == s.Effect.Spends[0].Token
		})
	}), nil
}

// judgeIsolated says that the call is made from an isolated account, and what that costs.
// Moving back what is left, which is gas, costs as much as moving it there.
func judgeIsolated(r swap.Review, steps []swap.Step) []swap.Finding {
	if !r.Terms.IsIsolated() {
		return nil
	}
	extra := new(big.Int)
	for i, s := range steps { // none of which is typed
		if s.Effect.Kind != swap.Fund {
			continue
		}
		extra.Add(extra, r.Gas.Costs[i].Expected)
		if s.Effect.Spends[0].Token == chain.Native {
			extra.Add(extra, r.Gas.Costs[i].Expected)
		}
	}
	return []swap.Finding{{Code: "isolated_account", Severity: swap.Note,
		Text: fmt.Sprintf("the provider's call cannot be decoded, so it is made from %s, an account used for this order alone; what is left there is moved back", r.Terms.Isolated),
		Data: map[string]string{"isolated": r.Terms.Isolated.Hex(), "extra": extra.String()}}}
}
