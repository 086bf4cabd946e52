package providertest

import (
	"math/big"
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// movements checks simulated movements of an opaque last step against its terms: whatever
// the bytes say, package swap must refuse a call that takes anything but exactly the input,
// or leaves an allowance behind.
func (h *harness) movements(t *testing.T) (tried int) {
	last := h.order.Plan.Steps[len(h.order.Plan.Steps)-1]
	f, err := h.p.Decode(h.terms, last)
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != swap.Opaque {
		t.Errorf("the last step is excused as opaque, and does %s", f.Kind)
	}
	x := swap.Expected{Effects: []swap.Effect{f}, Spender: h.built.Spender, Allowed: h.terms.AmountIn}
	in, account, attacker := h.terms.Input(), h.terms.From(), common.HexToAddress(Attacker)
	takes := func(n *big.Int) chain.Simulation {
		return chain.Simulation{Shown: true, Movements: []chain.Movement{
			{Token: in, From: account, To: f.Target, Amount: n}, {Token: h.terms.TokenOut, From: f.Target, To: h.terms.Recipient, Amount: h.terms.MinOut},
		}}
	}
	if err := swap.CheckSimulation(h.terms, x, takes(h.terms.AmountIn)); err != nil {
		t.Errorf("exactly the input leaves: %v", err)
	}
	with := func(change func(*chain.Simulation)) chain.Simulation {
		s := takes(h.terms.AmountIn)
		change(&s)
		return s
	}
	for name, s := range map[string]chain.Simulation{
		"one more":              takes(new(big.Int).Add(h.terms.AmountIn, big.NewInt(1))),
		"one less":              takes(new(big.Int).Sub(h.terms.AmountIn, big.NewInt(1))),
		"nothing":               takes(new(big.Int)),
		"what no node can show": {},
		"another token as well": with(func(s *chain.Simulation) { s.Movements = append(s.Movements, move(attacker, account, attacker, nil)) }),
		"an NFT as well": with(func(s *chain.Simulation) {
			s.Movements = append(s.Movements, move(attacker, account, attacker, big.NewInt(7)))
		}),
		"an allowance of the input":     with(func(s *chain.Simulation) { s.Grants = []chain.Grant{grant(in, account, attacker)} }),
		"an allowance of another token": with(func(s *chain.Simulation) { s.Grants = []chain.Grant{grant(attacker, account, f.Target)} }),
	} {
		tried++
		if err := swap.CheckSimulation(h.terms, x, s); code(err) == "" {
			t.Errorf("%s: signed although a simulation shows it: %v", name, err)
		}
	}
	return tried + h.fundingMovements(t, x, takes(h.terms.AmountIn))
}

func move(token, from, to common.Address, id *big.Int) chain.Movement {
	return chain.Movement{Token: token, From: from, To: to, Amount: big.NewInt(1), ID: id}
}

func grant(token, owner, spender common.Address) chain.Grant {
	return chain.Grant{Token: token, Owner: owner, Spender: spender, Amount: big.NewInt(1)}
}
