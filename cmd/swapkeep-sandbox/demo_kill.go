package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/host/protocol"
)

// killedInTheMiddle carries a review out while no block is made, kills the
// daemon when its transaction has left, and lets the next daemon finish. The
// chain then has to show that the account paid once.
func (s *show) killedInTheMiddle(ctx context.Context, l *ledger, r protocol.Review) (protocol.Order, error) {
	l.chain.Pause()
	defer l.chain.Resume()
	s.out.fact("paused", "no block is made on "+l.name+" for now")
	f := &follower{began: time.Now()}
	o, err := s.consent(ctx, r)
	if err == nil {
		o, err = s.follow(ctx, f, o.ID, sent)
	}
	if err != nil {
		return o, err
	}
	if o.Final {
		return o, errors.New("the order ended before the daemon could be killed")
	}
	if err := s.killDaemon(ctx, f); err != nil {
		return o, err
	}
	if err := s.returned(ctx, f); err != nil {
		return o, err
	}
	l.chain.Resume()
	s.out.fact("resumed", "blocks are made again")
	if o, err = s.follow(ctx, f, o.ID, ended); err != nil {
		return o, err
	}
	return o, s.paidOnce(ctx, l)
}

func sent(o protocol.Order) bool { return o.Sending != "" || o.Final }

// killDaemon ends the daemon as a power cut would.
func (s *show) killDaemon(ctx context.Context, f *follower) error {
	if _, err := s.status(ctx); err != nil {
		return err
	}
	if err := kill(s.daemon); err != nil {
		return fmt.Errorf("kill the daemon (pid %d): %w", s.daemon, err)
	}
	s.killed++
	s.out.styled(bad, seconds(time.Since(f.began)), fmt.Sprintf("SIGKILL to the daemon, pid %d: sent, not mined, nothing tidied up", s.daemon))
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
	s.out.styled(good, seconds(at), fmt.Sprintf("hello from a new daemon, pid %d, which the relay started by itself", s.daemon))
	keys, err := ask[protocol.KeysStatus](ctx, s.port, "keys.status", protocol.None{})
	if err != nil {
		return err
	}
	if keys.State != protocol.KeysLocked || keys.Session {
		return fmt.Errorf("after its restart the wallet is %s, want locked", keys.State)
	}
	s.out.fact("keys", "locked: the keys were in the dead daemon's memory only")
	return s.unlock(ctx)
}

// paidOnce reads the chain for what the account did during the swap.
func (s *show) paidOnce(ctx context.Context, l *ledger) error {
	p, err := l.payments(ctx)
	if err != nil {
		return err
	}
	s.out.fact("on chain", fmt.Sprintf("nonce %d -> %d; %s of the account with this payment; the node was handed it %s",
		p.nonceBefore, p.nonceAfter, count(p.mined, "transaction"), times(p.handed)))
	if p.mined != 1 || p.nonceAfter != p.nonceBefore+1 || p.signed != 1 {
		return fmt.Errorf("the account paid %s (%s signed, nonce moved by %d), want exactly one",
			times(p.mined), count(p.signed, "transaction"), p.nonceAfter-p.nonceBefore)
	}
	return nil
}
