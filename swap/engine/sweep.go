package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	// OwnerOf returns the account to which a taken isolated account belongs. It needs
	// unlocked keys.
	OwnerOf(ctx context.Context, isolated common.Address) (common.Address, error)
}

const (
	sweepFor      = 30 * 24 * time.Hour // how long after an order ended its isolated account is looked at
	sweepAttempts = 20                  // most transactions for one nonce
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
	due  map[string]time.Time // by order: when its isolated account is looked at
	wake chan struct{}
}

// look has the isolated account of an order looked at, if its own steps are over.
func (w *sweeper) look(o swap.Order) {
	if w.o.Isolated == nil || !o.Terms.IsIsolated() || !o.State.Final() && o.Step < len(o.Plan.Steps) || w.o.Now().Sub(o.Updated) > sweepFor {
		return
	}
	w.at(o.ID, w.o.Now())
}

// lookAtAll does so for all orders of the last time.
func (w *sweeper) lookAtAll() {
	for cursor := ""; w.o.Isolated != nil; {
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

func (w *sweeper) at(order string, when time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, ok := w.due[order]; ok && !was.After(when) {
		return
	}
	w.due[order] = when
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next removes and returns an order that is due, or how long until one is.
func (w *sweeper) next() (order string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait = time.Hour
	for id, when := range w.due {
		left := when.Sub(w.o.Now())
		if left <= 0 {
			delete(w.due, id)
			return id, 0
		}
		wait = min(wait, left)
	}
	return "", wait
}

// run looks at accounts, one after the other, until ctx ends.
func (w *sweeper) run(ctx context.Context) {
	for ctx.Err() == nil {
		id, wait := w.next()
		if id == "" {
			select {
			case <-ctx.Done():
			case <-w.wake:
			case <-clock.After(wait):
			}
			continue
		}
		o, err := w.o.Journal.Get(id)
		if err != nil || !w.o.Unlocked() {
			continue // all are looked at again after the next unlock
		}
		again, err := w.sweepRecovered(ctx, o)
		switch {
		case err != nil && ctx.Err() == nil:
			w.log(o, fmt.Errorf("isolated account %s: %w", o.Terms.Isolated, err))
			w.at(id, w.o.Now().Add(w.pause(time.Hour)))
		case again:
			w.at(id, w.o.Now().Add(w.pause(time.Minute)))
		}
	}
}

// sweepRecovered is sweep with panics turned into errors: one account must not stop the rest.
func (w *sweeper) sweepRecovered(ctx context.Context, o swap.Order) (again bool, err error) {
	defer func() {
		if why := recover(); why != nil {
			again, err = false, fmt.Errorf("panic: %v", why)
		}
	}()
	return w.sweep(ctx, o)
}

// sweep makes the next transaction that is due, or follows those that were made, and reports
// whether there may be more to do.
func (w *sweeper) sweep(ctx context.Context, o swap.Order) (again bool, err error) {
	t := o.Terms
	owner, err := w.o.Isolated.OwnerOf(ctx, t.Isolated)
	if err != nil {
		return false, err
	}
	n, err := w.o.Nodes.Nonces(ctx, t.SrcChain, t.Isolated)
	if err != nil {
		return false, err
	}
	made, err := w.o.Sender.RecordsByNonce(t.SrcChain, t.Isolated, 0, n.Next+1)
	if err != nil {
		return false, err
	}
	prefix := fmt.Sprintf("sweep/%d/%s/", t.SrcChain, t.Isolated.Hex())
	for _, tx := range made {
		if tx == nil || !strings.HasPrefix(tx.Key, prefix) || tx.State == chain.TxRejected {
			continue
		}
		if pending, err := w.follow(ctx, o.ID, tx); pending || err != nil {
			return pending, err
		}
	}
	call, left, err := w.nextTransfer(ctx, t, owner)
	if err != nil || call == nil {
		return false, errors.Join(err, w.record(o.ID, swap.NewCause(swap.ReasonLeftIsolated), func(i *swap.Isolation) { i.Left = left }))
	}
	for attempt := range sweepAttempts {
		_, err = w.o.Sender.Submit(ctx, fmt.Sprintf("%s%d/%d", prefix, n.Next, attempt), *call, chain.Policy{Until: w.o.Now().Add(sweepFor)})
		if !errors.Is(err, chain.ErrRejected) && !errors.Is(err, chain.ErrKeyReused) {
			break
		}
	}
	return err == nil, err
}

// follow polls a transfer back and records it once it is mined at the network's depth.
func (w *sweeper) follow(ctx context.Context, order string, tx *chain.Tx) (pending bool, err error) {
	now, ev, err := w.o.Sender.Poll(ctx, tx.Key)
	if err != nil || ev == nil {
		return !now.State.Final(), err
	}
	token, _, amount, ok := swap.TransferOf(tx.Call)
	if !ok || !ev.Success {
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
func (w *sweeper) nextTransfer(ctx context.Context, t swap.Terms, owner common.Address) (call *chain.Call, left []swap.Spend, err error) {
	coins, err := w.o.Nodes.Balance(ctx, t.SrcChain, t.Isolated, chain.Native)
	if err != nil {
		return nil, nil, err
	}
	for _, token := range sweptTokens(t) {
		amount, err := w.o.Nodes.Balance(ctx, t.SrcChain, t.Isolated, token)
		if err != nil {
			return nil, nil, err
		}
		if amount.Sign() == 0 {
			continue
		}
		c := swap.TransferCall(t.SrcChain, token, t.Isolated, owner, amount)
		cost, err := w.o.Nodes.Cost(ctx, c)
		switch {
		case err != nil && !errors.Is(err, chain.ErrFunds):
			return nil, nil, err
		case err == nil && cost.Max.Cmp(coins) <= 0:
			return &c, nil, nil
		}
		left = append(left, swap.Spend{Token: token, Amount: amount})
	}
	switch {
	case coins.Sign() == 0:
		return nil, left, nil
	case len(left) > 0: // with more coin they could be moved
		return nil, append(left, swap.Spend{Token: chain.Native, Amount: coins}), nil
	}
	c := swap.TransferCall(t.SrcChain, chain.Native, t.Isolated, owner, new(big.Int))
	cost, err := w.o.Nodes.Cost(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if c.Value = new(big.Int).Sub(coins, cost.Max); c.Value.Cmp(cost.Max) < 0 {
		return nil, []swap.Spend{{Token: chain.Native, Amount: coins}}, nil
	}
	return &c, nil, nil
}

// sweptTokens returns the tokens that an order may leave in its isolated account.
func sweptTokens(t swap.Terms) []common.Address {
	all := []common.Address{t.TokenIn, t.MinRefund().Token}
	if t.DstChain == t.SrcChain {
		all = append(all, t.TokenOut)
	}
	all = slices.DeleteFunc(all, func(a common.Address) bool { return a == chain.Native })
	slices.SortFunc(all, common.Address.Cmp)
	return slices.Compact(all)
}
