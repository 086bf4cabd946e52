//go:build faults && linux

package main

import (
	"cmp"
	"errors"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/test/requests"
)

// An attempt is one thing that the script tries, and its entry in docs/security.md's table.
type attempt struct {
	name string
	can  string
	play func(*popup)
}

// attempts are each played against a new victim.
var attempts = []attempt{
	{"change settings permanently", "change settings", (*popup).changeSettings},
	{"actions that need a terminal or the password", "cannot", (*popup).overstep},
	{"pay to another address", "cannot", (*popup).payElsewhere},
	{"other connections at once", "another window's session", (*popup).otherConnections},
	{"swap all ether into its own token", "empty the account", (*popup).buyOwn},
	{"by each other provider", "empty the account", (*popup).buyOwnElsewhere},
	{"swap every asset into its own token", "acknowledgement", (*popup).buyOwnWithAll},
	{"show one plan, execute another", "another plan", (*popup).showAnother},
	{"slippage 50 %, pool price manipulated", "execute", (*popup).manipulateMost},
	{"slippage from settings, pool price manipulated", "execute", (*popup).manipulateBySettings},
	{"many plans at once, pool price manipulated", "execute", (*popup).manyAtOnce},
	{"pool price manipulated first, bad price accepted", "acknowledgement", func(p *popup) { p.badPrice(holdings[:1]) }},
	{"worsen its own order, accept the proposal", "execute", (*popup).acceptWorse},
	{"burn gas by speeding up", "execute", (*popup).burnGas},
	{"burn gas by cancels and revokes", "execute", (*popup).cancelAndRevoke},
}

// attempt plays one against a victim of its own and computes the loss.
func (w *world) attempt(a attempt) (r row, err error) {
	w.align()
	v, err := w.newVictim()
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	p, since := v.script(), clock.Now()
	a.play(p)
	p.settle()
	r = row{name: a.name, can: a.can, happened: p.happened(), moved: p.moved(since)}
	if r.taken, err = v.loss(); err != nil {
		return r, err
	}
	return r, w.cashIn(v.account)
}

