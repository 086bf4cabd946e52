package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/sandbox"
)

// momentTime limits the wait for the moment of a kill.
const momentTime = 30 * time.Second

// submits matches a history line of an order that is being submitted to its provider.
var submits = regexp.MustCompile(`^ +[0-9:]+ +` + regexp.QuoteMeta(messages.State("submitting")) + `: `)

// acceptWithKill accepts the review while the provider misbehaves, kills the daemon at
// the plan's moment, and lets the next daemon finish the order. It returns the output
// that names the order.
func (s *demoRun) acceptWithKill(ctx context.Context, l *ledger) (out string, err error) {
	m := l.plan.kill
	end, err := s.addFaults(ctx, l.plan.provider, m.rule)
	if err != nil {
		return "", err
	}
	defer func() { _ = end(context.WithoutCancel(ctx)) }()
	s.out.Fact("provider", m.means)
	killed := 0
	out, err = s.typed(ctx, step{line: acceptLine, follows: true, exit: exitNoDaemon, want: "order continues without this command", each: func(line string) error {
		if killed != 0 || !submits.MatchString(line) {
			return nil
		}
		killed = s.daemon
		return errors.Join(s.awaitMoment(ctx, l), s.killDaemon(ctx, m.name))
	}})
	if err != nil {
		return out, err
	}
	if killed == 0 {
		return out, fmt.Errorf("the order ended before the daemon could be killed %s", m.name)
	}
	if err := end(ctx); err != nil {
		return out, err
	}
	s.out.Fact("provider", "works again")
	if err := s.restarted(ctx, killed); err != nil {
		return out, err
	}
	_, err = s.typed(ctx, step{line: "swapkeep orders watch " + orderID.FindString(out), follows: true, show: ofEnd, want: l.plan.endLine()})
	return out, err
}

// restarted checks that the daemon is gone, starts the next one by a command, checks that
// its keys are locked, and unlocks them.
func (s *demoRun) restarted(ctx context.Context, killed int) error {
	if _, err := s.typed(ctx,
		step{line: statusLine, exit: exitNoDaemon, want: "swapkeepd is not running"},
		step{line: "swapkeep keys", want: `(?m)^ +keys +locked$`, show: head(1)},
	); err != nil {
		return err
	}
	if err := s.showStatus(ctx); err != nil {
		return err
	}
	if s.daemon == killed {
		return fmt.Errorf("pid %d still answers after it was killed", killed)
	}
	s.out.Fact("checked", "the command started a new daemon, and its keys are locked")
	_, err := s.typed(ctx, unlockStep())
	return err
}

func unlockStep() step {
	return step{line: "swapkeep keys unlock --password-fd 0 < password", want: `(?m)^ +keys +unlocked$`, show: head(3)}
}

// awaitMoment waits for the plan's moment and prints the state of the chain and of the
// provider.
func (s *demoRun) awaitMoment(ctx context.Context, l *ledger) error {
	ctx, cancel := context.WithTimeoutCause(ctx, momentTime, fmt.Errorf("the kill point %s was not reached in %v", l.plan.kill.name, momentTime))
	defer cancel()
	for {
		a, there, err := s.atTheMoment(ctx, l)
		switch {
		case err != nil:
			return reason(ctx, err)
		case there:
			s.out.Fact("on chain", l.says(a))
			s.out.Fact("provider", l.saysDeals(a))
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
func (s *demoRun) atTheMoment(ctx context.Context, l *ledger) (a observed, there bool, err error) {
	m := l.plan.kill
	n, err := s.requestCount(ctx, l.plan.provider, m.rule.Target)
	if err != nil || n == 0 {
		return a, false, err
	}
	a, err = l.audited(ctx, s)
	return a, len(a.providerOrders) == m.orders && (!m.mined || len(a.mined()) == l.sends && a.confirmations >= sandbox.Depth), err
}

// killDaemon kills the daemon with SIGKILL, like a power cut.
func (s *demoRun) killDaemon(ctx context.Context, where string) error {
	status, err := s.check(ctx, s.statusStep(nothing))
	if err == nil {
		err = s.readPID(status)
	}
	if err != nil {
		return err
	}
	if err := kill(s.daemon); err != nil {
		return fmt.Errorf("kill the daemon (pid %d): %w", s.daemon, err)
	}
	s.killed++
	s.out.Styled(screen.Bad, "killed", fmt.Sprintf("SIGKILL to the daemon, pid %d: %s", s.daemon, where))
	return awaitExit(s.daemon)
}
