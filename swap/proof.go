package swap

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A Proof says what on the chain would prove the end of an order that somebody
// else settles. It is data: a provider derives it from the bytes that were signed,
// and only package swap looks for it and gives the verdict.
type Proof struct {
	// Fill is the event, or the exact transfers, of a fill on the source chain: all
	// of these logs stand in one transaction, and the first one is searched for.
	// For signed orders, whose contract enforces what they carry.
	Fill []LogPattern `json:"fill,omitempty"`
	// Trace is what any fill of the order leaves, in whole or in part, all in one
	// transaction: each pattern covers one of Fill. The first one is searched for in
	// place of Fill's. An order that has left its trace somewhere is not said to be
	// unfilled. Empty = there is no fill without all of Fill.
	Trace []LogPattern `json:"trace,omitempty"`
	// Arrival is the payment that fills a deposit.
	Arrival *Arrival `json:"arrival,omitempty"`
	// Refund is the payment that gives a deposit back on the source chain.
	Refund *Arrival `json:"refund,omitempty"`
	// Own says that the fill is in the transaction of the plan's own last call, on
	// the source chain: a swap in one call that could not be decoded.
	Own bool `json:"own,omitempty"`
	// Ends is the last second at which the order can be filled on chain; zero =
	// never (a deposit).
	Ends time.Time `json:"ends,omitzero"`
	// Nonce is the unordered nonce that a fill uses up, where a contract shows it.
	Nonce *NonceBit `json:"nonce,omitempty"`
}

// A LogPattern is what one log must look like.
type LogPattern struct {
	Address common.Address `json:"address"` // the contract that emits it; zero = any
	// Topics must be equal one by one and in number; the zero hash stands for any.
	Topics []common.Hash `json:"topics"`
	// Amount is compared with the first word of the data: exactly it, or at least it.
	Amount  *big.Int `json:"amount,omitempty"`
	AtLeast bool     `json:"atLeast,omitempty"`
}

// An Arrival is a payment of at least so much to an address.
type Arrival struct {
	Chain uint64         `json:"chainId"`
	Token common.Address `json:"token"` // zero address = native coin
	To    common.Address `json:"to"`
	Least *big.Int       `json:"least"`
	// From are the accounts from which it is proof. From any other it is
	// "reported, transfer seen".
	From []common.Address `json:"from"`
}

// A NonceBit is one bit of a Permit2-style nonce bitmap on the source chain:
// nonceBitmap(owner, nonce >> 8), bit nonce & 255.
type NonceBit struct {
	Contract common.Address `json:"contract"`
	Owner    common.Address `json:"owner"`
	Nonce    *big.Int       `json:"nonce"`
}

// A ProofRow is one way in which an order comes to its end.
type ProofRow struct {
	By    string // the name that a verdict carries
	End   State
	Of    string // which orders
	Means string // what proves it, for a person
}

// proofs is every end that there is, and what it takes. A log, or a payment of the
// native coin, counts for one order only; whatever is read from a chain is what two
// RPC hosts say alike where two are configured, at the chain's depth.
var proofs = []ProofRow{
	{byOwnCall, Filled, "a swap in one call of ours", "our own call, whose checked bytes enforce the floor, succeeded, and no other order of ours has its end in it"},
	{byOpaqueCall, Filled, "one call of ours that cannot be decoded", "our own call succeeded, no other order of ours has its end in it, and its logs, or for the native coin the balance after a block with nothing else of the account's that may bring some, show what arrived; less than the floor is short"},
	{byFill, Filled, "a signed order", "every event of a fill of exactly what was signed, in one transaction"},
	{byPart, Filled, "a signed order", "the events of a fill that is not exactly what was signed: of a part of it, or of a token that takes a share of transfers; less than the floor is short"},
	{byArrival, Filled, "a deposit", "a payment of at least the floor to the recipient, after our deposit, from a built-in filler of the route, no other order's of ours, and in no transaction that fills a signed order of ours; less, in the transaction that the provider's last word names, is short"},
	{byRefund, Refunded, "a deposit", "a payment of the agreed refund back to us on the source chain, after our deposit, from a built-in filler, no other order's of ours, and in no transaction that fills a signed order of ours; less, in the transaction that the provider's last word names, is short"},
	{byRevoke, Filled, "a revoke", "our own call succeeded, and its log, or the chain, says that the allowance is zero"},
	{byRevert, Failed, "any transaction of ours", "it was mined and failed; only its gas was paid"},
	{byOtherNonce, Failed, "any transaction of ours", "another transaction used its nonce"},
	{byKept, Failed, "a revoke", "our own call succeeded, and the allowance stands all the same"},
	{byUsedNonce, Failed, "a signed order", "its nonce was used elsewhere without a fill: no trace of one in any block since it was signed, looked at twice"},
	{byAbsence, Expired, "a signed order", "a block past its last second, no trace of a fill in any block since it was signed, looked at twice, and its nonce, where a contract keeps one, unused"},
	{byUnsignedLate, Expired, "any order", "the deadline passed, and nothing that spends was ever signed"},
	{byNeverSent, Expired, "any transaction of ours", "the deadline passed, and no node ever took it"},
	{byVoid, Cancelled, "a signed order", "our own cancelling call succeeded, and no trace of a fill in any block up to it and to the present, looked at twice"},
	{byCancel, Cancelled, "any transaction of ours", "our cancelling transaction was mined in its place"},
	{byWithdrawn, Cancelled, "any order", "it was withdrawn, or refused, before anything that spends was signed"},
	{byNeverSentCancelled, Cancelled, "any transaction of ours", "it was withdrawn, and no node ever took it"},
}