// cashIn makes the thief withdraw what the victim paid into his pools.
func (w *world) cashIn(victim common.Address) error {
	for _, c := range w.Chains() {
		sold, err := balance(w.ctx, c, victim, w.thief.tokens[c.ID].Address)
		if err == nil {
			err = w.thief.cashIn(c, sold)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settings are what a script might change, each with bad values to try, the worst first.
var settings = []struct {
	key    string
	values []string
}{
	{"swap.slippage", []string{"50", "15", "5"}},
	{"keys.auto_lock", []string{"24h", "1h"}},
	{"limits.open_orders", []string{"100000"}},
	{"log.level", []string{"debug"}},
	{"prices.disabled", []string{"true"}},
	{"prices.ask_imported", []string{"true"}},
	{"prices.sources.defillama.disabled", []string{"true"}},
	{"prices.sources.onchain.disabled", []string{"true"}},
}

func (p *popup) changeSettings() {
	for _, s := range settings {
		p.set(s.key, s.values)
	}
	var all protocol.SettingsResult
	if p.ask("settings.get", nil, &all) != nil {
		return
	}
	for _, s := range all.Settings { // limits that this program does not know
		if strings.HasPrefix(s.Key, "limits.") && s.Key != "limits.open_orders" {
			p.set(s.Key, []string{cmp.Or(s.Max, "1000000")})
		}
	}
}

// set tries values until one is accepted.
func (p *popup) set(key string, values []string) {
	for _, v := range values {
		if p.ask("settings.set", protocol.SetParams{Key: key, Value: &v}, nil) == nil {
			p.count(key + " = " + v)
			return
		}
	}
}

// overstep tries calls for which no session is enough.
func (p *popup) overstep() {
	url := "http://127.0.0.1:1/"
	for _, c := range []struct {
		method string
		params any
	}{
		{"keys.export", protocol.ExportParams{Format: protocol.ExportWords}},
		{"keys.remove", protocol.RemoveParams{Request: requests.NewUUID()}},
		{"providers.set_key", protocol.SetKeyParams{Provider: "bridge", Key: []byte("its own")}},
		{"settings.set", protocol.SetParams{Key: "networks.1.rpc", Values: []string{url}}},
		{"settings.set", protocol.SetParams{Key: "providers.bridge.base_url", Value: &url}},
		{"settings.set", protocol.SetParams{Key: "fees.receiver", Value: &url}},
		{"host.stop", nil},
	} {
		if p.ask(c.method, c.params, nil) == nil {
			p.count("done: " + c.method)
		}
	}
}

// payElsewhere tries to send the output or the refund to the thief.
func (p *popup) payElsewhere() {
	t, to := p.ether(1), wire(p.w.thief.account.Address)
	for _, q := range []protocol.QuoteParams{{Recipient: to}, {RefundTo: to}} {
		q.Account, q.TokenIn, q.TokenOut, q.AmountIn = wire(p.account), wire(t.in), wire(t.out), protocol.AmountOf(t.amount)
		var offers protocol.QuoteResult
		if p.ask("swap.quote", q, &offers) == nil {
			p.count("quoted")
		}
	}
}

// otherConnections tries to execute a plan of the session's connection on other relays.
func (p *popup) otherConnections() {
	t := p.ether(3_000)
	t.out = p.ownToken(t.chain)
	r, err := p.plan(t)
	if err != nil {
		return
	}
	for range 3 {
		relay, err := p.more()
		if err != nil {
			p.count(err.Error())
			continue
		}
		params := protocol.ExecuteParams{Request: requests.NewUUID(), Digest: r.Digest, Acknowledge: requests.Acks(r.Findings)}
		if p.askOn(relay, "swap.execute", params, nil) == nil {
			p.count("executed")
		}
		_, _ = relay.Stop()
	}
}

// ether is an honest swap of some dollars of mainnet's coin into USDC.
func (p *popup) ether(dollars int64) trade {
	n := p.w.Chain(mainnet).Network
	usdc, _ := n.Token("USDC")
	return trade{chain: mainnet, in: native, out: usdc.Address, amount: n.Wrapped.Units(dollars)}
}

// ownToken returns the thief's token on a chain.
func (p *popup) ownToken(chain uint64) common.Address { return p.w.thief.tokens[chain].Address }

// importOwn imports the thief's tokens, for which the user is never asked.
func (p *popup) importOwn() {
	for chain, t := range p.w.thief.tokens {
		if p.ask("tokens.import", protocol.ImportTokenParams{ChainID: chain, Address: wire(t.Address)}, nil) == nil {
			p.count("imported")
		}
	}
}

func (p *popup) buyOwn() {
	p.importOwn()
	p.sweep(p.intoOwn, holdings[:1], time.Time{})
}

func (p *popup) buyOwnWithAll() {
	p.importOwn()
	p.sweep(p.intoOwn, holdings, time.Time{})
}

// buyOwnElsewhere tries the providers other than the DEX, on one chain and across chains.
func (p *popup) buyOwnElsewhere() {
	p.importOwn()
	for _, kind := range []string{"bridge", "intent", "gasless"} {
		for _, h := range []holding{holdings[0], holdings[2]} {
			t := p.intoOwn(h, p.spendable(h))
			t.providers = []string{kind}
			p.carryOut(t)
		}
	}
}

// showAnother makes a small honest plan, which the user sees, and executes another.
func (p *popup) showAnother() {
	if _, err := p.plan(p.ether(10)); err == nil {
		p.count("shown: $10 into USDC")
	}
	p.importOwn()
	p.carryOut(p.intoOwn(holdings[5], p.spendable(holdings[5])))
}

func (p *popup) manipulateMost() { p.sweep(p.manipulated(50_00), holdings[:1], time.Time{}) }

// manipulateBySettings first raises the slippage setting as far as allowed.
func (p *popup) manipulateBySettings() {
	p.set(settings[0].key, settings[0].values)
	p.sweep(p.manipulated(0), holdings[:1], time.Time{})
}

// manyAtOnce executes plans at the same time that together are worth more than one may be.
func (p *popup) manyAtOnce() {
	const plans, each = 8, 3_000
	t := p.manipulated(5_00)(holdings[0], nil)
	var ready []protocol.Review
	for i := range int64(plans) {
		t.amount = p.w.Chain(t.chain).Network.Wrapped.Units(each + i)
		if r, err := p.plan(t); err == nil {
			ready = append(ready, r)
		}
	}
	if len(ready) == 0 {
		return
	}
	p.whileManipulated(t, ready[0].Offer.Slippage, func() {
		var all sync.WaitGroup
		for _, r := range ready {
			all.Go(func() {
				if _, err := p.execute(r); err == nil {
					p.count("executed")
				}
			})
		}
		all.Wait()
		p.settle()
	})
}

// acceptWorse makes an order whose first step is an approval. While that is mined the thief
// moves the pools, so that the order proposes less, which is then accepted; this should
// count like another swap. These tokens have only the pools that he moves.
func (p *popup) acceptWorse() {
	h := p.richest(holdings[3:5])
	_, token := p.w.token(h)
	for dollars := int64(worth(token, p.spendable(h))); dollars >= minDollars; dollars = min(dollars, 4_600) / 2 {
		t := p.manipulated(0)(h, token.Units(dollars))
		r, err := p.plan(t)
		if err == nil {
			_, err = p.execute(r)
		}
		if err == nil {
			p.count("executed")
			p.whileManipulated(t, 45_00, func() { p.checkThief(p.w.atPace(10, p.settle)) })
			return
		}
	}
}

// checkThief counts failures of the thief himself, which are mistakes of this program.
func (p *popup) checkThief(err error) bool {
	if err != nil {
		p.count("the thief failed: " + err.Error())
	}
	return err == nil
}

// maxGasCeiling is a speed-up's highest gas ceiling on mainnet: ten times the network's ceiling.
var maxGasCeiling = protocol.AmountOf(new(big.Int).Mul(big.NewInt(5), big.NewInt(1e17)))

// burnGas wraps small amounts and outbids itself for some seconds, while no block takes
// them.
func (p *popup) burnGas() {
	const orders = 2
	c := p.w.Chain(mainnet)
	p.checkThief(c.SetMinTip(unpayable))
	var open []protocol.Order
	for i := range int64(orders) {
		o, err := p.swap(trade{chain: mainnet, in: native, out: c.Network.Wrapped.Address, amount: c.Network.Wrapped.Units(3 + i), providers: []string{"dex"}})
		if err == nil {
			p.count("executed")
			open = append(open, o)
		}
	}
	for end := time.Now().Add(6 * time.Second); len(open) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, o := range open {
			p.outbid(o.ID)
		}
	}
	p.checkThief(c.SetMinTip(nil))
	p.settle()
}

// unpayable is a minimum tip, in wei per gas, that no order offers.
var unpayable = big.NewInt(1e15)

// outbid speeds an order up again, with a higher gas ceiling if it still has the accepted
// one.
func (p *popup) outbid(order string) {
	var now protocol.OrderResult
	if p.ask("swap.order", protocol.OrderParams{Order: order}, &now) != nil || now.Order.CurrentTx == "" || now.Order.Speedup != "" {
		return
	}
	s := protocol.SpeedupParams{Request: requests.NewUUID(), Order: order, Digest: now.Order.Digest, Tier: protocol.TierFast}
	if now.Order.Terms.GasCeiling != maxGasCeiling {
		s.GasCeiling = maxGasCeiling
	}
	if p.ask("swap.speedup", s, nil) == nil {
		p.count("sped up")
		return
	}
	if s.GasCeiling != "" {
		s.Request, s.GasCeiling = requests.NewUUID(), ""
		if p.ask("swap.speedup", s, nil) == nil {
			p.count("sped up within the ceiling")
		}
	}
}

// cancelAndRevoke starts swaps, cancels each once its approval is mined, and revokes the
// remaining allowance: three transactions for nothing.
func (p *popup) cancelAndRevoke() {
	c, h := p.w.Chain(mainnet), holdings[2]
	_, usdc := p.w.token(h)
	for i := range int64(2) {
		c.Pause()
		o, err := p.swap(trade{chain: mainnet, in: usdc.Address, out: native, amount: usdc.Units(100 + i), providers: []string{"dex"}})
		if err == nil {
			p.count("executed")
			p.cancelApproved(o.ID)
		}
		c.Resume()
		p.settle()
		p.revoke()
		p.settle()
	}
}

// cancelApproved mines blocks until an order's approval is confirmed, and cancels the rest.
func (p *popup) cancelApproved(order string) {
	for range 40 {
		time.Sleep(100 * time.Millisecond)
		var now protocol.OrderResult
		if p.ask("swap.order", protocol.OrderParams{Order: order}, &now) != nil {
			return
		}
		if o := now.Order; o.Step == 0 || o.CurrentTx == "" {
			p.checkThief(p.w.Chain(o.Terms.SrcChainID).Mine(1))
			continue
		}
		if p.ask("swap.cancel", protocol.CancelParams{Request: requests.NewUUID(), Order: order, Digest: now.Order.Digest}, nil) == nil {
			p.count("cancelled")
		}
		return
	}
}

func (p *popup) revoke() {
	for page, first := (protocol.ApprovalsResult{}), true; first || page.Cursor != ""; first = false {
		params := protocol.ApprovalsParams{Account: wire(p.account), Cursor: page.Cursor}
		page = protocol.ApprovalsResult{}
		if p.ask("approvals.list", params, &page) != nil {
			return
		}
		for _, a := range page.Allowances {
			if a.Digest != "" && p.ask("approvals.revoke", protocol.RevokeParams{Request: requests.NewUUID(), Digest: a.Digest}, nil) == nil {
				p.count("revoked")
			}
		}
	}
}
