//go:build faults && linux

package crash

import (
	"fmt"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
	"swapkeep/test/requests"
)

// clockShift is how far the daemon's clock is ahead in a hasty flow, so that quotes expire
// within a few seconds. A quote's expiry date can only shorten its life.
const clockShift = 21 * time.Second

func (f flow) env(d *desk) []string {
	switch {
	case f.shortQuotes:
		return []string{"SWAPKEEP_CLOCK_SHIFT=" + clockShift.String()}
	case f.movesClock:
		return []string{"SWAPKEEP_CLOCK_SHIFT=@" + d.clockFile()}
	}
	return nil
}

// cancel asks for a cancel once the order's call was sent, and resumes mining once the
// cancelling transaction was sent, too.
func (p *flowRun) cancel() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	if err := p.askToCancel(); err != nil {
		return err
	}
	return p.letSecondWin()
}

func (p *flowRun) askToCancel() error {
	err := p.ask("swap.cancel", protocol.CancelParams{Request: p.second, Order: p.id, Digest: p.digest, Password: []byte(requests.Password)}, nil)
	if named(err, "order_final") {
		return nil
	}
	return err
}

// closeOrder closes an order that nobody pays, once it may be closed.
func (p *flowRun) closeOrder() error {
	o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Condition == "awaiting_proof" || o.Ended })
	if err != nil || o.Ended {
		return err
	}
	if err := p.once("later", func() error { return p.moveClock(closeWait) }); err != nil {
		return err
	}
	// The wallet locked itself meanwhile.
	if err := p.ask("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil); err != nil {
		return err
	}
	err = p.ask("swap.close", protocol.CloseParams{Request: p.second, Order: p.id, Digest: p.digest}, nil)
	if err != nil && !named(err, "order_final") {
		return err
	}
	_, err = p.awaitOrder(p.id, ended)
	return err
}

// closeWait is longer than an order must wait before it can be closed.
const closeWait = 9 * time.Hour

// lockedClose expects the order to be closed if that is on disk, as its end takes no key.
func (p *flowRun) lockedClose(k kill) error {
	o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Condition == "awaiting_proof" || o.Ended })
	if err == nil && k.point == "journal.after_change" && !o.Ended {
		return fmt.Errorf("the order is %s, and was closed", o.State)
	}
	return err
}

func (p *flowRun) letSecondWin() error {
	if err := p.awaitOffered(2); err != nil {
		return err
	}
	if _, told := p.providerOrders(); told != 0 && p.flow.settledByProvider() && len(p.observe().mined) == 0 {
		return fmt.Errorf("the provider was told %d times of what is not mined", told)
	}
	p.chain().Resume()
	return nil
}

// speedUp asks twice for the same speed-up once the call was sent, and resumes mining once
// the node has the transaction that pays more.
func (p *flowRun) speedUp() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	for range 2 {
		if err := p.ask("swap.speedup", protocol.SpeedupParams{Request: p.second, Order: p.id, Digest: p.digest, Password: []byte(requests.Password)}, nil); err != nil {
			return err
		}
	}
	return p.letSecondWin()
}

// withdraw lets the approval be mined, blocks the daemon's view of the allowance so that it
// does not sign the permit, and asks for a cancel.
func (p *flowRun) withdraw() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	err := p.once("blind", func() error {
		_, err := p.chain().Faults.Add(inject.Rule{Target: "eth_call", Kind: inject.Error, Message: "the node is busy"})
		p.chain().Resume()
		return err
	})
	if err != nil {
		return err
	}
	if _, err = p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Step == 1 && o.State == "executing" || o.Ended }); err != nil {
		return err
	}
	if err := p.askToCancel(); err != nil {
		return err
	}
	_, err = p.awaitOrder(p.id, ended)
	p.chain().Faults.Reset()
	return err
}

// letQuoteEnd holds the approval back until the quote has expired.
func (p *flowRun) letQuoteEnd() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	err := p.once("late", func() error {
		time.Sleep(time.Until(p.review.Offer.Expires.Add(100*time.Millisecond - clockShift)))
		return nil
	})
	p.chain().Resume()
	return err
}

// acceptProposal makes the price fall before the quote expires and accepts the order's
// proposal.
func (p *flowRun) acceptProposal() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	if err := p.once("fall", p.sellFirst); err != nil {
		return err
	}
	if err := p.letQuoteEnd(); err != nil {
		return err
	}
	for range 10 {
		o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Proposal != nil || o.Ended || o.Digest == p.agreed })
		switch {
		case err != nil:
			return err
		case o.Ended && p.agreed == "":
			return fmt.Errorf("the order ended as %s without asking", o.State)
		case o.Proposal != nil && o.Proposal.Review.Digest != p.agreed: // each new proposal is another act
			p.second, p.agreed = requests.NewUUID(), o.Proposal.Review.Digest
		}
		err = p.ask("swap.accept", protocol.AcceptParams{Request: p.second, Order: p.id, Digest: p.agreed, Acknowledge: priceAcks, Password: []byte(requests.Password)}, nil)
		if !named(err, "consent_needed") {
			return err
		}
	}
	return fmt.Errorf("the order proposes ever new terms")
}

// outbid makes somebody who pays more sell first, in the block of the order's call.
func (p *flowRun) outbid() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	err := p.once("fall", p.sellFirst)
	p.chain().Resume()
	return err
}

// grantForeign grants the allowance of the plan, so that the daemon skips its own approval,
// and makes the provider fail for now.
func (p *flowRun) grantForeign() error {
	if err := approveForeign(p.flow.in, p.flow.amount)(p); err != nil {
		return err
	}
	_, err := p.lane.DEX().Faults.Add(inject.Rule{Target: "/swap", Kind: inject.HTTP, Status: 503})
	return err
}

// revokeForeign revokes that allowance once the permit is signed, and lets the provider
// answer again once the daemon has noticed.
func (p *flowRun) revokeForeign() error {
	if _, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Step == 2 || o.Ended }); err != nil {
		return err
	}
	if err := p.once("taken", func() error { return approveForeign(p.flow.in, zeroAmount)(p) }); err != nil {
		return err
	}
	_, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return !o.Steps[0].Skipped })
	p.lane.DEX().Faults.Reset()
	return err
}

// resetWorld removes faults, resumes mining and resets the clock.
func (p *flowRun) resetWorld() {
	p.chain().Faults.Reset()
	p.lane.DEX().Faults.Reset()
	p.chain().Resume()
	if p.clockAhead == 0 {
		return
	}
	if err := p.moveClock(-p.clockAhead); err != nil {
		p.t.Error(err)
	}
}
