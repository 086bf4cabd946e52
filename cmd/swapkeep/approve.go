package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

func newApprove(t *terminal) *cobra.Command {
	var decline bool
	var password *secretFlag
	cmd := &cobra.Command{
		Use: "approve [ID]", Short: "Confirm or decline what a browser asks for", Args: atMostOneID,
		Long: "Show what waits for your confirmation outside the browser, and confirm or decline it, one at a time.\n" +
			"With an ID, as it is listed with --json, confirm that one without a question: for scripts, which must read its lines.",
		ValidArgsFunction: t.complete(onlyFirst(completeWaiting)),
	}
	cmd.Flags().BoolVar(&decline, "decline", false, "with an ID: decline it")
	password = passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		switch {
		case len(args) > 0:
			return l.decide(ctx, password, args[0], !decline)
		case decline:
			return usageError{errors.New("--decline takes an ID")}
		}
		return l.approveWaiting(ctx, password)
	})
	return cmd
}

func atMostOneID(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("%s takes one ID at most", cmd.CommandPath())}
	}
	return nil
}

func completeWaiting(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	r, err := ask[protocol.PendingResult](ctx, l, "confirm.pending", protocol.None{})
	if err != nil {
		return nil
	}
	for _, p := range r.Waiting {
		out = append(out, described(p.ID, p.Act+", asked by "+p.Origin))
	}
	return out
}

// approveWaiting asks about everything that waits, one after the other. What was decided
// elsewhere meanwhile is passed over.
func (l *daemonConn) approveWaiting(ctx context.Context, password *secretFlag) error {
	return show(ctx, l, "confirm.pending", protocol.None{}, func(r protocol.PendingResult) error {
		if len(r.Waiting) == 0 {
			l.t.result.Line("nothing waits for your confirmation")
		}
		for i, p := range r.Waiting {
			l.printWaiting(p, i+1, len(r.Waiting))
			if !l.t.interactive() {
				continue
			}
			if err := l.approveOne(ctx, password, p.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *daemonConn) approveOne(ctx context.Context, password *secretFlag, id string) error {
	err := l.t.confirm(ctx, "Confirm this?")
	if err != nil && !errors.Is(err, errDeclined) {
		return err
	}
	err = l.decide(ctx, password, id, err == nil)
	if errors.Is(err, protocol.New("confirmation_unknown", "")) {
		l.say(screen.Warn, "it was decided elsewhere, or nobody waits for it any more")
		return nil
	}
	return err
}

// printWaiting prints an act with its lines.
func (l *daemonConn) printWaiting(p protocol.Pending, n, of int) {
	out := l.t.talk
	what, _ := messages.Text("act_" + p.Act)
	out.Heading(fmt.Sprintf("%s (%d of %d)", what, n, of))
	out.Fact("asked by", p.Origin)
	out.Fact("until", clockTime(p.Expires))
	if p.Unshown > 1 {
		out.Fact("note", fmt.Sprintf("%d requests of this extension since you declined two in a row", p.Unshown))
	}
	printLines(out, p.Lines)
	out.Fact("id", p.ID)
}

// printLines prints lines as every screen shows them.
func printLines(out *screen.Screen, lines []protocol.Line) {
	for i, l := range lines {
		args := make([]messages.Arg, len(l.Args))
		for i, a := range l.Args {
			args[i] = messages.Arg(a)
		}
		out.Styled(severities[l.Severity].how, strconv.Itoa(i+1), messages.Line("en", l.Key, args))
	}
}

// decide confirms with the password, or declines.
func (l *daemonConn) decide(ctx context.Context, password *secretFlag, id string, approve bool) error {
	do := func(secret protocol.Secret) error {
		return show(ctx, l, "confirm.decide", protocol.DecideParams{ID: id, Approve: approve, Password: secret}, func(r protocol.DecideResult) error {
			if r.Approved {
				l.say(screen.Good, "confirmed")
			} else {
				l.say(screen.Plain, "declined: nothing is done")
			}
			return nil
		})
	}
	if !approve {
		return do(nil)
	}
	return l.t.withPassword(ctx, password, do)
}
