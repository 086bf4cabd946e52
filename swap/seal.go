package swap

import (
	"crypto/hmac"
	"errors"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// The database is a file: whoever may write it could put an order into it that nobody
// accepted, or other bytes into one that somebody did. So what a user's act accepts is
// sealed with it, by a code that only unlocked keys can make, and nothing is signed
// for an order whose record is not what was sealed.

// A Sealer makes the code of a message for an account, which nobody can make without
// the account's key. *keys.Vault satisfies it.
type Sealer interface {
	Seal(account common.Address, message []byte) ([32]byte, error)
}

// A Seal says that something is as it was when its user, or the engine under the same
// consent, wrote it down.
type Seal struct {
	Form int         `json:"form"` // of what is sealed
	Act  string      `json:"act"`  // the user's that it goes back to
	Made time.Time   `json:"made"` // when that was
	Code common.Hash `json:"code"`
}

// sealForm counts up with every change of how a sealed thing is written: then the
// seals of earlier versions say nothing, and what they were on needs consent again.
const sealForm = 1

// A sealable is what a seal is put on.
type sealable struct {
	what    string // so that no seal passes for that of another thing
	order   string
	account common.Address
	content any // its JSON is sealed
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

// consent is what o's user accepted, with the very bytes that it came to: not all that
// a call does can be read from it.
func (o Order) consent() sealable {
	c := Order{Digest: o.Digest, Terms: o.Terms, Offer: o.Offer, Plan: o.Plan, AckCodes: o.AckCodes, SlippageBps: o.SlippageBps, Created: o.Created}
	c = c.Clone() // so that it is written as when it is read back
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

// proposal is what o proposes, which was made with unlocked keys.
func (o Order) proposal() sealable {
	p := *Order{Proposal: o.Proposal}.Clone().Proposal
	p.Seal = nil
	return sealable{"proposal", o.ID, o.Terms.Account, p}
}

// ending is the user's wish that o ends, for so much gas at most.
func (o Order) ending() sealable {
	return sealable{"ending", o.ID, o.Terms.Account, o.Terms.GasCeiling}
}

// bump is the user's wish that a transaction of o is sped up.
func (o Order) bump() sealable {
	return sealable{"bump", o.ID, o.Terms.Account, []string{string(o.Bump.Tier), o.Bump.Over.Hex()}}
}

// seal seals x, which goes back to an act of the user's.
func (e *Engine) seal(x sealable, act string, made time.Time) (*Seal, error) {
	s := Seal{Form: sealForm, Act: act, Made: made.UTC()}
	code, err := e.Sealer.Seal(x.account, x.message(s))
	s.Code = code
	return &s, err
}

// holds fails with RecordChanged unless s is the seal of x. With locked keys nobody
// can tell, and the error is theirs.
func (e *Engine) holds(s *Seal, x sealable) error {
	if s == nil || s.Form < sealForm {
		return changedRecord(NotSealed)
	}
	code, err := e.Sealer.Seal(x.account, x.message(*s))
	switch {
	case err != nil:
		return err
	case !hmac.Equal(code[:], s.Code[:]):
		return changedRecord(SealBroken)
	}
	return nil
}

// distrusted reports whether something is not as it was sealed. While the keys are
// locked nobody can tell, and it is not.
func distrusted(err error) bool { return errors.Is(err, &Refusal{Code: RecordChanged}) }

// accepted fails unless o is what its user accepted.
func (e *Engine) accepted(o Order) error { return e.holds(o.Seal, o.consent()) }

// dropForged forgets a proposal that is not as the engine made it, which nobody could
// accept.
func (e *Engine) dropForged(o *Order) {
	if o.Proposal != nil && distrusted(e.holds(o.Proposal.Seal, o.proposal())) {
		o.Proposal = nil
	}
}

// endable fails unless a transaction of o's may be closed: by its user's wish or, when
// it is late, because that was accepted with it.
func (e *Engine) endable(o Order, late bool) error {
	err := e.holds(o.Ending, o.ending())
	if o.Cancel && err == nil {
		return nil
	}
	if late {
		return e.accepted(o)
	}
	return err
}

// rewrite gives o, which is as accepted, another plan under the same consent.
func (e *Engine) rewrite(o *Order, offer Offer, plan Plan, slippage int) error {
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

// changedRecord refuses to sign for what is not as it was sealed.
func changedRecord(w Word) *Refusal {
	return &Refusal{Code: RecordChanged, Word: w, Reason: causes[w]}
}
