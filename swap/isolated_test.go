package swap

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"testing"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

var (
	throwaway = common.HexToAddress("0x3333333333333333333333333333333333333333")
	fundedGas = big.NewInt(1e14)
)

// isolated returns the plan of handed, made from an isolated account and for a contract that
// is not built in: of a token two transfers, an approval and
// the call, of the coin one transfer and the call.
func isolated(native bool) (Terms, []Effect) {
	t, effects := handed(Opaque, native)
	t.Isolated = throwaway
	effects[len(effects)-1].Target = unknown
	if !native {
		effects[0].Approves[0].Spender = unknown
	}
	var funds []Effect
	for _, s := range FundSteps(t, fundedGas) {
		funds = append(funds, s.Effect)
	}
	return t, append(funds, effects...)
}

func TestCheckAcceptsIsolated(t *testing.T) {
	for _, native := range []bool{false, true} {
		terms, effects := isolated(native)
		for _, terms.Provider = range []Kind{Bridge, Intent} {
			if err := Check(terms, effects, nil); err != nil {
				t.Errorf("%s, the coin is %t: %v", terms.Provider, native, err)
			}
		}
		gas := &effects[coinFund(effects)].Spends[0]
		gas.Amount = new(big.Int).Set(terms.GasCeiling)
		if native {
			gas.Amount.Add(gas.Amount, terms.AmountIn)
		}
		if err := Check(terms, effects, nil); err != nil {
			t.Errorf("as much gas as the ceiling: %v", err)
		}
	}
}

