package swap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// State is where an order stands. The table below has every move.
type State string

// The states. Those after Closed are final.
const (
	Accepted   State = "accepted"   // consent is journaled; nothing has left the process
	Approving  State = "approving"  // the approvals of the plan are being carried out
	Executing  State = "executing"  // the other steps are being carried out
	Submitting State = "submitting" // every step is done; the order is being handed to the provider
	Settling   State = "settling"   // everything was sent or handed over; the chain is watched
	Closed     State = "closed"     // not proven: nobody waits for it any more; a later proof still counts
	Filled     State = "filled"     // proven: the output arrived, or less of it if the verdict is short
	Refunded   State = "refunded"   // proven: the input came back, or less of it if the verdict is short
	Failed     State = "failed"     // proven: reverted, the nonce was used elsewhere, or a revoke had no effect
	Expired    State = "expired"    // proven: too late, and nothing was taken
	Cancelled  State = "cancelled"  // proven: ended at the user's wish or refused, and nothing was taken
)

// A stateRow is a line of the state table. Means is for the documentation.
type stateRow struct {
	State State
	Means string
	Next  []State
}

// stateTable lists every state and the moves allowed from it. A state without moves
// is final; so is any state not listed, which is shown and never acted on. What the engine
// does in a state is the table actions in swap/engine/engine.go.
var stateTable = []stateRow{
	{Accepted, "accepted by the user; nothing has been signed", []State{Approving, Executing, Closed, Expired, Cancelled, Failed}},
	{Approving, "sending the approvals", []State{Executing, Settling, Closed, Failed, Expired, Cancelled}},
	{Executing, "sending the swap", []State{Approving, Submitting, Settling, Closed, Failed, Expired, Cancelled}},
	{Submitting, "submitting to the provider", []State{Settling, Closed, Failed, Expired, Cancelled}},
	{Settling, "waiting for on-chain proof", []State{Closed, Filled, Refunded, Failed, Expired, Cancelled}},
	{Closed, "closed without proof of how it ended, by the user or after 30 days", []State{Filled, Refunded}},
	{Filled, "the output arrived", nil},
	{Refunded, "the input came back", nil},
	{Failed, "the transaction failed; the input was not spent", nil},
	{Expired, "expired; nothing was spent", nil},
	{Cancelled, "cancelled; nothing was spent", nil},
}

// Condition says what an order waits for in its state. It ends by itself or by an act of
// the user; the state stays the same meanwhile.
type Condition string

const (
	NoCondition         Condition = ""
	WaitingForUnlock    Condition = "waiting_unlock"
	NeedsConsent        Condition = "needs_consent"
	AwaitingRefund      Condition = "awaiting_refund"
	AwaitingProof       Condition = "awaiting_proof"
	PaymentSeen         Condition = "payment_seen"
	LikelyPaid          Condition = "likely_paid"
	AmountUnclear       Condition = "amount_unclear"
	Cancelling          Condition = "cancelling"
	WaitingForNonce     Condition = "waiting_nonce"
	WaitingForAllowance Condition = "waiting_allowance"
	WaitingForSimilar   Condition = "waiting_similar"
	WrittenByNewer      Condition = "written_by_newer"
	RecordTampered      Condition = "record_tampered"
)

// ErrTransition is returned for a move that the table does not allow.
var ErrTransition = errors.New("transition not allowed")

// rowOf returns the row of a state, or a substitute for one of a newer version.
func rowOf(s State) (stateRow, bool) {
	i := slices.IndexFunc(stateTable, func(r stateRow) bool { return r.State == s })
	if i < 0 {
		return stateRow{State: s}, false
	}
	return stateTable[i], true
}

// Final reports whether no move leads out of s. A state that this version does not know
// is final: it is shown and never acted on.
func (s State) Final() bool { r, _ := rowOf(s); return len(r.Next) == 0 }

// Final reports whether o's end is proven, as far as its record can be read.
func (o Order) Final() bool { return o.State.Final() && !o.Unfinished }

// Ended reports whether nobody waits for o any more: it is final, closed, or likely paid. Only
// a final order stays as it is.
func (o Order) Ended() bool {
	return o.Final() || o.State == Closed || o.Condition == LikelyPaid
}

// Watched reports whether the engine still looks for o's end.
func (o Order) Watched() bool {
	return !o.State.Final() && (o.Closing == nil || !o.Closing.Unwatched)
}

// Partly reports whether o filled with less input than was signed.
func (o Order) Partly() bool {
	return o.State == Filled && o.Terms.AmountIn != nil && o.Verdict != nil && o.Verdict.Spent != nil && o.Verdict.Spent.Amount != nil && o.Verdict.Spent.Amount.Cmp(o.Terms.AmountIn) < 0
}

// SetState moves o to state s, or returns ErrTransition. Staying in a state is not a move.
func (o *Order) SetState(s State) error {
	r, _ := rowOf(o.State)
	if !slices.Contains(r.Next, s) {
		return fmt.Errorf("%w: %s to %s", ErrTransition, o.State, s)
	}
	o.State = s
	return nil
}

// Position returns a number that grows as o advances.
func (o Order) Position() int {
	n := 2*o.Step + slices.IndexFunc(stateTable, func(r stateRow) bool { return r.State == o.State })
	if o.CurrentTx != (common.Hash{}) {
		n++
	}
	return n
}

// SamePlan compares the kinds and calldata of the steps; whatever else differs comes with
// another offer.
func SamePlan(a, b Plan) bool {
	return slices.EqualFunc(a.Steps, b.Steps, func(a, b Step) bool {
		return a.Kind == b.Kind && (a.Call == nil || b.Call == nil || bytes.Equal(a.Call.Data, b.Call.Data))
	})
}

// SameProposal reports whether a and b ask consent to the same plan.
func SameProposal(a, b *Proposal) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Digest == b.Digest && a.Made.Equal(b.Made)
}

// SameClaim reports whether a and b say the same.
func SameClaim(a, b *Claim) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// KnownFinal reports whether s is a final state that this version knows. An order in a state
// of a newer version stays in the open index.
func (s State) KnownFinal() bool { r, known := rowOf(s); return known && len(r.Next) == 0 }

// Unreadable is the state that lists show for an order whose record cannot be read. It is
// never stored. Nothing is done about such an order but reading its record again.
const Unreadable State = "unreadable"
