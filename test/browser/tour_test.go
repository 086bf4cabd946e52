//go:build browser

package browser

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/manifest"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// A tour visits every screen and state of the popup and calls look for each, by a name.
type tour struct {
	t    *testing.T
	kind ui.Kind
	look func(p *ui.Page, name string)
}

// Parts of the tour, each with a desk of its own.
var parts = []struct {
	name string
	lead func(*tour)
}{{"beginning", (*tour).beginning}, {"updates", (*tour).updates}, {"wallet", (*tour).wallet}, {"orders", (*tour).orders}, {"held", (*tour).held}, {"outside", (*tour).outside}}

// visit visits the parts with these names.
func (o *tour) visit(names ...string) {
	for _, part := range parts {
		if slices.Contains(names, part.name) {
			o.t.Run(part.name, func(t *testing.T) { part.lead(&tour{t, o.kind, o.look}) })
		}
	}
}

// noAnimation turns animations off, so that no colour is in transition.
var noAnimation = ui.Look{Still: true}

// beginning goes from a browser without a host to an unlocked wallet, and to a daemon that
// cannot be started any more.
func (o *tour) beginning() {
	d := desk.New(o.t, desk.Options{Look: noAnimation})
	b := d.BrowserAlone(o.kind)
	p := b.Open("popup.html")
	p.Find("heading", "Install swapkeep")
	o.look(p, "host-missing")
	d.InstallHost(o.kind)
	if o.kind == ui.Chromium {
		d.Shell(`sed -i -E 's|//[a-p]{32}/|//aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/|' ` + filepath.Join(d.Manifests(o.kind), manifest.FileName))
		p.Click("button", "Try again")
		p.Find("heading", "Allow this extension")
		o.look(p, "host-forbidden")
		d.InstallHost(o.kind)
	}
	p.Click("button", "Try again")
	p.Find("heading", "Welcome to Swapkeep")
	o.look(p, "welcome")
	o.creating(b)
	o.importing(b)
	p.Click("button", "Lock the wallet")
	p.Find("button", "Unlock")
	o.look(p, "unlock")
	for range 4 {
		p.Fill("Password", "wrong password")
		p.Press("Enter")
		p.Await("textbox", "Password", "empty again", func(e ui.Element) bool { return e.Value == "" && e.Invalid })
	}
	p.Find("button", "/^Wait /")
	o.look(p, "unlock-wait")
	if o.kind == ui.Chromium { // the relay takes ten seconds to give up
		o.stopped(d, p)
		o.lost(d, p)
	}
}

// stopped covers a daemon that the user stopped, and that only the user starts again.
func (o *tour) stopped(d *desk.Desk, p *ui.Page) {
	d.StopDaemon()
	p.Find("heading", "swapkeep was stopped")
	o.look(p, "host-stopped")
	p.Click("button", "Try again")
	p.Find("button", "Unlock")
}

// lost covers a daemon that cannot be started any more: its replacement ends at once.
func (o *tour) lost(d *desk.Desk, p *ui.Page) {
	d.Shell("mv $(command -v swapkeepd) away; printf '#!/bin/sh\\nexit 1\\n' > $(dirname $(command -v swapkeep))/swapkeepd; chmod +x $(dirname $(command -v swapkeep))/swapkeepd")
	d.KillDaemon()
	p.Find("heading", "Connection lost")
	o.look(p, "host-lost")
	d.Shell("mv away $(dirname $(command -v swapkeep))/swapkeepd")
	p.Click("button", "Try now")
	p.Find("button", "Unlock")
}

func (o *tour) creating(b *ui.Browser) {
	p := b.Open("popup.html?view=tab#create")
	p.Find("heading", "Create a wallet")
	o.look(p, "create")
	p.Fill("Password", "password12")
	p.Fill("Repeat password", "password")
	p.Click("button", "Create wallet")
	p.AwaitText("The passwords do not match.")
	o.look(p, "create-refused")
	p.Fill("Password", desk.Password)
	p.Fill("Repeat password", desk.Password)
	p.Click("button", "Create wallet")
	p.Find("heading", "Your recovery words")
	o.look(p, "words")
	words := wordsOf(p)
	p.Click("button", "I wrote them down")
	asked := p.All("textbox", "/^Word /")
	for _, field := range asked {
		p.Fill(field.Name, "wrong")
	}
	p.Click("button", "Continue")
	p.AwaitText("This is not word")
	o.look(p, "words-check")
	for _, field := range asked {
		p.Fill(field.Name, wordAt(o.t, field.Name, words))
	}
	p.Click("button", "Continue")
	p.Find("radiogroup", "Swap provider")
	p.Close()
}

