//go:build faults && linux

package crash

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/requests"
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

// checkAgreed checks that terms that the user accepted later, and only those, are the order's.
func (p *flowRun) checkAgreed(o protocol.Order) {
	p.t.Helper()
	if (p.agreed != "") != (p.flow.name == "consent") || p.agreed != "" && (o.Digest != p.agreed || o.Terms.MinimumReceived.Int().Cmp(p.review.Terms.MinimumReceived.Int()) >= 0) {
		p.t.Errorf("the order has digest %s and floor %s; accepted were %s with %s, then %s", o.Digest, o.Terms.MinimumReceived, p.digest, p.review.Terms.MinimumReceived, p.agreed)
	}
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
	request := requests.NewUUID()
	p.must("swap.execute", protocol.ExecuteParams{Request: request, Digest: review.Digest, Acknowledge: priceAcks, Password: []byte(requests.Password)}, &o)
	if o, err = p.awaitOrder(o.ID, ended); err != nil || o.State != "filled" {
		p.t.Fatalf("the next swap is %s (%s), %v", o.State, o.Reason, err)
	}
	s, next := p.observe(), p.nonce+used+1
	if s.next != next || s.pending != next || len(s.mined) != int(used)+1 || !isCall(s.mined[used], review.Steps[0]) {
		p.t.Errorf("after the next swap: nonce %d, pending %d, %d mined; want nonce %d", s.next, s.pending, len(s.mined), next)
	}
	p.consents = append(p.consents, consentTo(request, review.Digest, o.ID))
	p.listen()
}

var wrappedOn = map[uint64]common.Address{
	mainnet: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
	base:    weth,
}
