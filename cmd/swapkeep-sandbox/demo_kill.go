package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// killedInTheMiddle carries a review out while no block is made, kills the
// daemon when its transaction has left, and lets the next daemon finish.
func (s *show) killedInTheMiddle(ctx context.Context, l *ledger, r protocol.Review) (protocol.Order, error) {
	defer l.chain.Resume()
	f := newFollower()
	o, err := s.sentInAPause(ctx, l, f, r)
	if err != nil {
		return o, err
	}
	if err := s.killDaemon(ctx, f, "sent, not mined"); err != nil {
		return o, err
	}
	if err := s.returned(ctx, f); err != nil {
		return o, err
	}
	s.resume(l)
	return s.follow(ctx, f, o.ID, ended)
}

// killedBeforeThePermit locks the wallet while the approval is on its way, so
// that the order stops once that is mined, kills the daemon there, and lets the
// next one go on from the permit.
func (s *show) killedBeforeThePermit(ctx context.Context, l *ledger, r protocol.Review) (protocol.Order, error) {
	defer l.chain.Resume()
	f := newFollower()
	o, err := s.sentInAPause(ctx, l, f, r)
	if err != nil {
		return o, err
	}
	if err := s.lock(ctx); err != nil {
		return o, err
	}
	s.resume(l)
	if o, err = s.follow(ctx, f, o.ID, parked); err != nil {
		return o, err
	}
	if err := s.onlyApproved(ctx, l, o); err != nil {
		return o, err
	}
	if err := s.killDaemon(ctx, f, "approval mined, permit not signed"); err != nil {
		return o, err
	}
	if err := s.returned(ctx, f); err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

// waitingForUnlock is the condition of an order that needs a signature.
const waitingForUnlock = "waiting for unlock"

// parked reports whether an order's approval is mined and the next signature
// waits for the keys.
func parked(o protocol.Order) bool {
	return o.Final || o.Step > 0 && o.Condition == waitingForUnlock
}

// lock is what a person does who walks away.
func (s *show) lock(ctx context.Context) error {
	keys, err := ask[protocol.KeysStatus](ctx, s.port, "keys.lock", protocol.None{})
	if err == nil && (keys.State != protocol.KeysLocked || keys.Session) {
		err = fmt.Errorf("locking left the wallet %s", keys.State)
	}
	if err != nil {
		return err
	}
	s.out.Fact("locked", "by its owner; what is on its way goes on, what needs a signature waits")
	return nil
}

// onlyApproved reads the chain at a parked order: the approval is mined at
// depth, and neither a permit nor a payment has happened.
func (s *show) onlyApproved(ctx context.Context, l *ledger, o protocol.Order) error {
	if o.Final || o.Step >= len(o.Steps) || o.Steps[o.Step].Effect.Kind != "permit" {
		return errors.New("the order did not stop before its permit")
	}
	a, err := l.audited(ctx)
	if err != nil {
		return err
	}
	if len(a.mined()) != 1 || a.deep < sandbox.Depth || a.left.allowance.Cmp(l.plan.amount) != 0 || a.left.nonce != l.permits || a.paid.Sign() != 0 {
		return fmt.Errorf("the chain does not show one approval and nothing else: %s", l.says(a))
	}
	s.out.Fact("on chain", a.mined()[0].says())
	s.out.Fact("", fmt.Sprintf("Permit2 may pull %s and has seen no permit; nothing has left the account", l.pays.Text(a.left.allowance)))
	return nil
}

// killDaemon ends the daemon as a power cut would.
func (s *show) killDaemon(ctx context.Context, f *follower, where string) error {
	if _, err := s.status(ctx); err != nil {
		return err
	}
	if err := kill(s.daemon); err != nil {
		return fmt.Errorf("kill the daemon (pid %d): %w", s.daemon, err)
	}
	s.killed++
	s.out.Styled(screen.Bad, seconds(time.Since(f.began)), fmt.Sprintf("SIGKILL to the daemon, pid %d: %s, nothing tidied up", s.daemon, where))
	return nil
}

// returned waits for the daemon that the relay starts by itself. It has to be
// locked, and is unlocked.
func (s *show) returned(ctx context.Context, f *follower) error {
	killed := s.daemon
	if err := s.port.greeted(ctx); err != nil {
		return err
	}
	at := time.Since(f.began)
	if _, err := s.status(ctx); err != nil {
		return err
	}
	if s.daemon == killed {
		return fmt.Errorf("pid %d answers after it was killed", killed)
	}
	s.out.Styled(screen.Good, seconds(at), fmt.Sprintf("hello from a new daemon, pid %d, which the relay started by itself", s.daemon))
	keys, err := ask[protocol.KeysStatus](ctx, s.port, "keys.status", protocol.None{})
	if err != nil {
		return err
	}
	if keys.State != protocol.KeysLocked || keys.Session {
		return fmt.Errorf("after its restart the wallet is %s, want locked", keys.State)
	}
	s.out.Fact("keys", "locked: no daemon comes back with keys in its memory")
	return s.unlock(ctx)
}
