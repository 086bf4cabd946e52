package swap

import (
	"errors"
	"math/big"

	"swapkeep/chain"
)

// unsealed refuses to go on with an order that no seal is on: an older version accepted
// it, or another program wrote it. What it would do is proposed anew, where it can be.
func (e *Engine) unsealed(o Order, err error) error {
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Word != NotSealed {
		return err
	}
	_, unfit := e.bare(o)
	if unfit == nil {
		return askConsent(NotSealed)
	}
	if errors.As(unfit, new(*Refusal)) {
		return err
	}
	return unfit
}

// bare is what of an order that nobody is known to have accepted a proposal may start
// from: the route and the amount. Whom it pays, what that costs and what at least
// arrives are this wallet's own words, as for a new order; what is behind it is what
// the sender's ledger shows. One that pays somebody else takes the password, which is
// asked for with a quote, and a revoke is made anew at once: neither is proposed.
func (e *Engine) bare(o Order) (Order, error) {
	t, none := o.Terms, changedRecord(NotSealed)
	net, err := e.Nodes.Network(t.SrcChain)
	if err != nil || t.Provider == Wallet || !o.forItself() {
		return o, none
	}
	r := QuoteRequest{Account: t.Account, SrcChain: t.SrcChain, TokenIn: t.TokenIn, AmountIn: t.AmountIn, DstChain: t.DstChain, TokenOut: t.TokenOut,
		SlippageBps: min(max(o.request().SlippageBps, MinSlippageBps), DefaultSlippageBps)}
	if err := checkRequest(&r); err != nil {
		return o, err
	}
	switch shown, err := e.carriedOut(o); {
	case err != nil:
		return o, err
	case !shown:
		return o, none
	}
	o.Offer = Offer{ID: o.Offer.ID, Provider: t.Provider, Request: e.Fees.charge(r, t.Provider, net.WrappedNative), Wrap: t.Wrap}
	o.Terms = e.termsOf(o.Offer, net)
	o.Seal, o.AckCodes, o.SlippageBps, o.Results = nil, nil, 0, nil
	if o.Proposal != nil && !o.Terms.asks(o.Proposal.Terms) {
		o.Proposal = nil
	}
	return o, nil
}

// carriedOut reports whether the ledger shows what o says that it has behind it.
func (e *Engine) carriedOut(o Order) (bool, error) {
	for i, s := range o.Plan.Steps[:min(o.own(), o.Step)] {
		if i < len(o.Results) && o.Results[i].Skipped && s.Effect.Kind == Approve {
			continue
		}
		if shown, err := e.hasMined(stepKey(o, i), s.Call); err != nil || !shown {
			return false, err
		}
	}
	if !o.Wrapped {
		return true, nil
	}
	return e.hasMined(wrapKey(o), WrapStep(o.Terms).Call)
}

// hasMined reports whether the ledger shows that very call as mined.
func (e *Engine) hasMined(key string, c *chain.Call) (bool, error) {
	tx, err := e.Sender.Lookup(key)
	if err != nil || tx == nil || c == nil || c.Value == nil || tx.State != chain.TxMined {
		return false, err
	}
	return tx.Call.Does(*c), nil
}

// capGas bounds what ending o may cost where nobody is known to have accepted its
// ceiling: by the network's own. Whoever wants more raises it.
func (e *Engine) capGas(o *Order) {
	most := new(big.Int) // on a network that is not known nothing is signed
	if net, err := e.Nodes.Network(o.Terms.SrcChain); err == nil {
		most.Set(net.GasCeiling)
	}
	if o.Terms.GasCeiling == nil || o.Terms.GasCeiling.Cmp(most) > 0 {
		o.Terms.GasCeiling = most
	}
}

// forItself reports whether o pays and refunds its own account.
func (o Order) forItself() bool {
	return o.Terms.Recipient == o.Terms.Account && o.Terms.RefundTo == o.Terms.Account
}

// sealed reports whether there is a seal on o that this version can tell by.
func (o Order) sealed() bool { return o.Seal != nil && o.Seal.Form >= sealForm }

// Distrusted reports whether o waits for that: nothing is signed for it.
func (o Order) Distrusted() bool { return o.Condition == Changed || o.Condition == Unsealed }

// changed has o wait where its record is not what was sealed, or no seal is on it. What
// was sent before goes on being watched, and the user may end it.
func (o *Order) changed(r *Refusal) Cause {
	c := ofRefusal(Refused, r)
	o.Condition = Changed
	if r.Word == NotSealed && !o.sealed() && o.forItself() {
		o.Condition = Unsealed // as an update leaves one behind: no alarm
	}
	o.because(c)
	return c
}
