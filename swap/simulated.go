package swap

import (
	"cmp"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// Expected is what a simulation is compared with.
type Expected struct {
	Effects []Effect       // of the calls that were simulated, in order
	Spender common.Address // contract that spends the input; zero = none
	Allowed *big.Int       // Spender's allowance before the calls; nil = none
}

// spends reports whether the simulated calls include a step other than an approval or a
// transfer to the isolated account.
func (x Expected) spends() bool {
	return slices.ContainsFunc(x.Effects, func(f Effect) bool { return f.Kind != Approve && f.Kind != Fund })
}

// includesWrap reports whether the simulated calls include the wrap that goes first, and whether
// no step but approvals follows it.
func (x Expected) includesWrap(t Terms) (wraps, last bool) {
	i := slices.IndexFunc(x.Effects, t.WrapsFirst)
	return i >= 0, i >= 0 && !slices.ContainsFunc(x.Effects[i+1:], func(f Effect) bool { return f.Kind != Approve })
}

// Last returns the kind of the last simulated step; "" if there is none.
func (x Expected) Last() EffectKind {
	if len(x.Effects) == 0 {
		return ""
	}
	return x.Effects[len(x.Effects)-1].Kind
}

// CheckSimulation compares the simulated transfers with the terms, and refuses every
// difference with NotAsAccepted. Without transfers (not every node can show them) effects
// pass whose calldata enforces the minimum received itself, or names everything it spends;
// opaque ones are refused with SimulationUnsupported. It is pure.
func CheckSimulation(t Terms, x Expected, s chain.Simulation) error {
	switch {
	case !s.Shown && x.Last() == Opaque:
		return Refuse(SimulationUnsupported, "too few RPC endpoints of chain %d can simulate the call's transfers; add one that supports eth_simulateV1", t.SrcChain)
	case !s.Shown:
		return nil
	}
	moves, err := x.checkFunding(t, s)
	if err != nil {
		return err
	}
	for _, g := range s.Grants {
		if g.Owner == t.From() && !x.allowsGrant(t, g) {
			return RefuseField(NotAsAccepted, "allowance", "the call would let %s spend the token %s", g.Spender, g.Token)
		}
	}
	if err := x.checkOutflow(t, moves); err != nil {
		return err
	}
	return x.checkInflow(t, moves)
}

// checkOutflow refuses if anything but the input leaves the account, or more of it than was
// accepted. Where the calldata does not bound it, exactly the amount must leave.
func (x Expected) checkOutflow(t Terms, moves []chain.Movement) error {
	wraps, wrapsLast := x.includesWrap(t)
	paid, sum := t.Input(), new(big.Int)
	if wraps {
		paid = t.TokenIn
	}
	for _, m := range moves {
		if m.ID != nil && m.From == t.From() && m.To != t.From() {
			return RefuseField(NotAsAccepted, "movements", "NFT %s of the collection %s would leave the account", m.ID, m.Token)
		}
	}
	for token, n := range NetOf(moves, t.From()) {
		spent := new(big.Int).Neg(n)
		switch {
		case spent.Sign() <= 0:
		case !x.spends():
			return RefuseField(NotAsAccepted, "movements", "an approval would move the token %s out of the account", token)
		case token != paid:
			return RefuseField(NotAsAccepted, "movements", "the token %s would leave the account", token)
		case spent.Cmp(t.AmountIn) > 0:
			return RefuseField(NotAsAccepted, "movements", "more than the amount would leave the account").WithAmounts(OfInput, spent, t.AmountIn)
		default:
			sum = spent
		}
	}
	if (HandsOver(x.Last()) || wrapsLast) && sum.Cmp(t.AmountIn) != 0 {
		return RefuseField(NotAsAccepted, "movements", "less than the amount would leave the account").WithAmounts(OfInput, sum, t.AmountIn)
	}
	return nil
}

// deliversLater has the providers whose opaque calls only hand the input over, while somebody
// else pays the output, even on the same chain. On one chain, calls of other providers pay it
// themselves.
var deliversLater = map[Kind]bool{Intent: true}

// checkInflow refuses if a swap that pays out on this chain pays the recipient less than the
// minimum received, or a wrap that goes first yields less than it takes.
func (x Expected) checkInflow(t Terms, moves []chain.Movement) error {
	of, token, to, least := OfOutput, t.TokenOut, t.Recipient, t.MinOut
	switch _, wrapsLast := x.includesWrap(t); {
	case wrapsLast:
		of, token, to, least = OfInput, t.Wrap, t.Account, t.AmountIn
	case !x.spends() || x.Last() == Deposit || x.Last() == Opaque && deliversLater[t.Provider] || t.SrcChain != t.DstChain:
		return nil
	}
	if got := NetOf(moves, to)[token]; got == nil || got.Cmp(least) < 0 {
		return RefuseField(NotAsAccepted, "movements", "the recipient would receive less than the accepted minimum").WithAmounts(of, cmp.Or(got, new(big.Int)), least)
	}
	return nil
}

// allowsGrant reports whether allowance g may remain after the calls: an approval exactly as
// decoded, exactly the permit that the swap carries, an allowance set to zero, or the
// input's own, reduced by what the spender spent.
func (x Expected) allowsGrant(t Terms, g chain.Grant) bool {
	if g.Amount == nil {
		return false // an NFT approval
	}
	if g.Amount.Sign() == 0 {
		return true
	}
	allowed := x.Allowed
	for _, f := range x.Effects {
		for _, a := range f.Approves {
			viaPermit := g.Via != (common.Address{})
			if g.Token == a.Token && g.Spender == a.Spender && g.Amount.Cmp(a.Amount) == 0 && viaPermit == (f.Kind != Approve) {
				return !viaPermit || g.Via == Permit2Contract
			}
			if f.Kind == Approve {
				allowed = a.Amount
			}
		}
	}
	spent := g.Via == (common.Address{}) && g.Token == t.Input() && g.Spender == x.Spender && x.spends()
	return spent && allowed != nil && g.Amount.Cmp(allowed) < 0
}

// NetOf returns what an address gains (positive) or loses in total, by token.
func NetOf(moves []chain.Movement, who common.Address) map[common.Address]*big.Int {
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

// AmountText returns an amount for a person, in base units.
func AmountText(n *big.Int) string {
	if n == nil {
		return "nothing"
	}
	return n.String()
}
