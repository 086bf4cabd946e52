package plan

import (
	"context"
	"fmt"
	"math/big"
	"swapkeep/chain"
	"swapkeep/swap"
)

// scamShare is the part of the swap's value above which its gas cost suggests a scam
// (spec section 8).
var scamShare = big.NewRat(1, 2)

// judgeGas returns the gas guard's findings (spec section 1, item 5) and sets g.Share and
// g.Missing. It does no I/O. All amounts are wei: g's for the plan's own transactions,
// value that they send, the gas ceiling, and the swap's worth, nil if unknown.
func judgeGas(g *swap.Gas, value, ceiling, worth *big.Int, symbol string) []swap.Finding {
	if g.Max.Sign() == 0 {
		return nil // a signed order with its allowance in place costs no gas
	}
	found := judgeFunds(g, value, ceiling, symbol)
	if worth == nil || worth.Sign() <= 0 {
		return append(found, swap.Finding{Code: "value_unknown", Severity: swap.Acknowledge,
			Text: "price unavailable: what this swap is worth is not known, so its gas cost cannot be weighed against it", Data: nil})
	}
	share := new(big.Rat).SetFrac(g.Expected, worth)
	f, _ := share.Float64()
	g.Share = &f
	if share.Cmp(scamShare) > 0 {
		found = append(found, swap.Finding{Code: "gas_excessive", Severity: swap.Acknowledge,
			Text: fmt.Sprintf("gas costs %.0f %% of what is swapped: this looks like a scam or a mistake", f*100),
			Data: map[string]string{"expected": g.Expected.String(), "value": worth.String()}})
	}
	return found
}

// judgeFunds is the part of the gas guard that needs no prices: whether the account can
// pay, and whether the cost stays below the ceiling.
func judgeFunds(g *swap.Gas, value, ceiling *big.Int, symbol string) (found []swap.Finding) {
	need := new(big.Int).Add(g.Max, value)
	if g.Balance.Cmp(need) < 0 {
		g.Missing = new(big.Int).Sub(need, g.Balance)
		found = append(found, swap.Finding{Code: "gas_insufficient", Severity: swap.Block,
			Text: fmt.Sprintf("not enough %s for gas: %s more is needed", symbol, Units(g.Missing, 18, symbol)),
			Data: map[string]string{"missing": g.Missing.String(), "needed": need.String(), "balance": g.Balance.String()}})
	}
	if g.Max.Cmp(ceiling) > 0 {
		found = append(found, swap.Finding{Code: "gas_ceiling", Severity: swap.Block,
			Text: fmt.Sprintf("gas may cost up to %s, above the ceiling of %s", Units(g.Max, 18, symbol), Units(ceiling, 18, symbol)),
			Data: map[string]string{"max": g.Max.String(), "ceiling": ceiling.String()}})
	}
	return found
}

// gasOf returns the gas cost of a plan's transactions and the value that the account sends
// besides, in wei. What an isolated account pays is part of the cost, and what is moved to
// it beyond that is part of the value.
func gasOf(ctx context.Context, n Nodes, t swap.Terms, o swap.Offer, p swap.Plan) (swap.Gas, *big.Int, error) {
	g := swap.Gas{Expected: new(big.Int), Max: new(big.Int)}
	value := new(big.Int)
	unready := false // a step before it that is not mined makes the next ones fail
	for i, s := range p.Steps {
		if s.Kind == swap.TypedStep {
			continue
		}
		call := callToCost(t, o, s, unready)
		c, err := n.Cost(ctx, call)
		if err != nil {
			return g, nil, fmt.Errorf("cost of step %d: %w", i+1, err)
		}
		if call.From == t.Account {
			value.Add(value, call.Value)
		} else {
			value.Sub(value, c.Max) // paid with what is moved to the isolated account
		}
		unready = unready || s.Effect.Kind == swap.Approve || s.Effect.Kind == swap.Fund
		g.Costs = append(g.Costs, c)
		g.Expected.Add(g.Expected, c.Expected)
		g.Max.Add(g.Max, c.Max)
	}
	var err error
	g.Balance, err = n.Balance(ctx, t.SrcChain, t.Account, chain.Native)
	return g, value, err
}

// callToCost returns the call by which the cost of a step is read, with gas assumed where no
// node can estimate it: a deferred step has no bytes yet, and one that is unready fails
// until the steps before it are mined.
func callToCost(t swap.Terms, o swap.Offer, s swap.Step, unready bool) chain.Call {
	assumed := max(o.Gas, minDeferredGas)
	if s.Kind == swap.DeferredStep {
		return chain.Call{ChainID: t.SrcChain, From: t.From(), To: s.Effect.Target, Value: new(big.Int), Gas: assumed}
	}
	call := *s.Call
	if !unready || call.Gas != 0 || s.Effect.Kind == swap.Fund || t.WrapsFirst(s.Effect) { // which need nothing before
		return call
	}
	call.Gas = assumed
	if s.Effect.Kind == swap.Approve {
		call.Gas = approveGas
	}
	return call
}

// minDeferredGas is the least gas assumed for a deferred call, or for one after an approval.
const minDeferredGas = 400_000

// approveGas is the gas assumed for an approval that no node can estimate; known tokens
// need a third to a half of it.
const approveGas = 150_000

// Units formats an amount of base units as a decimal number with its symbol.
func Units(n *big.Int, decimals uint8, symbol string) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	s := new(big.Rat).SetFrac(n, scale).FloatString(int(decimals))
	for decimals > 0 && (s[len(s)-1] == '0' || s[len(s)-1] == '.') {
		stop := s[len(s)-1] == '.'
		if s = s[:len(s)-1]; stop {
			break
		}
	}
	return s + " " + symbol
}
