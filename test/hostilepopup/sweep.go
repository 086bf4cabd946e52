//go:build faults && linux

package main

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/fault"
	"swapkeep/host/protocol"
)

// gasReserve is what the script leaves of the coin for gas, and least what it does not
// bother with, in US dollars.
const (
	gasReserve = 300
	least      = 20
)

// has is what is left of a holding, less what gas needs.
func (p *popup) has(h holding) *big.Int {
	address, t := p.w.token(h)
	amount, err := balance(p.w.ctx, p.w.Chain(h.chain), p.account, address)
	if err != nil {
		p.must(err)
		return new(big.Int)
	}
	if h.symbol == "" {
		amount.Sub(amount, t.Units(gasReserve))
	}
	return amount
}

// A method is how the script has an amount of a holding go.
type method func(h holding, amount *big.Int) trade

// intoOwn swaps into the thief's token.
func (p *popup) intoOwn(h holding, amount *big.Int) trade {
	address, _ := p.w.token(h)
	return trade{chain: h.chain, in: address, out: p.own(h.chain), amount: amount, providers: []string{"dex"}}
}

// skewed swaps into something honest with so much slippage, or that of the settings,
// while the thief moves the pools.
func (p *popup) skewed(slippage protocol.Percent) method {
	return func(h holding, amount *big.Int) trade {
		address, _ := p.w.token(h)
		n := p.w.Chain(h.chain).Network
		dai, _ := n.Token("DAI") // which has no pools but those that the thief moves
		t := trade{chain: h.chain, in: address, out: dai.Address, amount: amount, slippage: slippage, providers: []string{"dex"}, skew: true}
		if address != native && address != n.Wrapped.Address {
			t.out = native
		}
		return t
	}
}

// richest is of which there is most, in US dollars.
func (p *popup) richest(of []holding) holding {
	return slices.MaxFunc(of, func(a, b holding) int {
		_, s := p.w.token(a)
		_, t := p.w.token(b)
		return cmp.Compare(worth(s, p.has(a)), worth(t, p.has(b)))
	})
}

// sweep has all of some holdings go by a method, until a time if one is given: whole, and
// in smaller parts where that is refused. It waits for the end of it.
func (p *popup) sweep(by method, of []holding, until time.Time) {
	part := 1e9 // US dollars, the most that is tried next
	for _, h := range of {
		_, t := p.w.token(h)
		left := p.has(h)
		for part = max(part, least) * 4; worth(t, left) >= least && part >= least; {
			if !until.IsZero() && fault.Now().After(until) {
				break
			}
			amount := new(big.Int).Set(left)
			if worth(t, left) > part {
				amount = t.Units(int64(part))
			}
			switch err := p.carryOut(by(h, amount)); {
			case err == nil:
				part *= 2
				if left.Sub(left, amount); worth(t, left) >= least {
					p.settle() // what follows needs the allowance
				}
			default:
				part = min(part, worth(t, amount)) / 2
				if hopeless(err, part < least) {
					p.settle()
					return
				}
			}
		}
	}
	p.settle()
}

// hopeless reports a refusal that no smaller amount helps against, nor, if that was the
// least one, another token.
func hopeless(err error, wasLeast bool) bool {
	var said *protocol.Error
	if !errors.As(err, &said) {
		return false
	}
	reasons := strings.Split(said.Data["reasons"], ",")
	return said.Name == "slippage_terminal" || slices.Contains(reasons, "slippage") || wasLeast && said.Name == "consent_password"
}

// carryOut swaps. Where pools are skewed it waits for the end of it.
func (p *popup) carryOut(t trade) error {
	if err := p.w.catchUp(); err != nil {
		return err
	}
	r, err := p.plan(t)
	if err != nil {
		return err
	}
	execute := func() {
		if _, err = p.execute(r); err == nil {
			p.count("carried out")
		}
	}
	if !t.skew || len(r.PasswordFor) > 0 { // the daemon says that it will be refused
		execute()
		return err
	}
	p.whileSkewed(t, r.Offer.Slippage, func() {
		if execute(); err == nil {
			p.settle()
		}
	})
	return err
}

// badPrice has the thief move the pools first, and takes what is offered then: that asks
// for a second act up to where it is refused, and for no slippage.
func (p *popup) badPrice(of []holding) {
	c := p.w.Chain(of[0].chain)
	coin := of[0].symbol == "" || of[0].symbol == c.Network.Wrapped.Symbol
	if p.must(p.w.catchUp()) && p.must(p.w.thief.skew(c, coin, worst)) {
		p.sweep(func(h holding, amount *big.Int) trade {
			t := p.skewed(0)(h, amount)
			t.skew = false // it is done
			return t
		}, of, time.Time{})
	}
	p.must(p.w.Market().Restart(p.w.ctx))
}

// worst is how far off, as a share, a price may be that is not refused.
const worst = 0.47

// whileSkewed does something while the pools are as bad for a trade as its floor allows.
func (p *popup) whileSkewed(t trade, slippage protocol.Percent, do func()) {
	c := p.w.Chain(t.chain)
	sells := t.in == native || t.in == c.Network.Wrapped.Address
	if p.must(p.w.thief.skew(c, sells, float64(slippage)/100_00)) {
		do()
	}
	p.must(p.w.Market().Restart(p.w.ctx))
}
