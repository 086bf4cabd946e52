package main

import (
	"context"
	"fmt"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// submitting is the state in which an order's provider is told of it.
const submitting = "submitting"

// killedInTheMiddle carries a review out while the provider does not answer as it
// should, kills the daemon there, and lets the next one finish.
func (s *show) killedInTheMiddle(ctx context.Context, l *ledger, f *follower) (o protocol.Order, err error) {
	m := l.plan.kill
	end, err := s.misbehaves(ctx, l.plan.provider, m.rule)
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
	if err := s.arrived(ctx, l, o); err != nil {
		return o, err
	}
	if err := s.killDaemon(ctx, f, m.name); err != nil {
		return o, err
	}
	if err := end(ctx); err != nil {
		return o, err
	}
	s.out.Fact("provider", "answers as it should again")
	if err := s.returned(ctx, f); err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

// arrived waits until the request that the plan's moment is about has come and the
// world shows that moment, and prints what it shows.
func (s *show) arrived(ctx context.Context, l *ledger, o protocol.Order) error {
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

// atTheMoment reports whether the world shows what the plan's moment is.
func (s *show) atTheMoment(ctx context.Context, l *ledger) (a audit, there bool, err error) {
	m := l.plan.kill
	n, err := s.heard(ctx, l.plan.provider, m.rule.Target)
	if err != nil || n == 0 {
		return a, false, err
	}
	a, err = l.audited(ctx, s)
	return a, len(a.deals) == m.orders && (!m.mined || len(a.mined()) == l.sends && a.deep >= sandbox.Depth), err
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
	status, err := s.status(ctx)
	if err != nil {
		return err
	}
	if s.daemon == killed {
		return fmt.Errorf("pid %d answers after it was killed", killed)
	}
	at := status.Started.Sub(f.began) // it goes on with the order before anybody hears its hello
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
