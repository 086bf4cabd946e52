package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/confirm"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/swap"
)

func (c *call) confirmPending(context.Context, *protocol.None) (any, error) {
	if c.s.Confirmations == nil {
		return protocol.PendingResult{Waiting: []protocol.Pending{}}, nil
	}
	return c.waiting(c.s.Confirmations.Waiting()), nil
}

// waiting returns what of all this the caller is told: a browser what it asked itself.
func (c *conn) waiting(all []confirm.Waiting) protocol.PendingResult {
	who := c.caller()
	terminal := who.Kind == protocol.KindTerminal
	out := protocol.PendingResult{Waiting: []protocol.Pending{}}
	for _, w := range all {
		if terminal || w.Origin == who.Origin {
			out.Waiting = append(out.Waiting, pendingOf(w, terminal))
		}
	}
	return out
}

// confirmationsChanged tells browsers what of theirs waits. Terminals ask.
func (s *Server) confirmationsChanged() {
	all := s.Confirmations.Waiting()
	for _, c := range s.attached() {
		if c.caller().Kind == protocol.KindBrowser {
			c.notify("confirm.changed", c.waiting(all))
		}
	}
}

func pendingOf(w confirm.Waiting, whole bool) protocol.Pending {
	p := protocol.Pending{ID: w.ID, Act: w.Kind, Origin: w.Origin, Asked: w.Asked.UTC(), Expires: w.Until.UTC(), Shown: w.Shown, Silenced: w.Silenced, Unshown: w.Unshown}
	if whole {
		p.Lines = list(w.Lines, lineOf)
	}
	return p
}

// confirmDecide takes the password with every yes: a session of the terminal may have been left
// open, and a no harms nobody.
func (c *call) confirmDecide(ctx context.Context, p *protocol.DecideParams) (any, error) {
	if c.s.Confirmations == nil {
		return nil, protocol.New("confirmation_unknown", "")
	}
	if p.Approve {
		if err := c.needPassword(ctx, p.Password); err != nil {
			return nil, err
		}
	}
	if err := c.s.Confirmations.Decide(p.ID, p.Approve, swap.ByTerminal); err != nil {
		return nil, err
	}
	return protocol.DecideResult{ID: p.ID, Approved: p.Approve}, nil
}

// confirmWait is how long a browser waits for a person before it is told that the act waits. It is
// below the request's own timeout.
const confirmWait = 110 * time.Second

// byPerson runs an act that a person may have to confirm first, which takes minutes: for a browser
// it goes on without the request, and after confirmWait the answer is confirmation_pending.
// The same uuid then waits for it again. do must not use secrets of params, which are wiped
// when the request ends. Errors: request_conflict for a known uuid with
// other content, those of do and ctx.
func (c *call) byPerson(ctx context.Context, id protocol.UUID, params any, do func(context.Context) (any, error)) (any, error) {
	if c.atTerminal() {
		return do(ctx)
	}
	content := c.s.acts.content(c.method.Name, params)
	a, began := c.s.acts.begin(id, content)
	if began {
		c.wg.Go(func() {
			defer c.logPanic(c.method)
			c.s.acts.run(id, a, decided, func() (any, error) { return do(c.withClient(c.base)) })
		})
	}
	late := clock.NewTimer(c.s.waits.confirm)
	defer late.Stop()
	return a.wait(ctx, content, late.C)
}

// decided reports whether a person's answer, or silence, ended an act: it is remembered, so that
// the same uuid does not ask again. Orders are remembered in the journal.
func decided(err error) bool {
	return errors.Is(err, &swap.Refusal{Code: swap.ConsentDeclined}) || errors.Is(err, confirm.ErrExpired)
}

// logPanic ends a panic of a goroutine that no request waits in.
func (c *conn) logPanic(m protocol.Method) {
	if p := recover(); p != nil {
		c.s.Log.Error().Str("method", m.Name).Str("panic", fmt.Sprintf("%T", p)).Strs("at", callers()).Msg("act panicked")
	}
}
