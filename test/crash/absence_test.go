//go:build faults && linux

package crash

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/test/await"
)

// invalidateNonces is the selector of Permit2's invalidateUnorderedNonces(uint256,uint256).
var invalidateNonces = common.FromHex("0x3ff9dcb1")

// isTaken reports whether the provider has the order.
func isTaken(o protocol.Order) bool { return o.Submission != nil && o.Submission.Accepted || o.Ended }

// invalidate cancels an order that is with its provider, and waits for the proof.
func (p *flowRun) invalidate() error {
	if _, err := p.awaitOrder(p.id, isTaken); err != nil {
		return err
	}
	if err := p.askToCancel(); err != nil {
		return err
	}
	return p.awaitAbsence()
}

// letExpire lets an order's deadline pass, and waits for the proof.
func (p *flowRun) letExpire() error {
	o, err := p.awaitOrder(p.id, isTaken)
	if err != nil {
		return err
	}
	if err := p.once("later", func() error { return p.passDeadline(o) }); err != nil {
		return err
	}
	return p.awaitAbsence()
}

// passDeadline moves the chain past the last second of an order.
func (p *flowRun) passDeadline(o protocol.Order) error {
	ends := o.Steps[len(o.Steps)-1].Effect.Deadline
	if err := p.chain().ShiftTo(ends.Add(time.Second)); err != nil {
		return err
	}
	return p.chain().Mine(2 * sandboxDepth)
}

const (
	// absenceWait is a little more than the time after which the daemon searches again before
	// it accepts that something does not exist.
	absenceWait = 61 * time.Second
	// sandboxDepth is how deep a block must be.
	sandboxDepth = 2
	// pollWait and latePollWait are longer than the daemon's pause between two polls, in the first
	// minute and later.
	pollWait, latePollWait = 2 * time.Second, 7 * time.Second
)

// awaitAbsence waits for an end that takes two searches, a minute apart.
func (p *flowRun) awaitAbsence() error {
	wait := pollWait
	for range 8 {
		var err error
		if await.Holds(wait, func() bool {
			var r protocol.OrderResult
			r, err = p.order(p.id)
			return err != nil || r.Order.Ended
		}) {
			return err
		}
		if err := p.moveClock(absenceWait); err != nil {
			return err
		}
		wait = latePollWait
	}
	return fmt.Errorf("the order has no end after %s", p.clockAhead)
}

// clockFile is the file with the clock shift of a timed flow.
func (d *desk) clockFile() string { return filepath.Join(d.Dir, "clock") }

func (p *flowRun) moveClock(by time.Duration) error {
	p.clockAhead += by
	return clock.SetShift(p.clockFile(), p.clockAhead)
}

// lockedInvalidation expects a cancelled order to wait for the keys, or to end by what was signed.
func (p *flowRun) lockedInvalidation(k kill) error {
	var at stage
	_, err := p.awaitOrder(p.id, func(o protocol.Order) (known bool) {
		switch {
		case o.Ended, len(p.observe().mined) == len(p.flow.mined):
			at = signed
			return true
		case o.Cancelling:
			at = requested
			return o.Condition == waitingUnlock
		}
		at = idle
		return o.State == "settling"
	})
	switch {
	case err != nil:
		return err
	case at < minStages[k.point]:
		return fmt.Errorf("the user's act is at stage %d, and was at %d", at, minStages[k.point])
	case at == signed:
		return p.awaitAbsence()
	}
	_, err = p.checkStays(map[stage]string{idle: "", requested: waitingUnlock}[at])
	return err
}
