//go:build faults && linux

package soak

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/sandbox/dexsim"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

const (
	mainnet = 1
	base    = 8453
)

var (
	native = common.Address{}
	usdc   = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48") // on mainnet
	usdt   = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7") // on mainnet
	weth   = common.HexToAddress("0x4200000000000000000000000000000000000006") // on base
	dollar = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913") // USDC on base

	milli   = big.NewInt(1e15)
	dollars = big.NewInt(20e6)
)

// A userSwap is a swap that the user makes.
type userSwap struct {
	name, kind, route string
	chain, to         uint64 // to: 0 is the same chain
	in, out           common.Address
	amount            *big.Int
	dex               dexsim.Settings // the simulator's settings for it; none: only the pools
	ends              string
}

var (
	auctions    = dexsim.Settings{MakerRecipient: dexsim.DefaultSettings.MakerRecipient, Auctions: dexsim.AuctionsAlways}
	neverFilled = dexsim.Settings{MakerRecipient: dexsim.DefaultSettings.MakerRecipient, Auctions: dexsim.AuctionsAlways, Outcome: dexsim.Outcome{Fill: "never"}, DeadlineSeconds: 60}
)

// likely is the end of an order without proof, whose provider names a payment.
const likely = "likely_paid"

// userSwaps are made in turn, one each round.
var userSwaps = []userSwap{
	{name: "wrap", kind: "dex", chain: base, out: weth, amount: milli, ends: "filled"},
	{name: "dex", kind: "dex", chain: base, in: dollar, out: weth, amount: dollars, ends: "filled"},
	{name: "gasless", kind: "gasless", route: "JAM", chain: mainnet, in: usdc, out: usdt, amount: dollars, ends: "filled"},
	{name: "unwanted", kind: "dex", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, dex: neverFilled, ends: "expired"},
	{name: "bridge", kind: "bridge", chain: base, to: mainnet, in: dollar, out: usdc, amount: dollars, ends: "filled"},
	{name: "intent", kind: "intent", chain: base, to: mainnet, amount: milli, ends: likely},
	{name: "auction", kind: "dex", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, dex: auctions, ends: "filled"},
}

// A user visits from time to time.
type user struct {
	*home
	account common.Address
	orders  map[string]userSwap
	tally
}

// A tally counts events.
type tally struct{ unlocks, quotes, refreshed, expiredPlans, made, filled, likelyPaid, expiredOrders int }

