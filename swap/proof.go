package swap

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A Proof describes what on the chain would prove the end of an order that somebody else
// settles. It is plain data: a provider derives it from the signed bytes, and only
// swap/engine searches for it and gives the verdict.
type Proof struct {
	// Fill is the event, or the exact transfers, of a complete fill on the source chain.
	// All of these logs are in one transaction, and the first one is searched for. It is
	// for signed orders, whose contract enforces their terms.
	Fill []LogPattern `json:"fill,omitempty"`
	// Trace is what every fill leaves, complete or partial, all in one transaction. Each
	// pattern covers one of Fill, and the first is searched for instead of Fill's. An
	// order whose trace was found is never called unfilled. Empty = there are only
	// complete fills.
	Trace []LogPattern `json:"trace,omitempty"`
	// Arrival is the payment that fills a deposit.
	Arrival *Arrival `json:"arrival,omitempty"`
	// Refund is the payment that returns a deposit on the source chain.
	Refund *Arrival `json:"refund,omitempty"`
	// Own means that the fill is in the transaction of the plan's own last call, on the
	// source chain: a swap in one call that could not be decoded.
	Own bool `json:"own,omitempty"`
	// Ends is the last second at which the order can be filled on chain; zero = no end (a
	// deposit).
	Ends time.Time `json:"ends,omitzero"`
	// Nonce is the unordered nonce that a fill uses up, if a contract shows it.
	Nonce *NonceBit `json:"nonce,omitempty"`
}

// A LogPattern is a condition on one log.
type LogPattern struct {
	Address common.Address `json:"address"` // the contract that emits it; zero = any
	// Topics must match one by one and in number; the zero hash matches any.
	Topics []common.Hash `json:"topics"`
	// Amount must equal the first word of the data or, with AtLeast, be at most it.
	Amount  *big.Int `json:"amount,omitempty"`
	AtLeast bool     `json:"atLeast,omitempty"`
}

// An Arrival is a payment of at least Least base units to an address.
type Arrival struct {
	Chain uint64         `json:"chainId"`
	Token common.Address `json:"token"` // zero address = native coin
	To    common.Address `json:"to"`
	Least *big.Int       `json:"least"`
	// From are the accounts whose payment is proof. One from any other is only
	// [PaymentSeen].
	From []common.Address `json:"from"`
}

// A NonceBit is one bit of a Permit2-style nonce bitmap on the source chain:
// nonceBitmap(owner, nonce >> 8), bit nonce & 255.
type NonceBit struct {
	Contract common.Address `json:"contract"`
	Owner    common.Address `json:"owner"`
	Nonce    *big.Int       `json:"nonce"`
}

// A ProofRow is one way in which an order can end.
type ProofRow struct {
	By    string // name that a verdict carries
	End   State
	Of    string // which orders it is for
	Means string // what proves it, for a person
}

