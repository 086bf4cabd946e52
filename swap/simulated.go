package swap

import (
	"math/big"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// CheckSimulation compares what a node shows to move with the terms. A node
// that cannot show movements proves nothing; that is enough for effects whose
// bytes enforce the floor themselves, and a refusal for opaque ones.
func CheckSimulation(t Terms, kind EffectKind, s chain.Simulation) error {
	if !s.Shown {
		if kind == Opaque {
			return Refuse(NotShown, "no rpc endpoint of chain %d can show what the call would move; add one that supports eth_simulateV1", t.SrcChain)
		}
		return nil
	}
	for _, g := range s.Grants {
		if g.Owner == t.Account && kind != Approve && (g.Amount == nil || g.Amount.Sign() > 0) {
			return refuseField(NotAsAccepted, "allowance", "the call would let %s spend %s", g.Spender, g.Token)
		}
	}
	left := netOf(s.Movements, t.Account)
	for token, n := range left {
		spent := new(big.Int).Neg(n)
		switch {
		case spent.Sign() <= 0:
		case kind == Approve:
			return refuseField(NotAsAccepted, "movements", "an approval would move %s of %s out of the account", spent, token)
		case token != t.TokenIn:
			return refuseField(NotAsAccepted, "movements", "%s of %s would leave the account", spent, token)
		case spent.Cmp(t.AmountIn) > 0:
			return refuseField(NotAsAccepted, "movements", "%s would leave the account, more than %s", spent, t.AmountIn)
		}
	}
	if kind == Approve || t.SrcChain != t.DstChain {
		return nil
	}
	got := netOf(s.Movements, t.Recipient)[t.TokenOut]
	if got == nil || got.Cmp(t.FloorOut) < 0 {
		return refuseField(NotAsAccepted, "movements", "only %v would arrive, below the accepted floor %s", text(got), t.FloorOut)
	}
	return nil
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
