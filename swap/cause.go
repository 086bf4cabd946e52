package swap

import (
	"cmp"
	"maps"
	"strings"
)

// A Cause says for programs what happened to an order, and why; a client words it in its
// user's language. Its text says the same in English, for a terminal.
type Cause struct {
	Reason     ReasonCode `json:"reason"`
	Code       Code       `json:"code,omitempty"`  // of the refusal behind it
	Field      string     `json:"field,omitempty"` // of the refusal behind it
	Data       Figures    `json:"data,omitempty"`
	QuotedText string     `json:"quotedText,omitempty"` // a provider's or node's own text, not translated
	QuotedFrom TextAuthor `json:"quotedFrom,omitempty"` // who wrote QuotedText

	text string // English; not stored with the cause
}

// Figures are the values that a cause is about, by name: see the table of causes. Amounts
// are in base units.
type Figures map[string]string

// A TextAuthor is who wrote the text that a cause quotes.
type TextAuthor string

// The authors of quoted texts.
const (
	AuthorProvider TextAuthor = "provider"
	AuthorNode     TextAuthor = "node"
)

// A ReasonCode is the code of what happened.
type ReasonCode string

// The words of refusals, which carry the refusal's code, field and data. Refused alone
// means that something is signed already, and stays watched.
const (
	Refused           ReasonCode = "refused"
	RefusedForNow     ReasonCode = "refused_for_now"
	RefusedUnsigned   ReasonCode = "refused_unsigned"
	RefusedByProvider ReasonCode = "refused_by_provider"
	OutsideTerms      ReasonCode = "outside_terms"
)

// The words for why consent is needed, or why an order cannot continue.
const (
	PriceFell            ReasonCode = "price_fell"
	RefundChanged        ReasonCode = "refund_changed"
	EffectsChanged       ReasonCode = "effects_changed"
	PermitChanged        ReasonCode = "permit_changed"
	RouteUnavailable     ReasonCode = "route_unavailable"
	GasAboveCeiling      ReasonCode = "gas_above_ceiling"
	ApprovalNeeded       ReasonCode = "approval_needed"
	ApprovalChanged      ReasonCode = "approval_changed"
	BalanceShort         ReasonCode = "balance_short"
	CancelAboveCeiling   ReasonCode = "cancel_above_ceiling"
	ApprovalNotVisible   ReasonCode = "approval_not_visible"
	AllowanceSpent       ReasonCode = "allowance_spent"
	AllowanceUnchecked   ReasonCode = "allowance_unchecked"
	CheckTransaction     ReasonCode = "check_transaction"
	InvalidationFailed   ReasonCode = "invalidation_failed"
	ReceiptsAwaited      ReasonCode = "receipts_awaited"
	ReceiptForged        ReasonCode = "receipt_forged"
	ReasonRecordTampered ReasonCode = "record_tampered"
)

// The words for how an order ended.
const (
	DeadlinePassed ReasonCode = "deadline_passed"
	Withdrawn      ReasonCode = "withdrawn"
	NonceUsed      ReasonCode = "nonce_used"
	CancelMined    ReasonCode = "cancel_mined"
	Reverted       ReasonCode = "reverted"
	NotBroadcast   ReasonCode = "not_broadcast"
	NotSubmitted   ReasonCode = "not_submitted"
	Proven         ReasonCode = "proven"
	UserClosed     ReasonCode = "user_closed"
	ClosedTooOld   ReasonCode = "closed_too_old"
)

// The words for why a speed-up was not carried out.
const (
	SpeedupAboveCeiling      ReasonCode = "speedup_above_ceiling"
	SpeedupWouldFail         ReasonCode = "speedup_would_fail"
	SpeedupInsufficientFunds ReasonCode = "speedup_insufficient_funds"
	SpeedupLimit             ReasonCode = "speedup_limit"
	SpeedupTooLate           ReasonCode = "speedup_too_late"
	SpeedupEnded             ReasonCode = "speedup_ended"
	SpeedupCancelling        ReasonCode = "speedup_cancelling"
)

