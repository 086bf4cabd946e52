package swap

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// checkSwap checks calls and signed orders that enforce the minimum received themselves.
func checkSwap(s checkContext, f Effect) error {
	t := s.t
	if err := checkCarriedPermit(f, s.before); err != nil {
		return err
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	if err := checkReceive(t, f); err != nil {
		return err
	}
	if err := checkPays(t, f, s.pins); err != nil {
		return err
	}
	if f.Deadline.IsZero() || f.Deadline.After(t.Deadline) {
		return RefuseField(NotAsAccepted, "deadline", "the swap is still valid after the accepted deadline %s", t.Deadline.UTC().Format(time.RFC3339))
	}
	if t.SrcChain != t.DstChain {
		return RefuseField(NotAsAccepted, "dstChainId", "the swap does not leave chain %d", t.SrcChain)
	}
	return nil
}

// checkSigned checks signed orders, which a pinned contract settles for whoever fills them.
// They spend a token, never the native coin.
func checkSigned(s checkContext, f Effect) error {
	switch {
	case s.t.Input() == common.Address{}:
		return RefuseField(NotAsAccepted, "tokenIn", "a signed order cannot spend the native coin; it must be wrapped first")
	case !s.pins.Allows(f.Chain, Settlement, f.Settler):
		return RefuseField(NotPinned, "settler", "the order is settled by %s, which is not a built-in settlement contract on chain %d", f.Settler, f.Chain)
	}
	return checkSwap(s, f)
}

// checkHandOver checks calls that transfer the input to somebody else, who settles on any
// chain: they must spend exactly the input and do nothing else. The calldata cannot enforce
// an output, so the effect names who is trusted for it.
func checkHandOver(s checkContext, f Effect) error {
	switch {
	case len(f.Approves) != 0:
		return RefuseField(NotAsAccepted, "approves", "the %s would also grant an allowance", f.Kind)
	case len(f.Receives) != 0:
		return RefuseField(Undecodable, "receives", "a %s cannot enforce an output", f.Kind)
	case len(f.Pays) != 0:
		return RefuseField(Undecodable, "pays", "a %s cannot enforce a fee", f.Kind)
	case f.Deadline.After(s.t.Deadline):
		return RefuseField(NotAsAccepted, "deadline", "the %s is still valid after the accepted deadline %s", f.Kind, s.t.Deadline.UTC().Format(time.RFC3339))
	}
	return checkSpend(s.t, f)
}

// checkWrap checks a wrap or unwrap of the native coin: one to one, for the account
// itself and without an allowance.
func checkWrap(s checkContext, f Effect) error {
	if len(s.before) != 0 {
		return RefuseField(NotAsAccepted, "approves", "a %s must be the only step", f.Kind)
	}
	t := s.t
	in, out := t.TokenIn, t.TokenOut
	if f.Kind == Unwrap {
		in, out = out, in
	}
	switch {
	case in != (common.Address{}) || out != f.Target || t.SrcChain != t.DstChain:
		return RefuseField(NotAsAccepted, "to", "a %s of %s is not the accepted swap", f.Kind, f.Target)
	case t.Recipient != t.Account:
		return RefuseField(NotAsAccepted, "recipient", "a %s pays the account itself, not %s", f.Kind, t.Recipient)
	case len(f.Approves) != 0 || len(f.Pays) != 0:
		return RefuseField(NotAsAccepted, "pays", "a %s must not approve or pay anybody", f.Kind)
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	return checkReceive(t, f)
}

// checkSpend requires the effect to spend exactly the input.
func checkSpend(t Terms, f Effect) error {
	if len(f.Spends) != 1 || f.Spends[0].Token != t.Input() {
		return RefuseField(NotAsAccepted, "tokenIn", "the step must spend only the token %s", t.Input())
	}
	if a := f.Spends[0].Amount; a == nil || a.Cmp(t.AmountIn) != 0 {
		return RefuseField(NotAsAccepted, "amountIn", "the step must spend exactly the amount").WithAmounts(OfInput, a, t.AmountIn)
	}
	return nil
}

// checkReceive requires that the effect enforces at least the minimum for the recipient,
// and pays nobody but the recipient and the account.
func checkReceive(t Terms, f Effect) error {
	for _, r := range f.Receives {
		if r.To != t.Recipient && r.To != t.Account {
			return RefuseField(NotAsAccepted, "recipient", "%s of the output goes to %s", r.Token, r.To)
		}
		if r.Min == nil || r.Min.Sign() < 0 {
			return RefuseField(Undecodable, "minimum", "an output has no minimum")
		}
	}
	if sum := t.enforced(f); sum.Cmp(t.MinOut) < 0 {
		return RefuseField(NotAsAccepted, "minOut", "the enforced minimum received is below the accepted one").WithAmounts(OfOutput, sum, t.MinOut)
	}
	return nil
}

// enforced returns the least output that an effect enforces for the recipient.
func (t Terms) enforced(f Effect) *big.Int {
	sum := new(big.Int)
	for _, r := range f.Receives {
		if r.Token == t.TokenOut && r.To == t.Recipient && r.Min != nil {
			sum.Add(sum, r.Min)
		}
	}
	return sum
}

// checkPays requires exactly the wallet's own fee, and bounds the provider's.
func checkPays(t Terms, f Effect, pins Pins) error {
	native := t.TokenOut == (common.Address{})
	ours, theirs := 0, 0
	for _, p := range f.Pays {
		switch {
		case p.Token != t.TokenOut && !(native && pins.Allows(f.Chain, Wrapper, p.Token)): // a fee on native output is taken in the wrapped coin
			return RefuseField(NotAsAccepted, "fee", "a fee is taken in the token %s, not in the output token", p.Token)
		case p.Bps <= 0:
			return RefuseField(Undecodable, "fee", "the fee is %d bps; it must be above zero", p.Bps)
		case t.FeeBps > 0 && p.To == t.FeeReceiver:
			ours += p.Bps
		default:
			theirs += p.Bps
		}
	}
	if ours != t.FeeBps {
		return RefuseField(NotAsAccepted, "feeBps", "the wallet's fee is %d bps; expected %d", ours, t.FeeBps)
	}
	if theirs > t.MakerFeeBps {
		return RefuseField(NotAsAccepted, "makerFeeBps", "the provider's fee is %d bps; at most %d are allowed", theirs, t.MakerFeeBps)
	}
	return nil
}

// checkMovesNothing fails if an effect also spends, receives or pays; field goes into the error.
func checkMovesNothing(f Effect, field string) error {
	if len(f.Spends)+len(f.Receives)+len(f.Pays) != 0 {
		return RefuseField(NotAsAccepted, field, "the %s step would also move funds", f.Kind)
	}
	return nil
}
