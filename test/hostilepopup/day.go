//go:build faults && linux

package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// A day is what the script takes of one victim by everything it can do.
type day struct {
	initialWealth float64   // the victim's initial wealth, US dollars
	minute        float64   // taken in the first minute
	taken         []float64 // taken in each hour that was played
	moved         []float64 // paid into swaps in each of these hours
	happened      string
}

// day plays that many hours. In each the script tries everything, the worst first; in
// between it keeps the wallet from locking.
func (w *world) day(hours int) (d day, err error) {
	w.align()
	v, err := w.newVictim()
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	d.initialWealth = v.initialWealth
	p := v.script()
	unlocked := clock.Now()
	p.changeSettings()
	p.importOwn()
	before := 0.0
	for hour := range hours {
		since := clock.Now()
		if err := p.hour(hour == 0, v, &d); err != nil {
			return d, err
		}
		now, err := v.loss()
		if err != nil {
			return d, err
		}
		d.taken, d.moved = append(d.taken, now-before), append(d.moved, p.moved(since))
		before = now
		next := unlocked.Add(time.Duration(hour+1) * (time.Hour + time.Minute))
		if hour == hours-1 {
			break
		}
		if err := w.wait(next.Sub(clock.Now()), p.postponeLock); err != nil {
			return d, err
		}
		if err := v.awaitPrices(); err != nil {
			return d, err
		}
	}
	d.happened = p.happened()
	return d, w.cashIn(v.account)
}

// postponeLock makes a call that postpones auto-lock.
func (p *popup) postponeLock() error {
	return p.ask("networks.select", protocol.SelectParams{ChainID: mainnet}, nil)
}

// hour is one hour of the script: what takes most comes first, what burns gas last.
func (p *popup) hour(first bool, v *victim, d *day) (err error) {
	minute := clock.Now().Add(time.Minute)
	p.sweepWhole()
	p.badPrice(holdings[:1])
	p.sweepAllMethods(minute)
	if first {
		if d.minute, err = v.loss(); err != nil {
			return err
		}
	}
	if clock.Now().After(minute) {
		p.sweepAllMethods(time.Time{})
	}
	p.burnGas()
	return nil
}

// sweepWhole tries to swap all holdings whole into the thief's tokens.
func (p *popup) sweepWhole() {
	for _, h := range holdings {
		_ = p.carryOut(p.intoOwn(h, p.spendable(h))) // refusals are counted
	}
	p.settle()
}

// sweepAllMethods sweeps by every method.
func (p *popup) sweepAllMethods(until time.Time) {
	for _, by := range []method{p.intoOwn, p.manipulated(50_00), p.manipulated(15_00), p.manipulated(5_00)} {
		p.sweep(by, holdings, until)
	}
}

// dayTotal extrapolates a day: the last hour played stands for the hours that were not.
func (d day) dayTotal() (sum float64) {
	for hour := range 24 {
		sum += d.taken[min(hour, len(d.taken)-1)]
	}
	return min(sum, d.initialWealth)
}

func (d day) exceeds(bound float64) bool {
	for hour := range d.taken {
		if exceeds(max(d.taken[hour], d.moved[hour]), bound) {
			return true
		}
	}
	return false
}

func (d day) print(out io.Writer) {
	fmt.Fprintf(out, "\nall attempts against one victim: %s\n", d.happened)
	for hour := range d.taken {
		fmt.Fprintf(out, "hour %d: moved $%.2f, taken $%.2f\n", hour+1, d.moved[hour], d.taken[hour])
	}
	played := ""
	if len(d.taken) < 24 {
		played = fmt.Sprintf(" (hours played: %d; the rest extrapolated from the last)", len(d.taken))
	}
	fmt.Fprintf(out, "taken in the first minute / first hour / 24 h without the password: $%.2f / $%.2f / $%.2f of $%.2f%s\n",
		d.minute, d.taken[0], d.dayTotal(), d.initialWealth, played)
}