func (o *tour) importing(b *ui.Browser) {
	p := b.Open("popup.html?view=tab#import")
	p.Find("heading", "Import a wallet")
	o.look(p, "import-words")
	p.Choose("Import from", "Private key")
	p.Fill("Private key", fmt.Sprintf("%064x", 0x5a))
	p.Fill("Password", desk.Password)
	p.Click("button", "Import wallet")
	p.AwaitText("The sandbox accepts only its own keys")
	o.look(p, "import-key-refused")
	p.Choose("Import from", "Key file")
	o.look(p, "import-file")
	p.Close()
}

// updates covers the screens of incompatible versions.
func (o *tour) updates() {
	d := desk.New(o.t, desk.Options{Daemon: "./test/fakedaemon", Look: noAnimation})
	d.Shell("mkdir -m 700 $SWAPKEEP_HOME && echo client daemon > $SWAPKEEP_HOME/update")
	p := d.Browser(o.kind).Open("popup.html")
	p.Find("heading", "Update the extension")
	o.look(p, "update-extension")
	p.Click("button", "Try again")
	p.Find("heading", "Update swapkeep")
	o.look(p, "update-swapkeep")
}

// wallet covers a wallet before its first swap.
func (o *tour) wallet() {
	d := desk.New(o.t, desk.Options{Look: noAnimation})
	p := tradingIn(o.t, d, o.kind)
	d.Fund(desk.Base, p.w.Address, "WETH", "2")
	o.form(d, p)
	o.otherScreens(p)
	o.accounts(p)
	o.settings(p)
}

// form covers the swap form with each provider, its dialogs, and the reviews.
func (o *tour) form(d *desk.Desk, p *trader) {
	o.look(p.Page, "form")
	p.Click("button", "/^You receive on [^:]*: /")
	p.Find("button", "/^USDC /")
	o.look(p.Page, "tokens")
	p.Fill("Search by name or address", "zzzz")
	p.AwaitText("No token found for")
	o.look(p.Page, "tokens-none")
	p.Fill("Search by name or address", o.unlistedToken(d).Hex())
	p.Click("button", "/^Look up /")
	p.Find("heading", "Import token")
	p.Find("checkbox", "")
	o.look(p.Page, "token-import")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
	p.receive("USDC")
	p.amount("0.5")
	p.ready()
	o.look(p.Page, "form-dex")
	p.Find("button", "/other offers?/")
	p.Click("button", "/other offers?/")
	o.look(p.Page, "form-offers")
	p.Click("button", "/^Slippage: /")
	p.Fill("Custom, in percent", "9")
	o.look(p.Page, "slippage")
	p.Press("Escape")
	o.reviews(p)
	o.offerChanges(p)
	o.providers(p)
	p.amount("0.00000001")
	p.provider("DEX")
	p.pay("ETH")
	p.receive("USDC")
	p.amount("999")
	p.Find("button", "Not enough ETH")
	o.look(p.Page, "form-too-much")
}

// unlistedToken returns a token that is in no list: a pool's own share.
func (o *tour) unlistedToken(d *desk.Desk) common.Address {
	chain := d.Chain(desk.Base)
	weth, usdc := sandboxtest.Token(o.t, chain, "WETH"), sandboxtest.Token(o.t, chain, "USDC")
	return common.BigToAddress(sandboxtest.View(o.t, chain, chain.Network.Contracts.V2Factory, "getPair(address,address)", 0, weth, usdc))
}

// reviews covers a fair plan, one that must be confirmed, and one with approval and permit.
func (o *tour) reviews(p *trader) {
	p.review()
	p.awaitEnabled("Swap now")
	o.look(p.Page, "review")
	p.Click("button", "/^What will be signed/")
	o.look(p.Page, "review-steps")
	p.Click("button", "Back")
	cheap := expensiveGas(p.d)
	p.amount("0.0001")
	p.review()
	p.AwaitText("This is typical of scams")
	o.look(p.Page, "review-scam")
	p.Click("button", "Back")
	cheap()
	p.d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
	p.pay("USDC")
	p.receive("WETH")
	p.amount("250.75")
	p.review()
	p.awaitEnabled("Approve and swap")
	o.look(p.Page, "review-approval")
	p.Click("button", "Approve and swap")
	p.In("dialog", "").AwaitText("250.75 USDC")
	p.In("dialog", "").AwaitNoText("…")
	p.awaitEnabled("Approve this amount")
	o.look(p.Page, "approval")
	p.Click("button", "Approve this amount")
	p.awaitEnabled("Allow this amount")
	o.look(p.Page, "approval-permit")
	p.Press("Escape") // back to the plan
	p.AwaitAbsent("dialog", "")
	p.Find("button", "Approve and swap")
	p.Click("button", "Back")
}

