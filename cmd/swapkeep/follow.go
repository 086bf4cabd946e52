package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// errUnfilled: an order ended, and not as it was wanted.
var errUnfilled = errors.New("the order was not filled")

// afterwards follows a swap to its end, or leaves it.
func (l *line) afterwards(ctx context.Context, o exact[protocol.Order], detach bool) error {
	return l.afterwardsAs(ctx, o, detach, "filled")
}

// afterwardsAs is afterwards for an order that is wanted to end otherwise.
func (l *line) afterwardsAs(ctx context.Context, o exact[protocol.Order], detach bool, wanted string) error {
	if l.t.json {
		if err := writeRaw(l.t.out, o.raw); err != nil {
			return err
		}
	}
	id := o.value.ID
	if !detach {
		return l.follow(ctx, id, wanted, int64(o.value.Revision))
	}
	if !l.t.json {
		l.t.result.Line("accepted: order " + id)
		l.t.remark("Follow it with swapkeep orders watch " + id + ".")
	}
	return nil
}

// A follower knows how far an order's story has been told.
type follower struct {
	*line
	began time.Time
	shown int64 // newest revision that was written, with --json; -1: none
	told  int   // lines of its history
	tx    protocol.Hash
	said  string // condition that was explained
}

// follow tells an order's story until it ends, then shows the end. It is an
// error for the order to end otherwise than wanted. The end of ctx leaves the
// order going on, and says so. With --json, revisions up to shown are written
// already.
func (l *line) follow(ctx context.Context, id, wanted string, shown int64) error {
	f := &follower{line: l, began: time.Now(), shown: shown}
	end, err := f.toTheEnd(ctx, id)
	l.t.talk.Progressed()
	if err != nil {
		return f.left(id, err)
	}
	if !l.t.json {
		if err := l.tellEnd(ctx, end); err != nil {
			return err
		}
	}
	if end.State != wanted {
		return fmt.Errorf("%w: it ended as %s%s", errUnfilled, end.State, because(end))
	}
	return nil
}

func because(o protocol.Order) string {
	if o.Reason == "" {
		return ""
	}
	return ": " + o.Reason
}

// left says that an order goes on without this command.
func (f *follower) left(id string, err error) error {
	f.t.talk.Line("")
	f.t.talk.Words(screen.Strong, "The order goes on without this command. Follow it with swapkeep orders watch "+id+
		", or end it with swapkeep orders cancel "+id+".")
	if errors.Is(err, context.Canceled) {
		return toldError{err}
	}
	return err
}

func (f *follower) toTheEnd(ctx context.Context, id string) (protocol.Order, error) {
	if err := f.loadNetworks(ctx); err != nil {
		return protocol.Order{}, err
	}
	for {
		r, err := ask[lookedAt](ctx, f.line, "swap.order", protocol.OrderParams{Order: id})
		if err == nil {
			err = f.tell(r)
		}
		o := r.Order.value
		if err != nil || o.Final {
			return o, err
		}
		if err := f.change(ctx, o); err != nil {
			return o, err
		}
	}
}

// lookedAt is an OrderResult with the order as the daemon wrote it.
type lookedAt struct {
	Order   exact[protocol.Order] `json:"order"`
	History []protocol.Entry      `json:"history"`
}

