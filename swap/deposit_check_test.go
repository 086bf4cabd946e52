package swap

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

var (
	reactor = common.HexToAddress("0x00000011F84B9aa48e5f8aA8B9897600006289Be")
	depot   = common.HexToAddress("0x4cD00E387622C35bDDB9b4c962C136462338BC31")
	unknown = common.HexToAddress("0x1111111111111111111111111111111111111111") // not built in anywhere
)

// handPins are the pins of a provider with every kind of plan that others settle.
var handPins = Pins{{1, Router, router}, {1, Wrapper, weth}, {1, Spender, permit2}, {1, Spender, unknownSpender}, {1, Verifier, permit2}, {1, Settlement, reactor}, {1, Depot, depot},
	{56, Depot, depot}, {56, Router, router}, {10, Settlement, unknown}}

// unknownSpender may be approved but not called.
var unknownSpender = common.HexToAddress("0x2222222222222222222222222222222222222222")

// handed returns a plan whose input others settle: a token, approved first, or with
// native the coin.
func handed(k EffectKind, native bool) (Terms, []Effect) {
	t, effects := erc20()
	t.Provider = Intent
	f := Effect{Kind: k, Chain: 1, Target: depot, Spends: []Spend{{usdc, big.NewInt(1000)}}, TrustedTo: "X"}
	spender := depot
	switch {
	case k == Signed:
		f = effects[2]
		f.Kind, f.Target, f.Settler, spender = Signed, permit2, reactor, permit2
	case k == Deposit:
		f.DepositID, t.DstChain = common.Hash{7}, 10
	default:
		t.DstChain = 10
	}
	if native {
		t.TokenIn, f.Spends[0].Token = common.Address{}, common.Address{}
		return t, []Effect{f}
	}
	approve := effects[0]
	approve.Approves[0].Spender = spender
	return t, []Effect{approve, f}
}

// wrappedFirst returns the plan of handed for a coin that is wrapped first.
func wrappedFirst(k EffectKind) (Terms, []Effect) {
	t, effects := handed(k, false)
	t.TokenIn, t.Wrap, t.TokenOut = common.Address{}, weth, usdc
	approve, f := effects[0], effects[1]
	approve.Target, approve.Approves[0].Token, f.Spends[0].Token = weth, weth, weth
	if k == Signed {
		f.Receives[0].Token, f.Pays[0].Token = usdc, usdc
	}
	return t, []Effect{approve, WrapStep(t).Effect, f}
}

func TestCheckAcceptsDeposits(t *testing.T) {
	for _, k := range []EffectKind{Signed, Deposit, Opaque} {
		for name, plan := range map[string]func() (Terms, []Effect){
			"token":   func() (Terms, []Effect) { return handed(k, false) },
			"wrapped": func() (Terms, []Effect) { return wrappedFirst(k) },
			"allowed": func() (Terms, []Effect) { t, e := handed(k, false); return t, e[1:] },
			"wrapped, then approved": func() (Terms, []Effect) {
				t, e := wrappedFirst(k)
				return t, []Effect{e[1], e[0], e[2]}
			},
			"deadline": func() (Terms, []Effect) { t, e := handed(k, false); e[1].Deadline = t.Deadline; return t, e },
		} {
			terms, effects := plan()
			if err := Check(terms, effects, handPins); err != nil {
				t.Errorf("%s of a %s: %v", k, name, err)
			}
		}
	}
	for _, k := range []EffectKind{Deposit, Opaque} {
		terms, effects := handed(k, true)
		if err := Check(terms, effects, handPins); err != nil {
			t.Errorf("%s of the coin: %v", k, err)
		}
	}
	terms, effects := handed(Opaque, true)
	effects[0].Target = router
	if err := Check(terms, effects, handPins); err != nil {
		t.Errorf("a call of a built-in router: %v", err)
	}
}