// proofs lists every possible end and what proves it. A log, or a payment of the native
// coin, counts for one order only. What is read from a chain is at the chain's depth, and
// two RPC hosts must agree on it where two are configured.
var proofs = []ProofRow{
	{ProvenByOwnCall, Filled, "a swap in one call of ours", "our own call, whose checked bytes enforce the floor, succeeded, and no other order of ours has its end in it"},
	{ProvenByOpaqueCall, Filled, "one call of ours that cannot be decoded", "our own call succeeded, no other order of ours has its end in it, and its logs, or for the native coin the balance after a block with nothing else of the account's that may bring some, show what arrived; less than the floor is short"},
	{ProvenByFill, Filled, "a signed order", "every event of a fill of exactly what was signed, in one transaction"},
	{ProvenByPart, Filled, "a signed order", "the events of a fill that is not exactly what was signed: of a part of it, or of a token that takes a share of transfers; less than the floor is short"},
	{ProvenByArrival, Filled, "a deposit", "a payment of at least the floor to the recipient, after our deposit, from a built-in filler of the route, no other order's of ours, and in no transaction that fills a signed order of ours; less, in the transaction that the provider's last word names, is short"},
	{ProvenByRefund, Refunded, "a deposit", "a payment of the agreed refund back to us on the source chain, after our deposit, from a built-in filler, no other order's of ours, and in no transaction that fills a signed order of ours; less, in the transaction that the provider's last word names, is short"},
	{ProvenByRevoke, Filled, "a revoke", "our own call succeeded, and its log, or the chain, says that the allowance is zero"},
	{ProvenByRevert, Failed, "any transaction of ours", "it was mined and failed; only its gas was paid"},
	{ProvenByOtherNonce, Failed, "any transaction of ours", "another transaction used its nonce"},
	{ProvenByKept, Failed, "a revoke", "our own call succeeded, and the allowance stands all the same"},
	{ProvenByUsedNonce, Failed, "a signed order", "its nonce was used elsewhere without a fill: no trace of one in any block since it was signed, looked at twice"},
	{ProvenByAbsence, Expired, "a signed order", "a block past its last second, no trace of a fill in any block since it was signed, looked at twice, and its nonce, where a contract keeps one, unused"},
	{ProvenByUnsignedLate, Expired, "any order", "the deadline passed, and nothing that spends was ever signed"},
	{ProvenByNeverSent, Expired, "any transaction of ours", "the deadline passed, and no node ever took it"},
	{ProvenByVoid, Cancelled, "a signed order", "our own cancelling call succeeded, and no trace of a fill in any block up to it and to the present, looked at twice"},
	{ProvenByCancel, Cancelled, "any transaction of ours", "our cancelling transaction was mined in its place"},
	{ProvenByWithdrawn, Cancelled, "any order", "it was withdrawn, or refused, before anything that spends was signed"},
	{ProvenByNeverSentCancelled, Cancelled, "any transaction of ours", "it was withdrawn, and no node ever took it"},
}

// The values of ProofRow.By.
const (
	ProvenByOwnCall            = "own_call"
	ProvenByOpaqueCall         = "opaque_call"
	ProvenByFill               = "fill"
	ProvenByPart               = "part"
	ProvenByArrival            = "arrival"
	ProvenByRefund             = "refund"
	ProvenByRevoke             = "revoke"
	ProvenByRevert             = "revert"
	ProvenByOtherNonce         = "other_nonce"
	ProvenByKept               = "allowance_kept"
	ProvenByUsedNonce          = "used_nonce"
	ProvenByAbsence            = "absence"
	ProvenByUnsignedLate       = "unsigned_late"
	ProvenByNeverSent          = "never_sent"
	ProvenByVoid               = "void"
	ProvenByCancel             = "cancel"
	ProvenByWithdrawn          = "withdrawn"
	ProvenByNeverSentCancelled = "never_sent_cancelled"
)

// Proofs returns the table of ends and what proves them.
func Proofs() []ProofRow { return slices.Clone(proofs) }

// VerdictBy returns a verdict of the row with that name.
func VerdictBy(by string) Verdict {
	i := slices.IndexFunc(proofs, func(r ProofRow) bool { return r.By == by })
	return Verdict{State: proofs[i].End, By: by}
}

// Means returns what proved the verdict, for a person; "" if an older version wrote it.
func (v Verdict) Means() string {
	i := slices.IndexFunc(proofs, func(r ProofRow) bool { return r.By == v.By })
	if i < 0 {
		return ""
	}
	return proofs[i].Means
}

// A UnprovenEnd describes an order with an end that was reported or seen, but not proven. The
// order is still polled, at growing intervals, and no longer counts toward the limit of
// open orders.
type UnprovenEnd struct {
	Condition Condition
	Means     string // for a person
}

// unprovenEnds lists the conditions of such orders.
var unprovenEnds = []UnprovenEnd{
	{AwaitingRefund, "the provider says that it failed, which proves nothing; the chain is watched for a fill and for a refund"},
	{AwaitingProof, "the provider says that it is done, and no chain that we can read shows it; the chains are watched"},
	{AmountUnclear, "a transaction settled the order, and what left or what arrived cannot be told from it; look at the account"},
	{PaymentSeen, "a payment like the awaited one arrived, not for certain from a built-in filler of the route, or with another order that it fits as well: it may be the fill or another's"},
}

// UnprovenEnd returns what is known of o's unproven end. ok is false if o is proven, or no end
// was reported or seen.
func (o Order) UnprovenEnd() (r UnprovenEnd, ok bool) {
	i := slices.IndexFunc(unprovenEnds, func(r UnprovenEnd) bool { return r.Condition == o.Condition })
	if o.State != Settling || i < 0 {
		return r, false
	}
	return unprovenEnds[i], true
}