// change waits for a newer revision of an order. A notification is a hint: the
// order itself is asked then, and now and again without one.
func (f *follower) change(ctx context.Context, known protocol.Order) error {
	tick, again := time.NewTicker(spinTime), time.NewTimer(askAgain)
	defer tick.Stop()
	defer again.Stop()
	for {
		select {
		case n := <-f.Notifications():
			var news protocol.Order
			if n.Method != "swap.order" || json.Unmarshal(n.Params, &news) != nil || news.ID != known.ID || news.Revision <= known.Revision {
				continue
			}
			return nil
		case <-tick.C:
			f.t.progress(f.began, waitingText(known))
		case <-again.C:
			return nil
		case <-f.Done():
			return f.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// askAgain is how long no news is believed.
const askAgain = 15 * time.Second

func waitingText(o protocol.Order) string {
	text := o.State + ": " + o.Means
	if o.Condition != "" {
		text += " (" + o.Condition + ")"
	}
	return text
}

// tell adds what has happened since it was last called: a line for each entry
// of the history, or with --json the order if there is news.
func (f *follower) tell(r lookedAt) error {
	o := r.Order.value
	if f.t.json {
		if int64(o.Revision) <= f.shown {
			return nil
		}
		f.shown = int64(o.Revision)
		return writeRaw(f.t.out, r.Order.raw)
	}
	for _, e := range r.History[min(f.told, len(r.History)):] {
		note := e.Note
		if e.Condition != "" && !strings.Contains(note, e.Condition) {
			note += " (" + e.Condition + ")"
		}
		f.t.talk.Event(clock(e.Time), e.State, note)
	}
	f.told = len(r.History)
	if tx := sentBy(o); tx != "" && tx != f.tx {
		f.t.talk.Fact("", "transaction "+f.link(o.Terms.SrcChainID, tx))
		f.tx = tx
	}
	if help := conditionHelp(o); help != "" && help != f.said {
		f.t.talk.Words(screen.Warn, help)
		f.said = help
	}
	return nil
}

// conditionHelp is what a person can do for an order that waits for one.
func conditionHelp(o protocol.Order) string {
	if o.Condition == "needs consent" {
		return "It cannot be kept as you accepted it. See what it would need: swapkeep orders accept " + o.ID
	}
	return conditionHelps[o.Condition]
}

// conditionHelps are the conditions that need more words than their own.
var conditionHelps = map[string]string{
	"waiting for unlock":                        "It waits for the wallet to be unlocked: swapkeep keys unlock, in another terminal.",
	"provider says failed, watching for refund": "The provider says that it failed. The chain is watched for the refund, however long that takes.",
	"reported, unproven":                        "The provider says that it is done. No chain of which this wallet has an RPC endpoint shows it; that is all that is known.",
	"reported, transfer seen":                   "A payment as it should be is on the chain, from an account that this wallet does not know as the provider's.",
}

// sentBy is the transaction of the present step, else of the last finished one.
func sentBy(o protocol.Order) (tx protocol.Hash) {
	for _, step := range o.Steps {
		if step.Tx != "" {
			tx = step.Tx
		}
	}
	if o.Sending != "" {
		return o.Sending
	}
	return tx
}

// link is a transaction's page in the network's explorer; in the sandbox, whose
// transactions no explorer knows, the hash.
func (l *line) link(chain uint64, tx protocol.Hash) string {
	n, ok := l.networks[chain]
	if !ok || n.Explorer == "" || l.hello.Sandbox {
		return string(tx)
	}
	return strings.TrimRight(n.Explorer, "/") + "/tx/" + string(tx)
}

// tellEnd shows what became of an order.
func (l *line) tellEnd(ctx context.Context, o protocol.Order) error {
	facts, err := l.endFacts(ctx, o)
	if err != nil {
		return err
	}
	l.t.result.Painted(screen.States[o.State], fmt.Sprintf("%s: %s", o.State, o.Means))
	l.t.result.Facts(facts)
	return nil
}

func (l *line) endFacts(ctx context.Context, o protocol.Order) (facts [][2]string, err error) {
	if err := l.loadNetworks(ctx); err != nil {
		return nil, err
	}
	facts = append(facts, [2]string{"order", o.ID})
	proof, err := l.verdictFacts(ctx, o)
	if err != nil {
		return nil, err
	}
	if facts = append(facts, proof...); o.Verdict == nil && o.Reason != "" {
		facts = append(facts, [2]string{"reason", o.Reason})
	}
	for _, left := range o.Leftovers {
		c, err := l.coin(ctx, left.ChainID, left.Token)
		if err != nil {
			return nil, err
		}
		facts = append(facts, [2]string{"left over", fmt.Sprintf("%s may still pull %s; take it back with swapkeep approvals revoke", contractText(left.Spender), c.Text(left.Amount.Int()))})
	}
	return facts, nil
}
