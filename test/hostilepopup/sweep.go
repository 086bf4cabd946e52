//go:build faults && linux

package main

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// gasReserve is what the script leaves for gas, and least the amount below which it does
// not try, both in US dollars.
const (
	gasReserve = 300
	minDollars = 20
)

// spendable returns the balance of a holding, less the gas reserve.
func (p *popup) spendable(h holding) *big.Int {
	address, t := p.w.token(h)
	amount, err := balance(p.w.ctx, p.w.Chain(h.chain), p.account, address)
	if err != nil {
		p.checkThief(err)
		return new(big.Int)
	}
	if h.symbol == "" {
		amount.Sub(amount, t.Units(gasReserve))
	}
	return amount
}

// A method makes a trade that takes an amount of a holding.
type method func(h holding, amount *big.Int) trade

// intoOwn swaps into the thief's token.
func (p *popup) intoOwn(h holding, amount *big.Int) trade {
	address, _ := p.w.token(h)
	return trade{chain: h.chain, in: address, out: p.ownToken(h.chain), amount: amount, providers: []string{"dex"}}
}

// manipulated swaps into an honest token with a given slippage, or the setting's if it is 0,
// while the thief moves the pools.
func (p *popup) manipulated(slippage protocol.Percent) method {
	return func(h holding, amount *big.Int) trade {
		address, _ := p.w.token(h)
		n := p.w.Chain(h.chain).Network
		dai, _ := n.Token("DAI") // has only the pools that the thief moves
		t := trade{chain: h.chain, in: address, out: dai.Address, amount: amount, slippage: slippage, providers: []string{"dex"}, skew: true}
		if address != native && address != n.Wrapped.Address {
			t.out = native
		}
		return t
	}
}

// richest returns the holding with the most US dollars.
func (p *popup) richest(of []holding) holding {
	return slices.MaxFunc(of, func(a, b holding) int {
		_, s := p.w.token(a)
		_, t := p.w.token(b)
		return cmp.Compare(worth(s, p.spendable(a)), worth(t, p.spendable(b)))
	})
}

// sweep takes all of some holdings by a method, until a time if one is given: whole, or in
// smaller parts if that is refused. It waits until the orders have ended.
func (p *popup) sweep(by method, of []holding, until time.Time) {
	part := 1e9 // US dollars, the most to try next
	for _, h := range of {
		_, t := p.w.token(h)
		left := p.spendable(h)
		for part = max(part, minDollars) * 4; worth(t, left) >= minDollars && part >= minDollars; {
			if !until.IsZero() && clock.Now().After(until) {
				break
			}
			amount := new(big.Int).Set(left)
			if worth(t, left) > part {
				amount = t.Units(int64(part))
			}
			switch err := p.carryOut(by(h, amount)); {
			case err == nil:
				part *= 2
				if left.Sub(left, amount); worth(t, left) >= minDollars {
					p.settle() // the next order needs the allowance
				}
			default:
				part = min(part, worth(t, amount)) / 2
				if hopeless(err, part < minDollars) {
					p.settle()
					return
				}
			}
		}
	}
	p.settle()
}

// hopeless reports whether a refusal would also meet any smaller amount or, if this was the
// least amount, any other token.
func hopeless(err error, wasMinimum bool) bool {
	var failure *protocol.Error
	if !errors.As(err, &failure) {
		return false
	}
	reasons := strings.Split(failure.Data["reasons"], ",")
	return failure.Name == "slippage_terminal" || slices.Contains(reasons, "slippage") || wasMinimum && failure.Name == "consent_password"
}

// carryOut swaps. If it skews the pools it waits for the end of the order.
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
			p.count("executed")
		}
	}
	if !t.skew || len(r.PasswordFor) > 0 { // the daemon says that it would refuse
		execute()
		return err
	}
	p.whileManipulated(t, r.Offer.Slippage, func() {
		if execute(); err == nil {
			p.settle()
		}
	})
	return err
}

// badPrice makes the thief move the pools first and takes the offers at that price: these
// need an acknowledgement, up to the limit from which they are refused, and no slippage.
func (p *popup) badPrice(of []holding) {
	c := p.w.Chain(of[0].chain)
	coin := of[0].symbol == "" || of[0].symbol == c.Network.Wrapped.Symbol
	if p.checkThief(p.w.catchUp()) && p.checkThief(p.w.thief.skew(c, coin, maxPriceGap)) {
		p.sweep(func(h holding, amount *big.Int) trade {
			t := p.manipulated(0)(h, amount)
			t.skew = false // done already
			return t
		}, of, time.Time{})
	}
	p.checkThief(p.w.Market().Restart(p.w.ctx))
}

// maxPriceGap is how far off a price may be, as a share, without being refused.
const maxPriceGap = 0.47

// whileManipulated runs do while the pools are as bad as a trade's minimum received allows.
func (p *popup) whileManipulated(t trade, slippage protocol.Percent, do func()) {
	c := p.w.Chain(t.chain)
	sells := t.in == native || t.in == c.Network.Wrapped.Address
	if p.checkThief(p.w.thief.skew(c, sells, float64(slippage)/100_00)) {
		do()
	}
	p.checkThief(p.w.Market().Restart(p.w.ctx))
}
