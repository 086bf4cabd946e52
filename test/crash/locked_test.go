//go:build faults && linux

package crash

import (
	"fmt"
	"slices"
	"time"

	"swapkeep/host/protocol"
)

// A onDisk is what a daemon that dies there has on disk already.
type onDisk struct {
	consented bool // the user's consent
	made, of  int  // signatures made, and needed in all
	sent      int  // transactions among those made
	note      string
}

func (m onDisk) String() string {
	switch {
	case m.note != "":
		return m.note
	case !m.consented:
		return "nothing"
	}
	return fmt.Sprintf("consent, %d of %d signatures", m.made, m.of)
}

// The commits that put a transaction's signature on disk, and a message's.
var (
	signsTx      = []string{"sender.after_journal", "sender.after_bump_journal", "sender.after_cancel_journal"}
	signsMessage = "journal.after_signature"
)

// momentOf derives from a trace what is on disk when the process dies at line i.
func momentOf(trace []string, i int) (m onDisk) {
	for line, point := range trace {
		sent := slices.Contains(signsTx, point)
		if !sent && point != signsMessage {
			continue
		}
		if m.of++; line <= i {
			m.made++
			if sent {
				m.sent++
			}
		}
	}
	m.consented = i >= slices.Index(trace, "journal.after_accepted")
	return m
}

// waitingUnlock is the condition of an order that waits for a signature.
const waitingUnlock = "waiting_unlock"

// whileLocked checks a daemon that restarted locked: it finishes only what is signed.
func (p *flowRun) whileLocked(k kill) {
	p.t.Helper()
	var status protocol.KeysStatus
	if p.must("keys.status", nil, &status); status.State != protocol.KeysLocked {
		p.t.Errorf("keys are %s after the restart", status.State)
	}
	orders := p.orders()
	if !k.when.consented {
		p.checkUntouched()
		return
	}
	if len(orders) != 1 || orders[0].Request != p.request {
		p.t.Fatalf("%d orders after the restart, want ours", len(orders))
	}
	p.id = orders[0].ID
	look := p.flow.locked
	if look == nil {
		look = (*flowRun).lockedPlain
	}
	if err := look(p, k); err != nil {
		p.t.Fatalf("locked: %v", err)
	}
}

// lockedPlain is for a flow that no act interrupts: the trace says what to expect.
func (p *flowRun) lockedPlain(k kill) error {
	if p.flow.pausesChain && k.when.sent > 0 { // the act needs nothing of the user
		if err := p.flow.act(p); err != nil {
			return err
		}
	}
	if k.when.made == k.when.of {
		if p.flow.movesClock {
			return p.flow.act(p)
		}
		_, err := p.awaitOrder(p.id, ended)
		return err
	}
	o, err := p.checkStays(waitingUnlock)
	if err != nil {
		return err
	}
	if mined := len(p.observe().mined); mined != k.when.sent {
		return fmt.Errorf("%d transactions are mined, %d were signed", mined, k.when.sent)
	}
	if p.flow.act == nil && o.Step != k.when.made { // one signature for each step, unless steps are repeated
		return fmt.Errorf("it waits at step %d, and %d are signed", o.Step+1, k.when.made)
	}
	return nil
}

// checkStays waits until the order has the condition, and checks that nothing happens then for
// longer than the engine's pause.
func (p *flowRun) checkStays(condition string) (protocol.Order, error) {
	p.t.Helper()
	o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Condition == condition })
	if err != nil {
		return o, fmt.Errorf("want %q: %w", condition, err)
	}
	before := len(p.observe().distinct())
	time.Sleep(1200 * time.Millisecond)
	now, err := p.order(p.id)
	if err != nil || now.Order.Ended || now.Order.Condition != condition || now.Order.Step != o.Step {
		return o, fmt.Errorf("the order was %s, %q at step %d and is %s, %q at step %d, %w", o.State, o.Condition, o.Step, now.Order.State, now.Order.Condition, now.Order.Step, err)
	}
	if after := len(p.observe().distinct()); after != before {
		return o, fmt.Errorf("%d transactions were sent, then %d", before, after)
	}
	return o, nil
}

// A stage is how far a second action of the user has come, by what is on disk. The act and the
// engine commit from two goroutines, so a trace does not fix the order of their commits; it
// only gives the least stage.
type stage int

const (
	idle      stage = iota // the act is not on disk
	requested              // it is, and a signature is missing
	signed                 // everything is signed
)

// minStages maps points to the least stage at them.
var minStages = map[string]stage{
	"journal.after_change": requested, "sender.before_bump_journal": requested, "sender.after_bump_journal": signed,
	"sender.before_cancel_journal": requested, "sender.after_cancel_journal": signed,
}

// lockedSpeedup and lockedCancel expect an order to go on waiting for its transaction, to
// wait for the keys, or to end by what was signed.
func (p *flowRun) lockedSpeedup(k kill) error {
	return p.lockedStage(k, func(o protocol.Order) (stage, bool) {
		return stageOf(o.Speedup != "", o, "bump")
	})
}

func (p *flowRun) lockedCancel(k kill) error {
	return p.lockedStage(k, func(o protocol.Order) (stage, bool) {
		return stageOf(o.Cancelling, o, "cancel")
	})
}

// stageOf returns an order's stage once the engine has processed it.
func stageOf(asked bool, o protocol.Order, kind string) (stage, bool) {
	switch n := len(o.Attempts); {
	case o.Ended, n > 0 && o.Attempts[n-1].Kind == kind:
		return signed, true
	case asked:
		return requested, o.Condition == waitingUnlock
	default:
		return idle, n > 0
	}
}

func (p *flowRun) lockedStage(k kill, of func(protocol.Order) (stage, bool)) error {
	var at stage
	_, err := p.awaitOrder(p.id, func(o protocol.Order) (known bool) { at, known = of(o); return known })
	switch {
	case err != nil:
		return err
	case at < minStages[k.point]:
		return fmt.Errorf("the user's act is at stage %d, and was at %d", at, minStages[k.point])
	case at == signed:
		if err := p.letSecondWin(); err != nil {
			return err
		}
		_, err = p.awaitOrder(p.id, ended)
		return err
	}
	_, err = p.checkStays(map[stage]string{idle: "", requested: waitingUnlock}[at])
	return err
}

// lockedWithdraw expects the order to end once the cancel is on disk, as that needs no key.
func (p *flowRun) lockedWithdraw(kill) error {
	o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Ended || o.Condition == waitingUnlock })
	if err != nil || o.Ended {
		return err
	}
	if o.Cancelling {
		return fmt.Errorf("the order waits for keys that its end does not take")
	}
	_, err = p.checkStays(waitingUnlock)
	return err
}

// lockedRegrant checks strictly only at the flow's own points: elsewhere it is unknown how
// often the daemon asked for the swap in vain before the allowance was revoked.
func (p *flowRun) lockedRegrant(k kill) error {
	if p.flow.adds(k.point) {
		return p.lockedPlain(k)
	}
	return p.lockedWithdraw(k)
}

// lockedConsent expects a proposal to persist, and anything else to wait for the keys.
func (p *flowRun) lockedConsent(k kill) error {
	o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Condition != "" || o.Ended })
	switch {
	case err != nil:
		return err
	case k.when.made == k.when.of:
		_, err = p.awaitOrder(p.id, ended)
		return err
	case k.point == "journal.after_propose" && o.Condition != "needs_consent":
		return fmt.Errorf("what the order proposes is lost: it is %q", o.Condition)
	}
	_, err = p.checkStays(o.Condition)
	return err
}
