package swap

import (
	"bytes"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// fourSteps is an ERC-20 plan with a reset, approval, permit and a swap with the permit.
func fourSteps() (Terms, []Effect) {
	t, f := erc20()
	reset := f[0]
	reset.Approves = []Approval{{Token: usdc, Spender: permit2, Amount: new(big.Int)}}
	f[2].Approves = []Approval{{Token: usdc, Spender: router, Amount: big.NewInt(1000), Until: f[1].Approves[0].Until}}
	return t, append([]Effect{reset}, f...)
}

func TestCheckAcceptsApprovals(t *testing.T) {
	for name, change := range map[string]func([]Effect) []Effect{
		"all four":           func(f []Effect) []Effect { return f },
		"no reset":           func(f []Effect) []Effect { return f[1:] },
		"allowed already":    func(f []Effect) []Effect { return f[2:] },
		"without a permit":   func(f []Effect) []Effect { f[3].Approves = nil; return []Effect{f[0], f[1], f[3]} },
		"a shorter permit":   func(f []Effect) []Effect { f[3].Approves[0].Until = noon.Add(time.Hour); return f },
		"a permit for later": func(f []Effect) []Effect { f[3].Approves = nil; return f },
		"with a share": func(f []Effect) []Effect {
			f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(1250), big.NewInt(250)
			return f
		},
	} {
		terms, f := fourSteps()
		if err := Check(terms, change(f), testPins); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckRefusesApprovals(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	set := func(n, shares int64) func([]Effect) []Effect {
		return func(f []Effect) []Effect {
			f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(n), big.NewInt(shares)
			return f
		}
	}
	for name, c := range map[string]struct {
		code   Code
		change func([]Effect) []Effect
	}{
		"reset last":                 {NotAsAccepted, func(f []Effect) []Effect { return []Effect{f[1], f[0], f[2], f[3]} }},
		"two resets":                 {NotAsAccepted, func(f []Effect) []Effect { return slices.Insert(f, 0, f[0]) }},
		"two approvals":              {NotAsAccepted, func(f []Effect) []Effect { return slices.Insert(f, 1, f[1]) }},
		"two permits":                {NotAsAccepted, func(f []Effect) []Effect { return slices.Insert(f, 2, f[2]) }},
		"permit before approval":     {NotAsAccepted, func(f []Effect) []Effect { return []Effect{f[2], f[1], f[3]} }},
		"more than amount and share": {NotAsAccepted, set(1251, 250)},
		"less than amount and share": {NotAsAccepted, set(1249, 250)},
		"only the share":             {NotAsAccepted, set(250, 250)},
		"the share unsaid":           {NotAsAccepted, set(1250, 0)},
		"a negative share":           {NotAsAccepted, set(750, -250)},
		"beyond 256 bits": {NotAsAccepted, func(f []Effect) []Effect {
			f[1].Approves[0].Shares, f[1].Approves[0].Amount = most, new(big.Int).Add(most, big.NewInt(1000))
			return f
		}},
		"unlimited":                   {NotAsAccepted, func(f []Effect) []Effect { f[1].Approves[0].Amount = most; return f }},
		"an approval with an end":     {NotUnderstood, func(f []Effect) []Effect { f[1].Approves[0].Until = noon; return f }},
		"a permit with a share":       {NotUnderstood, func(f []Effect) []Effect { f[2].Approves[0].Shares = big.NewInt(1); return f }},
		"carried: without the permit": {NotAsAccepted, func(f []Effect) []Effect { return []Effect{f[0], f[1], f[3]} }},
		"carried: another spender":    {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Spender = thief; return f }},
		"carried: another token":      {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Token = weth; return f }},
		"carried: more":               {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Amount = big.NewInt(1001); return f }},
		"carried: less":               {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Amount = big.NewInt(999); return f }},
		"carried: no amount":          {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Amount = nil; return f }},
		"carried: longer":             {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Until = f[3].Approves[0].Until.Add(time.Second); return f }},
		"carried: for ever":           {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Until = time.Time{}; return f }},
		"carried: with a share":       {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves[0].Shares = new(big.Int); return f }},
		"carried: two":                {NotAsAccepted, func(f []Effect) []Effect { f[3].Approves = append(f[3].Approves, f[3].Approves[0]); return f }},
		"carried: by a signed order":  {NotAsAccepted, func(f []Effect) []Effect { f[3].Kind, f[3].Target, f[3].Settler = Signed, permit2, reactor; return f }},
		"an approval before unwrapping": {NotAsAccepted, func(f []Effect) []Effect {
			return []Effect{f[1], {Kind: Unwrap, Chain: 1, Target: weth}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			terms, f := fourSteps()
			refusedWith(t, Check(terms, c.change(f), testPins), c.code)
		})
	}
}

