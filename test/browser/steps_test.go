//go:build browser

package browser

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// unlocked opens the popup and unlocks the wallet in it.
func unlocked(d *desk.Desk, b *ui.Browser) *ui.Page {
	p := b.Open("popup.html")
	unlock(p)
	return p
}

func unlock(p *ui.Page) {
	p.Fill("Password", desk.Password)
	p.Press("Enter")
	p.Find("radiogroup", "Swap provider")
}

// A trader is a user who swaps from Base in the popup of a browser.
type trader struct {
	*ui.Page
	t *testing.T
	d *desk.Desk
	w desk.Wallet

	modals string // text of the approval modals since the last order
}

// newTrader creates a wallet with coins on Base, the active network, and opens the popup.
func newTrader(t *testing.T, kind ui.Kind) *trader {
	t.Helper()
	return newTraderAt(t, kind, desk.Options{})
}

func newTraderAt(t *testing.T, kind ui.Kind, o desk.Options) *trader {
	t.Helper()
	d := desk.New(t, o)
	w := d.RichWallet(desk.Base)
	d.Fund(desk.Base, w.Address, "WETH", "2")
	d.Swapkeep("networks", "select", "8453")
	return &trader{Page: unlocked(d, d.Browser(kind)), t: t, d: d, w: w}
}

// provider chooses a provider by its name.
func (p *trader) provider(name string) { p.Choose("Swap provider", name) }

// choose chooses a token on one side of the form.
func (p *trader) choose(side, symbol string) {
	p.t.Helper()
	p.Click("button", "/^"+side+" on [^:]*: /")
	p.Fill("Search by name or address", symbol)
	p.Click("button", "/^"+symbol+" /")
	p.AwaitAbsent("dialog", "")
}

func (p *trader) pay(symbol string)     { p.t.Helper(); p.choose("You pay", symbol) }
func (p *trader) receive(symbol string) { p.t.Helper(); p.choose("You receive", symbol) }

// amount types the amount to pay.
func (p *trader) amount(text string) { p.t.Helper(); p.Fill("/^You pay on /", text) }

// to chooses the network on which the output arrives.
func (p *trader) to(network string) {
	p.t.Helper()
	p.Click("button", "/^Receive on: /")
	p.Click("button", "/^"+network+"/")
	p.AwaitAbsent("dialog", "")
}

// review waits for an offer and opens its review.
func (p *trader) review() {
	p.t.Helper()
	p.Click("button", "Review swap")
	p.Find("heading", "Review swap")
}

// confirm consents by the review's button, after confirming each warning; before that the
// button must be disabled.
func (p *trader) confirm(button string) {
	p.t.Helper()
	for _, box := range p.All("checkbox", "") {
		if !p.Disabled("button", "/confirm above$/") {
			p.t.Error("the button acts before the warnings are confirmed")
		}
		p.Click("checkbox", box.Name)
	}
	p.Click("button", button)
}

// short abbreviates a hash as the pages do.
func short(h protocol.Hash) string { return string(h[:6]) + "…" + string(h[len(h)-4:]) }

// An allowance is what a modal asks for: a transaction, or a permit by signature.
type allowance struct {
	amount string // as shown
	permit bool
}

// approve confirms allowances in order and checks that each modal shows an exact amount.
func (p *trader) approve(wanted ...allowance) {
	p.t.Helper()
	for _, a := range wanted {
		button := "Approve this amount"
		if a.permit {
			button = "Allow this amount"
		}
		p.Find("button", button)
		modal := p.In("dialog", "/^Approve spending/")
		modal.AwaitText(a.amount, "Spender", "exactly this amount")
		p.modals += modal.VisibleText()
		p.Click("button", button)
	}
}

// another leads from an order back to the form.
func (p *trader) another() {
	p.t.Helper()
	p.Click("button", "New swap")
	p.Find("radiogroup", "Swap provider")
}

