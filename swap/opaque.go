package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A call of unknown content acts as the account towards whatever it reaches: it goes to
// built-in contracts alone ([Check]), of which none is known to obey the account in
// anything but what it is handed (docs/providers, as far as they are published). What it moves, [CheckSimulation] reads off a simulation; but a
// contract that knows when it is only tried shows what it likes. The rules of this file
// rest on none.
//
// What nodes say decides all the same: that there is a contract, what it may take, what
// the call would move. Where two hosts are configured two have to say it; where there
// is but one, or but one that can simulate, that one is believed, and a lie of its own
// undoes the bound. Each says it
// of its own latest block: beside one that lies, another that is behind does not know
// what another wallet has allowed in the last blocks.

// doubted makes a refusal of what hosts tell differently about such a call.
func doubted(err error) error {
	if !errors.Is(err, chain.ErrDisagree) {
		return err
	}
	return &Refusal{Code: NodesDisagree, Reason: err.Error() + "; nothing is signed on the word of one of them: wait, or configure endpoints that can be trusted", Err: err}
}

// shows simulates calls and compares what moves with the terms: for a call of unknown
// content on two hosts where two are configured, of which each has to show what was
// accepted.
func (e *Engine) shows(ctx context.Context, t Terms, calls []chain.Call, x Expected) error {
	if x.last() != Opaque {
		sim, err := e.Nodes.Simulate(ctx, calls)
		if err != nil {
			return err
		}
		return CheckSimulation(t, x, sim)
	}
	sims, err := e.Nodes.Simulations(ctx, calls)
	if err != nil {
		return doubted(err)
	}
	for _, sim := range sims {
		if err := CheckSimulation(t, x, sim); err != nil {
			return err
		}
	}
	return nil
}

// present is what the spender of p may pull of the input now. For what is handed over
// by a call it has to be exactly the amount, so that more than one host says it.
func (e *Engine) present(ctx context.Context, t Terms, p Plan) (*big.Int, error) {
	if !handsOver(p.last().Kind) {
		return e.Nodes.Allowance(ctx, t.SrcChain, t.Input(), t.Account, p.Spender)
	}
	all, err := e.Nodes.AgreedAllowances(ctx, t.SrcChain, t.Account, []chain.Grantee{{Token: t.Input(), Spender: p.Spender}})
	switch {
	case err != nil:
		return nil, doubted(err)
	case all[0] == nil:
		return nil, fmt.Errorf("token %s does not say what %s may take of it", t.Input(), p.Spender)
	}
	return all[0], nil
}

// selectorLen is how many bytes name a function in calldata.
const selectorLen = 4

// checkIsCall refuses a plain transfer in the place of a call of unknown content.
func checkIsCall(f Effect, c chain.Call) error {
	if f.Kind == Opaque && len(c.Data) < selectorLen {
		return refuseField(NotUnderstood, "data", "the %s says with %d bytes what it is for", f.Kind, len(c.Data))
	}
	return nil
}

// checkBeside refuses a contract for calls of unknown content where it could take
// more from the account than what it is handed: one that holds allowances of which we
// can know. That a router is built in does not help there: it takes what it is told to.
func (e *Engine) checkBeside(ctx context.Context, t Terms, f Effect) error {
	if f.Kind != Opaque {
		return nil
	}
	tokens, err := e.tokensOf(t)
	if err != nil {
		return err
	}
	held, err := e.heldBy(ctx, t, f.Target, tokens)
	if err != nil {
		return doubted(fmt.Errorf("what %s may take: %w", f.Target, err))
	}
	for _, a := range held {
		return &Refusal{Code: NotAsAccepted, Field: "allowance", Data: map[string]string{"token": a.Token.Hex(), "spender": a.Spender.Hex(), "amount": a.Amount.String()},
			Reason: fmt.Sprintf("%s may already take some of %s, and a call of unknown content could use that; take that allowance away first", a.Spender, a.Token)}
	}
	return nil
}

