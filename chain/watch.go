package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Poll checks key's transaction once: it looks for a receipt of every attempt and for
// another use of the nonce (believed if it is still seen after a minute), and broadcasts
// the last attempt again while its policy allows. It returns the record, with evidence
// once an attempt is on the chain at depth. It may be repeated for ever; for a final
// record it only reads the evidence again. An error says nothing about the transaction;
// the record comes with it if there is one. If the transaction waits behind a nonce that
// nothing uses, Poll fills that with an empty transaction, provided that the policy can
// pay for it and the signer signs.
//
// Evidence may be missing from a mined record: a reorg deeper than the network's depth
// removed it. The bytes are then broadcast again.
func (s *Sender) Poll(ctx context.Context, key string) (Tx, *Evidence, error) {
	tx, err := s.ledger.get(key)
	if err != nil {
		return Tx{}, nil, err
	}
	if tx == nil {
		return Tx{}, nil, fmt.Errorf("no transaction %q", key)
	}
	if tx.State.Final() {
		ev, err := s.settled(ctx, tx)
		return *tx, ev, err
	}
	look, lookErr := s.findOutcome(ctx, tx)
	if elsewhere := look.state == TxReplaced; lookErr == nil && !s.isReplaced(key, elsewhere) && elsewhere {
		look.state = "" // not yet
	}
	if lookErr == nil && look.state != "" {
		if tx, err = s.settle(tx, look); err == nil {
			s.settleFillers(ctx, tx)
		}
		return *tx, look.evidence, err
	}
	sent := tx
	if look.depth == 0 {
		if sent, err = s.broadcast(ctx, tx, false); err != nil {
			return *tx, nil, errors.Join(lookErr, err)
		}
		if why := s.closeGaps(ctx, sent); why != "" && !sent.State.Final() {
			sent.Reason = why
		}
	}
	sent.Depth = look.depth
	return *sent, nil, lookErr
}

// replacedTime is how long a nonce must be seen as used elsewhere before that is believed. It
// rests on missing receipts, and one URL may have several nodes behind it, some of them
// late with receipts.
const replacedTime = time.Minute

// isReplaced records since when polls of key agree that its nonce was used elsewhere, and
// reports whether they have for long enough.
func (s *Sender) isReplaced(key string, seen bool) bool {
	s.flightMu.Lock()
	defer s.flightMu.Unlock()
	f := s.flights[key]
	if seen == f.replacedSince.IsZero() { // seen has changed
		f.replacedSince = time.Time{}
		if seen {
			f.replacedSince = s.now()
		}
		s.flights[key] = f
	}
	return seen && s.now().Sub(f.replacedSince) >= replacedTime
}

// A txOutcome is the result of one search on the chain. An empty state means that nothing
// is decided.
type txOutcome struct {
	state    TxState
	mined    common.Hash
	reason   string // what proves a state without evidence
	evidence *Evidence
	depth    uint64
	attempts int // how many attempts were looked for
}

// boundFee limits what one lying host can add to the fee that was paid for tx's attempt
// a: its bytes bound what its gas can have cost. The only known bound of an L1 fee is
// tx's ceiling: no more was expected.
func (s *Sender) boundFee(ev *Evidence, tx *Tx, a Attempt) error {
	n, err := s.nodes.Network(tx.Call.ChainID)
	if err != nil {
		return err
	}
	maxFee, err := a.maxGasCost()
	if err != nil {
		return ledgerError(err)
	}
	if n.L1Fee == L1FeeOP {
		if tx.Policy.Ceiling == nil {
			return nil
		}
		maxFee.Add(maxFee, tx.Policy.Ceiling)
	}
	if ev.FeePaid.Cmp(maxFee) > 0 {
		ev.FeePaid = maxFee
	}
	return nil
}

// outcome returns the state of a transaction with a mined attempt.
func outcome(kind AttemptKind, success bool) TxState {
	switch {
	case kind == AttemptCancel:
		return TxCancelled
	case success:
		return TxMined
	}
	return TxReverted
}

// findOutcome searches for receipts of all of tx's attempts, the last first, and then for a
// foreign use of its nonce. If one attempt cannot be looked up, nothing is decided about
// the nonce, since that attempt may be the one that is mined.
func (s *Sender) findOutcome(ctx context.Context, tx *Tx) (txOutcome, error) {
	found := txOutcome{attempts: len(tx.Attempts)}
	var hashes []common.Hash
	var errs []error
	for i := len(tx.Attempts) - 1; i >= 0; i-- {
		a := tx.Attempts[i]
		hashes = append(hashes, a.Hash)
		ev, proven, err := s.nodes.Evidence(ctx, tx.Call.ChainID, a.Hash)
		if proven {
			if err := s.boundFee(&ev, tx, a); err != nil {
				return found, err
			}
			found.state, found.mined, found.evidence, found.depth = outcome(a.Kind, ev.Success), a.Hash, &ev, ev.Depth
			return found, nil
		}
		if err != nil {
			errs = append(errs, err)
		}
		found.depth = max(found.depth, ev.Depth)
	}
	if len(errs) > 0 || found.depth > 0 {
		return found, errors.Join(errs...)
	}
	hosts, err := s.nodes.Replaced(ctx, tx.Call.ChainID, tx.Call.From, tx.Nonce, tx.SignedAtBlock, hashes)
	if len(hosts) > 0 && err == nil {
		found.state = TxReplaced
		found.reason = fmt.Sprintf("nonce %d was used by another transaction, by the word of %s", tx.Nonce, strings.Join(hosts, " and "))
	}
	return found, err
}

// settle records a final state. If an attempt was added since the search, it may be the
// one that used the nonce, and the next poll decides.
func (s *Sender) settle(tx *Tx, found txOutcome) (*Tx, error) {
	s.point(beforeMined)
	done, err := s.ledger.update(tx.Key, func(tx *Tx) bool {
		if found.state == TxReplaced && len(tx.Attempts) != found.attempts {
			return false
		}
		tx.State, tx.Mined, tx.Reason = found.state, found.mined, found.reason
		return true
	})
	if err != nil {
		return tx, err
	}
	done.Depth = found.depth
	s.point(afterMined)
	s.flightMu.Lock()
	delete(s.flights, tx.Key)
	s.flightMu.Unlock()
	return done, nil
}

// settled reads the evidence of a final record again, and offers its bytes again if their
// block is gone.
func (s *Sender) settled(ctx context.Context, tx *Tx) (*Evidence, error) {
	if !slices.Contains(onChainStates, tx.State) {
		return nil, nil
	}
	ev, proven, err := s.nodes.Evidence(ctx, tx.Call.ChainID, tx.Mined)
	if err != nil {
		return nil, err
	}
	tx.Depth = ev.Depth
	if proven {
		a, err := tx.minedAttempt()
		if err != nil {
			return nil, err
		}
		if err := s.boundFee(&ev, tx, a); err != nil {
			return nil, err
		}
		return &ev, nil
	}
	if ev.Depth == 0 {
		return nil, s.restore(ctx, tx)
	}
	return nil, nil
}

// restore offers the bytes of a mined transaction again whose block is gone.
func (s *Sender) restore(ctx context.Context, tx *Tx) error {
	a, err := tx.minedAttempt()
	if err != nil || s.now().After(a.Until) {
		return err
	}
	t, err := a.transaction()
	if err != nil {
		return ledgerError(err)
	}
	_ = s.send(ctx, tx.Call.ChainID, t, true) // the next poll tells
	return nil
}
