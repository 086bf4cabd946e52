//go:build faults && linux

package crash

import (
	"fmt"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
)

// clockShift is what a hasty flow's daemon is ahead of everybody else, so that
// quotes, which their date can only shorten, end in a few seconds.
const clockShift = 21 * time.Second

func (f flow) env(d *desk) []string {
	switch {
	case f.hasty:
		return []string{"SWAPKEEP_CLOCK_SHIFT=" + clockShift.String()}
	case f.timed:
		return []string{"SWAPKEEP_CLOCK_SHIFT=@" + d.clockFile()}
	}
	return nil
}

// cancel asks for the order's end once its call is on its way, and lets blocks
// be made again when the cancelling transaction is, too.
func (p *passage) cancel() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	if err := p.askToCancel(); err != nil {
		return err
	}
	return p.letSecondWin()
}

func (p *passage) askToCancel() error {
	err := p.ask("swap.cancel", protocol.CancelParams{Request: p.second, Order: p.id, Digest: p.digest, Password: []byte(password)}, nil)
	if named(err, "order_final") {
		return nil
	}
	return err
}

func (p *passage) letSecondWin() error {
	if err := p.awaitOffered(2); err != nil {
		return err
	}
	if _, told := p.inBook(); told != 0 && p.flow.hands() && len(p.sight().mined) == 0 {
		return fmt.Errorf("the provider was told %d times of what is not mined", told)
	}
	p.chain().Resume()
	return nil
}

// speedUp asks twice for the same speed-up, once the call is on its way, and lets
// blocks be made when the node has the transaction that pays more.
func (p *passage) speedUp() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	for range 2 {
		if err := p.ask("swap.speedup", protocol.SpeedupParams{Request: p.second, Order: p.id, Digest: p.digest, Password: []byte(password)}, nil); err != nil {
			return err
		}
	}
	return p.letSecondWin()
}

// withdraw lets the approval be mined, keeps the daemon from looking at the
// allowance, and so from signing the permit, and asks for the order's end.
func (p *passage) withdraw() error {
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
	if _, err = p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Step == 1 && o.State == "executing" || o.Final }); err != nil {
		return err
	}
	if err := p.askToCancel(); err != nil {
		return err
	}
	_, err = p.awaitOrder(p.id, final)
	p.chain().Faults.Reset()
	return err
}

// letQuoteEnd has the approval wait until its quote is over.
func (p *passage) letQuoteEnd() error {
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

// acceptLess has the price fall before the quote is over, and consents to what
// the order then proposes.
func (p *passage) acceptLess() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	if err := p.once("fall", p.sellBeside); err != nil {
		return err
	}
	if err := p.letQuoteEnd(); err != nil {
		return err
	}
	for range 10 {
		o, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Proposal != nil || o.Final || o.Digest == p.agreed })
		switch {
		case err != nil:
			return err
		case o.Final && p.agreed == "":
			return fmt.Errorf("the order ended as %s without asking", o.State)
		case o.Proposal != nil && o.Proposal.Review.Digest != p.agreed: // a new one is another act
			p.second, p.agreed = newUUID(), o.Proposal.Review.Digest
		}
		err = p.ask("swap.accept", protocol.AcceptParams{Request: p.second, Order: p.id, Digest: p.agreed, Acknowledge: unpriced, Password: []byte(password)}, nil)
		if !named(err, "consent_needed") {
			return err
		}
	}
	return fmt.Errorf("the order proposes ever new terms")
}

// outbid has somebody who pays more sell first, in the block that the order's
// call is in.
func (p *passage) outbid() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	err := p.once("fall", p.sellBeside)
	p.chain().Resume()
	return err
}

// grantBeside gives the allowance that the plan was to give, so that the daemon
// leaves its own approval out, and has no swap made for now.
func (p *passage) grantBeside() error {
	if err := allow(p.flow.in, p.flow.amount)(p); err != nil {
		return err
	}
	_, err := p.lane.DEX().Faults.Add(inject.Rule{Target: "/swap", Kind: inject.HTTP, Status: 503})
	return err
}

// ungrantBeside takes that allowance away when the permit is signed, and lets the
// swap be made once the daemon has noticed.
func (p *passage) ungrantBeside() error {
	if _, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return o.Step == 2 || o.Final }); err != nil {
		return err
	}
	if err := p.once("taken", func() error { return allow(p.flow.in, none)(p) }); err != nil {
		return err
	}
	_, err := p.awaitOrder(p.id, func(o protocol.Order) bool { return !o.Steps[0].Skipped })
	p.lane.DEX().Faults.Reset()
	return err
}

// atRest lets the world be as it is at other times.
func (p *passage) atRest() {
	p.chain().Faults.Reset()
	p.lane.DEX().Faults.Reset()
	p.chain().Resume()
	if p.ahead == 0 {
		return
	}
	if err := p.moveClock(-p.ahead); err != nil {
		p.t.Error(err)
	}
}