// TestCheckRefusesIsolated changes one thing at a time; every change is refused.
func TestCheckRefusesIsolated(t *testing.T) {
	type change struct {
		code   Code // "" = NotAsAccepted or NotPinned, as the input is a token or the coin
		change func(*Terms, []Effect) []Effect
	}
	ofBoth := map[string]change{ // the coin is moved by the last transfer
		"without terms":      {"", func(t *Terms, f []Effect) []Effect { t.Isolated = common.Address{}; return f }},
		"the account":        {BadRequest, func(t *Terms, f []Effect) []Effect { t.Isolated = t.Account; return f }},
		"the recipient":      {BadRequest, func(t *Terms, f []Effect) []Effect { t.Recipient = t.Isolated; return f }},
		"the refund address": {BadRequest, func(t *Terms, f []Effect) []Effect { t.RefundTo = t.Isolated; return f }},
		"of the DEX":         {BadRequest, func(t *Terms, f []Effect) []Effect { t.Provider = DEX; return f }},
		"of gasless":         {BadRequest, func(t *Terms, f []Effect) []Effect { t.Provider = Gasless; return f }},
		"nothing moved":      {NotAsAccepted, func(t *Terms, f []Effect) []Effect { return slices.DeleteFunc(f, isFund) }},
		"no call":            {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return f[:len(f)-1] }},
		"the call first":     {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { slices.Reverse(f); return f }},
		"the call twice":     {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return append(f, f[len(f)-1]) }},
		"to nobody":          {"", func(_ *Terms, f []Effect) []Effect { f[len(f)-1].Target = common.Address{}; return f }},
		"coin twice":         {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { i := coinFund(f); return slices.Insert(f, i, f[i]) }},
		"coin to another":    {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Target = thief; return f }},
		"coin to the token":  {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Target = usdc; return f }},
		"coin to the called": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Target = unknown; return f }},
		"coin to nobody":     {"", func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Target = common.Address{}; return f }},
		"another token": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect {
			i := coinFund(f)
			f[i].Target, f[i].Spends[0].Token = weth, weth
			return f
		}},
		"above the ceiling": {NotAsAccepted, func(t *Terms, f []Effect) []Effect {
			n := new(big.Int).Add(t.GasCeiling, big.NewInt(1))
			if t.TokenIn == native {
				n.Add(n, t.AmountIn)
			}
			f[coinFund(f)].Spends[0].Amount = n
			return f
		}},
		"negative":     {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Spends[0].Amount = big.NewInt(-1); return f }},
		"of no amount": {Undecodable, func(_ *Terms, f []Effect) []Effect { f[coinFund(f)].Spends[0].Amount = nil; return f }},
		"of two amounts": {Undecodable, func(_ *Terms, f []Effect) []Effect {
			i := coinFund(f)
			f[i].Spends = append(f[i].Spends, f[i].Spends[0])
			return f
		}},
		"it approves": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect {
			f[0].Approves = []Approval{{Token: usdc, Spender: thief, Amount: big.NewInt(1)}}
			return f
		}},
		"it pays":             {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Pays = []Payment{{usdc, thief, 1}}; return f }},
		"it receives":         {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Receives = []Receive{{usdc, thief, big.NewInt(1)}}; return f }},
		"it trusts":           {Undecodable, func(_ *Terms, f []Effect) []Effect { f[0].TrustedTo = "X"; return f }},
		"on another chain":    {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Chain = 10; return f }},
		"a deposit":           {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[len(f)-1].Kind, f[len(f)-1].Target = Deposit, depot; return f }},
		"the call takes more": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[len(f)-1].Spends[0].Amount = big.NewInt(1001); return f }},
	}
	ofToken := map[string]change{
		"token missing": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return slices.Delete(f, 1, 2) }},
		"gas missing":   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return f[1:] }},
		"token twice":   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return slices.Insert(f, 1, f[1]) }},
		"two tokens": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect {
			g := FundEffect(chain.Call{ChainID: 1, To: weth}, weth, big.NewInt(1))
			return slices.Insert(f, 1, g)
		}},
		"token first":       {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0], f[1] = f[1], f[0]; return f }},
		"after the call":    {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return append(slices.Delete(slices.Clone(f), 1, 2), f[1]) }},
		"after an approval": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1], f[2] = f[2], f[1]; return f }},
		"more of it":        {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Spends[0].Amount = big.NewInt(1001); return f }},
		"less of it":        {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Spends[0].Amount = big.NewInt(999); return f }},
		"by another":        {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Target = thief; return f }},
		"approves another":  {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[2].Approves[0].Spender = thief; return f }},
		"approves more":     {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[2].Approves[0].Amount = big.NewInt(1001); return f }},
		"a swap of the DEX": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { _, e := erc20(); return append(f[:2], e...) }},
		"an order":          {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { _, e := handed(Signed, false); return append(f[:2], e...) }},
	}
	ofCoin := map[string]change{
		"less than the input": {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Spends[0].Amount = big.NewInt(999); return f }},
		"wrapped first":       {BadRequest, func(t *Terms, f []Effect) []Effect { t.Wrap = weth; return f }},
	}
	for name, changes := range map[string]map[string]change{"token": ofToken, "coin": ofCoin, "": ofBoth} {
		for _, native := range []bool{false, true} {
			if name != "" && native != (name == "coin") {
				continue
			}
			for what, c := range changes {
				t.Run(map[bool]string{false: "token: ", true: "coin: "}[native]+what, func(t *testing.T) {
					terms, effects := isolated(native)
					err := Check(terms, c.change(&terms, effects), handPins)
					if c.code == "" && (errors.Is(err, &Refusal{Code: NotAsAccepted}) || errors.Is(err, &Refusal{Code: NotPinned})) {
						return
					}
					refusedWith(t, err, c.code)
				})
			}
		}
	}
}

func isFund(f Effect) bool { return f.Kind == Fund }

func coinFund(effects []Effect) int {
	return slices.IndexFunc(effects, func(f Effect) bool { return f.Kind == Fund && fundedToken(f) == native })
}

// TestOnlyIsolatedMayCallAnything checks that a plan without an isolated account moves
// nothing to one, and that the same call is refused for every provider without one.
func TestOnlyIsolatedMayCallAnything(t *testing.T) {
	for _, k := range Kinds() {
		terms, effects := isolated(false)
		terms.Provider, terms.Isolated = k, common.Address{}
		refusedWith(t, Check(terms, effects[2:], handPins), NotPinned)
		effects[4-1].Target, effects[2].Approves[0].Spender = depot, depot
		for _, fund := range effects[:2] {
			fund.Target = terms.TokenIn
			refusedWith(t, Check(terms, []Effect{fund, effects[2], effects[3]}, handPins), NotAsAccepted)
		}
	}
}

