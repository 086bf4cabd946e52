//go:build browser

package browser

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestHeld shows, prices and swaps what a wallet holds on Monad and Arbitrum, and a token that it
// was sent there. One of the swaps is made from a throwaway account. Screens and steps are the same
// bytes in Firefox, and chains of their own take time to start, so it runs in Chromium only.
func TestHeld(t *testing.T) {
	t.Run(string(ui.Chromium), func(t *testing.T) {
		(&tour{t, ui.Chromium, func(p *ui.Page, name string) { inspect(t, p, name) }}).visit("held")
	})
}

// held covers USDC on Monad, which goes to Arbitrum by a throwaway account, and USDT on Arbitrum.
func (o *tour) held() {
	d := desk.New(o.t, desk.Options{Chains: []uint64{desk.Mainnet, desk.Monad, desk.Arbitrum}, Faults: true, Look: noAnimation})
	d.Control("POST", "/dex", map[string]any{"auctions": "never"}, nil)
	d.Control("POST", "/intent", map[string]any{"pacePercent": 0}, nil)
	w := d.Wallet()
	d.Fund(desk.Monad, w.Address, "", "100")
	d.Fund(desk.Monad, w.Address, "USDC", "500")
	d.Fund(desk.Arbitrum, w.Address, "", "1")
	d.Fund(desk.Arbitrum, w.Address, "USDT", "400")
	d.Swapkeep("networks", "select", "143")
	d.Swapkeep("tokens", "incoming", "--account", "Account 1") // the first look finds nothing
	sendStrange(o.t, d, w.Address)
	p := &trader{Page: unlocked(d, d.Browser(o.kind)), t: o.t, d: d, w: w}
	p.assets("Monad", "USDC", "500", "$500.00", "usdc")
	p.throwaway(o)
	p.incoming(o)

	d.Swapkeep("networks", "select", "42161")
	p.assets("Arbitrum One", "USDT", "400", "$400.00", "usdt")
	open(p.Page, "Swap")
	p.pay("USDT")
	p.receive("ETH")
	p.provider("DEX")
	p.amount("40")
	before := d.Orders()
	p.review()
	p.confirm("Approve and swap")
	p.approve(allowance{"40 USDT", false}, allowance{"40 USDT", true})
	p.awaitEnd(before, "filled")
	p.assets("Arbitrum One", "USDT", "360", "$360.00", "usdt")
}

// sendStrange sends the account a token on Monad that is on no list.
func sendStrange(t *testing.T, d *desk.Desk, to common.Address) {
	t.Helper()
	fake := sandboxtest.DeployFakeUSDC(t, d.Sandbox, desk.Monad)
	sandboxtest.MustTransact(t, d.Chain(desk.Monad), d.Sandbox.Accounts()[5], operator.Call{
		To: fake, Data: sandboxtest.Calldata(t, "mint(address,uint256)", to, big.NewInt(9_000_000_000)), Gas: 200_000,
	})
}

// assets opens the assets, which must list a token with its mark, balance and worth.
func (p *trader) assets(network, symbol, amount, worth, mark string) {
	p.t.Helper()
	p.In("navigation", "Wallet").Click("button", "/^Assets/")
	p.Find("heading", "Assets on "+network)
	p.AwaitText(amount + " " + worth)
	row := p.Find("button", "/^"+symbol+" verified.*"+amount+" /")
	var marks []string
	p.Eval(`[...document.querySelectorAll("main .rows img.avatar")].filter((e) => e.naturalWidth > 0).map((e) => e.getAttribute("src"))`, &marks)
	if !strings.Contains(strings.Join(marks, " "), "logos/"+mark+".svg") {
		p.t.Errorf("%s on %s has no mark among %v: %s", symbol, network, marks, row.Text)
	}
}