// Unproven reports whether o has an unproven end and is only watched.
func (o Order) Unproven() bool { _, ok := o.UnprovenEnd(); return ok }

// Check refuses a proof that anybody's transaction could meet, or none could.
func (p Proof) Check(t Terms) error {
	kinds := 0
	for _, some := range []bool{len(p.Fill) > 0, p.Arrival != nil, p.Own} {
		if some {
			kinds++
		}
	}
	switch {
	case kinds == 0 || len(p.Fill) > 0 && kinds > 1:
		return errors.New("a proof is of a signed order, or of a deposit or call")
	case len(p.Trace) > 0 && len(p.Fill) == 0:
		return errors.New("only a signed order leaves a trace")
	case len(p.Fill) > 0 && (p.Refund != nil || p.TracePatterns()[0].Address == common.Address{}):
		return errors.New("the event of a fill is one contract's, and a signed order has no refund")
	case p.Nonce != nil && (p.Nonce.Nonce == nil || len(p.Fill) == 0 || p.Nonce.Owner != t.Account):
		return errors.New("a nonce is the account's, of a signed order")
	}
	for _, l := range slices.Concat(p.Fill, p.Trace) {
		if len(l.Topics) == 0 || len(l.Topics) > 4 || l.Topics[0] == (common.Hash{}) || l.Amount != nil && l.Amount.Sign() < 0 {
			return errors.New("a pattern needs an event")
		}
	}
	for _, l := range p.Trace {
		if !slices.ContainsFunc(p.Fill, l.covers) {
			return errors.New("a fill that leaves no trace")
		}
	}
	if err := p.Arrival.check(t.DstChain, t.TokenOut, t.Recipient); err != nil {
		return fmt.Errorf("arrival: %w", err)
	}
	if p.Arrival != nil && p.Arrival.Least.Cmp(t.MinOut) < 0 {
		return errors.New("arrival: less than the floor would be enough")
	}
	if p.Refund != nil {
		if err := p.Refund.check(t.SrcChain, p.Refund.Token, t.RefundTo); err != nil {
			return fmt.Errorf("refund: %w", err)
		}
	}
	return nil
}

// check refuses an arrival of another token, on another chain or to another account.
func (a *Arrival) check(chainID uint64, token, to common.Address) error {
	switch {
	case a == nil:
		return nil
	case a.Chain != chainID || a.Token != token || a.To != to:
		return errors.New("another payment than the accepted one")
	case a.Least == nil || a.Least.Sign() <= 0:
		return errors.New("no amount")
	case slices.Contains(a.From, common.Address{}) || slices.Contains(a.From, a.To):
		return errors.New("a filler that is none")
	}
	return nil
}

// TracePatterns returns the logs that every fill leaves; the first is searched for.
func (p Proof) TracePatterns() []LogPattern {
	if len(p.Trace) > 0 {
		return p.Trace
	}
	return p.Fill
}

// covers reports whether every log that matches q also matches p.
func (p LogPattern) covers(q LogPattern) bool {
	if p.Address != (common.Address{}) && p.Address != q.Address || len(p.Topics) != len(q.Topics) {
		return false
	}
	for i, t := range p.Topics {
		if t != (common.Hash{}) && t != q.Topics[i] {
			return false
		}
	}
	switch {
	case p.Amount == nil:
		return true
	case q.Amount == nil:
		return false
	case p.AtLeast:
		return q.Amount.Cmp(p.Amount) >= 0
	}
	return !q.AtLeast && q.Amount.Cmp(p.Amount) == 0
}

// Matches reports whether l meets p.
func (p LogPattern) Matches(l *types.Log) bool {
	if l == nil || p.Address != (common.Address{}) && l.Address != p.Address || len(l.Topics) != len(p.Topics) {
		return false
	}
	for i, t := range p.Topics {
		if t != (common.Hash{}) && l.Topics[i] != t {
			return false
		}
	}
	if p.Amount == nil {
		return true
	}
	if len(l.Data) < 32 {
		return false
	}
	c := new(big.Int).SetBytes(l.Data[:32]).Cmp(p.Amount)
	return c == 0 || p.AtLeast && c > 0
}