// The names of the rows.
const (
	byOwnCall            = "own_call"
	byOpaqueCall         = "opaque_call"
	byFill               = "fill"
	byPart               = "part"
	byArrival            = "arrival"
	byRefund             = "refund"
	byRevoke             = "revoke"
	byRevert             = "revert"
	byOtherNonce         = "other_nonce"
	byKept               = "allowance_kept"
	byUsedNonce          = "used_nonce"
	byAbsence            = "absence"
	byUnsignedLate       = "unsigned_late"
	byNeverSent          = "never_sent"
	byVoid               = "void"
	byCancel             = "cancel"
	byWithdrawn          = "withdrawn"
	byNeverSentCancelled = "never_sent_cancelled"
)

// Proofs is the table of ends and what proves them.
func Proofs() []ProofRow { return slices.Clone(proofs) }

// verdictBy is a verdict of that row.
func verdictBy(by string) Verdict {
	i := slices.IndexFunc(proofs, func(r ProofRow) bool { return r.By == by })
	return Verdict{State: proofs[i].End, By: by}
}

// Means is what proved the verdict, for a person; "" in one of an older version.
func (v Verdict) Means() string {
	i := slices.IndexFunc(proofs, func(r ProofRow) bool { return r.By == v.By })
	if i < 0 {
		return ""
	}
	return proofs[i].Means
}

// A Report is what an order waits with after its provider has told an end that
// nothing proves. It goes on being watched, ever more slowly, and does not count
// against the bound of open orders any more.
type Report struct {
	Condition Condition
	Means     string // for a person
}

// reports are the conditions of orders of which nothing more can be said for now.
var reports = []Report{
	{WatchingForRefund, "the provider says that it failed, which proves nothing; the chain is watched for a fill and for a refund"},
	{ReportedUnproven, "the provider says that it is done, and no chain that we can read shows it; the chains are watched"},
	{FillUnclear, "a transaction settled the order, and what left or what arrived cannot be told from it; look at the account"},
	{TransferSeen, "a payment like the awaited one arrived, not for certain from a built-in filler of the route, or with another order that it fits as well: it may be the fill or another's"},
}

// Reports is the table of conditions beside an end that is only told.
func Reports() []Report { return slices.Clone(reports) }

// Report is what is known of an end of o's that is only told; ok is false where there
// is none: o has proof, or its provider has told no end.
func (o Order) Report() (r Report, ok bool) {
	i := slices.IndexFunc(reports, func(r Report) bool { return r.Condition == o.Condition })
	if o.State != Settling || i < 0 {
		return r, false
	}
	return reports[i], true
}

// reported reports whether all that is left for o is to be watched.
func (o Order) reported() bool { _, ok := o.Report(); return ok }

// check refuses a proof that could be met by anybody, or by nothing.
func (p Proof) check(t Terms) error {
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
	case len(p.Fill) > 0 && (p.Refund != nil || p.leaves()[0].Address == common.Address{}):
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
	if p.Arrival != nil && p.Arrival.Least.Cmp(t.FloorOut) < 0 {
		return errors.New("arrival: less than the floor would be enough")
	}
	if p.Refund != nil {
		if err := p.Refund.check(t.SrcChain, p.Refund.Token, t.RefundTo); err != nil {
			return fmt.Errorf("refund: %w", err)
		}
	}
	return nil
}

// check wants an arrival to be of that token, on that chain, for that account.
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

// leaves is what every fill leaves: the first is searched for.
func (p Proof) leaves() []LogPattern {
	if len(p.Trace) > 0 {
		return p.Trace
	}
	return p.Fill
}

// covers reports whether whatever is as q wants it is as p wants it too.
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

// matches reports whether a log is as p wants it.
func (p LogPattern) matches(l *types.Log) bool {
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

// matchAll finds a log of its own for each pattern, and returns their places.
// Patterns are few; where several fit several logs, one that has a choice gives
// way.
func matchAll(patterns []LogPattern, logs []*types.Log) (places []int, ok bool) {
	owner := make(map[int]int) // place -> pattern
	var seat func(i int, tried map[int]bool) bool
	seat = func(i int, tried map[int]bool) bool {
		for place, l := range logs {
			if tried[place] || !patterns[i].matches(l) {
				continue
			}
			tried[place] = true
			if other, taken := owner[place]; !taken || seat(other, tried) {
				owner[place] = i
				return true
			}
		}
		return false
	}
	for i := range patterns {
		if !seat(i, map[int]bool{}) {
			return nil, false
		}
	}
	return slices.Sorted(maps.Keys(owner)), len(patterns) > 0
}
