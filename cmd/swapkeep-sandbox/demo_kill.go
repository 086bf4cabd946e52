package main

import (
	"context"
	"fmt"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// submitting is the state of an order that is being submitted to its provider.
const submitting = "submitting"

// executeWithKill executes a review while the provider misbehaves, kills the daemon at
// the plan's moment, and lets the next daemon finish the order.
func (s *demoRun) executeWithKill(ctx context.Context, l *ledger, f *follower) (o protocol.Order, err error) {
	m := l.plan.kill
	end, err := s.addFaults(ctx, l.plan.provider, m.rule)
	if err != nil {
		return o, err
	}
	defer func() { _ = end(context.WithoutCancel(ctx)) }()
	s.out.Fact("provider", m.means)
	if o, err = s.consent(ctx, l.review); err != nil {
		return o, err
	}
	if o, err = s.follow(ctx, f, o.ID, func(o protocol.Order) bool { return o.State == submitting || o.Final }); err != nil {
		return o, err
	}
	if err := s.awaitMoment(ctx, l, o); err != nil {
		return o, err
	}
	if err := s.killDaemon(ctx, f, m.name); err != nil {
		return o, err
	}
	if err := end(ctx); err != nil {
		return o, err
	}
	s.out.Fact("provider", "answers as it should again")
	if err := s.awaitRestart(ctx, f); err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

// awaitMoment waits for the plan's moment and prints the state of the chain and of the
// provider.
func (s *demoRun) awaitMoment(ctx context.Context, l *ledger, o protocol.Order) error {
	if o.Final {
		return fmt.Errorf("the order ended too soon as %s: %s", o.State, screen.Printable(o.Means+" "+o.Reason))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, answerTime, fmt.Errorf("there was no moment %s in %v", l.plan.kill.name, answerTime))
	defer cancel()
	for {
		a, there, err := s.atTheMoment(ctx, l)
		switch {
		case err != nil:
			return reason(ctx, err)
		case there:
			s.out.Fact("on chain", l.says(a))
			s.out.Fact("books", l.saysDeals(a))
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(gonePause):
		}
	}
}

// atTheMoment reports whether the provider has received the plan's request and the chain
// and the provider's orders are in the plan's state.
func (s *demoRun) atTheMoment(ctx context.Context, l *ledger) (a audit, there bool, err error) {
	m := l.plan.kill
	n, err := s.requestCount(ctx, l.plan.provider, m.rule.Target)
	if err != nil || n == 0 {
		return a, false, err
	}
	a, err = l.audited(ctx, s)
	return a, len(a.providerOrders) == m.orders && (!m.mined || len(a.mined()) == l.sends && a.confirmations >= sandbox.Depth), err
}

// killDaemon kills the daemon with SIGKILL, like a power cut.
func (s *demoRun) killDaemon(ctx context.Context, f *follower, where string) error {
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

// awaitRestart waits for the daemon that the relay restarts, checks that it is locked, and
// unlocks it.
func (s *demoRun) awaitRestart(ctx context.Context, f *follower) error {
	killed := s.daemon
	if err := s.port.greeted(ctx); err != nil {
		return err
	}
	status, err := s.status(ctx)
	if err != nil {
		return err
	}
	if s.daemon == killed {
		return fmt.Errorf("pid %d answers after it was killed", killed)
	}
	at := status.Started.Sub(f.began) // it may resume the order before its hello is received
	s.out.Styled(screen.Good, seconds(at), fmt.Sprintf("start of a new daemon, pid %d, by the relay itself; its hello has come", s.daemon))
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
