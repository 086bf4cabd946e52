package swap

import (
	"errors"
	"math/big"

	"swapkeep/chain"
)

// unsealed returns ConsentNeeded for an order without a seal, which an older version
// accepted or another program wrote, if a proposal can be made; other errors as they are.
func (e *Engine) unsealed(o Order, err error) error {
	var refused *Refusal
	if !errors.As(err, &refused) || refused.ReasonCode != NotSealed {
		return err
	}
	_, unfit := e.proposalBase(o)
	if unfit == nil {
		return askConsent(NotSealed)
	}
	if errors.As(unfit, new(*Refusal)) {
		return err
	}
	return unfit
}

// proposalBase returns the part of an order that nobody is known to have accepted from which a
// proposal may start: the route and the amount. Recipient, fees and minimum received are
// set by this wallet, as for a new order, and steps count as done only if the sender's
// ledger shows it. It refuses with RecordChanged an order that pays somebody else, which
// needs the password with a new quote, and a revoke, which is made anew at once.
func (e *Engine) proposalBase(o Order) (Order, error) {
	t, none := o.Terms, changedRecord(NotSealed)
	net, err := e.Nodes.Network(t.SrcChain)
	if err != nil || t.Provider == Wallet || !o.paysOwnAccount() {
		return o, none
	}
	r := QuoteRequest{Account: t.Account, SrcChain: t.SrcChain, TokenIn: t.TokenIn, AmountIn: t.AmountIn, DstChain: t.DstChain, TokenOut: t.TokenOut,
		SlippageBps: min(max(o.request().SlippageBps, MinSlippageBps), DefaultSlippageBps)}
	if err := checkRequest(&r); err != nil {
		return o, err
	}
	switch shown, err := e.ledgerConfirms(o); {
	case err != nil:
		return o, err
	case !shown:
		return o, none
	}
	o.Offer = Offer{ID: o.Offer.ID, Provider: t.Provider, Request: e.Fees.charge(r, t.Provider, net.WrappedNative), Wrap: t.Wrap}
	o.Terms = e.termsOf(o.Offer, net)
	o.Seal, o.AckCodes, o.SlippageBps, o.Results = nil, nil, 0, nil
	if o.Proposal != nil && !o.Terms.sameSwap(o.Proposal.Terms) {
		o.Proposal = nil
	}
	return o, nil
}

// ledgerConfirms reports whether the ledger confirms what o's record says is done.
func (e *Engine) ledgerConfirms(o Order) (bool, error) {
	for i, s := range o.Plan.Steps[:min(o.ownStepCount(), o.Step)] {
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

// hasMined reports whether the ledger shows exactly that call as mined.
func (e *Engine) hasMined(key string, c *chain.Call) (bool, error) {
	tx, err := e.Sender.Lookup(key)
	if err != nil || tx == nil || c == nil || c.Value == nil || tx.State != chain.TxMined {
		return false, err
	}
	return tx.Call.SameAs(*c), nil
}

// capGas lowers o's gas ceiling to the network's own, for ending an order whose ceiling
// nobody is known to have accepted. The user may raise it again.
func (e *Engine) capGas(o *Order) {
	most := new(big.Int) // on an unknown network nothing is signed
	if net, err := e.Nodes.Network(o.Terms.SrcChain); err == nil {
		most.Set(net.GasCeiling)
	}
	if o.Terms.GasCeiling == nil || o.Terms.GasCeiling.Cmp(most) > 0 {
		o.Terms.GasCeiling = most
	}
}

// paysOwnAccount reports whether o pays and refunds its own account.
func (o Order) paysOwnAccount() bool {
	return o.Terms.Recipient == o.Terms.Account && o.Terms.RefundTo == o.Terms.Account
}

// sealed reports whether o has a seal that this version can check.
func (o Order) sealed() bool { return o.Seal != nil && o.Seal.Form >= sealForm }

// Tampered reports whether o waits because its record is not what was accepted: only
// what its user asks for to end it is signed.
func (o Order) Tampered() bool { return o.Condition == RecordTampered || o.Condition == RecordUnsealed }

// markTampered makes o wait because its record is not what was sealed, or has no seal. What
// was sent before is still watched, and the user may end the order.
func (o *Order) markTampered(r *Refusal) Cause {
	c := ofRefusal(Refused, r)
	o.Condition = RecordTampered
	if r.ReasonCode == NotSealed && !o.sealed() && o.paysOwnAccount() {
		o.Condition = RecordUnsealed // as left by an update: no alarm
	}
	o.setCause(c)
	return c
}