// handOverChanges are single changes by effect kind, each with the code it must be
// refused with; those under "" apply to every kind.
var handOverChanges = map[EffectKind]map[string]struct {
	code   Code
	change func(*Terms, *Effect)
}{
	"": {
		"another chain":         {NotAsAccepted, func(_ *Terms, f *Effect) { f.Chain = 10 }},
		"no contract":           {NotPinned, func(_ *Terms, f *Effect) { f.Target = common.Address{} }},
		"spends more":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = big.NewInt(1001) }},
		"spends less":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = big.NewInt(999) }},
		"spends without amount": {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = nil }},
		"spends another token":  {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Token = weth }},
		"spends twice":          {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends = append(f.Spends, f.Spends[0]) }},
		"spends nothing":        {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends = nil }},
		"grants an allowance": {NotAsAccepted, func(_ *Terms, f *Effect) {
			f.Approves = []Approval{{Token: usdc, Spender: permit2, Amount: big.NewInt(1)}}
		}},
		"deadline after consent": {NotAsAccepted, func(t *Terms, f *Effect) { f.Deadline = t.Deadline.Add(time.Second) }},
		"nonce":                  {Undecodable, func(_ *Terms, f *Effect) { f.Nonce = big.NewInt(1) }},
		"terms: wrap of a token": {BadRequest, func(t *Terms, _ *Effect) { t.Wrap = weth2 }},
	},
	Signed: {
		"another contract":      {NotPinned, func(_ *Terms, f *Effect) { f.Target = unknown }},
		"a pin of another role": {NotPinned, func(_ *Terms, f *Effect) { f.Target = reactor }},
		"any settler":           {NotPinned, func(_ *Terms, f *Effect) { f.Settler = common.Address{} }},
		"another settler":       {NotPinned, func(_ *Terms, f *Effect) { f.Settler = thief }},
		"a settler elsewhere":   {NotPinned, func(_ *Terms, f *Effect) { f.Settler = unknown }},
		"a spender as settler":  {NotPinned, func(_ *Terms, f *Effect) { f.Settler = permit2 }},
		"below the floor":       {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].Min = new(big.Int) }},
		"no minimum":            {Undecodable, func(_ *Terms, f *Effect) { f.Receives[0].Min = nil }},
		"another recipient":     {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].To = thief }},
		"another token out":     {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].Token = usdc }},
		"nothing received":      {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives = nil }},
		"fee higher":            {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].Bps = 21 }},
		"fee of another":        {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].To = thief }},
		"fee in another token":  {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].Token = usdc }},
		"maker's fee":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays = append(f.Pays, Payment{weth, thief, 21}) }},
		"no deadline":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Deadline = time.Time{} }},
		"cross-chain":           {NotAsAccepted, func(t *Terms, _ *Effect) { t.DstChain = 10 }},
		"trusted":               {Undecodable, func(_ *Terms, f *Effect) { f.TrustedTo = "X" }},
		"depositId":             {Undecodable, func(_ *Terms, f *Effect) { f.DepositID = common.Hash{1} }},
	},
	Deposit: {
		"another contract": {NotPinned, func(_ *Terms, f *Effect) { f.Target = unknown }},
		"a router":         {NotPinned, func(_ *Terms, f *Effect) { f.Target = router }},
		"nobody trusted":   {Undecodable, func(_ *Terms, f *Effect) { f.TrustedTo = "" }},
		"a name of noise":  {Undecodable, func(_ *Terms, f *Effect) { f.TrustedTo = "X\x1b[2J" }},
		"an endless name":  {Undecodable, func(_ *Terms, f *Effect) { f.TrustedTo = strings.Repeat("X", maxName+1) }},
		"receives":         {Undecodable, func(t *Terms, f *Effect) { f.Receives = []Receive{{t.TokenOut, t.Recipient, t.MinOut}} }},
		"pays":             {Undecodable, func(_ *Terms, f *Effect) { f.Pays = []Payment{{usdc, partner, 20}} }},
		"settler":          {Undecodable, func(_ *Terms, f *Effect) { f.Settler = reactor }},
	},
	Opaque: {
		"the account":      {NotPinned, func(t *Terms, f *Effect) { f.Target = t.Account }},
		"the recipient":    {NotPinned, func(t *Terms, f *Effect) { t.Recipient, f.Target = thief, thief }},
		"the refund":       {NotPinned, func(t *Terms, f *Effect) { t.RefundTo, f.Target = thief, thief }},
		"the input":        {NotPinned, func(t *Terms, f *Effect) { f.Target = t.TokenIn }},
		"the output":       {NotPinned, func(t *Terms, f *Effect) { f.Target = t.TokenOut }},
		"the wrapped":      {NotPinned, func(_ *Terms, f *Effect) { f.Target = weth }},
		"Permit2":          {NotPinned, func(_ *Terms, f *Effect) { f.Target = permit2 }},
		"a settlement":     {NotPinned, func(_ *Terms, f *Effect) { f.Target = reactor }},
		"another spender":  {NotPinned, func(_ *Terms, f *Effect) { f.Target = unknownSpender }},
		"not built in":     {NotPinned, func(_ *Terms, f *Effect) { f.Target = unknown }},
		"of another chain": {NotPinned, func(t *Terms, f *Effect) { f.Target, t.SrcChain, f.Chain = depot, 8453, 8453 }},
		"of the DEX":       {NotPinned, func(t *Terms, f *Effect) { t.Provider, f.Target = DEX, unknown }},
		"of gasless":       {NotPinned, func(t *Terms, f *Effect) { t.Provider, f.Target = Gasless, unknown }},
		"of the bridge":    {NotPinned, func(t *Terms, f *Effect) { t.Provider, f.Target = Bridge, unknown }},
		"nobody trusted":   {Undecodable, func(_ *Terms, f *Effect) { f.TrustedTo = "" }},
		"receives":         {Undecodable, func(t *Terms, f *Effect) { f.Receives = []Receive{{t.TokenOut, t.Recipient, t.MinOut}} }},
		"pays":             {Undecodable, func(_ *Terms, f *Effect) { f.Pays = []Payment{{usdc, partner, 20}} }},
		"settler":          {Undecodable, func(_ *Terms, f *Effect) { f.Settler = reactor }},
		"depositId":        {Undecodable, func(_ *Terms, f *Effect) { f.DepositID = common.Hash{1} }},
	},
}

