package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A replacement is one more attempt for a record's nonce.
type replacement struct {
	kind          AttemptKind
	call          Call // what its bytes do
	policy        Policy
	before, after point // fault points around its commit
	// upToDate reports, under the account's lock, from the current record and the fees that
	// the network asks, whether the last attempt needs no other; an error forbids one.
	upToDate func(tx *Tx, fees Fees) (bool, error)
}

// known returns the record of key, which must exist.
func (s *Sender) known(key string) (*Tx, error) {
	tx, err := s.ledger.get(key)
	if err == nil && tx == nil {
		err = fmt.Errorf("no transaction %q", key)
	}
	return tx, err
}

// replace signs and journals r, unless tx's last attempt stands, and broadcasts the last
// attempt.
func (s *Sender) replace(ctx context.Context, tx *Tx, r replacement) (*Tx, error) {
	longer, err := s.signReplacement(ctx, tx, r)
	if err != nil {
		return tx, err
	}
	return s.broadcast(ctx, longer, false)
}

func (s *Sender) signReplacement(ctx context.Context, tx *Tx, r replacement) (*Tx, error) {
	if err := s.checkDeadline(r.policy); err != nil {
		return nil, err
	}
	if r.policy.Tier == "" {
		r.policy.Tier = Fast
	}
	cost, err := s.nodes.CostAt(ctx, r.call, r.policy.Tier)
	if r.kind == AttemptCancel && errors.Is(err, ErrWouldRevert) {
		cost, err = s.costOfAny(ctx, tx, r)
	}
	if err != nil {
		return nil, err
	}
	from, id := tx.Call.From, tx.Call.ChainID
	unlock, err := s.lock(ctx, account{id, from})
	if err != nil {
		return nil, err
	}
	defer unlock()
	if tx, err = s.known(tx.Key); err != nil {
		return nil, err
	}
	if upToDate, err := r.upToDate(tx, cost.Fees); upToDate || err != nil {
		return tx, err
	}
	if err := tx.checkSignatures(); err != nil {
		return nil, ledgerError(fmt.Errorf("record %q: %w", tx.Key, err))
	}
	if full := len(tx.Attempts) == maxAttempts; r.kind == AttemptCancel && tx.Last().Kind == AttemptCancel && (full || tx.Last().offers(cost.Fees)) {
		return s.extendDeadline(tx, r)
	} else if full {
		return nil, fmt.Errorf("%w: %d", ErrAttempts, maxAttempts)
	}
	nonces, err := s.nodes.Nonces(ctx, id, from)
	if err != nil {
		return nil, err
	}
	if nonces.Latest > tx.Nonce {
		return nil, fmt.Errorf("%w: %d", ErrNonceUsed, tx.Nonce)
	}
	if cost, err = s.raiseFees(ctx, tx, r, cost); err != nil {
		return nil, err
	}
	if err := s.ledger.probe(); err != nil {
		return nil, err
	}
	a, err := s.attempt(ctx, r.kind, from, unsigned(r.call, tx.Nonce, cost.Gas, cost.Fees), id, r.policy)
	if err != nil {
		return nil, err
	}
	return s.journal(tx, r, func(tx *Tx) bool {
		tx.Attempts = append(tx.Attempts, a)
		return true
	})
}

// raiseFees returns cost raised above all attempts of tx, if r's policy allows the sum of
// that and of the fillers below tx.
func (s *Sender) raiseFees(ctx context.Context, tx *Tx, r replacement, cost Cost) (Cost, error) {
	if r.kind == AttemptBump {
		first, err := tx.Attempts[0].transaction()
		if err != nil {
			return cost, ledgerError(err)
		}
		cost.Gas = max(cost.Gas, first.Gas())
	}
	cost = outbid(cost, tx.Attempts)
	fillers, err := s.fillersMaxCost(ctx, tx, "")
	if err != nil {
		return cost, err
	}
	return cost, checkCeiling(fillers.Add(fillers, cost.Max), r.policy)
}

// journal commits change to tx's record for r.
func (s *Sender) journal(tx *Tx, r replacement, change func(tx *Tx) bool) (*Tx, error) {
	s.point(r.before)
	tx, err := s.ledger.update(tx.Key, change)
	if err != nil {
		return nil, err
	}
	s.point(r.after)
	return tx, nil
}

// extendDeadline extends the expired deadline of the last cancel's bytes to r's: they offer
// enough, or there is no room for more attempts. Nothing is signed.
func (s *Sender) extendDeadline(tx *Tx, r replacement) (*Tx, error) {
	if !s.now().After(tx.Last().Until) {
		return tx, nil
	}
	return s.journal(tx, r, func(tx *Tx) bool {
		tx.Attempts[len(tx.Attempts)-1].Until = r.policy.Until.UTC()
		return true
	})
}

// costOfAny prices a cancel that a node expects to revert, with the gas limit of tx's own
// call: a reverted one uses the nonce too. So neither a lying node nor code that the
// account runs (EIP-7702) can keep a nonce open.
func (s *Sender) costOfAny(ctx context.Context, tx *Tx, r replacement) (Cost, error) {
	first, err := tx.Attempts[0].transaction()
	if err != nil {
		return Cost{}, ledgerError(err)
	}
	r.call.Gas = first.Gas()
	return s.nodes.CostAt(ctx, r.call, r.policy.Tier)
}

// outbid raises cost's fees to what nodes ask for replacing every one of attempts, and
// keeps the transaction type of the first.
func outbid(cost Cost, attempts []Attempt) Cost {
	f := cost.Fees
	f.Legacy = attempts[0].legacy()
	feeCap, tipCap := f.GasFeeCap, f.GasTipCap
	for _, a := range attempts {
		feeCap = withMinBump(feeCap, a.FeeCap)
		tipCap = withMinBump(tipCap, a.TipCap)
	}
	if f.Legacy { // one price: the higher of both
		tipCap = feeCap
	}
	if tipCap.Cmp(feeCap) > 0 {
		feeCap = tipCap
	}
	f.GasFeeCap, f.GasTipCap = feeCap, tipCap
	raised := newCost(cost.Gas, cost.Gas, f, cost.L1)
	raised.Tier = cost.Tier
	return raised
}

// legacy reports whether a's bytes are a legacy transaction, with one gas price. All
// other types begin with a byte below 0x80 (EIP-2718).
func (a Attempt) legacy() bool { return len(a.Raw) > 0 && a.Raw[0] >= 0x80 }

// withMinBump returns x, raised to the minimum that replaces old.
func withMinBump(x *big.Int, old *hexutil.Big) *big.Int {
	if minimum := minReplacement(old.ToInt()); x.Cmp(minimum) < 0 {
		return minimum
	}
	return x
}