// The words for what was done.
const (
	ReasonAccepted        ReasonCode = "accepted"
	ReasonApproving       ReasonCode = "approving"
	ReasonExecuting       ReasonCode = "executing"
	Approved              ReasonCode = "approved"
	StepsDone             ReasonCode = "steps_done"
	KeysLocked            ReasonCode = "keys_locked"
	ReasonWaiting         ReasonCode = "waiting"
	ReasonAllowanceLocked ReasonCode = "allowance_locked"
	ApprovalSkipped       ReasonCode = "approval_skipped"
	ApprovalRestored      ReasonCode = "approval_restored"
	ApprovalsAdapted      ReasonCode = "approvals_adapted"
	QuoteRefreshed        ReasonCode = "quote_refreshed"
	WithinTerms           ReasonCode = "within_terms"
	SearchStarted         ReasonCode = "search_started"
	DepositNext           ReasonCode = "deposit_next"
	SignedMessage         ReasonCode = "signed"
	StepSent              ReasonCode = "step_sent"
	StepMined             ReasonCode = "step_mined"
	Pending               ReasonCode = "pending"
	ReasonCancelling      ReasonCode = "cancelling"
	ReasonReturned        ReasonCode = "returned"
	ReasonLeftIsolated    ReasonCode = "left_isolated"
	Invalidating          ReasonCode = "invalidating"
	SpedUp                ReasonCode = "sped_up"
	SpeedupPending        ReasonCode = "speedup_pending"
	ReasonSubmitting      ReasonCode = "submitting"
	ProviderReceived      ReasonCode = "provider_received"
	Submitted             ReasonCode = "submitted"
	ProviderUnreachable   ReasonCode = "provider_unreachable"
	AnswerUnknown         ReasonCode = "answer_unknown"
	Searched              ReasonCode = "searched"
	ProviderReported      ReasonCode = "provider_reported"
	UserCancelled         ReasonCode = "user_cancelled"
	UserAccepted          ReasonCode = "user_accepted"
	UserSpedUp            ReasonCode = "user_sped_up"
	UserRaisedCeiling     ReasonCode = "user_raised_ceiling"
)

// causeTexts has the English text of each word. Names in braces are replaced by figures.
// Amounts are not written out, since their decimals are not known here.
var causeTexts = map[ReasonCode]string{
	PriceFell:            "the price fell: no offer reaches the accepted minimum", // minOut, offered: of the output
	RefundChanged:        "if nobody fills the order, the new quote would refund another token, or less, than was accepted",
	EffectsChanged:       "the new quote would do something other than was accepted",
	PermitChanged:        "the new quote needs a different permit than the one that was signed",
	RouteUnavailable:     "the provider no longer offers the accepted kind of route",
	GasAboveCeiling:      "the network fee is now above the accepted limit",
	ApprovalNeeded:       "the allowance has changed, so an approval is needed",
	ApprovalChanged:      "a different approval is needed than was accepted",
	BalanceShort:         "the balance no longer covers the amount",
	CancelAboveCeiling:   "cancelling now costs more than the accepted fee limit; speed it up with a higher gasCeiling, or wait for a lower fee",
	ApprovalNotVisible:   "the approval is mined, but no RPC endpoint shows it yet",
	AllowanceSpent:       "{spender} spent some or all of its allowance without a transaction of this wallet: check the balance", // spent, allowed: of the input
	AllowanceUnchecked:   "could not check whether {spender} spent its allowance: check the balance",
	CheckTransaction:     "check transaction {tx} on chain {chainId}",
	InvalidationFailed:   "it could not be cancelled on-chain; it expires by itself",
	ReceiptsAwaited:      "its end is known, but no RPC endpoint of chain {chainId} serves the receipts of block {block}, which must confirm it",
	ReceiptForged:        "RPC endpoints ({hosts}) show an end that block {block} of chain {chainId} contradicts: replace them",
	ReasonRecordTampered: "the order's record was changed outside Swapkeep: nothing more is signed for it",

	NonceUsed:    "another transaction used its nonce; this one can never be mined",
	CancelMined:  "the cancelling transaction was mined first; nothing else happened",
	Reverted:     "the transaction reverted; only its network fee was paid",
	NotBroadcast: "no RPC endpoint accepted the transaction; nothing was sent",
	NotSubmitted: "it was signed but never submitted to the provider; it ends once nobody can fill it",
	Proven:       "proven {state}",
	UserClosed:   "the user closed it without a proof of how it ended",
	ClosedTooOld: "nothing proved its end for 30 days; it is not watched any more",

	SpeedupAboveCeiling:      "it would cost more than the accepted fee limit; try again with a higher limit",
	SpeedupWouldFail:         "the transaction would fail now, so a higher fee would be wasted",
	SpeedupInsufficientFunds: "the balance does not cover a higher fee",
	SpeedupLimit:             "it was already sped up the maximum number of times; wait for the result",
	SpeedupTooLate:           "too late to send the transaction again",
	SpeedupEnded:             "the transaction already has a result",
	SpeedupCancelling:        "the order is being cancelled",

	ReasonAccepted:        "accepted",
	ReasonApproving:       "approving",
	ReasonExecuting:       "executing",
	Approved:              "approved",
	StepsDone:             "steps done",
	KeysLocked:            "keys are locked",
	ReasonWaiting:         "waiting",
	ReasonAllowanceLocked: "the allowance is locked for this order",
	ApprovalSkipped:       "this approval is no longer needed",
	ApprovalRestored:      "the allowance has changed and is approved again",
	ApprovalsAdapted:      "approvals adjusted to the current allowance",
	QuoteRefreshed:        "new quote, within what was accepted",
	WithinTerms:           "within the accepted terms again",
	SearchStarted:         "tracking from block {block}",
	DepositNext:           "sending the input next",
	SignedMessage:         "signed",
	StepSent:              "step {step} sent",
	StepMined:             "step {step} mined",
	Pending:               "pending",
	ReasonCancelling:      "cancelling",
	ReasonReturned:        "what was left in the isolated account was moved back",
	ReasonLeftIsolated:    "what is left in the isolated account stays there",
	Invalidating:          "cancelling the signed order on-chain",
	SpedUp:                "sped up",
	SpeedupPending:        "speeding up",
	ReasonSubmitting:      "submitting to the provider",
	ProviderReceived:      "the provider has the order",
	Submitted:             "submitted",
	ProviderUnreachable:   "the provider could not be reached in time",
	AnswerUnknown:         "no answer from the provider yet",
	Searched:              "searched",
	ProviderReported:      "the provider reports {state}",
	UserCancelled:         "the user asked to cancel",
	UserAccepted:          "the user accepted the proposal",
	UserSpedUp:            "the user asked to speed it up ({tier})",
	UserRaisedCeiling:     "the user asked to speed it up ({tier}) and raised the fee limit", // previous, ceiling: of the coin
}

