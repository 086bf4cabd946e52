package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/internal/clock"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
)

// An IsolatedVault is what this package needs of the wallet's isolated accounts.
type IsolatedVault interface {
	plan.IsolatedAccounts
	// OwnerOf returns the account to which a taken isolated account belongs, and fails for
	// any other. It needs unlocked keys.
	OwnerOf(ctx context.Context, isolated common.Address) (common.Address, error)
}

// ErrIsolatedTaken means that an order took an isolated account before.
var ErrIsolatedTaken = errors.New("the isolated account is taken")

// errNotOurs means that nothing may be moved to an isolated account, since nobody could move
// it back.
var errNotOurs = errors.New("the isolated account is not the account's own")

// checkIsolatedOwner fails with errNotOurs unless the vault signs for the isolated account of
// these terms, and it belongs to their account. With locked keys it cannot tell.
func checkIsolatedOwner(ctx context.Context, v IsolatedVault, t swap.Terms) error {
	if v == nil {
		return errNotOurs
	}
	owner, err := v.OwnerOf(ctx, t.Isolated)
	if err == nil && owner != t.Account {
		err = errNotOurs
	}
	return err
}

const (
	sweepFor      = 30 * 24 * time.Hour // how long after an order ended its isolated account is looked at
	sweepAttempts = 20                  // most transactions for one nonce
	maxSweeps     = 20                  // transfers back from one account, reverted ones included; a token may revert each
)

// A sweeper moves what is left in isolated accounts back to the accounts that they belong
// to: gas, the input of an order that handed nothing over, and refunds that came to them.
// To whom is the vault's word, never the journal's. What it signed is in the sender's
// ledger, so a sweep goes on after a crash.
type sweeper struct {
	o      Options
	log    func(o swap.Order, err error)
	notify func(swap.Order)
	pause  func(still time.Duration) time.Duration // as of an order that nothing happens to

	mu   sync.Mutex
	all  bool // all accounts are to be looked for in the journal first
	due  map[journal.Found]sweepDue
	wake chan struct{}
}

// A sweepDue is when an isolated account is looked at, and for which order; "" = for one
// that a restore found.
type sweepDue struct {
	when  time.Time
	order string
}

// look has the isolated account of an order looked at, if its own steps are over.
func (w *sweeper) look(o swap.Order) {
	if w.o.Isolated == nil || !o.Terms.IsIsolated() || !o.State.Final() && o.Step < len(o.Plan.Steps) || o.Ended() && w.o.Now().Sub(o.EndedAt) > sweepFor {
		return
	}
	w.at(journal.Found{Chain: o.Terms.SrcChain, Account: o.Terms.Isolated}, sweepDue{w.o.Now(), o.ID})
}

// lookAtAll has run do so for all orders of the last time, and for what a restore found.
func (w *sweeper) lookAtAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = true
	w.rouse()
}

// rouse has run look again. w.mu is held.
func (w *sweeper) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// findAll fills w.due from the journal, if that was asked for.
func (w *sweeper) findAll() {
	w.mu.Lock()
	asked := w.all
	w.all = false
	w.mu.Unlock()
	if !asked {
		return
	}
	found, err := w.o.Journal.Found()
	if err != nil {
		w.log(swap.Order{}, err)
	}
	for _, f := range found {
		w.at(f, sweepDue{when: w.o.Now()})
	}
	for cursor := ""; ; {
		page, next, err := w.o.Journal.List(common.Address{}, false, cursor, 100)
		if err != nil || len(page) == 0 {
			return
		}
		for _, o := range page {
			w.look(o)
		}
		if cursor = next; cursor == "" || w.o.Now().Sub(page[len(page)-1].Created) > 2*sweepFor {
			return
		}
	}
}

func (w *sweeper) at(f journal.Found, d sweepDue) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, ok := w.due[f]; ok && !was.when.After(d.when) {
		return
	}
	w.due[f] = d
	w.rouse()
}

// next removes and returns an account that is due, or how long until one is.
func (w *sweeper) next() (f journal.Found, d sweepDue, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait = time.Hour
	for f, d := range w.due {
		left := d.when.Sub(w.o.Now())
		if left <= 0 {
			delete(w.due, f)
			return f, d, 0
		}
		wait = min(wait, left)
	}
	return f, d, wait
}

