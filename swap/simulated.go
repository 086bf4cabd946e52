package swap

import (
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// Expected is what a simulation is compared with.
type Expected struct {
	Effects []Effect       // of the calls that were simulated, in order
	Spender common.Address // who pulls the input; zero = nobody
	Allowed *big.Int       // what Spender may pull before the calls; nil = nothing
}

// spends reports whether what was simulated includes the step that spends.
func (x Expected) spends() bool {
	return len(x.Effects) > 0 && x.Effects[len(x.Effects)-1].Kind != Approve
}

// CheckSimulation compares what a node shows to move with the terms. A node
// that cannot show movements proves nothing; that is enough for effects whose
// bytes enforce the floor themselves, and a refusal for opaque ones. It is pure.
func CheckSimulation(t Terms, x Expected, s chain.Simulation) error {
	opaque := func(f Effect) bool { return f.Kind == Opaque }
	switch {
	case !s.Shown && slices.ContainsFunc(x.Effects, opaque):
		return Refuse(NotShown, "no rpc endpoint of chain %d can show what the call would move; add one that supports eth_simulateV1", t.SrcChain)
	case !s.Shown:
		return nil
	}
	for _, g := range s.Grants {
		if g.Owner == t.Account && !x.expects(t, g) {
			return refuseField(NotAsAccepted, "allowance", "the call would let %s spend %s", g.Spender, g.Token)
		}
	}
	for token, n := range netOf(s.Movements, t.Account) {
		spent := new(big.Int).Neg(n)
		switch {
		case spent.Sign() <= 0:
		case !x.spends():
			return refuseField(NotAsAccepted, "movements", "an approval would move %s of %s out of the account", spent, token)
		case token != t.TokenIn:
			return refuseField(NotAsAccepted, "movements", "%s of %s would leave the account", spent, token)
		case spent.Cmp(t.AmountIn) > 0:
			return refuseField(NotAsAccepted, "movements", "%s would leave the account, more than %s", spent, t.AmountIn)
		}
	}
	if !x.spends() || t.SrcChain != t.DstChain {
		return nil
	}
	got := netOf(s.Movements, t.Recipient)[t.TokenOut]
	if got == nil || got.Cmp(t.FloorOut) < 0 {
		return refuseField(NotAsAccepted, "movements", "only %v would arrive, below the accepted floor %s", text(got), t.FloorOut)
	}
	return nil
}

// expects reports whether an allowance event is one that the calls may leave:
// an approval exactly as decoded, exactly the permit that the swap carries, an
// allowance taken back, or the input's own going down as the spender pulls it.
func (x Expected) expects(t Terms, g chain.Grant) bool {
	if g.Amount == nil {
		return false // an NFT's
	}
	if g.Amount.Sign() == 0 {
		return true
	}
	allowed := x.Allowed
	for _, f := range x.Effects {
		for _, a := range f.Approves {
			viaPermit := g.Via != (common.Address{})
			if g.Token == a.Token && g.Spender == a.Spender && g.Amount.Cmp(a.Amount) == 0 && viaPermit == (f.Kind != Approve) {
				return !viaPermit || g.Via == permit2Contract
			}
			if f.Kind == Approve {
				allowed = a.Amount
			}
		}
	}
	pulled := g.Via == (common.Address{}) && g.Token == t.TokenIn && g.Spender == x.Spender && x.spends()
	return pulled && allowed != nil && g.Amount.Cmp(allowed) < 0
}

// netOf sums what an address gains (positive) or loses by token.
func netOf(moves []chain.Movement, who common.Address) map[common.Address]*big.Int {
	net := make(map[common.Address]*big.Int)
	add := func(token common.Address, n *big.Int) {
		if net[token] == nil {
			net[token] = new(big.Int)
		}
		net[token].Add(net[token], n)
	}
	for _, m := range moves {
		if m.Amount == nil || m.From == m.To {
			continue
		}
		if m.To == who {
			add(m.Token, m.Amount)
		}
		if m.From == who {
			add(m.Token, new(big.Int).Neg(m.Amount))
		}
	}
	return net
}

func text(n *big.Int) string {
	if n == nil {
		return "nothing"
	}
	return n.String()
}
