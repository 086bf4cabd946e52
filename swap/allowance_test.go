package swap

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
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
		"an approval with an end":     {Undecodable, func(f []Effect) []Effect { f[1].Approves[0].Until = noon; return f }},
		"a permit with a share":       {Undecodable, func(f []Effect) []Effect { f[2].Approves[0].Shares = big.NewInt(1); return f }},
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