var weth2 = common.HexToAddress("0x4200000000000000000000000000000000000006")

// TestCheckRefusesDeposits changes one thing at a time; every change is refused.
func TestCheckRefusesDeposits(t *testing.T) {
	for _, k := range []EffectKind{Signed, Deposit, Opaque} {
		for _, of := range []EffectKind{"", k} {
			for name, c := range handOverChanges[of] {
				t.Run(string(k)+": "+name, func(t *testing.T) {
					terms, effects := handed(k, false)
					c.change(&terms, &effects[1])
					refusedWith(t, Check(terms, effects[1:], handPins), c.code)
				})
			}
		}
	}
	terms, effects := handed(Signed, false)
	terms.TokenIn, effects[1].Spends[0].Token = common.Address{}, common.Address{}
	refusedWith(t, Check(terms, effects[1:], handPins), NotAsAccepted) // a signed order cannot spend the native coin
}

// TestNoOpenContracts checks that no provider's opaque call goes to a contract that is
// not built in, on any chain, and that none is approved for it.
func TestNoOpenContracts(t *testing.T) {
	for _, provider := range []Kind{DEX, Bridge, Intent, Gasless} {
		for _, id := range SupportedChains() {
			terms, effects := handed(Opaque, false)
			terms.Provider, terms.SrcChain, terms.DstChain = provider, id, 10
			for i := range effects {
				effects[i].Chain = id
			}
			effects[0].Approves[0].Spender, effects[1].Target = unknown, unknown
			refusedWith(t, Check(terms, effects, handPins), NotPinned)
			refusedWith(t, Check(terms, effects[1:], handPins), NotPinned)
		}
	}
}

func TestCheckRefusesApprovalsOfDeposits(t *testing.T) {
	for name, c := range map[string]struct {
		code   Code
		change func(*Terms, []Effect) []Effect
	}{
		"a built-in spender that is not called": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Spender = unknownSpender; return f }},
		"Permit2":                               {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Spender = permit2; return f }},
		"a stranger":                            {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Spender = thief; return f }},
		"more":                                  {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Amount = big.NewInt(1001); return f }},
		"twice":                                 {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[0], f[1]} }},
		"after the call":                        {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[1], f[0]} }},
		"a permit": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect {
			_, e := erc20()
			return []Effect{f[0], e[1], f[1]}
		}},
	} {
		for _, k := range []EffectKind{Deposit, Opaque} {
			t.Run(string(k)+": "+name, func(t *testing.T) {
				terms, effects := handed(k, false)
				refusedWith(t, Check(terms, c.change(&terms, effects), handPins), c.code)
			})
		}
	}
}

