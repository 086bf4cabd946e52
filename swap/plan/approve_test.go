package plan

import (
	"bytes"
	"math/big"
	"swapkeep/chain"
	"swapkeep/swap"
	"testing"
)

func TestDecodeApprove(t *testing.T) {
	terms, _ := erc20()
	good := func() chain.Call { return approveCall(terms, permit2, big.NewInt(1000)) }
	f, err := decodeApprove(terms, good(), nil)
	if err != nil || f.Kind != swap.Approve || f.Target != usdc || len(f.Approves) != 1 || f.Approves[0].Spender != permit2 || f.Approves[0].Amount.Int64() != 1000 {
		t.Fatalf("%+v, %v", f, err)
	}
	for name, c := range map[string]struct {
		code   swap.Code
		change func(*chain.Call)
	}{
		"another token":  {swap.NotAsAccepted, func(c *chain.Call) { c.To = weth }},
		"nobody":         {swap.NotAsAccepted, func(c *chain.Call) { c.To = native }},
		"too long":       {swap.Undecodable, func(c *chain.Call) { c.Data = append(c.Data, 0) }},
		"a word more":    {swap.Undecodable, func(c *chain.Call) { c.Data = append(c.Data, make([]byte, 32)...) }},
		"too short":      {swap.Undecodable, func(c *chain.Call) { c.Data = c.Data[:67] }},
		"selector alone": {swap.Undecodable, func(c *chain.Call) { c.Data = c.Data[:4] }},
		"dirty address":  {swap.Undecodable, func(c *chain.Call) { c.Data[4] = 1 }},
		"with value":     {swap.NotAsAccepted, func(c *chain.Call) { c.Value = big.NewInt(1) }},
		"without value":  {swap.NotAsAccepted, func(c *chain.Call) { c.Value = nil }},
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
		if c.Data = data; !IsApprove(c) {
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
		spends []swap.Spend
		ok     bool
	}{
		"nothing":            {new(big.Int), nil, true},
		"a token":            {new(big.Int), []swap.Spend{{Token: usdc, Amount: one}}, true},
		"the coin":           {one, []swap.Spend{{Token: native, Amount: one}}, true},
		"more than it says":  {two, []swap.Spend{{Token: native, Amount: one}}, false},
		"less than it says":  {one, []swap.Spend{{Token: native, Amount: two}}, false},
		"beside a token":     {one, []swap.Spend{{Token: usdc, Amount: one}}, false},
		"without an effect":  {one, nil, false},
		"the coin unsent":    {new(big.Int), []swap.Spend{{Token: native, Amount: one}}, false},
		"the coin in halves": {two, []swap.Spend{{Token: native, Amount: one}, {Token: native, Amount: one}}, true},
	} {
		if err := checkValue(chain.Call{Value: c.value}, swap.Effect{Spends: c.spends}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDepositAllowance checks that a call that takes the input needs exactly that
// allowance. For a signed order a built-in contract may have more.
func TestDepositAllowance(t *testing.T) {
	for _, c := range []struct {
		kind            swap.EffectKind
		present, shares int64
		fits            bool
	}{
		{swap.Signed, 1000, 0, true}, {swap.Signed, 5000, 0, true}, {swap.Signed, 999, 0, false}, {swap.Signed, 1000, 1, false},
		{swap.Deposit, 1000, 0, true}, {swap.Deposit, 1001, 0, false}, {swap.Deposit, 0, 0, false}, {swap.Deposit, 1300, 300, true},
		{swap.Opaque, 1000, 0, true}, {swap.Opaque, 5000, 0, false}, {swap.Opaque, 999, 0, false},
	} {
		a := Allowance{Present: big.NewInt(c.present), shares: big.NewInt(c.shares), pending: new(big.Int)}
		p := swap.Plan{Steps: []swap.Step{{Effect: swap.Effect{Kind: c.kind}}}}
		if got := a.Fits(p, big.NewInt(1000)); got != c.fits {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