// run looks at accounts, one after the other, until ctx ends.
func (w *sweeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.findAll()
		f, d, wait := w.next()
		if wait > 0 {
			select {
			case <-ctx.Done():
			case <-w.wake:
			case <-clock.After(wait):
			}
			continue
		}
		if !w.o.Unlocked() {
			continue // all are looked at again after the next unlock
		}
		again, err := w.sweepRecovered(ctx, f, d.order)
		switch {
		case err != nil && ctx.Err() == nil:
			w.log(swap.Order{ID: d.order}, fmt.Errorf("isolated account %s on chain %d: %w", f.Account, f.Chain, err))
			w.at(f, sweepDue{w.o.Now().Add(w.pause(time.Hour)), d.order})
		case again:
			w.at(f, sweepDue{w.o.Now().Add(w.pause(time.Minute)), d.order})
		}
	}
}

// sweepRecovered is sweep with panics turned into errors: one account must not stop the rest.
func (w *sweeper) sweepRecovered(ctx context.Context, f journal.Found, order string) (again bool, err error) {
	defer func() {
		if why := recover(); why != nil {
			again, err = false, fmt.Errorf("panic: %v", why)
		}
	}()
	return w.sweep(ctx, f, order)
}

// sweep makes the next transfer that is due, or follows those that were made, and reports
// whether there may be more to do.
func (w *sweeper) sweep(ctx context.Context, f journal.Found, order string) (again bool, err error) {
	owner, err := w.o.Isolated.OwnerOf(ctx, f.Account)
	if err != nil {
		return false, err
	}
	tokens, err := w.tokens(f.Chain, order)
	if err != nil {
		return false, err
	}
	n, err := w.o.Nodes.Nonces(ctx, f.Chain, f.Account)
	if err != nil {
		return false, err
	}
	made, err := w.o.Sender.RecordsByNonce(f.Chain, f.Account, 0, maxIsolatedNonces)
	if err != nil {
		return false, err
	}
	prefix := fmt.Sprintf("sweep/%d/%s/", f.Chain, f.Account.Hex())
	sweeps := 0
	for _, tx := range made {
		if tx == nil || !strings.HasPrefix(tx.Key, prefix) || tx.State == chain.TxRejected {
			continue
		}
		if pending, err := w.follow(ctx, order, tx); pending || err != nil {
			return pending, err
		}
		sweeps++
	}
	call, left, err := w.nextTransfer(ctx, f, owner, tokens)
	if call != nil && sweeps >= maxSweeps {
		token, _, amount, _ := swap.TransferOf(*call)
		call, left = nil, []swap.Spend{{Token: token, Amount: amount}}
	}
	switch {
	case err != nil:
		return false, err
	case call == nil && order == "":
		return false, w.o.Journal.DropFound(f)
	case call == nil:
		return false, w.record(order, swap.NewCause(swap.ReasonLeftIsolated), func(i *swap.Isolation) { i.Left = left })
	}
	net, err := w.o.Nodes.Network(f.Chain)
	if err != nil {
		return false, err
	}
	for attempt := range sweepAttempts {
		_, err = w.o.Sender.Submit(ctx, fmt.Sprintf("%s%d/%d", prefix, n.Next, attempt), *call, chain.Policy{Ceiling: net.GasCeiling, Until: w.o.Now().Add(sweepFor)})
		if !errors.Is(err, chain.ErrRejected) && !errors.Is(err, chain.ErrKeyReused) {
			break
		}
	}
	return err == nil, err
}

