package swap

import (
	"crypto/hmac"
	"errors"
	"math/big"
	"time"

	"swapkeep/chain"

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
	c := o.Clone() // so that it is written as when it is read back
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
	p := *o.Clone().Proposal
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

// accepted fails unless o is what its user accepted.
func (e *Engine) accepted(o Order) error { return e.holds(o.Seal, o.consent()) }

// uses are what open orders need of an allowance, by those records that are as their
// users accepted them: what the others say would raise an approval, or hide one. Each
// counts once and no longer than what is sealed of it holds, so that all of them are
// never more than the user accepted lately, whatever the record says became of it.
func (e *Engine) uses(k AllowanceKey) ([]Use, error) {
	lines, err := e.Journal.Uses(k)
	var uses []Use
	for _, line := range lines {
		o, unread := e.Journal.Get(line.Order)
		u, open := o.use()
		if unread != nil || !open || o.allowanceKey() != k || e.Now().After(o.holdsUntil()) || errors.Is(e.accepted(o), &Refusal{Code: RecordChanged}) {
			continue
		}
		uses = append(uses, u)
	}
	return uses, err
}

// holdsUntil is the last moment at which what was accepted of o may take its input.
func (o Order) holdsUntil() time.Time {
	if last := o.Plan.last(); o.ordered() && !last.Deadline.IsZero() {
		return last.Deadline
	}
	return o.Terms.Deadline
}

// dropForged forgets a proposal that is not as the engine made it, which nobody could
// accept.
func (e *Engine) dropForged(o *Order) {
	if o.Proposal != nil && errors.Is(e.holds(o.Proposal.Seal, o.proposal()), &Refusal{Code: RecordChanged}) {
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

// changedRecord refuses to sign for what is not as it was sealed.
func changedRecord(w Word) *Refusal {
	return &Refusal{Code: RecordChanged, Word: w, Reason: causes[w]}
}

// Distrusted reports whether o waits for that: nothing is signed for it.
func (o Order) Distrusted() bool { return o.Condition == Changed || o.Condition == Unsealed }

// changed has o wait where its record is not what was sealed, or no seal is on it. What was sent before
// goes on being watched, and the user may end it.
func (o *Order) changed(r *Refusal) Cause {
	c := ofRefusal(Refused, r)
	o.Condition = Changed
	if r.Word == NotSealed && !o.sealed() && o.forItself() {
		o.Condition = Unsealed // as an update leaves one behind: no alarm
	}
	o.because(c)
	return c
}