// tokensOf are those of which the account may have allowed something: of the swap,
// of earlier orders, and the wallet's own.
func (e *Engine) tokensOf(t Terms) ([]common.Address, error) {
	tokens := []common.Address{t.TokenIn, t.TokenOut, t.Input()}
	if net, err := e.Nodes.Network(t.SrcChain); err == nil {
		tokens = append(tokens, net.WrappedNative)
	}
	past, err := e.Journal.grants(t.Account, t.SrcChain)
	if err != nil {
		return nil, err
	}
	for g := range past {
		tokens = append(tokens, g.Token)
	}
	if e.Tokens != nil {
		tokens = append(tokens, e.Tokens(t.SrcChain)...)
	}
	tokens = slices.DeleteFunc(tokens, func(a common.Address) bool { return a == chain.Native })
	slices.SortFunc(tokens, common.Address.Cmp)
	return slices.Compact(tokens), nil
}

// heldBy are the allowances of a spender beside that of the input, whose amount is
// another's to see to, and beside what open orders hand to it themselves.
func (e *Engine) heldBy(ctx context.Context, t Terms, spender common.Address, tokens []common.Address) (held []Approval, err error) {
	asked := make([]chain.Grantee, len(tokens))
	for i, token := range tokens {
		asked[i] = chain.Grantee{Token: token, Spender: spender}
	}
	amounts, err := e.Nodes.AgreedAllowances(ctx, t.SrcChain, t.Account, asked)
	if err != nil {
		return nil, err
	}
	for i, n := range amounts {
		if n == nil || n.Sign() == 0 || tokens[i] == t.Input() {
			continue // what does not answer is no token
		}
		due, err := e.due(AllowanceKey{Chain: t.SrcChain, Account: t.Account, Token: tokens[i], Spender: spender})
		if err != nil {
			return nil, err
		}
		if n.Cmp(due) > 0 {
			held = append(held, Approval{Token: tokens[i], Spender: spender, Amount: n})
		}
	}
	permits, err := e.permitsOf(ctx, t, asked)
	return append(held, permits...), err
}

// due is what open orders are about to hand over by an allowance.
func (e *Engine) due(k AllowanceKey) (*big.Int, error) {
	sum := new(big.Int)
	uses, err := e.uses(k)
	for _, u := range uses {
		if !u.Signed {
			sum.Add(sum, u.Amount)
		}
	}
	return sum, err
}

// permitsOf are the allowances by Permit2, where that is.
func (e *Engine) permitsOf(ctx context.Context, t Terms, asked []chain.Grantee) (held []Approval, err error) {
	there, err := e.Nodes.IsContract(ctx, t.SrcChain, permit2Contract)
	if err != nil || !there {
		return nil, err
	}
	kept, err := e.Nodes.AgreedPermits(ctx, t.SrcChain, permit2Contract, t.Account, asked)
	for i, p := range kept {
		if end := expiryOf(p); p.Amount.Sign() > 0 && (end.IsZero() || !e.Now().After(end)) {
			held = append(held, Approval{Token: asked[i].Token, Spender: asked[i].Spender, Amount: p.Amount, Until: end})
		}
	}
	return held, err
}

// missing adds to the end of an order that handed nothing over what is gone of the
// allowance that it gave all the same: whoever was approved can take the amount
// without the call that was to follow.
func (e *Engine) missing(ctx context.Context, o *Order) {
	left := Leftovers(*o)
	if len(left) == 0 || !handsOver(o.Plan.last().Kind) || o.Verdict == nil {
		return
	}
	a, err := e.allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		e.Log(*o, err)
		o.because(because(AllowanceUnchecked, "spender", left[0].Spender.Hex()))
		o.Verdict.Sources += "; " + o.Reason
		return
	}
	gone := new(big.Int).Sub(a.need(left[0].Amount), a.present)
	if gone.Sign() <= 0 {
		return
	}
	o.because(because(AllowanceTaken, "gone", gone.String(), "allowed", left[0].Amount.String(), "spender", left[0].Spender.Hex()))
	o.Verdict.Sources += "; " + o.Reason
}