// TestDigestOfApprovals checks what of the approvals the digest covers: that an approval
// is made, for whom, and how much of it is the plan's own. Resets and amounts that other
// orders still need are facts about the chain and not part of the consent.
func TestDigestOfApprovals(t *testing.T) {
	terms, f := fourSteps()
	base := Digest(terms, f)
	for name, c := range map[string]struct {
		same   bool
		change func([]Effect) []Effect
	}{
		"no reset": {true, func(f []Effect) []Effect { return f[1:] }},
		"a share": {true, func(f []Effect) []Effect {
			f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(1250), big.NewInt(250)
			return f
		}},
		"a nonce":         {true, func(f []Effect) []Effect { f[2].Nonce = big.NewInt(7); return f }},
		"another end":     {true, func(f []Effect) []Effect { f[2].Approves[0].Until = noon; return f }},
		"no approval":     {false, func(f []Effect) []Effect { return f[2:] }},
		"another amount":  {false, func(f []Effect) []Effect { f[1].Approves[0].Amount = big.NewInt(1250); return f }},
		"another spender": {false, func(f []Effect) []Effect { f[1].Approves[0].Spender = thief; return f }},
		"no permit":       {false, func(f []Effect) []Effect { return append(f[:2:2], f[3]) }},
		"permit not used": {false, func(f []Effect) []Effect { f[3].Approves = nil; return f }},
	} {
		terms, f := fourSteps()
		if got := Digest(terms, c.change(f)) == base; got != c.same {
			t.Errorf("%s: the same is %t", name, got)
		}
	}
	revoke := Terms{Provider: Wallet}
	if Digest(revoke, f[:1]) == Digest(revoke, nil) {
		t.Error("what a revoke takes away does not count")
	}
}

func TestDecodeApprove(t *testing.T) {
	terms, _ := erc20()
	good := func() chain.Call { return approveCall(terms, permit2, big.NewInt(1000)) }
	f, err := decodeApprove(terms, good(), nil)
	if err != nil || f.Kind != Approve || f.Target != usdc || len(f.Approves) != 1 || f.Approves[0].Spender != permit2 || f.Approves[0].Amount.Int64() != 1000 {
		t.Fatalf("%+v, %v", f, err)
	}
	for name, c := range map[string]struct {
		code   Code
		change func(*chain.Call)
	}{
		"another token":  {NotAsAccepted, func(c *chain.Call) { c.To = weth }},
		"nobody":         {NotAsAccepted, func(c *chain.Call) { c.To = native }},
		"too long":       {NotUnderstood, func(c *chain.Call) { c.Data = append(c.Data, 0) }},
		"a word more":    {NotUnderstood, func(c *chain.Call) { c.Data = append(c.Data, make([]byte, 32)...) }},
		"too short":      {NotUnderstood, func(c *chain.Call) { c.Data = c.Data[:67] }},
		"selector alone": {NotUnderstood, func(c *chain.Call) { c.Data = c.Data[:4] }},
		"dirty address":  {NotUnderstood, func(c *chain.Call) { c.Data[4] = 1 }},
		"with value":     {NotAsAccepted, func(c *chain.Call) { c.Value = big.NewInt(1) }},
		"without value":  {NotAsAccepted, func(c *chain.Call) { c.Value = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			call := good()
			c.change(&call)
			_, err := decodeApprove(terms, call, nil)
			refusedWith(t, err, c.code)
		})
	}
}

// FuzzDecodeApprove checks that decodeApprove accepts only what approveCall writes.
func FuzzDecodeApprove(f *testing.F) {
	terms, _ := erc20()
	f.Add(approveCall(terms, permit2, big.NewInt(1000)).Data)
	f.Add(approveCall(terms, thief, new(big.Int)).Data)
	f.Add(bytes.Clone(erc20Approve))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := approveCall(terms, permit2, new(big.Int))
		if c.Data = data; !isApprove(c) {
			return
		}
		if got, err := decodeApprove(terms, c, nil); err == nil {
			a := got.Approves[0]
			if again := approveCall(terms, a.Spender, a.Amount).Data; !bytes.Equal(again, data) {
				t.Errorf("%x was read as %x", data, again)
			}
		}
	})
}

