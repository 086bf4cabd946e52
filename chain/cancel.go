package chain

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// cancelRest is how long a cancelling transaction is given before another one
// may be signed over it.
const cancelRest = 30 * time.Second

// Cancel tries to close key's nonce with a transaction that sends nothing to
// the account itself and pays at least an eighth more than every earlier
// attempt. Which of them is mined is for [Sender.Poll] to tell. It may be
// repeated: within half a minute, and later while the last cancel still offers
// what the network asks, that offers the same bytes again, so that a chain that
// stands still costs neither fees nor attempts. A final record is returned as it
// is. Errors, besides those of Submit: ErrNonceUsed.
func (s *Sender) Cancel(ctx context.Context, key string, p Policy) (*Tx, error) {
	tx, err := s.ledger.get(key)
	if err != nil {
		return nil, err
	}
	if tx == nil {
		return nil, fmt.Errorf("no transaction %q", key)
	}
	if tx.State.Final() {
		return tx, nil
	}
	if tx, err = s.signCancel(ctx, tx, p); err != nil {
		return tx, err
	}
	return s.broadcast(ctx, tx, false)
}

// signCancel journals one more attempt, or leaves tx as it is if the last one
// is a recent cancel.
func (s *Sender) signCancel(ctx context.Context, tx *Tx, p Policy) (*Tx, error) {
	if err := s.mayAct(p); err != nil {
		return tx, err
	}
	from, id := tx.Call.From, tx.Call.ChainID
	nothing := Call{ChainID: id, From: from, To: from, Value: new(big.Int)}
	cost, err := s.nodes.Cost(ctx, nothing)
	if err != nil {
		return tx, err
	}
	r, err := s.nodes.Reader(ctx, id)
	if err != nil {
		return tx, err
	}
	unlock, err := s.lock(ctx, account{id, from})
	if err != nil {
		return tx, err
	}
	defer unlock()
	if tx, err = s.ledger.get(tx.Key); err != nil || tx.State.Final() || s.cancelling(tx, cost.Fees) {
		return tx, err
	}
	if len(tx.Attempts) == maxAttempts {
		return tx, fmt.Errorf("%d attempts were made already; wait for the outcome", maxAttempts)
	}
	latest, err := r.NonceAt(ctx, from, nil)
	if err != nil {
		return tx, err
	}
	if latest > tx.Nonce {
		return tx, fmt.Errorf("%w: nonce %d is used", ErrNonceUsed, tx.Nonce)
	}
	cost = outbid(cost, tx.Attempts)
	if err := underCeiling(cost.Max, p); err != nil {
		return tx, err
	}
	if err := s.ledger.probe(); err != nil {
		return tx, err
	}
	a, err := s.attempt(ctx, AttemptCancel, from, unsigned(nothing, tx.Nonce, cost.Gas, cost.Fees), id, p)
	if err != nil {
		return tx, err
	}
	s.point(beforeCancelJournal)
	longer, err := s.ledger.update(tx.Key, func(tx *Tx) bool {
		tx.Attempts = append(tx.Attempts, a)
		return true
	})
	if err != nil {
		return tx, err
	}
	s.point(afterCancelJournal)
	return longer, nil
}

// cancelling reports whether tx's last attempt is a cancel that is still on its
// way: a recent one, or one that offers no less than asked.
func (s *Sender) cancelling(tx *Tx, asked Fees) bool {
	last := tx.Last()
	now := s.now()
	if last.Kind != AttemptCancel || now.After(last.Until) {
		return false
	}
	enough := last.FeeCap.ToInt().Cmp(asked.GasFeeCap) >= 0 && last.TipCap.ToInt().Cmp(asked.GasTipCap) >= 0
	return enough || now.Sub(last.Signed) < cancelRest
}

// outbid raises cost's fees to what nodes ask of a replacement for every one of
// attempts. A record's attempts keep the type of the first one.
func outbid(cost Cost, attempts []Attempt) Cost {
	f := cost.Fees
	feeCap, tipCap := f.GasFeeCap, f.GasTipCap
	for _, a := range attempts {
		feeCap = atLeast(feeCap, a.FeeCap)
		tipCap = atLeast(tipCap, a.TipCap)
	}
	if f.Legacy { // one price: the higher of both
		tipCap = feeCap
	}
	if tipCap.Cmp(feeCap) > 0 {
		feeCap = tipCap
	}
	f.GasFeeCap, f.GasTipCap = feeCap, tipCap
	return newCost(cost.Gas, cost.Gas, f, cost.L1)
}

// atLeast is x, or what outbids old if that is more.
func atLeast(x *big.Int, old *hexutil.Big) *big.Int {
	if least := raised(old.ToInt()); x.Cmp(least) < 0 {
		return least
	}
	return x
}