// TestDigestOfIsolated checks that the isolated account and the gas that is moved to it are
// part of what is accepted, and that plans without one have the digest that they had before
// there were any.
func TestDigestOfIsolated(t *testing.T) {
	terms, effects := isolated(false)
	base := Digest(terms, effects)
	seen := map[common.Hash]string{base: "as it is"}
	for name, change := range map[string]func(*Terms, []Effect){
		"another":       func(t *Terms, _ []Effect) { t.Isolated = thief },
		"none":          func(t *Terms, _ []Effect) { t.Isolated = common.Address{} },
		"gas":           func(_ *Terms, f []Effect) { f[0].Spends[0].Amount = big.NewInt(1) },
		"moved to":      func(_ *Terms, f []Effect) { f[0].Target = thief },
		"what is moved": func(_ *Terms, f []Effect) { f[1].Spends[0].Token = weth },
	} {
		terms, effects := isolated(false)
		change(&terms, effects)
		d := Digest(terms, effects)
		if was, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, was)
		}
		seen[d] = name
	}
	for want, of := range map[string]func() (Terms, []Effect){
		"0x4bd9c811067ebd4799a29959aa8880e0dfc722c7379123e7ba597b3273067551": func() (Terms, []Effect) { return testTerms(), []Effect{testSwap()} },
		"0xefe27a8670e41dba6c65303334fa259ae0fd349c158b6e836e63ab4e184682ab": func() (Terms, []Effect) { return handed(Opaque, false) },
	} {
		if got := Digest(of()).Hex(); got != want {
			t.Errorf("digest %s, and before there were isolated accounts %s", got, want)
		}
	}
}