// tokens returns the tokens that may be left of an order; of an account that a restore
// found, the wallet's own on that chain.
func (w *sweeper) tokens(chainID uint64, order string) (all []common.Address, err error) {
	if order == "" {
		if w.o.Tokens != nil {
			all = w.o.Tokens(chainID)
		}
	} else {
		o, err := w.o.Journal.Get(order)
		if err != nil {
			return nil, err
		}
		if all = []common.Address{o.Terms.TokenIn, o.Terms.MinRefund().Token}; o.Terms.DstChain == o.Terms.SrcChain {
			all = append(all, o.Terms.TokenOut)
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(a common.Address) bool { return a == chain.Native })
	slices.SortFunc(all, common.Address.Cmp)
	return slices.Compact(all), nil
}

// follow polls a transfer back and records it once it is mined at the network's depth.
func (w *sweeper) follow(ctx context.Context, order string, tx *chain.Tx) (pending bool, err error) {
	now, ev, err := w.o.Sender.Poll(ctx, tx.Key)
	if err != nil || ev == nil {
		return !now.State.Final(), err
	}
	token, _, amount, ok := swap.TransferOf(tx.Call)
	if !ok || !ev.Success || order == "" {
		return false, nil
	}
	return false, w.record(order, swap.NewCause(swap.ReasonReturned, "token", token.Hex(), "amount", amount.String()), func(i *swap.Isolation) {
		if !slices.ContainsFunc(i.Returned, func(r swap.Returned) bool { return r.Tx == ev.Tx }) {
			i.Returned, i.Left = append(i.Returned, swap.Returned{Token: token, Amount: amount, Tx: ev.Tx}), nil
		}
	})
}

// record changes an order's record of its isolated account, if change does.
func (w *sweeper) record(order string, note swap.Cause, change func(*swap.Isolation)) error {
	for range 10 {
		o, err := w.o.Journal.Get(order)
		if err != nil {
			return err
		}
		var was swap.Isolation
		if o.Isolation != nil {
			was = *o.Isolation
		}
		is := was
		change(&is)
		if bytes.Equal(swap.MustJSON(was), swap.MustJSON(is)) {
			return nil
		}
		o.Isolation, o.Updated = &is, w.o.Now().UTC()
		if err = w.o.Journal.Update(&o, note); err == nil {
			w.notify(o)
		}
		if !errors.Is(err, journal.ErrStale) {
			return err
		}
	}
	return journal.ErrStale
}

// nextTransfer returns the transfer of what is there of a token or, if there is none, of the
// coin; nil if nothing is left, or what cannot be moved or is not worth its gas.
func (w *sweeper) nextTransfer(ctx context.Context, f journal.Found, owner common.Address, tokens []common.Address) (call *chain.Call, left []swap.Spend, err error) {
	all, err := w.o.Nodes.Balances(ctx, f.Chain, f.Account, append(tokens, chain.Native))
	if err != nil {
		return nil, nil, err
	}
	coins := all[len(tokens)]
	for i, token := range tokens {
		if all[i] == nil || all[i].Sign() == 0 { // nil: the contract does not answer as a token
			continue
		}
		c := swap.TransferCall(f.Chain, token, f.Account, owner, all[i])
		cost, err := w.o.Nodes.Cost(ctx, c)
		switch {
		case err != nil && !errors.Is(err, chain.ErrFunds) && !errors.Is(err, chain.ErrWouldRevert):
			return nil, nil, err
		case err == nil && cost.Max.Cmp(coins) <= 0:
			return &c, nil, nil
		}
		left = append(left, swap.Spend{Token: token, Amount: all[i]})
	}
	coin := swap.Spend{Token: chain.Native, Amount: coins}
	switch {
	case coins.Sign() == 0:
		return nil, left, nil
	case len(left) > 0: // with more coin they could be moved
		return nil, append(left, coin), nil
	}
	c := swap.TransferCall(f.Chain, chain.Native, f.Account, owner, new(big.Int))
	cost, err := w.o.Nodes.Cost(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if c.Value = new(big.Int).Sub(coins, cost.Max); c.Value.Cmp(cost.Max) < 0 {
		return nil, []swap.Spend{coin}, nil
	}
	return &c, nil, nil
}

// SweepFound has isolated accounts looked at that a restore of a wallet found used, on every
// chain where a provider may have needed one.
func (s *Service) SweepFound(accounts []common.Address) error {
	var all []journal.Found
	for _, id := range swap.SupportedChains() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(s.o.Providers)), func(p swap.Provider) bool { return plan.MayIsolate(p, id) }) {
			continue
		}
		if net, err := s.o.Nodes.Network(id); err != nil || net.HasEnded() {
			continue
		}
		for _, a := range accounts {
			all = append(all, journal.Found{Chain: id, Account: a})
		}
	}
	err := s.o.Journal.AddFound(all)
	s.sweeper.lookAtAll()
	return err
}