// NoCause is the empty cause: nothing to record.
var NoCause Cause

// NewCause returns the cause of word w with figures, given as alternating names and
// values.
func NewCause(w ReasonCode, figures ...string) Cause {
	c := Cause{Reason: w, text: causeTexts[w]}
	for i := 0; i+1 < len(figures); i += 2 {
		if c.Data == nil {
			c.Data = Figures{}
		}
		c.Data[figures[i]] = figures[i+1]
		c.text = strings.ReplaceAll(c.text, "{"+figures[i]+"}", figures[i+1])
	}
	return c
}

// WaitCause returns the cause of an order that waits with condition c.
func WaitCause(c Condition) Cause { return NewCause(ReasonWaiting, "condition", string(c)) }

// OfRefusal returns the cause of refusal r, with r.Word or, if that is empty, w.
func OfRefusal(w ReasonCode, r *Refusal) Cause {
	return Cause{Reason: cmp.Or(r.ReasonCode, w), Code: r.Code, Field: r.Field, Data: maps.Clone(r.Data), QuotedText: r.QuotedText, QuotedFrom: r.QuotedFrom, text: r.Reason}
}

// Text returns what c says, in English.
func (c Cause) Text() string { return c.text }

// WithText returns c with another text.
func (c Cause) WithText(text string) Cause {
	c.text = text
	return c
}

// Quoting returns c with a quotation, bounded and printable, also appended to its text.
func (c Cause) Quoting(by TextAuthor, said string) Cause {
	if said != "" {
		c.QuotedFrom, c.QuotedText, c.text = by, Printable(said, MaxRefusalReason), c.text+": "+Printable(said, MaxRefusalReason)
	}
	return c
}

// Stored returns c as it is stored beside its text; nil if c is empty.
func (c Cause) Stored() *Cause {
	if c.Reason == "" {
		return nil
	}
	return &c
}

// SetCause sets o's reason and cause; untold clears both.
func (o *Order) SetCause(c Cause) { o.Reason, o.Cause = c.text, c.Stored() }
