package swap

import (
	"crypto/hmac"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// The database is a file. Anyone who can write it could add an order that nobody
// accepted, or change the bytes of one that somebody did. So what the user accepts is
// stored with a seal, an authentication code that only unlocked keys can make, and
// nothing is signed for an order whose record is not what was sealed.

// A Sealer makes the authentication code of a message for an account, which nobody can
// make without the account's key. *keys.Vault satisfies it.
type Sealer interface {
	Seal(account common.Address, message []byte) ([32]byte, error)
}

// A Seal shows that something is unchanged since its user, or the engine under the same
// consent, wrote it.
type Seal struct {
	Form int         `json:"form"` // version of the sealed format
	Act  string      `json:"act"`  // the user's act that it goes back to
	Made time.Time   `json:"made"` // when that act was
	Code common.Hash `json:"code"`
}

// sealForm is the version of the sealed format. With every change it goes up: seals of
// earlier versions then count for nothing, and what they covered needs consent again.
const sealForm = 1

// A sealable is something to seal.
type sealable struct {
	what    string // so that a seal of one thing does not pass for another's
	order   string
	account common.Address
	content any // sealed as JSON
}

func (x sealable) message(s Seal) []byte {
	var e encoder
	e.text("swapkeep seal")
	e.number(uint64(s.Form))
	e.text(x.what)
	e.text(x.order)
	e.address(x.account)
	e.text(s.Act)
	e.text(s.Made.UTC().Format(time.RFC3339Nano))
	e.text(string(mustJSON(x.content)))
	return e
}

// consent returns what o's user accepted, with the exact bytes of its steps: not all that
// a call does can be read from its effects.
func (o Order) consent() sealable {
	c := Order{Digest: o.Digest, Terms: o.Terms, Offer: o.Offer, Plan: o.Plan, AckCodes: o.AckCodes, SlippageBps: o.SlippageBps, Created: o.Created}
	c = c.Clone() // so that it encodes as it does after being read back
	return sealable{"consent", o.ID, o.Terms.Account, struct {
		Digest      common.Hash
		Terms       Terms
		Offer       Offer
		Plan        Plan
		AckCodes    []string
		SlippageBps int
		Created     time.Time
	}{c.Digest, c.Terms, c.Offer, c.Plan, c.AckCodes, c.SlippageBps, c.Created}}
}

// proposal returns what o proposes, which was made with unlocked keys.
func (o Order) proposal() sealable {
	p := *Order{Proposal: o.Proposal}.Clone().Proposal
	p.Seal = nil
	return sealable{"proposal", o.ID, o.Terms.Account, p}
}

// ending returns the user's request to end o, with the gas ceiling.
func (o Order) ending() sealable {
	return sealable{"ending", o.ID, o.Terms.Account, o.Terms.GasCeiling}
}

// bump returns the user's request to speed up a transaction of o.
func (o Order) bump() sealable {
	return sealable{"bump", o.ID, o.Terms.Account, []string{string(o.Bump.Tier), o.Bump.Over.Hex()}}
}

// seal returns the seal of x, for the act of the user that x goes back to.
func (e *Engine) seal(x sealable, act string, made time.Time) (*Seal, error) {
	s := Seal{Form: sealForm, Act: act, Made: made.UTC()}
	code, err := e.Sealer.Seal(x.account, x.message(s))
	s.Code = code
	return &s, err
}

// checkSeal returns RecordChanged unless s is the seal of x; a missing seal is none. With locked keys it cannot tell,
// and returns the Sealer's error.
func (e *Engine) checkSeal(s *Seal, x sealable) error {
	if s == nil || s.Form < sealForm {
		return errChanged
	}
	code, err := e.Sealer.Seal(x.account, x.message(*s))
	switch {
	case err != nil:
		return err
	case !hmac.Equal(code[:], s.Code[:]):
		return errChanged
	}
	return nil
}

// sealMismatch reports whether err says that something is not as it was sealed. Locked keys
// cannot tell; their error does not say so.
func sealMismatch(err error) bool { return errors.Is(err, &Refusal{Code: RecordChanged}) }

// checkAccepted returns RecordChanged unless o is what its user accepted; see holds.
func (e *Engine) checkAccepted(o Order) error { return e.checkSeal(o.Seal, o.consent()) }

// dropForged removes a proposal that the engine did not make, which nobody could accept.
func (e *Engine) dropForged(o *Order) {
	if o.Proposal != nil && sealMismatch(e.checkSeal(o.Proposal.Seal, o.proposal())) {
		o.Proposal = nil
	}
}

// checkEndable returns an error unless the nonce of a transaction of o's may be closed: at its
// user's request or, when it is late, because consent to the order covers that.
func (e *Engine) checkEndable(o Order, late bool) error {
	err := e.checkSeal(o.EndSeal, o.ending())
	if o.Cancel && err == nil {
		return nil
	}
	if late {
		return e.checkAccepted(o)
	}
	return err
}

// resealPlan gives o, which must be as accepted, another plan under the same consent.
func (e *Engine) resealPlan(o *Order, offer Offer, plan Plan, slippage int) error {
	next := *o
	next.Offer, next.Plan, next.SlippageBps = offer, plan, slippage
	seal, err := e.seal(next.consent(), o.Seal.Act, o.Seal.Made)
	if err != nil {
		return err
	}
	next.Seal = seal
	*o = next
	return nil
}

// errChanged is the refusal to sign for something that is not as it was sealed.
var errChanged = &Refusal{Code: RecordChanged, ReasonCode: SealBroken, Reason: newCause(SealBroken).Text()}

// Tampered reports whether o waits because its record is not what was accepted: only
// what its user asks for to end it is signed.
func (o Order) Tampered() bool { return o.Condition == RecordTampered }

// markTampered makes o wait because its record is not what was sealed, or has no seal. What
// was sent before is still watched, and the user may end the order.
func (o *Order) markTampered(r *Refusal) Cause {
	c := ofRefusal(Refused, r)
	o.Condition = RecordTampered
	o.setCause(c)
	return c
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