// TestSimulationOfIsolated checks that only the input and the gas leave the account, for the
// isolated account alone, and from there exactly the input.
func TestSimulationOfIsolated(t *testing.T) {
	one := big.NewInt(1)
	for _, of := range []string{"token", "coin"} {
		terms, effects := isolated(of == "coin")
		x := Expected{Effects: effects, Spender: unknown, Allowed: new(big.Int)}
		if of == "coin" {
			x.Spender = common.Address{}
		}
		good := func() chain.Simulation {
			s := chain.Simulation{Shown: true}
			for _, f := range slices.DeleteFunc(slices.Clone(effects), func(f Effect) bool { return !isFund(f) }) {
				s.Movements = append(s.Movements, chain.Movement{Token: fundedToken(f), From: account, To: throwaway, Amount: f.Spends[0].Amount})
			}
			if of == "token" {
				s.Grants = []chain.Grant{{Token: usdc, Owner: throwaway, Spender: unknown, Amount: terms.AmountIn}, {Token: usdc, Owner: throwaway, Spender: unknown, Amount: new(big.Int)}}
			}
			s.Movements = append(s.Movements, chain.Movement{Token: terms.TokenIn, From: throwaway, To: unknown, Amount: terms.AmountIn})
			return s
		}
		if err := CheckSimulation(terms, x, good()); err != nil {
			t.Errorf("%s: %v", of, err)
		}
		alone := good()
		alone.Movements, alone.Grants = alone.Movements[len(alone.Movements)-1:], nil
		last := Expected{Effects: effects[len(effects)-1:], Spender: x.Spender, Allowed: terms.AmountIn}
		if err := CheckSimulation(terms, last, alone); err != nil {
			t.Errorf("%s, the last step alone: %v", of, err)
		}
		refusedWith(t, CheckSimulation(terms, x, chain.Simulation{}), SimulationUnsupported)
		swapped := terms // on one chain, where the call itself must pay the recipient
		swapped.Provider, swapped.DstChain, swapped.TokenOut = Bridge, terms.SrcChain, weth
		for to, want := range map[common.Address]Code{terms.Recipient: "", throwaway: NotAsAccepted, thief: NotAsAccepted} {
			s := good()
			s.Movements = append(s.Movements, chain.Movement{Token: weth, From: unknown, To: to, Amount: terms.MinOut})
			if err := CheckSimulation(swapped, x, s); want != "" || err != nil {
				refusedWith(t, err, want)
			}
		}
		add := func(m ...chain.Movement) func(*chain.Simulation) {
			return func(s *chain.Simulation) { s.Movements = append(s.Movements, m...) }
		}
		grant := func(g chain.Grant) func(*chain.Simulation) {
			return func(s *chain.Simulation) { s.Grants = append(s.Grants, g) }
		}
		for name, change := range map[string]func(*chain.Simulation){
			"another token of the account":          add(chain.Movement{Token: weth, From: account, To: thief, Amount: one}),
			"one that comes back":                   add(chain.Movement{Token: weth, From: account, To: thief, Amount: one}, chain.Movement{Token: weth, From: thief, To: account, Amount: one}),
			"another token, to the isolated":        add(chain.Movement{Token: weth, From: account, To: throwaway, Amount: one}),
			"the input again":                       add(chain.Movement{Token: terms.TokenIn, From: account, To: throwaway, Amount: terms.AmountIn}),
			"the input, to another":                 add(chain.Movement{Token: terms.TokenIn, From: account, To: thief, Amount: one}),
			"an NFT":                                add(chain.Movement{Token: weth, From: account, To: throwaway, Amount: one, ID: one}),
			"an NFT with the amount":                add(chain.Movement{Token: terms.TokenIn, From: account, To: throwaway, Amount: terms.AmountIn, ID: one}),
			"an NFT of the isolated":                add(chain.Movement{Token: weth, From: throwaway, To: thief, Amount: one, ID: one}),
			"an allowance of the account":           grant(chain.Grant{Token: usdc, Owner: account, Spender: unknown, Amount: one}),
			"one that is taken back":                grant(chain.Grant{Token: usdc, Owner: account, Spender: unknown, Amount: new(big.Int)}),
			"for the isolated":                      grant(chain.Grant{Token: usdc, Owner: account, Spender: throwaway, Amount: one}),
			"of an NFT":                             grant(chain.Grant{Token: weth, Owner: account, Spender: unknown}),
			"through Permit2":                       grant(chain.Grant{Token: usdc, Owner: account, Spender: unknown, Amount: one, Via: permit2}),
			"an allowance of the isolated is left":  grant(chain.Grant{Token: weth, Owner: throwaway, Spender: unknown, Amount: one}),
			"nothing is moved":                      func(s *chain.Simulation) { s.Movements = s.Movements[len(s.Movements)-1:] },
			"the last is not moved":                 func(s *chain.Simulation) { n := len(s.Movements); s.Movements = slices.Delete(s.Movements, n-2, n-1) },
			"a fee on transfer":                     func(s *chain.Simulation) { s.Movements[0].Amount = new(big.Int).Sub(s.Movements[0].Amount, one) },
			"a fee on transfer, paid by the sender": add(chain.Movement{Token: terms.TokenIn, From: account, To: usdc, Amount: one}),
			"moved as an NFT":                       func(s *chain.Simulation) { s.Movements[0].ID = one },
			"moved elsewhere":                       func(s *chain.Simulation) { s.Movements[0].To = thief },
			"of unknown amount":                     func(s *chain.Simulation) { s.Movements[0].Amount = nil },
			"the call takes more":                   func(s *chain.Simulation) { s.Movements[len(s.Movements)-1].Amount = big.NewInt(1001) },
			"the call takes less":                   func(s *chain.Simulation) { s.Movements[len(s.Movements)-1].Amount = big.NewInt(999) },
			"the call takes nothing":                func(s *chain.Simulation) { s.Movements = s.Movements[:len(s.Movements)-1] },
			"the call takes something else":         add(chain.Movement{Token: weth, From: throwaway, To: thief, Amount: one}),
		} {
			t.Run(of+": "+name, func(t *testing.T) {
				s := good()
				change(&s)
				refusedWith(t, CheckSimulation(terms, x, s), NotAsAccepted)
			})
		}
		if of == "token" { // by the last step alone the gas must not be touched
			alone.Movements = append(alone.Movements, chain.Movement{Token: native, From: throwaway, To: unknown, Amount: one})
			refusedWith(t, CheckSimulation(terms, last, alone), NotAsAccepted)
		}
	}
}