// offerChanges covers two offers of one provider, of which the chosen one disappears; a review of a
// quote that states a minimum; and a renewed offer that gives less.
func (o *tour) offerChanges(p *trader) {
	p.d.Control("POST", "/dex", map[string]any{"auctions": "always"}, nil)
	p.amount("300")
	p.Click("radio", "/^Auction /")
	o.look(p.Page, "form-ways")
	p.d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
	p.AwaitText("The offer you selected is no longer available.")
	o.look(p.Page, "form-choice-gone")
	truth := p.d.Lie("dex", "/quote", "/quote/aggregatedOutputs/0/minAmount", "99000000000000000")
	p.amount("301")
	p.review()
	p.AwaitText("Minimum quoted by the provider")
	o.look(p.Page, "review-told-minimum")
	p.Click("button", "Back")
	truth()

	p.d.Control("POST", "/gasless", map[string]any{"jam": map[string]any{"down": true}, "rfq": map[string]any{"validitySeconds": 20}}, nil)
	p.provider("Gasless")
	// The quote's end is by the chain's time, which may be ahead of ours.
	p.setClockAhead(max(0, time.Until(p.d.Chain(desk.Base).Time())))
	p.amount("302")
	p.review()
	p.d.Control("POST", "/gasless", map[string]any{"rfq": map[string]any{"priceBps": -30}}, nil)
	p.AwaitText("You get less: at least")
	p.awaitEnabled("Approve and swap")
	o.look(p.Page, "review-renewed-less")
	p.Click("button", "Back")
	p.d.Control("POST", "/gasless", map[string]any{"jam": map[string]any{"down": false}, "rfq": map[string]any{"priceBps": 0, "validitySeconds": 60}}, nil)
	p.setClockAhead(0)
}

// awaitEnabled waits until a button that consents is enabled, a moment after it appears.
func (p *trader) awaitEnabled(button string) {
	p.t.Helper()
	p.Await("button", button, "enabled", func(e ui.Element) bool { return !e.Disabled })
}

// providers covers the other providers' forms, each with an offer.
func (o *tour) providers(p *trader) {
	p.provider("Gasless")
	p.ready()
	o.look(p.Page, "form-gasless")
	p.provider("Bridge")
	p.Click("button", "/^Receive on: /")
	p.Find("button", "/^Arbitrum/")
	o.look(p.Page, "networks-reached")
	p.Press("Escape")
	p.to("Arbitrum")
	p.receive("USDC")
	p.amount("100")
	p.ready()
	o.look(p.Page, "form-bridge")
	p.provider("Intent")
	p.ready()
	o.look(p.Page, "form-intent")
}

// otherScreens covers the screens other than swaps.
func (o *tour) otherScreens(p *trader) {
	open(p.Page, "Receive")
	o.look(p.Page, "receive")
	open(p.Page, "Activity")
	o.look(p.Page, "activity-empty")
	p.Click("button", "Approvals")
	p.AwaitText("No approvals")
	o.look(p.Page, "allowances-empty")
	p.In("navigation", "Wallet").Click("button", "/^Assets/")
	p.Find("heading", "/^Assets on /")
	p.Find("button", "/^USDC /")
	o.look(p.Page, "assets")
	p.Click("button", "/^ETH /")
	p.Find("figure", "")
	o.look(p.Page, "token")
	p.Click("button", "/^Network: /")
	p.Click("button", "Endpoints of Base")
	p.Await("button", "Endpoints of Base", "open", func(e ui.Element) bool { return len(p.All("button", "Change endpoints of Base")) == 1 })
	o.look(p.Page, "networks")
}

func (o *tour) accounts(p *trader) {
	p.Click("button", "/^Account: /")
	p.Find("heading", "Accounts")
	p.Click("button", "/^Add account to /")
	p.AwaitText("Account 2")
	o.look(p.Page, "accounts")
	p.Click("button", "/^Rename Account 1, /")
	o.look(p.Page, "account-rename")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
	p.Click("button", "/^Remove /")
	p.Fill("Password", "wrong password")
	p.Click("button", "Remove wallet")
	p.AwaitText("Wrong password")
	o.look(p.Page, "wallet-remove")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
}

// sections lists the sections of the settings by their titles.
var sections = []string{"Swapping", "Security", "Language and theme", "Networks and RPC", "Providers", "Prices", "Advanced", "About"}

func (o *tour) settings(p *trader) {
	open(p.Page, "Settings")
	o.look(p.Page, "settings")
	for _, title := range sections {
		p.Click("button", "/^"+title+"/")
		p.Find("heading", title)
		o.look(p.Page, "settings-"+fileNameOf(title))
		switch title {
		case "Security":
			p.Click("button", "Change: Auto-lock")
			p.Fill("Minutes", "0")
			o.look(p.Page, "setting-change")
			p.Press("Escape")
		case "Networks and RPC":
			p.Click("button", "/^Change: RPC endpoints of Base/")
			o.look(p.Page, "setting-rpc")
			p.Press("Escape")
		case "Providers":
			p.Click("button", "/^Set API key: Bridge/")
			o.look(p.Page, "setting-key")
			p.Press("Escape")
		}
		p.AwaitAbsent("dialog", "")
		p.Click("button", "Back")
	}
}

