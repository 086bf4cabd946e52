package engine

import (
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// fourSteps is an ERC-20 plan with a reset, approval, permit and a swap with the permit.
func fourSteps() (swap.Terms, []swap.Effect) {
	t, f := erc20()
	reset := f[0]
	reset.Approves = []swap.Approval{{Token: usdc, Spender: permit2, Amount: new(big.Int)}}
	f[2].Approves = []swap.Approval{{Token: usdc, Spender: router, Amount: big.NewInt(1000), Until: f[1].Approves[0].Until}}
	return t, append([]swap.Effect{reset}, f...)
}

func TestLeftovers(t *testing.T) {
	terms, f := fourSteps()
	f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(1250), big.NewInt(250)
	done := swap.Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{Success: true}}
	failed := swap.Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{}}
	signed := swap.Result{Signature: make([]byte, 65)}
	for name, c := range map[string]struct {
		state   swap.State
		results []swap.Result
		order   bool  // the last step is a signed order
		spent   int64 // spent amount in the verdict; 0: the verdict has none
		left    int64 // unused part of the approved amount
	}{
		"still open":                 {swap.Executing, []swap.Result{done, done}, false, 0, 0},
		"filled":                     {swap.Filled, []swap.Result{done, done, signed, done}, false, 0, 0},
		"nothing approved":           {swap.Cancelled, nil, false, 0, 0},
		"only reset":                 {swap.Cancelled, []swap.Result{done}, false, 0, 0},
		"approved":                   {swap.Cancelled, []swap.Result{done, done}, false, 0, 1000},
		"approved and permitted":     {swap.Expired, []swap.Result{done, done, signed}, false, 0, 1000},
		"the approval was skipped":   {swap.Expired, []swap.Result{done, {Skipped: true}, signed}, false, 0, 0},
		"the approval failed":        {swap.Failed, []swap.Result{done, failed}, false, 0, 0},
		"the swap failed":            {swap.Failed, []swap.Result{done, done, signed}, false, 0, 1000},
		"pulled and sent back":       {swap.Refunded, []swap.Result{done, done, signed, done}, false, 0, 0},
		"a signed order that ended":  {swap.Expired, []swap.Result{done, done, signed, signed}, true, 0, 1000},
		"a signed order that filled": {swap.Filled, []swap.Result{done, done, signed, signed}, true, 0, 0},
		"filled to the last unit":    {swap.Filled, []swap.Result{done, done, signed, signed}, true, 1000, 0},
		"filled in part":             {swap.Filled, []swap.Result{done, done, signed, signed}, true, 400, 600},
	} {
		o := swap.Order{Consent: swap.Consent{Terms: terms}, Progress: swap.Progress{State: c.state, Results: c.results}}
		for _, e := range f {
			o.Plan.Steps = append(o.Plan.Steps, swap.Step{Effect: e})
		}
		if c.order {
			o.Plan.Steps[3].Effect.Kind = swap.Signed
		}
		if c.spent > 0 {
			o.Verdict = &swap.Verdict{State: swap.Filled, Spent: &swap.Spend{Token: usdc, Amount: big.NewInt(c.spent)}}
		}
		left := Leftovers(o)
		if (len(left) == 1) != (c.left > 0) {
			t.Errorf("%s: leftovers %v, want one of %d (0 = none)", name, left, c.left)
		}
		if len(left) == 1 && (left[0].Amount.Int64() != c.left || left[0].Spender != permit2 || left[0].Token != usdc || left[0].Shares != nil) {
			t.Errorf("%s: %+v", name, left[0])
		}
	}
}

// TestExceeded checks that an allowance is attributed to an ended order that approved for
// others as well, if no more is left than it approved. More is somebody else's.
func TestExceeded(t *testing.T) {
	terms, f := fourSteps()
	f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(1250), big.NewInt(250)
	done := swap.Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{Success: true}}
	o := swap.Order{Consent: swap.Consent{Terms: terms}, Progress: swap.Progress{State: swap.Filled, Results: []swap.Result{done, done, {Signature: make([]byte, 65)}, done}}}
	for _, e := range f {
		o.Plan.Steps = append(o.Plan.Steps, swap.Step{Effect: e})
	}
	_, f = fourSteps()
	alone := slices.Clone(o.Plan.Steps)
	alone[1] = swap.Step{Effect: f[1]}
	present := Allowance{Token: usdc, Spender: permit2, Amount: big.NewInt(250)}
	for name, c := range map[string]struct {
		change func(*swap.Order, *Allowance)
		want   bool
	}{
		"another's share":      {func(*swap.Order, *Allowance) {}, true},
		"still open":           {func(o *swap.Order, _ *Allowance) { o.State = swap.Settling }, false},
		"more than it allowed": {func(_ *swap.Order, a *Allowance) { a.Amount = big.NewInt(1251) }, false},
		"of another spender":   {func(_ *swap.Order, a *Allowance) { a.Spender = router }, false},
		"it allowed its own":   {func(o *swap.Order, _ *Allowance) { o.Plan.Steps = alone }, false},
		"it allowed nothing":   {func(o *swap.Order, _ *Allowance) { o.Results = []swap.Result{done, {Skipped: true}} }, false},
	} {
		o, a := o, present
		c.change(&o, &a)
		if got := exceeded(o, a); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// TestPrepareRefusesApprovals checks that Prepare refuses what a provider must not do
// with an ERC-20 input, before the user is asked.
func TestPrepareRefusesApprovals(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	for name, c := range map[string]struct {
		code  swap.Code
		token common.Address
		twist func(*swap.Built)
	}{
		"its own approval": {swap.NotAsAccepted, usdc, func(x *swap.Built) {
			c := approveCall(swap.Terms{SrcChain: 1, Account: b.from, TokenIn: usdc}, permit2, big.NewInt(thousand))
			x.Steps = append([]swap.Step{{Kind: swap.CallStep, Call: &c}}, x.Steps...)
		}},
		"another spender":        {swap.NotPinned, usdc, func(x *swap.Built) { x.Spender = thief }},
		"the router as spender":  {swap.NotPinned, usdc, func(x *swap.Built) { x.Spender = router }},
		"a late permit":          {swap.Undecodable, usdc, func(x *swap.Built) { x.Steps[1].Effect.Kind = swap.Permit }},
		"a late approval":        {swap.NotAsAccepted, usdc, func(x *swap.Built) { x.Steps[1].Effect.Kind = swap.Approve }},
		"late before the permit": {swap.Undecodable, usdc, func(x *swap.Built) { slices.Reverse(x.Steps) }},
		"more than the permit":   {swap.NotAsAccepted, usdc, func(x *swap.Built) { x.Steps[1].Effect.Approves[0].Amount = big.NewInt(1 << 60) }},
	} {
		t.Run(name, func(t *testing.T) {
			tr.set(func(tr *trader) { tr.alterBuilt = c.twist })
			_, err := b.review(c.token, thousand)
			refusedWith(t, err, c.code)
		})
	}
	b.wantNonce(0)
}
