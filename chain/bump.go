package chain

import (
	"context"
	"fmt"
	"time"
)

const (
	bumpRest = 10 * time.Second // between two speed-ups
	maxBumps = 10               // per record; each adds an eighth, all of them multiply the price by 3.2
)

// Bump speeds up key's call: it signs the same call on the same nonce, in the same
// record, with fees at least an eighth above every earlier attempt and no lower than p's
// tier asks now (Fast if it names none). Only one attempt can ever be mined, so p's
// ceiling bounds the whole possible cost of this one alone; a ceiling above the record's
// own needs the user's consent. The bytes may be broadcast until the earlier of p's and
// the record's deadlines. A node that refuses them ("underpriced") may still have an
// earlier attempt: all are watched, and [Sender.Poll] tells which was mined.
//
// It may be repeated: within ten seconds it offers the same bytes again. Errors, with
// nothing signed, besides those of Submit: ErrEnded, ErrCancelling, ErrExpired,
// ErrNonceUsed, ErrAttempts.
func (s *Sender) Bump(ctx context.Context, key string, p Policy) (*Tx, error) {
	tx, err := s.known(key)
	if err != nil {
		return nil, err
	}
	if err := s.mayBump(tx); err != nil {
		return tx, err
	}
	if tx.Policy.Until.Before(p.Until) {
		p.Until = tx.Policy.Until
	}
	return s.replace(ctx, tx, replacement{
		kind: AttemptBump, call: tx.Call, policy: p, before: beforeBumpJournal, after: afterBumpJournal,
		upToDate: func(tx *Tx, _ Fees) (bool, error) {
			last := tx.Last()
			return last.Kind == AttemptBump && s.now().Sub(last.Signed).Abs() < bumpRest, s.mayBump(tx)
		},
	})
}

// mayBump returns why tx must not be sped up, nil if it may be.
func (s *Sender) mayBump(tx *Tx) error {
	if tx.State.Final() {
		return fmt.Errorf("%w: it is %s", ErrEnded, tx.State)
	}
	if tx.Last().Kind == AttemptCancel {
		return ErrCancelling
	}
	if err := s.checkDeadline(tx.Policy); err != nil {
		return err
	}
	bumps := 0
	for _, a := range tx.Attempts {
		if a.Kind == AttemptBump {
			bumps++
		}
	}
	if bumps >= maxBumps {
		return fmt.Errorf("%w: %d speed-ups were signed", ErrAttempts, bumps)
	}
	return nil
}