// orders covers orders in progress, waiting and ended, in all variants.
func (o *tour) orders() {
	d := desk.New(o.t, desk.Options{Faults: true, Look: noAnimation})
	p := tradingIn(o.t, d, o.kind)
	d.Fund(desk.Base, p.w.Address, "WETH", "2")
	d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
	d.Control("POST", "/intent", map[string]any{"pacePercent": 10}, nil)
	o.sent(p)
	o.waitingOrders(p)
	o.providerSettled(p)
	open(p.Page, "Activity")
	o.look(p.Page, "activity")
	p.Click("button", "Lock the wallet")
	p.Find("button", "Unlock")
	o.look(p.Page, "unlock-orders")
}

// sent covers a pending swap, and one that is received.
func (o *tour) sent(p *trader) {
	p.pendingSwap()
	p.Find("button", "Speed up")
	o.look(p.Page, "order-under-way")
	p.Click("button", "Speed up")
	o.look(p.Page, "order-speed-up")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
	p.Click("button", "Cancel swap")
	o.look(p.Page, "order-cancel")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
	p.d.Chain(desk.Base).Resume()
	p.Find("heading", "Swap ended")
	o.look(p.Page, "order-received")
	p.Click("button", "Evidence")
	o.look(p.Page, "order-evidence")
	p.another()
}

// waitingOrders covers orders that wait for the user.
func (o *tour) waitingOrders(p *trader) {
	p.pay("WETH")
	p.receive("USDC")
	p.approving("0.3")
	p.lockedOrder()
	o.look(p.Page, "unlock-order-waits")
	unlock(p.Page)
	p.d.AwaitState("filled")
	p.approving("0.2")
	o.look(p.Page, "order-approving")
	p.priceMoved()
	p.Find("button", "Accept new terms")
	o.look(p.Page, "order-needs-consent")
	p.Click("button", "Cancel swap")
	p.Click("button", "Cancel order")
	p.Find("heading", "Swap ended")
	o.look(p.Page, "order-cancelled")
	p.Click("button", "Open Approvals")
	p.Find("heading", "Approvals")
	p.AwaitText("Left over from an order that ended.")
	o.look(p.Page, "allowances")
	p.Click("button", "/^Revoke/")
	p.Find("button", "Revoke now")
	o.look(p.Page, "revoke")
	p.Press("Escape")
	p.AwaitAbsent("dialog", "")
	open(p.Page, "Swap")
	p.d.SetClock(0)
}

// providerSettled covers orders that a provider settles, as it should and as it should not.
func (o *tour) providerSettled(p *trader) {
	p.provider("Intent")
	p.to("Arbitrum")
	p.pay("USDC")
	p.receive("USDC")
	for i, end := range []struct {
		ending     string
		reserve    bool // out of the deposit contract, which proves a refund
		wait, name string
	}{
		{"refund", true, "USDC refunded", "order-refunded"},
		{"fail", false, "Waiting for refund", "order-failed-unrefunded"},
		{"claim", false, "Awaiting confirmation", "order-unproven"},
	} {
		p.d.Control("POST", "/intent", map[string]any{"outcome": map[string]any{"ending": end.ending, "reserve": end.reserve}}, nil)
		p.amount(fmt.Sprint(100 + i))
		p.review()
		p.confirm("Approve and swap")
		p.Click("button", "Approve this amount")
		p.Find("heading", "Swap in progress")
		if i == 0 {
			o.look(p.Page, "order-across")
		}
		p.AwaitText(end.wait)
		o.look(p.Page, end.name)
		p.another()
	}
	o.failing(p)
}

// failing covers a transaction that reverted, as the price fell before it was mined.
func (o *tour) failing(p *trader) {
	p.provider("DEX")
	p.pay("ETH")
	p.receive("USDC")
	p.amount("0.4")
	p.review()
	p.d.Chain(desk.Base).Pause()
	p.confirm("Swap now")
	p.Find("heading", "Swap in progress")
	p.d.AwaitOrder("sent", func(o protocol.Order) bool { return len(o.Attempts) > 0 })
	tip := func(wei *big.Int) {
		if err := p.d.Chain(desk.Base).SetMinTip(wei); err != nil {
			o.t.Fatal(err)
		}
	}
	tip(big.NewInt(10e9)) // the swap pays less, so it waits
	p.d.Price("ETH", 2000)
	tip(nil)
	p.d.Chain(desk.Base).Resume()
	p.Find("heading", "Swap ended")
	p.AwaitText("The transaction failed on-chain.")
	o.look(p.Page, "order-failed")
	p.another()
}