func TestCheckRefusesWrapsFirst(t *testing.T) {
	for name, c := range map[string]struct {
		code   Code
		change func(*Terms, []Effect) []Effect
	}{
		"none":              {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[2]} }},
		"twice":             {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[1], f[1], f[2]} }},
		"twice, apart":      {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[1], f[0], f[1], f[2]} }},
		"last":              {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[2], f[1]} }},
		"only":              {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[1]} }},
		"another contract":  {NotPinned, func(_ *Terms, f []Effect) []Effect { f[1].Target = usdc; return f }},
		"more":              {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Spends[0].Amount = big.NewInt(1001); return f }},
		"less comes back":   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Receives[0].Min = big.NewInt(999); return f }},
		"for somebody":      {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Receives[0].To = thief; return f }},
		"of a token":        {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Spends[0].Token = usdc; return f }},
		"into another":      {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Receives[0].Token = usdc; return f }},
		"pays":              {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Pays = []Payment{{weth, thief, 1}}; return f }},
		"approves":          {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Approves = f[0].Approves; return f }},
		"trusted":           {Undecodable, func(_ *Terms, f []Effect) []Effect { f[1].TrustedTo = "X"; return f }},
		"the coin is spent": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[2].Spends[0].Token = native; return f }},
		"approves the coin": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Token = native; return f }},
		"for the wrapped":   {SameToken, func(t *Terms, f []Effect) []Effect { t.DstChain, t.TokenOut = 1, weth; return f }},
	} {
		for _, k := range []EffectKind{Signed, Deposit} {
			t.Run(string(k)+": "+name, func(t *testing.T) {
				terms, effects := wrappedFirst(k)
				refusedWith(t, Check(terms, c.change(&terms, effects), handPins), c.code)
			})
		}
	}
}

// TestSimulationOfDeposits checks that exactly the input leaves and nothing is granted.
func TestSimulationOfDeposits(t *testing.T) {
	thousand := big.NewInt(1000)
	for _, k := range []EffectKind{Deposit, Opaque} {
		terms, effects := handed(k, false)
		approved := chain.Grant{Token: usdc, Owner: account, Spender: depot, Amount: thousand}
		left := chain.Grant{Token: usdc, Owner: account, Spender: depot, Amount: new(big.Int)}
		good := func() chain.Simulation {
			return chain.Simulation{Shown: true, Grants: []chain.Grant{left}, Movements: []chain.Movement{{Token: usdc, From: account, To: depot, Amount: thousand}}}
		}
		alone := Expected{Effects: effects[1:], Spender: depot, Allowed: thousand}
		if err := CheckSimulation(terms, alone, good()); err != nil {
			t.Errorf("%s: %v", k, err)
		}
		together := good()
		together.Grants = []chain.Grant{approved, left}
		if err := CheckSimulation(terms, Expected{Effects: effects, Spender: depot, Allowed: big.NewInt(5000)}, together); err != nil {
			t.Errorf("%s with its approval: %v", k, err)
		}
		for name, change := range map[string]func(*Terms, *chain.Simulation){
			"more leaves":    func(_ *Terms, s *chain.Simulation) { s.Movements[0].Amount = big.NewInt(1001) },
			"less leaves":    func(_ *Terms, s *chain.Simulation) { s.Movements[0].Amount = big.NewInt(999) },
			"nothing leaves": func(_ *Terms, s *chain.Simulation) { s.Movements = nil },
			"some comes back": func(_ *Terms, s *chain.Simulation) {
				s.Movements = append(s.Movements, chain.Movement{Token: usdc, From: depot, To: account, Amount: big.NewInt(1)})
			},
			"another token": func(_ *Terms, s *chain.Simulation) {
				s.Movements = append(s.Movements, chain.Movement{Token: weth, From: account, To: depot, Amount: big.NewInt(1)})
			},
			"the coin": func(_ *Terms, s *chain.Simulation) {
				s.Movements = append(s.Movements, chain.Movement{Token: native, From: account, To: depot, Amount: big.NewInt(1)})
			},
			"one NFT for another": func(_ *Terms, s *chain.Simulation) {
				s.Movements = append(s.Movements, chain.Movement{Token: unknown, From: account, To: depot, Amount: big.NewInt(1), ID: big.NewInt(4)},
					chain.Movement{Token: unknown, From: depot, To: account, Amount: big.NewInt(1), ID: big.NewInt(5)})
			},
			"an allowance":     func(_ *Terms, s *chain.Simulation) { s.Grants[0].Amount = thousand },
			"a larger one":     func(_ *Terms, s *chain.Simulation) { s.Grants[0].Amount = big.NewInt(1001) },
			"for another":      func(_ *Terms, s *chain.Simulation) { s.Grants[0].Spender, s.Grants[0].Amount = thief, big.NewInt(1) },
			"of another token": func(_ *Terms, s *chain.Simulation) { s.Grants[0].Token, s.Grants[0].Amount = weth, big.NewInt(1) },
			"through Permit2":  func(_ *Terms, s *chain.Simulation) { s.Grants[0].Via, s.Grants[0].Amount = permit2, big.NewInt(1) },
			"of an NFT":        func(_ *Terms, s *chain.Simulation) { s.Grants[0].Amount = nil },
		} {
			t.Run(string(k)+": "+name, func(t *testing.T) {
				terms, s := terms, good()
				change(&terms, &s)
				refusedWith(t, CheckSimulation(terms, alone, s), NotAsAccepted)
			})
		}
	}
}