// newUser creates the user's wallet and funds it.
func newUser(t *testing.T, h *home) *user {
	t.Helper()
	u := &user{home: h, orders: map[string]userSwap{}}
	w := h.window()
	defer w.closeWindow()
	w.must("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, nil)
	w.must("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
	u.unlocks++
	var r protocol.AccountsResult
	w.must("keys.accounts", nil, &r)
	u.account = common.HexToAddress(string(r.Accounts[0].Address))
	for _, has := range []struct {
		chain  uint64
		token  common.Address
		amount int64
	}{{mainnet, native, 5e18}, {base, native, 5e18}, {mainnet, usdc, 5000e6}, {base, dollar, 5000e6}} {
		if err := world.Chain(has.chain).Fund(t.Context(), u.account, has.token, big.NewInt(has.amount)); err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// visit plays a user at the wallet: unlock, look around, swap, leave a quote watched,
// accept a plan too late, and close the window without locking.
func (u *user) visit(round int) {
	u.t.Helper()
	w := u.window()
	defer w.closeWindow()
	u.movePrice(round)
	d := userSwaps[round%len(userSwaps)]
	if err := world.DEX().Set(d.settings()); err != nil {
		u.t.Fatal(err)
	}
	w.must("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
	u.unlocks++
	w.must("networks.select", protocol.SelectParams{ChainID: d.chain}, nil)
	u.lookAround(w, d)
	u.swap(w, d)
	u.watch(w, d)
	u.acceptTooLate(w, d)
}

func (d userSwap) settings() dexsim.Settings {
	if d.dex.Auctions != "" {
		return d.dex
	}
	s := dexsim.DefaultSettings
	s.Auctions = dexsim.AuctionsNever
	return s
}

// acceptTooLate accepts a plan only after its quote has expired, which must be refused.
func (u *user) acceptTooLate(w *window, d userSwap) {
	u.t.Helper()
	review, err := u.review(w, d)
	if err != nil {
		u.t.Errorf("%s, to be left: %v", d.name, err)
		return
	}
	setPace(u.t, fastPace)
	waitUntil(review.Expires.Add(time.Minute))
	setPace(u.t, slowPace)
	err = w.ask("swap.execute", protocol.ExecuteParams{Request: requests.NewUUID(), Digest: review.Digest, Password: []byte(requests.Password)}, nil)
	if !errors.Is(err, protocol.New("quote_expired", "")) && !errors.Is(err, protocol.New("plan_unknown", "")) {
		u.t.Errorf("%s, a minute after it was over: %v", d.name, err)
		return
	}
	u.expiredPlans++
}

// lookAround sends the requests of a popup.
func (u *user) lookAround(w *window, d userSwap) {
	u.t.Helper()
	w.must("prices.list", protocol.PricesParams{Limit: 200}, nil)
	var chart protocol.PriceHistory
	if w.must("prices.history", protocol.PriceHistoryParams{Token: protocol.Address(d.in.Hex()), Period: "week"}, &chart); len(chart.Candles) == 0 {
		u.t.Errorf("%s: an empty chart", d.name)
	}
	w.must("tokens.search", protocol.SearchParams{Query: "USD"}, nil)
	w.must("tokens.balances", protocol.BalancesParams{Account: protocol.Address(u.account.Hex())}, nil)
	w.must("swap.orders", protocol.OrdersParams{}, nil)
	w.must("gas.watch", protocol.GasWatchParams{}, nil)
	w.must("approvals.list", protocol.ApprovalsParams{Account: protocol.Address(u.account.Hex())}, nil)
}

func (u *user) quote(w *window, d userSwap, watch bool) (r protocol.QuoteResult, err error) {
	u.quotes++
	err = w.ask("swap.quote", protocol.QuoteParams{
		Account: protocol.Address(u.account.Hex()), TokenIn: protocol.Address(d.in.Hex()), TokenOut: protocol.Address(d.out.Hex()),
		AmountIn: protocol.AmountOf(d.amount), DstChainID: d.to, Providers: []string{d.kind}, Watch: watch,
	}, &r)
	return r, err
}

// review prepares an offer of the deal for acceptance.
func (u *user) review(w *window, d userSwap) (r protocol.Review, err error) {
	q, err := u.quote(w, d, false)
	if err != nil {
		return r, err
	}
	i := slices.IndexFunc(q.Offers, func(o protocol.Offer) bool { return d.route == "" || o.Routing == d.route })
	if i < 0 {
		return r, fmt.Errorf("%d offers, none of route %q: %v", len(q.Offers), d.route, q.Failures)
	}
	err = w.ask("swap.prepare", protocol.PrepareParams{Offer: q.Offers[i].ID}, &r)
	if err == nil && r.Blocked {
		err = fmt.Errorf("blocked: %+v", r.Findings)
	}
	return r, err
}

// swap makes an order. On a busy machine a quote may expire before it is accepted; then it
// slows the clock and tries again.
func (u *user) swap(w *window, d userSwap) {
	u.t.Helper()
	var o protocol.Order
	var err error
	for slow := float64(slowPace); slow >= 1; slow /= 3 {
		setPace(u.t, slow)
		var r protocol.Review
		if r, err = u.review(w, d); err != nil {
			continue
		}
		if err = w.ask("swap.execute", protocol.ExecuteParams{Request: requests.NewUUID(), Digest: r.Digest, Acknowledge: requests.Acks(r.Findings), Password: []byte(requests.Password)}, &o); err == nil {
			break
		}
	}
	if err != nil {
		u.t.Errorf("%s: %v", d.name, err)
		return
	}
	u.made++
	u.orders[o.ID] = d
	defer setPace(u.t, slowPace)
	if d.ends != "expired" {
		u.awaitEnd(w, o.ID)
	} else {
		u.awaitThat(w, o.ID, func(o protocol.Order) bool { return o.Ended || o.State == "settling" })
	}
}

func (u *user) awaitEnd(w *window, id string) {
	u.t.Helper()
	u.awaitThat(w, id, func(o protocol.Order) bool { return o.Ended })
}

func (u *user) awaitThat(w *window, id string, is func(protocol.Order) bool) {
	u.t.Helper()
	var r protocol.OrderResult
	if await.Holds(patience, func() bool { w.must("swap.order", protocol.OrderParams{Order: id}, &r); return is(r.Order) }) {
		return
	}
	u.t.Errorf("the %s order is still %s, %q: %s", u.orders[id].name, r.Order.State, r.Order.Condition, r.Order.Reason)
}

// watch watches offers until they were refreshed, and leaves the watch active.
func (u *user) watch(w *window, d userSwap) {
	u.t.Helper()
	if _, err := u.quote(w, d, true); err != nil {
		u.t.Errorf("%s, to be watched: %v", d.name, err)
		return
	}
	for len(w.Notifications()) > 0 {
		<-w.Notifications()
	}
	for late := time.After(patience); ; {
		select {
		case n := <-w.Notifications():
			if n.Method == "swap.quoted" {
				u.refreshed++
				return
			}
		case <-late:
			u.t.Errorf("%s is not refreshed", d.name)
			return
		}
		w.must("swap.watch", protocol.WatchParams{}, nil)
	}
}

// checkEnds checks how orders ended, except those of the last minutes that are still open.
func (u *user) checkEnds(w *window) {
	u.t.Helper()
	for id, d := range u.orders {
		var r protocol.OrderResult
		w.must("swap.order", protocol.OrderParams{Order: id}, &r)
		switch {
		case !r.Order.Ended && clock.Now().Sub(r.Order.Created) < 10*time.Minute:
			continue
		case d.ends == likely && r.Order.Condition == likely && r.Order.State == "settling" && r.Order.Verdict == nil:
			u.likelyPaid++
		case r.Order.State != d.ends || r.Order.Verdict == nil:
			u.t.Errorf("the %s order is %s (%s), want %s", d.name, r.Order.State, r.Order.Reason, d.ends)
		case d.ends == "filled":
			u.filled++
		default:
			u.expiredOrders++
		}
		delete(u.orders, id)
	}
}
