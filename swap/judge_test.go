package swap

import (
	"math/big"
	"testing"

	"swapkeep/chain"
)

// simulated expects one step of a kind; an approval is one of usdc for Permit2.
func simulated(k EffectKind) Expected {
	f := Effect{Kind: k}
	if k == Approve {
		f.Approves = []Approval{{Token: usdc, Spender: permit2, Amount: big.NewInt(1000)}}
	}
	return Expected{Effects: []Effect{f}}
}

func TestCheckSimulation(t *testing.T) {
	in, out := big.NewInt(1000), big.NewInt(2900)
	good := func() chain.Simulation {
		return chain.Simulation{Method: "eth_simulateV1", Shown: true, Movements: []chain.Movement{
			{Token: native, From: account, To: router, Amount: in}, {Token: usdc, From: router, To: account, Amount: out}}}
	}
	if err := CheckSimulation(testTerms(), simulated(Swap), good()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*chain.Simulation){
		"more leaves": func(s *chain.Simulation) { s.Movements[0].Amount = big.NewInt(1001) },
		"another token too": func(s *chain.Simulation) {
			s.Movements = append(s.Movements, chain.Movement{Token: weth, From: account, To: thief, Amount: in})
		},
		"less arrives":      func(s *chain.Simulation) { s.Movements[1].Amount = big.NewInt(2899) },
		"arrives elsewhere": func(s *chain.Simulation) { s.Movements[1].To = thief },
		"taken again": func(s *chain.Simulation) {
			s.Movements = append(s.Movements, chain.Movement{Token: usdc, From: account, To: thief, Amount: big.NewInt(1)})
		},
		"nothing arrives": func(s *chain.Simulation) { s.Movements = s.Movements[:1] },
		"an allowance": func(s *chain.Simulation) {
			s.Grants = []chain.Grant{{Token: usdc, Owner: account, Spender: thief, Amount: big.NewInt(1)}}
		},
		"an NFT allowance": func(s *chain.Simulation) { s.Grants = []chain.Grant{{Token: usdc, Owner: account, Spender: thief}} },
		"to itself, no gain": func(s *chain.Simulation) {
			s.Movements[1] = chain.Movement{Token: usdc, From: account, To: account, Amount: out}
		},
		"amount missing": func(s *chain.Simulation) { s.Movements[1].Amount = nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := good()
			change(&s)
			refusedWith(t, CheckSimulation(testTerms(), simulated(Swap), s), NotAsAccepted)
		})
	}
	blind := chain.Simulation{Method: "eth_call"}
	if err := CheckSimulation(testTerms(), simulated(Swap), blind); err != nil {
		t.Errorf("bytes that enforce the floor need no movements: %v", err)
	}
	refusedWith(t, CheckSimulation(testTerms(), simulated(Opaque), blind), SimulationUnsupported)
	if err := CheckSimulation(testTerms(), simulated(Approve), chain.Simulation{Shown: true, Grants: []chain.Grant{{Token: usdc, Owner: account, Spender: permit2, Amount: in}}}); err != nil {
		t.Errorf("an approval may approve: %v", err)
	}
	refusedWith(t, CheckSimulation(testTerms(), simulated(Approve), good()), NotAsAccepted)
}