// TestSimulationOfFunding checks the transfers one by one, before anything is approved.
func TestSimulationOfFunding(t *testing.T) {
	terms, effects := isolated(false)
	moved := chain.Movement{Token: usdc, From: account, To: throwaway, Amount: terms.AmountIn}
	x := Expected{Effects: effects[1:2]}
	for name, c := range map[string]struct {
		moves []chain.Movement
		ok    bool
	}{
		"exactly":               {[]chain.Movement{moved}, true},
		"nothing":               {nil, false},
		"and from the isolated": {[]chain.Movement{moved, {Token: usdc, From: throwaway, To: thief, Amount: terms.AmountIn}}, false},
		"and the coin":          {[]chain.Movement{moved, {Token: native, From: account, To: thief, Amount: big.NewInt(1)}}, false},
		"and the coin, to it":   {[]chain.Movement{moved, {Token: native, From: account, To: throwaway, Amount: fundedGas}}, false},
		"less a fee":            {[]chain.Movement{{Token: usdc, From: account, To: throwaway, Amount: big.NewInt(990)}, {Token: usdc, From: account, To: usdc, Amount: big.NewInt(10)}}, false},
	} {
		err := CheckSimulation(terms, x, chain.Simulation{Shown: true, Movements: c.moves})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecodeFund(t *testing.T) {
	terms, _ := isolated(false)
	for _, s := range FundSteps(terms, fundedGas) {
		if f, err := DecodeFund(terms, *s.Call); err != nil || Digest(terms, []Effect{f}) != Digest(terms, []Effect{s.Effect}) || f.Target != s.Effect.Target {
			t.Errorf("%+v, %v", f, err)
		}
	}
	token := func() chain.Call { return TransferCall(1, usdc, account, throwaway, terms.AmountIn) }
	coin := func() chain.Call { return TransferCall(1, native, account, throwaway, fundedGas) }
	for name, c := range map[string]struct {
		code   Code
		call   func() chain.Call
		change func(*chain.Call)
	}{
		"another token":         {Undecodable, token, func(c *chain.Call) { c.To = weth }},
		"a token of nobody":     {Undecodable, token, func(c *chain.Call) { c.To = native }},
		"to another":            {NotAsAccepted, token, func(c *chain.Call) { c.Data[35]++ }},
		"to the account":        {NotAsAccepted, token, func(c *chain.Call) { copy(c.Data[16:], account[:]) }},
		"dirty":                 {Undecodable, token, func(c *chain.Call) { c.Data[4] = 1 }},
		"longer":                {Undecodable, token, func(c *chain.Call) { c.Data = append(c.Data, 0) }},
		"shorter":               {Undecodable, token, func(c *chain.Call) { c.Data = c.Data[:67] }},
		"an approval":           {Undecodable, token, func(c *chain.Call) { copy(c.Data, []byte{0x09, 0x5e, 0xa7, 0xb3}) }},
		"a transferFrom":        {Undecodable, token, func(c *chain.Call) { copy(c.Data, []byte{0x23, 0xb8, 0x72, 0xdd}) }},
		"with the coin":         {Undecodable, token, func(c *chain.Call) { c.Value = big.NewInt(1) }},
		"of no value":           {Undecodable, token, func(c *chain.Call) { c.Value = nil }},
		"coin to another":       {NotAsAccepted, coin, func(c *chain.Call) { c.To = thief }},
		"coin with a call":      {Undecodable, coin, func(c *chain.Call) { c.Data = []byte{1, 2, 3, 4} }},
		"coin of no value":      {Undecodable, coin, func(c *chain.Call) { c.Value = nil }},
		"coin with one byte":    {Undecodable, coin, func(c *chain.Call) { c.Data = []byte{0} }},
		"coin to the recipient": {NotAsAccepted, coin, func(c *chain.Call) { c.To = terms.Recipient }},
	} {
		t.Run(name, func(t *testing.T) {
			call := c.call()
			c.change(&call)
			_, err := DecodeFund(terms, call)
			refusedWith(t, err, c.code)
		})
	}
}

// FuzzTransferOf checks that TransferOf reads only what TransferCall writes.
func FuzzTransferOf(f *testing.F) {
	token := TransferCall(1, usdc, account, throwaway, big.NewInt(1000))
	coin := TransferCall(1, native, account, throwaway, big.NewInt(1000))
	f.Add(token.To[:], uint64(0), token.Data)
	f.Add(coin.To[:], uint64(1000), []byte(nil))
	f.Add(native[:], uint64(0), token.Data)
	f.Add(usdc[:], uint64(1), token.Data)
	f.Add(usdc[:], uint64(0), append(bytes.Clone(token.Data), 0))
	f.Fuzz(func(t *testing.T, to []byte, value uint64, data []byte) {
		c := chain.Call{ChainID: 1, From: account, To: common.BytesToAddress(to), Value: new(big.Int).SetUint64(value), Data: data}
		what, whom, amount, ok := TransferOf(c)
		if !ok {
			return
		}
		if again := TransferCall(1, what, account, whom, amount); again.To != c.To || again.Value.Cmp(c.Value) != 0 || !bytes.Equal(again.Data, c.Data) {
			t.Errorf("%+v was read as %+v", c, again)
		}
	})
}
