package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// Errors for an order that did not end as wanted.
var (
	errUnfilled = errors.New("the order was not filled")
	errReported = errors.New("the outcome is not confirmed yet; the daemon keeps checking")
	errClosed   = errors.New("the order was closed, and its outcome was never confirmed")
)

// followUnlessDetached follows an accepted swap to its end, or returns at once if detach is set.
func (l *daemonConn) followUnlessDetached(ctx context.Context, o rawResult[protocol.Order], detach bool) error {
	return l.followToState(ctx, o, detach, "filled")
}

// followToState is afterwards for an order that should end in another state than filled.
func (l *daemonConn) followToState(ctx context.Context, o rawResult[protocol.Order], detach bool, wanted string) error {
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

// A follower records how much of an order's history has been printed.
type follower struct {
	*daemonConn
	began       time.Time
	shown       int64 // with --json: newest revision that was written; -1: none
	printed     int   // number of history entries printed
	tx          protocol.Hash
	printedHelp string // condition help that was printed
	// By this command's clock: since when the order is reported, and since when the
	// provider's claim is final. Zero: it is not.
	reported, ended time.Time
}

// follow prints an order's history until it ends, then the result. It returns errUnfilled
// if the order ended in another state than wanted, and errReported if the provider
// reports an end that is not proven, because a proof may never come. If ctx ends, it says
// that the order continues. With --json, revisions up to shown are already written.
func (l *daemonConn) follow(ctx context.Context, id, wanted string, shown int64) error {
	f := &follower{daemonConn: l, began: time.Now(), shown: shown}
	end, err := f.untilFinal(ctx, id)
	l.t.talk.ClearProgress()
	if err != nil {
		return f.detached(id, err)
	}
	if !l.t.json {
		if err := l.printResult(ctx, end); err != nil {
			return err
		}
	}
	switch {
	case end.Condition == likelyPaid && end.State != "closed" && wanted == "filled":
		return nil
	case !end.Ended && !end.Reported:
		return fmt.Errorf("the provider reported an outcome, but the chains cannot be read to confirm it: %w", errReported)
	case !end.Ended:
		return fmt.Errorf("%w (%s)", errReported, messages.Condition(end.Condition))
	case end.State == "closed" && wanted != "closed":
		return errClosed
	case end.State != wanted:
		return fmt.Errorf("%w (%s)%s", errUnfilled, stateText(end), l.because(ctx, end))
	}
	return nil
}

func (l *daemonConn) because(ctx context.Context, o protocol.Order) string {
	reason := l.reasonText(ctx, o)
	if reason == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(reason, ".")
}

// detached says that the order continues without this command.
func (f *follower) detached(id string, err error) error {
	f.t.talk.Line("")
	f.t.talk.Paragraph(screen.Strong, "The order continues without this command. Follow it with swapkeep orders watch "+id+
		", or cancel it with swapkeep orders cancel "+id+".")
	if errors.Is(err, context.Canceled) {
		return printedError{err}
	}
	return err
}

func (f *follower) untilFinal(ctx context.Context, id string) (protocol.Order, error) {
	if err := f.loadNetworks(ctx); err != nil {
		return protocol.Order{}, err
	}
	for {
		r, err := ask[orderDetails](ctx, f.daemonConn, "swap.order", protocol.OrderParams{Order: id})
		o := r.Order.value
		if err == nil {
			f.reported, f.ended = trackSince(f.reported, o.Reported), trackSince(f.ended, mayNeverEnd(o))
			err = f.printUpdate(ctx, r)
		}
		if err != nil || o.Ended || f.proofOverdue(r) {
			return o, err
		}
		if err := f.change(ctx, o); err != nil {
			return o, err
		}
	}
}

const (
	// proofWait is how long to wait for a proof after the provider reported an end: for
	// confirmations, or for a node that is behind.
	proofWait = 2 * time.Minute
	// longProofWait is how long to wait if not even the lack of a proof can be
	// established, because nodes do not answer or contradict each other.
	longProofWait = 10 * time.Minute
)

// proofOverdue reports whether waiting for a proof of the reported end is pointless: the payment
// that the provider names has been seen and proves nothing; the order has waited long enough;
// or nobody can report anything any more.
func (f *follower) proofOverdue(r orderDetails) bool {
	o := r.Order.value
	switch {
	case !o.Reported:
		return !f.ended.IsZero() && clock.Now().Sub(f.ended) >= longProofWait
	case o.CandidatePayment != nil && o.Claim != nil && o.CandidatePayment.Tx == o.Claim.Tx, !claimFinal(o):
		return true
	}
	// The history has wall-clock times, and that clock may be set back.
	now := clock.Now()
	return now.Sub(reportedSince(r)) >= proofWait || !f.reported.IsZero() && now.Sub(f.reported) >= proofWait
}

// trackSince returns since when a condition holds: zero if it does not.
func trackSince(since time.Time, is bool) time.Time {
	switch {
	case !is:
		return time.Time{}
	case since.IsZero():
		return clock.Now()
	}
	return since
}

// claimFinal reports whether the provider has claimed a final state.
func claimFinal(o protocol.Order) bool {
	return o.Claim != nil && slices.Contains([]string{"filled", "refunded", "failed", "expired", "cancelled"}, o.Claim.State)
}

// mayNeverEnd reports whether the order may stay open for ever after the claimed end. A
// signed order ends when its signature expires.
func mayNeverEnd(o protocol.Order) bool {
	signed := len(o.Steps) > 0 && o.Steps[len(o.Steps)-1].Effect.Kind == "order"
	return claimFinal(o) && !signed
}

// reportedSince returns since when the order has its current condition.
func reportedSince(r orderDetails) time.Time {
	since := clock.Now()
	for _, e := range slices.Backward(r.History) {
		if e.Condition != r.Order.value.Condition {
			break
		}
		since = e.Time
	}
	return since
}

// orderDetails is an OrderResult with the order's JSON as the daemon wrote it.
type orderDetails struct {
	Order   rawResult[protocol.Order] `json:"order"`
	History []protocol.Entry          `json:"history"`
}

// change waits for a newer revision of an order, or until the next poll is due. A
// notification only triggers a poll.
func (f *follower) change(ctx context.Context, known protocol.Order) error {
	tick, again := time.NewTicker(spinTime), time.NewTimer(pollInterval)
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

// pollInterval is the interval between polls without a notification.
const pollInterval = 15 * time.Second

func waitingText(o protocol.Order) string {
	text := stateText(o)
	if o.Condition != "" && o.Condition != likelyPaid {
		text += " (" + messages.Condition(o.Condition) + ")"
	}
	return text
}

// printUpdate prints what happened since its last call: a line for each new history entry or,
// with --json, the order if its revision is new.
func (f *follower) printUpdate(ctx context.Context, r orderDetails) error {
	o := r.Order.value
	if f.t.json {
		if int64(o.Revision) <= f.shown {
			return nil
		}
		f.shown = int64(o.Revision)
		return writeRaw(f.t.out, r.Order.raw)
	}
	for _, e := range r.History[min(f.printed, len(r.History)):] {
		f.printEntry(ctx, f.t.talk, o, e)
	}
	f.printed = len(r.History)
	if tx := sentBy(o); tx != "" && tx != f.tx {
		f.t.talk.Fact("", "transaction "+f.link(o.Terms.SrcChainID, tx))
		f.tx = tx
	}
	help := conditionHelp(o)
	if o.Reported && !f.proofOverdue(r) {
		help = fmt.Sprintf("The provider reported an outcome. Waiting until %s for confirmation on the chain.", clockTime(reportedSince(r).Add(proofWait)))
	}
	if help != "" && help != f.printedHelp {
		f.t.talk.Paragraph(screen.Warn, help)
		f.printedHelp = help
	}
	return nil
}

// conditionHelp returns what the user can do for an order that waits for them.
func conditionHelp(o protocol.Order) string {
	switch o.Condition {
	case "needs_consent":
		return "The accepted terms no longer work. Review the new terms: swapkeep orders accept " + o.ID
	case "waiting_unlock":
		return "Unlock the wallet to continue: swapkeep keys unlock, in another terminal."
	}
	return ""
}

// sentBy returns the transaction of the current step, else of the last finished one.
func sentBy(o protocol.Order) (tx protocol.Hash) {
	for _, step := range o.Steps {
		if step.Tx != "" {
			tx = step.Tx
		}
	}
	if o.CurrentTx != "" {
		return o.CurrentTx
	}
	return tx
}

// link returns a transaction's page in the network's explorer, or only the hash in the
// sandbox, which no explorer knows.
func (l *daemonConn) link(chain uint64, tx protocol.Hash) string {
	n, ok := l.networks[chain]
	if !ok || n.Explorer == "" || l.hello.Sandbox {
		return string(tx)
	}
	return strings.TrimRight(n.Explorer, "/") + "/tx/" + string(tx)
}

// printResult prints the result of an order, or its state if it has not ended.
func (l *daemonConn) printResult(ctx context.Context, o protocol.Order) error {
	switch {
	case o.State == "closed" && o.Condition == "":
		return l.printClosedOrder(ctx, o)
	case !o.Final:
		return l.printOpenOrder(ctx, o)
	}
	facts, err := l.endFacts(ctx, o)
	if err != nil {
		return err
	}
	l.t.result.Painted(screen.States[shownState(o)], stateText(o))
	l.t.result.Facts(facts)
	return nil
}

func (l *daemonConn) endFacts(ctx context.Context, o protocol.Order) (facts [][2]string, err error) {
	if err := l.loadNetworks(ctx); err != nil {
		return nil, err
	}
	facts = append(facts, [2]string{"order", o.ID})
	proof, err := l.verdictFacts(ctx, o)
	if err != nil {
		return nil, err
	}
	facts = append(facts, proof...)
	if reason := l.reasonText(ctx, o); o.Verdict == nil && reason != "" {
		facts = append(facts, [2]string{"reason", reason})
	}
	if kept, err := l.keptText(ctx, o); err != nil {
		return nil, err
	} else if kept != "" {
		facts = append(facts, [2]string{"funds", kept})
	}
	for _, left := range o.Leftovers {
		c, err := l.coin(ctx, left.ChainID, left.Token)
		if err != nil {
			return nil, err
		}
		facts = append(facts, [2]string{"left over", fmt.Sprintf("%s is still approved for %s; revoke it with swapkeep approvals revoke", contractText(left.Spender), c.Text(left.Amount.Int()))})
	}
	return facts, nil
}
