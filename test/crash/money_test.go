//go:build faults && linux

package crash

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
)

// input returns the token that the plan's last step spends: a provider that takes only
// tokens gets the native coin wrapped.
func (p *flowRun) input() common.Address {
	if p.flow.in == native && p.flow.spender != native {
		return wrappedOn[p.flow.chain]
	}
	return p.flow.in
}

func (p *flowRun) spender() common.Address {
	if p.flow.spender != native {
		return p.flow.spender
	}
	return permit2
}

// target returns the chain on which the output arrives.
func (f flow) target() uint64 { return cmp.Or(f.to, f.chain) }

// checkBalances checks that the account paid and received what was accepted, to the last wei
// where the amount is fixed, and only once.
func (p *flowRun) checkBalances(s observation, o protocol.Order) {
	p.t.Helper()
	want := map[common.Address]*big.Int{native: new(big.Int).Sub(gasMoney, s.spent)}
	for token, amount := range p.flow.funds {
		want[token] = new(big.Int).Set(amount)
	}
	if p.flow.ends() == "filled" {
		want[p.flow.in] = new(big.Int).Sub(want[p.flow.in], p.flow.amount)
		if p.oneForOne() {
			want[p.flow.out] = new(big.Int).Add(orZero(want[p.flow.out]), p.flow.amount)
		} else if !p.flow.revokes() {
			p.checkArrived(o)
		}
	}
	if p.input() != p.flow.in {
		want[p.input()] = new(big.Int)
	}
	for token, amount := range want {
		if got := p.balance(token); got.Cmp(amount) != 0 {
			p.t.Errorf("balance of %s is %s, want %s", token, got, amount)
		}
	}
	if (p.agreed != "") != (p.flow.name == "consent") || p.agreed != "" && (o.Digest != p.agreed || o.Terms.MinimumReceived.Int().Cmp(p.review.Terms.MinimumReceived.Int()) >= 0) {
		p.t.Errorf("the order has digest %s and floor %s; accepted were %s with %s, then %s", o.Digest, o.Terms.MinimumReceived, p.digest, p.review.Terms.MinimumReceived, p.agreed)
	}
}

// checkArrived checks that at least the minimum arrived, and less than twice that: one payment.
func (p *flowRun) checkArrived(o protocol.Order) {
	p.t.Helper()
	got, floor := sandboxtest.Balance(p.t, p.lane.Chain(p.flow.target()), p.account, p.flow.out), o.Terms.MinimumReceived.Int()
	if floor.Sign() <= 0 || got.Cmp(floor) < 0 || got.Cmp(times(2, floor)) >= 0 {
		p.t.Errorf("%s of token out arrived, the floor is %s", got, floor)
	}
}

func (p *flowRun) balance(token common.Address) *big.Int {
	p.t.Helper()
	return sandboxtest.Balance(p.t, p.chain(), p.account, token)
}

// oneForOne reports whether the flow wraps or unwraps.
func (p *flowRun) oneForOne() bool {
	wrapped := wrappedOn[p.flow.chain]
	return p.flow.to == 0 && (p.flow.in == native && p.flow.out == wrapped || p.flow.out == native && p.flow.in == wrapped)
}

func orZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// checkAllowances checks that nobody can still pull anything, except for what the flow leaves,
// which the order and the list of allowances must name. A permit was used once if a swap
// needed one.
func (p *flowRun) checkAllowances(o protocol.Order) {
	p.t.Helper()
	token, spender := p.input(), p.spender()
	if token == native {
		return
	}
	want := orZero(p.flow.remaining["erc20"])
	if got := sandboxtest.View(p.t, p.chain(), token, "allowance(address,address)", 0, p.account, spender); got.Cmp(want) != 0 {
		p.t.Errorf("%s may pull %s, want %s", spender, got, want)
	}
	permitted := func(n int) *big.Int {
		return sandboxtest.View(p.t, p.chain(), permit2, "allowance(address,address,address)", n, p.account, token, p.chain().Network.Contracts.UniversalRouter)
	}
	amount, nonce := permitted(0), permitted(2).Uint64()
	permits := uint64(0)
	if slices.Contains(p.flow.mined, "swap") {
		permits = 1
	}
	if amount.Sign() != 0 || nonce != permits {
		p.t.Errorf("the router may pull %s after %d permits; want 0 after %d", amount, nonce, permits)
	}
	if p.flow.remaining == nil {
		if len(o.Leftovers) != 0 {
			p.t.Errorf("leftovers %+v", o.Leftovers)
		}
		return
	}
	if len(o.Leftovers) != 1 || evmAddress(o.Leftovers[0].Spender) != spender || o.Leftovers[0].Amount.Int().Cmp(want) != 0 {
		p.t.Errorf("leftovers %+v, want %s to %s", o.Leftovers, want, spender)
	}
	if a, err := p.allowed(token, spender); err != nil || a.Leftover != p.id || a.Amount.Int().Cmp(want) != 0 || a.Digest == "" {
		p.t.Errorf("listed is %+v, %v; want %s left by %s", a, err, want, p.id)
	}
}

// checkNextSwap makes one more swap, which would hang if a nonce had been skipped, and checks that
// it is mined with the nonce after those used.
func (p *flowRun) checkNextSwap(used uint64) {
	p.t.Helper()
	wrap := flow{in: native, out: wrappedOn[p.flow.chain], amount: milli}
	review, err := p.reviewOf(wrap.quote(), "")
	if err != nil {
		p.t.Fatal(err)
	}
	var o protocol.Order
	p.must("swap.execute", protocol.ExecuteParams{Request: newUUID(), Digest: review.Digest, Acknowledge: priceAcks, Password: []byte(password)}, &o)
	if o, err = p.awaitOrder(o.ID, final); err != nil || o.State != "filled" {
		p.t.Fatalf("the next swap is %s (%s), %v", o.State, o.Reason, err)
	}
	s, next := p.observe(), p.nonce+used+1
	if s.next != next || s.pending != next || len(s.mined) != int(used)+1 || !isCall(s.mined[used], review.Steps[0]) {
		p.t.Errorf("after the next swap: nonce %d, pending %d, %d mined; want nonce %d", s.next, s.pending, len(s.mined), next)
	}
}

var wrappedOn = map[uint64]common.Address{
	mainnet: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
	base:    weth,
}