// TestValueIsSpent checks that a call's value is the native coin its effect spends.
func TestValueIsSpent(t *testing.T) {
	one, two := big.NewInt(1), big.NewInt(2)
	for name, c := range map[string]struct {
		value  *big.Int
		spends []Spend
		ok     bool
	}{
		"nothing":            {new(big.Int), nil, true},
		"a token":            {new(big.Int), []Spend{{usdc, one}}, true},
		"the coin":           {one, []Spend{{native, one}}, true},
		"more than it says":  {two, []Spend{{native, one}}, false},
		"less than it says":  {one, []Spend{{native, two}}, false},
		"beside a token":     {one, []Spend{{usdc, one}}, false},
		"without an effect":  {one, nil, false},
		"the coin unsent":    {new(big.Int), []Spend{{native, one}}, false},
		"the coin in halves": {two, []Spend{{native, one}, {native, one}}, true},
	} {
		if err := checkValue(chain.Call{Value: c.value}, Effect{Spends: c.spends}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckSimulationOfPermit checks that a late swap may use exactly its permit and
// lower the allowance behind it, and that any other grant is refused.
func TestCheckSimulationOfPermit(t *testing.T) {
	terms, f := fourSteps()
	x := Expected{Effects: f[3:], Spender: permit2, Allowed: big.NewInt(1250)}
	good := func() chain.Simulation {
		return chain.Simulation{Shown: true,
			Movements: []chain.Movement{{Token: usdc, From: account, To: router, Amount: big.NewInt(1000)}, {Token: weth, From: router, To: account, Amount: big.NewInt(5)}},
			Grants: []chain.Grant{
				{Token: usdc, Owner: account, Spender: router, Amount: big.NewInt(1000), Via: permit2},
				{Token: usdc, Owner: account, Spender: permit2, Amount: big.NewInt(250)},
				{Token: usdc, Owner: thief, Spender: thief, Amount: big.NewInt(9)},
			}}
	}
	if err := CheckSimulation(terms, x, good()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*chain.Simulation){
		"a larger permit":         func(s *chain.Simulation) { s.Grants[0].Amount = big.NewInt(1001) },
		"a permit for another":    func(s *chain.Simulation) { s.Grants[0].Spender = thief },
		"of another token":        func(s *chain.Simulation) { s.Grants[0].Token = weth },
		"in another contract":     func(s *chain.Simulation) { s.Grants[0].Via = thief },
		"on the token itself":     func(s *chain.Simulation) { s.Grants[0].Via = native },
		"the allowance unchanged": func(s *chain.Simulation) { s.Grants[1].Amount = big.NewInt(1250) },
		"the allowance raised":    func(s *chain.Simulation) { s.Grants[1].Amount = big.NewInt(1251) },
		"another's allowance":     func(s *chain.Simulation) { s.Grants[1].Spender = thief },
		"another token's":         func(s *chain.Simulation) { s.Grants[1].Token = weth },
		"an NFT's":                func(s *chain.Simulation) { s.Grants[1].Amount = nil },
	} {
		s := good()
		change(&s)
		if err := CheckSimulation(terms, x, s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	approve := Expected{Effects: f[:2], Spender: permit2}
	s := chain.Simulation{Shown: true, Grants: []chain.Grant{{Token: usdc, Owner: account, Spender: permit2, Amount: new(big.Int)}, {Token: usdc, Owner: account, Spender: permit2, Amount: big.NewInt(1000)}}}
	if err := CheckSimulation(terms, approve, s); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*chain.Grant){
		"more":    func(g *chain.Grant) { g.Amount = big.NewInt(1001) },
		"less":    func(g *chain.Grant) { g.Amount = big.NewInt(999) },
		"another": func(g *chain.Grant) { g.Spender = thief },
	} {
		bad := s
		bad.Grants = slices.Clone(s.Grants)
		change(&bad.Grants[1])
		if err := CheckSimulation(terms, approve, bad); err == nil {
			t.Errorf("an approval of %s: accepted", name)
		}
	}
}

func TestLeftovers(t *testing.T) {
	terms, f := fourSteps()
	f[1].Approves[0].Amount, f[1].Approves[0].Shares = big.NewInt(1250), big.NewInt(250)
	done := Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{Success: true}}
	failed := Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{}}
	signed := Result{Signature: make([]byte, 65)}
	for name, c := range map[string]struct {
		state   State
		results []Result
		order   bool  // the last step is a signed order
		spent   int64 // spent amount in the verdict; 0: the verdict has none
		left    int64 // unused part of the approved amount
	}{
		"still open":                 {Executing, []Result{done, done}, false, 0, 0},
		"filled":                     {Filled, []Result{done, done, signed, done}, false, 0, 0},
		"nothing approved":           {Cancelled, nil, false, 0, 0},
		"only reset":                 {Cancelled, []Result{done}, false, 0, 0},
		"approved":                   {Cancelled, []Result{done, done}, false, 0, 1000},
		"approved and permitted":     {Expired, []Result{done, done, signed}, false, 0, 1000},
		"the approval was skipped":   {Expired, []Result{done, {Skipped: true}, signed}, false, 0, 0},
		"the approval failed":        {Failed, []Result{done, failed}, false, 0, 0},
		"the swap failed":            {Failed, []Result{done, done, signed}, false, 0, 1000},
		"pulled and sent back":       {Refunded, []Result{done, done, signed, done}, false, 0, 0},
		"a signed order that ended":  {Expired, []Result{done, done, signed, signed}, true, 0, 1000},
		"a signed order that filled": {Filled, []Result{done, done, signed, signed}, true, 0, 0},
		"filled to the last unit":    {Filled, []Result{done, done, signed, signed}, true, 1000, 0},
		"filled in part":             {Filled, []Result{done, done, signed, signed}, true, 400, 600},
	} {
		o := Order{Terms: terms, State: c.state, Results: c.results}
		for _, e := range f {
			o.Plan.Steps = append(o.Plan.Steps, Step{Effect: e})
		}
		if c.order {
			o.Plan.Steps[3].Effect.Kind = Signed
		}
		if c.spent > 0 {
			o.Verdict = &Verdict{State: Filled, Spent: &Spend{Token: usdc, Amount: big.NewInt(c.spent)}}
		}
		left := Leftovers(o)
		if (len(left) == 1) != (c.left > 0) {
			t.Errorf("%s: %v", name, left)
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
	done := Result{Tx: common.Hash{1}, Evidence: &chain.Evidence{Success: true}}
	o := Order{Terms: terms, State: Filled, Results: []Result{done, done, {Signature: make([]byte, 65)}, done}}
	for _, e := range f {
		o.Plan.Steps = append(o.Plan.Steps, Step{Effect: e})
	}
	_, f = fourSteps()
	alone := slices.Clone(o.Plan.Steps)
	alone[1] = Step{Effect: f[1]}
	present := Allowance{Token: usdc, Spender: permit2, Amount: big.NewInt(250)}
	for name, c := range map[string]struct {
		change func(*Order, *Allowance)
		want   bool
	}{
		"another's share":      {func(*Order, *Allowance) {}, true},
		"still open":           {func(o *Order, _ *Allowance) { o.State = Settling }, false},
		"more than it allowed": {func(_ *Order, a *Allowance) { a.Amount = big.NewInt(1251) }, false},
		"of another spender":   {func(_ *Order, a *Allowance) { a.Spender = router }, false},
		"it allowed its own":   {func(o *Order, _ *Allowance) { o.Plan.Steps = alone }, false},
		"it allowed nothing":   {func(o *Order, _ *Allowance) { o.Results = []Result{done, {Skipped: true}} }, false},
	} {
		o, a := o, present
		c.change(&o, &a)
		if got := o.exceeded(a); got != c.want {
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
		code  Code
		token common.Address
		twist func(*Built)
	}{
		"its own approval": {NotAsAccepted, usdc, func(x *Built) {
			c := approveCall(Terms{SrcChain: 1, Account: b.from, TokenIn: usdc}, permit2, big.NewInt(thousand))
			x.Steps = append([]Step{{Kind: CallStep, Call: &c}}, x.Steps...)
		}},
		"another spender":        {NotPinned, usdc, func(x *Built) { x.Spender = thief }},
		"the router as spender":  {NotPinned, usdc, func(x *Built) { x.Spender = router }},
		"a late permit":          {NotUnderstood, usdc, func(x *Built) { x.Steps[1].Effect.Kind = Permit }},
		"a late approval":        {NotAsAccepted, usdc, func(x *Built) { x.Steps[1].Effect.Kind = Approve }},
		"late before the permit": {NotUnderstood, usdc, func(x *Built) { slices.Reverse(x.Steps) }},
		"more than the permit":   {NotAsAccepted, usdc, func(x *Built) { x.Steps[1].Effect.Approves[0].Amount = big.NewInt(1 << 60) }},
	} {
		t.Run(name, func(t *testing.T) {
			tr.set(func(tr *trader) { tr.alterBuilt = c.twist })
			_, err := b.review(c.token, thousand)
			refusedWith(t, err, c.code)
		})
	}
	b.wantNonce(0)
}