// throwaway swaps USDC on Monad for USDC on Arbitrum by the intent provider.
func (p *trader) throwaway(o *tour) {
	p.t.Helper()
	open(p.Page, "Swap")
	p.pay("USDC")
	p.provider("Intent")
	p.to("Arbitrum")
	p.receive("USDC")
	p.alignTo(desk.Arbitrum, desk.Monad)
	p.amount("250")
	p.ready()
	o.look(p.Page, "form-throwaway")
	before, coin, in := p.d.Orders(), p.d.Balance(desk.Monad, p.w.Address, ""), p.d.Balance(desk.Monad, p.w.Address, "USDC")
	p.review()
	p.AwaitText("Made from a throwaway account: <$0.01 more. Swapkeep cannot decode the call", "At worst it takes those two; what is left comes back by itself.")
	o.look(p.Page, "review-throwaway")
	p.Click("button", "/^What will be signed/")
	p.AwaitText("To the throwaway account", "Move 250 USDC to the throwaway account", " MON for network fees to the throwaway account", "made by the throwaway account", "Unverifiable deposit data")
	o.look(p.Page, "review-throwaway-steps")
	p.d.Chain(desk.Monad).Pause()
	p.confirm("Approve and swap")
	p.Find("button", "Approve this amount")
	o.look(p.Page, "approval-throwaway")
	p.approve(allowance{"250 USDC", false})
	p.Find("heading", "Swap in progress")
	p.d.AwaitOrder("sent", func(o protocol.Order) bool { return o.CurrentTx != "" })
	p.In("region", "Throwaway account").AwaitText("It makes the calls of this order and is used for nothing else.", "What is left there comes back by itself while the wallet is unlocked.")
	steps := p.In("list", "Steps")
	steps.AwaitText("MON for network fees to the throwaway account", "Move 250 USDC to the throwaway account", "to spend 250 USDC", "Send 250 USDC to")
	o.look(p.Page, "order-throwaway")
	p.d.Chain(desk.Monad).Resume()
	order := p.awaitLikely(before)
	p.In("region", "Received, as reported by Intent (Hyperstream); not linked to this order").AwaitText("USDC came from", "on Arbitrum One")
	back := p.In("region", "Throwaway account")
	back.AwaitText(" MON came back.")
	back.Find("link", "/^Transfer back/")
	o.look(p.Page, "order-throwaway-ended")
	if paid := in.Sub(in, p.d.Balance(desk.Monad, p.w.Address, "USDC")); paid.Cmp(big.NewInt(250e6)) != 0 {
		p.t.Errorf("%s left the account", paid)
	}
	if got := p.d.Balance(desk.Arbitrum, p.w.Address, "USDC"); got.Cmp(order.Terms.MinimumReceived.Int()) < 0 {
		p.t.Errorf("%s arrived, the floor is %s", got, order.Terms.MinimumReceived)
	}
	isolated := common.HexToAddress(string(order.Terms.Isolated))
	if left := p.d.Balance(desk.Monad, isolated, "USDC"); left.Sign() != 0 {
		p.t.Errorf("%s USDC stay in the throwaway account", left)
	}
	if spent := coin.Sub(coin, p.d.Balance(desk.Monad, p.w.Address, "")); spent.Cmp(order.Terms.GasCeiling.Int()) > 0 {
		p.t.Errorf("it cost %s, at most %s were announced", spent, order.Terms.GasCeiling)
	}
}

// incoming looks at the token that the account was sent: folded away, unverified, without price.
func (p *trader) incoming(o *tour) {
	p.t.Helper()
	p.d.SetClock(2 * time.Minute) // an account is looked at no more often than once a minute
	p.Reload()
	p.In("navigation", "Wallet").Click("button", "/^Assets/")
	p.AwaitText("Unknown tokens that came in: 1")
	p.AwaitNoText("Anyone can send you any token")
	p.Click("button", "/^Unknown tokens that came in/")
	p.AwaitText("Anyone can send you any token, with any name.", "imitation")
	p.AwaitNoText("9,000") // neither counted nor valued
	o.look(p.Page, "assets-incoming")
	p.d.SetClock(0)
}
