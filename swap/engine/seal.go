package engine

import (
	"crypto/hmac"
	"errors"
	"math/big"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A Sealer makes the authentication code of a message for an account, which nobody can
// make without the account's key. *keys.Vault satisfies it.
type Sealer interface {
	Seal(account common.Address, message []byte) ([32]byte, error)
}

// sealVersion is the version of the sealed format. With every change it goes up: seals of
// earlier versions then count for nothing, and what they covered needs consent again. It
// stays 1 until the first release.
const sealVersion = 1

// A sealable is something to seal.
type sealable struct {
	what    string // so that a seal of one thing does not pass for another's
	order   string
	account common.Address
	content any // sealed as JSON
}

func (x sealable) message(s swap.Seal) []byte {
	var e swap.Encoder
	e.Text("swapkeep seal")
	e.Number(uint64(s.Version))
	e.Text(x.what)
	e.Text(x.order)
	e.Address(x.account)
	e.Text(s.Action)
	e.Text(s.Origin)
	e.Text(string(s.By))
	e.Text(s.Lines.Hex())
	e.Text(s.ActedAt.UTC().Format(time.RFC3339Nano))
	e.Text(string(swap.MustJSON(x.content)))
	return e
}

// consentOf returns what o's user accepted, with the exact bytes of its steps: not all that
// a call does can be read from its effects.
func consentOf(o swap.Order) sealable {
	c := swap.Order{Consent: o.Consent, Progress: swap.Progress{SlippageBps: o.SlippageBps}, Created: o.Created}
	c = c.Clone() // so that it encodes as it does after being read back
	return sealable{"consent", o.ID, o.Terms.Account, struct {
		Digest      common.Hash
		Terms       swap.Terms
		Offer       swap.Offer
		Plan        swap.Plan
		AckCodes    []string
		SlippageBps int
		Created     time.Time
	}{c.Digest, c.Terms, c.Offer, c.Plan, c.AckCodes, c.SlippageBps, c.Created}}
}

// proposalOf returns what o proposes, which was made with unlocked keys.
func proposalOf(o swap.Order) sealable {
	p := *swap.Order{Progress: swap.Progress{Proposal: o.Proposal}}.Clone().Proposal
	p.Seal = nil
	return sealable{"proposal", o.ID, o.Terms.Account, p}
}

// cancelRequestOf returns the user's request to end o, with the gas ceiling.
func cancelRequestOf(o swap.Order) sealable {
	return sealable{"cancel", o.ID, o.Terms.Account, o.Terms.GasCeiling}
}

// bumpOf returns the user's request to speed up a transaction of o.
func bumpOf(o swap.Order) sealable {
	return sealable{"bump", o.ID, o.Terms.Account, []string{string(o.Bump.Tier), o.Bump.Replaces.Hex()}}
}

// seal returns the seal of x, for the act of the user that x goes back to.
func (e *Engine) seal(x sealable, act swap.UserAct) (*swap.Seal, error) {
	act.ActedAt = act.ActedAt.UTC()
	s := swap.Seal{Version: sealVersion, UserAct: act}
	code, err := e.Sealer.Seal(x.account, x.message(s))
	s.MAC = code
	return &s, err
}

// checkSeal returns RecordChanged unless s is the seal of x; a missing seal is none. With locked keys it cannot tell,
// and returns the Sealer's error.
func (e *Engine) checkSeal(s *swap.Seal, x sealable) error {
	if s == nil || s.Version < sealVersion {
		return errChanged
	}
	code, err := e.Sealer.Seal(x.account, x.message(*s))
	switch {
	case err != nil:
		return err
	case !hmac.Equal(code[:], s.MAC[:]):
		return errChanged
	}
	return nil
}

// sealMismatch reports whether err says that something is not as it was sealed. Locked keys
// cannot tell; their error does not say so.
func sealMismatch(err error) bool { return errors.Is(err, &swap.Refusal{Code: swap.RecordChanged}) }

// checkAccepted returns RecordChanged unless o is what its user accepted.
func (e *Engine) checkAccepted(o swap.Order) error { return e.checkSeal(o.Seal, consentOf(o)) }

// dropForged removes a proposal that the engine did not make, which nobody could accept.
func (e *Engine) dropForged(o *swap.Order) {
	if o.Proposal != nil && sealMismatch(e.checkSeal(o.Proposal.Seal, proposalOf(*o))) {
		o.Proposal = nil
	}
}

// checkEndable returns an error unless the nonce of a transaction of o's may be closed: at its
// user's request or, when it is late, because consent to the order covers that.
func (e *Engine) checkEndable(o swap.Order, late bool) error {
	err := e.checkSeal(o.CancelSeal, cancelRequestOf(o))
	if o.Cancel && err == nil {
		return nil
	}
	if late {
		return e.checkAccepted(o)
	}
	return err
}

// resealPlan gives o, which must be as accepted, another plan under the same consent.
func (e *Engine) resealPlan(o *swap.Order, offer swap.Offer, plan swap.Plan, slippage int) error {
	next := *o
	next.Offer, next.Plan, next.SlippageBps = offer, plan, slippage
	seal, err := e.seal(consentOf(next), o.Seal.UserAct)
	if err != nil {
		return err
	}
	next.Seal = seal
	*o = next
	return nil
}

// errChanged is the refusal to sign for something that is not as it was sealed.
var errChanged = swap.RefuseFor(swap.RecordChanged, swap.ReasonRecordTampered, nil)

// markTampered makes o wait because its record is not what was sealed, or has no seal. What
// was sent before is still watched, and the user may end the order.
func markTampered(o *swap.Order, r *swap.Refusal) swap.Cause {
	c := swap.OfRefusal(swap.Refused, r)
	o.Condition = swap.RecordTampered
	o.SetCause(c)
	return c
}

// capGas lowers o's gas ceiling to the network's own, for ending an order whose ceiling
// nobody is known to have accepted. The user may raise it again.
func (e *Engine) capGas(o *swap.Order) {
	most := new(big.Int) // on an unknown network nothing is signed
	if net, err := e.Nodes.Network(o.Terms.SrcChain); err == nil {
		most.Set(net.GasCeiling)
	}
	if o.Terms.GasCeiling == nil || o.Terms.GasCeiling.Cmp(most) > 0 {
		o.Terms.GasCeiling = most
	}
}