// awaitEnd waits until the order's screen says that it ended, and checks that there is one order
// more than before, in that state with proof, with a digest of its own.
func (p *trader) awaitEnd(before []protocol.Order, state string) protocol.Order {
	p.t.Helper()
	o := p.awaitEnded(before)
	if o.State != state || !o.Final {
		p.t.Fatalf("the order is %s, %q (%s)", o.State, o.Condition, o.Reason)
	}
	return o
}

// awaitLikely is awaitEnd for an order whose output was received, as the provider reports.
func (p *trader) awaitLikely(before []protocol.Order) protocol.Order {
	p.t.Helper()
	o := p.awaitEnded(before)
	if o.State != "settling" || o.Condition != "likely_paid" || o.Final || !o.Reported || o.Verdict != nil || o.CandidatePayment == nil {
		p.t.Fatalf("the order is %s, %q (%s), %+v", o.State, o.Condition, o.Reason, o.Verdict)
	}
	return o
}

func (p *trader) awaitEnded(before []protocol.Order) protocol.Order {
	p.t.Helper()
	p.Find("heading", "Swap ended")
	all := p.d.Orders()
	if len(all) != len(before)+1 {
		p.t.Fatalf("there are %d orders after %d", len(all), len(before))
	}
	o := all[0]
	if !o.Ended || len(o.Digest) != 66 || slices.ContainsFunc(before, func(b protocol.Order) bool { return b.Digest == o.Digest }) {
		p.t.Fatalf("the order is %s, %q, of digest %s (%s)", o.State, o.Condition, o.Digest, o.Reason)
	}
	p.checkAllowancesUsed(o)
	return o
}

// align puts a destination's time a little ahead of Base's, which advances with each
// single-transaction block: a payment dated before its deposit would not count.
func (p *trader) align(chain uint64) {
	p.t.Helper()
	if chain == desk.Base {
		return
	}
	p.alignTo(chain, desk.Base)
}

// alignTo is align for swaps from another chain than Base.
func (p *trader) alignTo(chain, from uint64) {
	p.t.Helper()
	if err := p.d.Chain(chain).ShiftTo(p.d.Chain(from).Time().Add(15 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
}

// checkAllowancesUsed checks that no allowance of an order remains, and that a modal named each spender.
func (p *trader) checkAllowancesUsed(o protocol.Order) {
	p.t.Helper()
	for _, s := range o.Steps {
		for _, a := range s.Effect.Approves {
			if left := p.allowed(o, s.Effect, a); left.Sign() != 0 {
				p.t.Errorf("%s may still take %s of %s, by %s", a.Spender, left, a.Token, s.Effect.Kind)
			}
			if p.modals != "" && !strings.Contains(p.modals, string(a.Spender)) {
				p.t.Errorf("no modal named %s, but %s", a.Spender, p.modals)
			}
		}
	}
	p.modals = ""
}

// allowed returns an allowance on the chain: the token's own, or Permit2's.
func (p *trader) allowed(o protocol.Order, e protocol.Effect, a protocol.Approval) *big.Int {
	p.t.Helper()
	chain := p.d.Chain(e.ChainID)
	owner, token, spender := evm(cmp.Or(o.Terms.Isolated, o.Terms.Account)), evm(a.Token), evm(a.Spender)
	if e.Kind == "permit" {
		return sandboxtest.View(p.t, chain, evm(e.Target), "allowance(address,address,address)", 0, owner, token, spender)
	}
	return sandboxtest.View(p.t, chain, token, "allowance(address,address)", 0, owner, spender)
}

func evm(a protocol.Address) common.Address { return common.HexToAddress(string(a)) }

// formatAmount formats an amount as an order's screen does: all digits, thousands grouped.
func formatAmount(units *big.Int, decimals int, symbol string) string {
	digits := units.String()
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-decimals], strings.TrimRight(digits[len(digits)-decimals:], "0")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole + " " + symbol
}