// TestSimulationOfOpaqueCalls checks that an opaque call that ends on its own chain must
// bring the minimum, unless fillers bring it later, and must be shown by the node.
func TestSimulationOfOpaqueCalls(t *testing.T) {
	terms, effects := handed(Opaque, true)
	s := chain.Simulation{Shown: true, Movements: []chain.Movement{{Token: native, From: account, To: depot, Amount: terms.AmountIn}}}
	x := Expected{Effects: effects}
	if err := CheckSimulation(terms, x, s); err != nil {
		t.Errorf("across chains: %v", err)
	}
	refusedWith(t, CheckSimulation(terms, x, chain.Simulation{}), SimulationUnsupported)
	terms.DstChain = 1
	if err := CheckSimulation(terms, x, s); err != nil {
		t.Errorf("an intent on one chain: %v", err)
	}
	terms.Provider = Bridge
	refusedWith(t, CheckSimulation(terms, x, s), NotAsAccepted)
	s.Movements = append(s.Movements, chain.Movement{Token: terms.TokenOut, From: depot, To: terms.Recipient, Amount: terms.MinOut})
	if err := CheckSimulation(terms, x, s); err != nil {
		t.Errorf("with the floor: %v", err)
	}
	terms, effects = handed(Deposit, true)
	terms.DstChain = 1 // somebody else fills it later
	if err := CheckSimulation(terms, Expected{Effects: effects}, chain.Simulation{Shown: true, Movements: s.Movements[:1]}); err != nil {
		t.Errorf("a deposit on one chain: %v", err)
	}
}

// TestSimulationOfWrapsFirst checks that the coin comes back wrapped, or is deposited in
// its wrapped form.
func TestSimulationOfWrapsFirst(t *testing.T) {
	terms, effects := wrappedFirst(Deposit)
	n := terms.AmountIn
	wrap := []chain.Movement{{Token: native, From: account, To: weth, Amount: n}, {Token: weth, From: native, To: account, Amount: n}}
	deposit := chain.Movement{Token: weth, From: account, To: depot, Amount: n}
	approved := []chain.Grant{{Token: weth, Owner: account, Spender: depot, Amount: n}}
	for name, c := range map[string]struct {
		effects []Effect
		moves   []chain.Movement
		ok      bool
	}{
		"wrap":               {effects[1:2], wrap, true},
		"approve, wrap":      {effects[:2], wrap, true},
		"wrap, approve":      {[]Effect{effects[1], effects[0]}, wrap, true},
		"all":                {effects, append(wrap[:2:2], deposit), true},
		"deposit, wrapped":   {effects[2:], []chain.Movement{deposit}, true},
		"deposit of coin":    {effects[2:], wrap[:1], false},
		"nothing wrapped":    {effects[1:2], wrap[:1], false},
		"nothing at all":     {effects[1:2], nil, false},
		"wrapped for others": {effects[1:2], []chain.Movement{wrap[0], {Token: weth, From: native, To: thief, Amount: n}}, false},
		"handed over early":  {effects[:2], append(wrap[:2:2], deposit), false},
	} {
		s := chain.Simulation{Shown: true, Movements: c.moves}
		if c.effects[0].Kind == Approve || len(c.effects) > 1 && c.effects[1].Kind == Approve {
			s.Grants = approved
		}
		if err := CheckSimulation(terms, Expected{Effects: c.effects, Spender: depot, Allowed: n}, s); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
