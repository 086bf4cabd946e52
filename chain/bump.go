package chain

import (
	"context"
	"fmt"
	"time"
)

const (
	bumpRest = 10 * time.Second // before another speed-up may be signed
	maxBumps = 10               // of one record: an eighth more each, it is 3.2 times the price by then
)

// Bump offers key's call again for more: the same call on the same nonce, in the
// same record, for at least an eighth more than every earlier attempt and no less
// than p's tier asks now, Fast if it names none. Only one attempt can ever be
// mined, so p's ceiling bounds this one alone, its whole possible cost; a ceiling
// above the record's own needs the user's consent. Its bytes may leave until the
// earlier of p's and the record's last moments. A node that refuses it
// ("underpriced") may still have an earlier attempt: all are watched, and
// [Sender.Poll] tells which was mined.
//
// It may be repeated: within ten seconds that offers the same bytes again.
// Errors, with nothing signed, besides those of Submit: ErrEnded, ErrCancelling,
// ErrExpired, ErrNonceUsed, ErrAttempts.
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
		stands: func(tx *Tx, _ Fees) (bool, error) {
			last := tx.Last()
			return last.Kind == AttemptBump && s.now().Sub(last.Signed).Abs() < bumpRest, s.mayBump(tx)
		},
	})
}

// mayBump says why tx must not be sped up, if so.
func (s *Sender) mayBump(tx *Tx) error {
	if tx.State.Final() {
		return fmt.Errorf("%w: it is %s", ErrEnded, tx.State)
	}
	if tx.Last().Kind == AttemptCancel {
		return ErrCancelling
	}
	if err := s.mayAct(tx.Policy); err != nil {
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
