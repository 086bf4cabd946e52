package swap

import (
	"cmp"
	"maps"
	"strings"
)

// A Cause says for programs what happened to an order, and why; a client words it in its
// user's language. Its text says the same in English, for a terminal.
type Cause struct {
	Word  Word    `json:"word"`
	Code  Code    `json:"code,omitempty"`  // of the refusal behind it
	Field string  `json:"field,omitempty"` // of the refusal behind it
	Data  Figures `json:"data,omitempty"`
	Said  string  `json:"said,omitempty"` // a provider's or node's own text, not translated
	By    Speaker `json:"by,omitempty"`   // who wrote Said

	text string // English; not stored with the cause
}

// Figures are the values that a cause is about, by name: see the table of causes. Amounts
// are in base units.
type Figures map[string]string

// A Speaker is who wrote the text that a cause quotes.
type Speaker string

// The speakers.
const (
	SaidByProvider Speaker = "provider"
	SaidByNode     Speaker = "node"
)

// A Word is the code of what happened.
type Word string

// The words of refusals, which carry the refusal's code, field and data. Refused alone
// means that something is signed already, and stays watched.
const (
	Refused           Word = "refused"
	RefusedForNow     Word = "refused_for_now"
	RefusedUnsigned   Word = "refused_unsigned"
	RefusedByProvider Word = "refused_by_provider"
	OutsideTerms      Word = "outside_terms"
)

// The words for why consent is needed, or why an order cannot continue.
const (
	PriceFell          Word = "price_fell"
	RefundChanged      Word = "refund_changed"
	ActsDifferently    Word = "acts_differently"
	PermitChanged      Word = "permit_changed"
	KindGone           Word = "kind_gone"
	GasTooDear         Word = "gas_too_dear"
	ApprovalNeeded     Word = "approval_needed"
	ApprovalChanged    Word = "approval_changed"
	BalanceShort       Word = "balance_short"
	CancelTooDear      Word = "cancel_too_dear"
	ApprovalHidden     Word = "approval_hidden"
	AllowanceTaken     Word = "allowance_taken"
	AllowanceUnchecked Word = "allowance_unchecked"
	LookAt             Word = "look_at"
	EndsByItself       Word = "ends_by_itself"
	SealBroken         Word = "seal_broken"
	NotSealed          Word = "not_sealed"
)

// The words for how an order ended.
const (
	DeadlinePassed Word = "deadline_passed"
	Withdrawn      Word = "withdrawn"
	NonceUsed      Word = "nonce_used"
	CancelMined    Word = "cancel_mined"
	Reverted       Word = "reverted"
	NotTaken       Word = "not_taken"
	NotHandedOver  Word = "not_handed_over"
	Proven         Word = "proven"
)

// The words for why a speed-up was not carried out.
const (
	SpeedupTooDear    Word = "speedup_too_dear"
	SpeedupWouldFail  Word = "speedup_would_fail"
	SpeedupFunds      Word = "speedup_funds"
	SpeedupOften      Word = "speedup_often"
	SpeedupLate       Word = "speedup_late"
	SpeedupEnded      Word = "speedup_ended"
	SpeedupCancelling Word = "speedup_cancelling"
)

// The words for what was done.
const (
	Begun             Word = "begun"
	BegunApproving    Word = "begun_approving"
	BegunExecuting    Word = "begun_executing"
	Approved          Word = "approved"
	StepsDone         Word = "steps_done"
	KeysLocked        Word = "keys_locked"
	Waits             Word = "waits"
	HoldsAllowance    Word = "holds_allowance"
	ApprovalSkipped   Word = "approval_skipped"
	ApprovalAgain     Word = "approval_again"
	ApprovalsAdapted  Word = "approvals_adapted"
	Refreshed         Word = "refreshed"
	WithinTerms       Word = "within_terms"
	SearchBegun       Word = "search_begun"
	HandsOverNext     Word = "hands_over_next"
	SignedMessage     Word = "signed"
	StepSent          Word = "step_sent"
	StepMined         Word = "step_mined"
	Pending           Word = "pending"
	BeingEnded        Word = "cancelling"
	BeingVoided       Word = "voiding"
	SpedUp            Word = "sped_up"
	ToBeSpedUp        Word = "to_be_sped_up"
	TellingProvider   Word = "telling_provider"
	ProviderHasIt     Word = "provider_has_it"
	Submitted         Word = "submitted"
	ProviderMissed    Word = "provider_missed"
	AnswerUnknown     Word = "answer_unknown"
	Searched          Word = "searched"
	ProviderSays      Word = "provider_says"
	UserCancelled     Word = "user_cancelled"
	UserAccepted      Word = "user_accepted"
	UserSpedUp        Word = "user_sped_up"
	UserRaisedCeiling Word = "user_raised_ceiling"
)

// causes has the English text of each word. Names in braces are replaced by figures.
// Amounts are not written out, since their decimals are not known here.
var causes = map[Word]string{
	PriceFell:          "the price fell: no offer reaches the accepted floor", // floor, offered: of the output
	RefundChanged:      "the fresh quote would give back another token, or less of it, than was accepted, if nobody fills it",
	ActsDifferently:    "the fresh quote would act differently from what was accepted",
	PermitChanged:      "another permit would be signed than the one that was",
	KindGone:           "the provider has no offer of the accepted kind any more, only others",
	GasTooDear:         "gas now costs more than the accepted ceiling",
	ApprovalNeeded:     "the allowance is not what it was, so that an approval is needed",
	ApprovalChanged:    "another approval is needed than was accepted",
	BalanceShort:       "the balance no longer covers the amount",
	CancelTooDear:      "cancelling now costs more than the accepted ceiling; speed it up with a higher gasCeiling, or wait until gas costs less",
	ApprovalHidden:     "no node shows the mined approval yet",
	AllowanceTaken:     "what {spender} was allowed to take is gone, or some of it, without a call of the wallet's: look at the balance", // gone, allowed: of the input
	AllowanceUnchecked: "whether {spender} took what it was allowed to could not be checked: look at the balance",
	LookAt:             "look at transaction {tx} of chain {chainId}",
	EndsByItself:       "it could not be made void; it ends by itself",
	SealBroken:         "this order's record was changed outside Swapkeep; nothing is signed for it any more",
	NotSealed:          "nothing shows that this order was accepted here: an older version accepted it, or another program wrote it",

	NonceUsed:     "another transaction used its nonce; this one can never happen",
	CancelMined:   "its cancelling transaction was mined first; nothing else happened",
	Reverted:      "the transaction was mined and failed; only its gas was paid",
	NotTaken:      "no node took the transaction, nothing was sent",
	NotHandedOver: "it was signed, and not handed to the provider any more; its end is proven once nobody can settle it",
	Proven:        "proven {state}",

	SpeedupTooDear:    "speeding it up would cost more than the accepted gas ceiling; repeat it with a higher one",
	SpeedupWouldFail:  "the transaction would fail now: paying more for it would be a waste",
	SpeedupFunds:      "the balance does not pay for more gas",
	SpeedupOften:      "it was sped up as often as is sensible; wait for its outcome",
	SpeedupLate:       "it was too late to send the transaction again",
	SpeedupEnded:      "its outcome is on its way",
	SpeedupCancelling: "it is being cancelled",

	Begun:             "accepted",
	BegunApproving:    "approving",
	BegunExecuting:    "executing",
	Approved:          "approved",
	StepsDone:         "steps done",
	KeysLocked:        "keys are locked",
	Waits:             "{condition}",
	HoldsAllowance:    "holds the allowance",
	ApprovalSkipped:   "this approval is not needed any more",
	ApprovalAgain:     "the allowance is not what it was: it is approved after all",
	ApprovalsAdapted:  "approvals adapted to the allowance as it is now",
	Refreshed:         "quote refreshed under the same consent",
	WithinTerms:       "within the accepted terms again",
	SearchBegun:       "the chains are watched from block {block} on",
	HandsOverNext:     "the input is handed over next",
	SignedMessage:     "signed",
	StepSent:          "step {step} sent",
	StepMined:         "step {step} mined",
	Pending:           "pending",
	BeingEnded:        "cancelling",
	BeingVoided:       "making it void",
	SpedUp:            "sped up",
	ToBeSpedUp:        "to be sped up",
	TellingProvider:   "telling the provider",
	ProviderHasIt:     "the provider has it",
	Submitted:         "submitted",
	ProviderMissed:    "the provider was not reached in time",
	AnswerUnknown:     "the provider's answer is not known yet",
	Searched:          "searched",
	ProviderSays:      "the provider says {state}",
	UserCancelled:     "the user asked to cancel",
	UserAccepted:      "the user accepted the proposal",
	UserSpedUp:        "the user asked to speed it up ({tier})",
	UserRaisedCeiling: "the user asked to speed it up ({tier}) and raised the gas ceiling", // was, ceiling: of the coin
}

// untold is the empty cause: nothing to record.
var untold Cause

// because returns the cause of word w with figures, given as alternating names and
// values.
func because(w Word, figures ...string) Cause {
	c := Cause{Word: w, text: causes[w]}
	for i := 0; i+1 < len(figures); i += 2 {
		if c.Data == nil {
			c.Data = Figures{}
		}
		c.Data[figures[i]] = figures[i+1]
		c.text = strings.ReplaceAll(c.text, "{"+figures[i]+"}", figures[i+1])
	}
	return c
}

// waits returns the cause of an order that waits with condition c.
func waits(c Condition) Cause { return because(Waits, "condition", string(c)) }

// ofRefusal returns the cause of refusal r, with r.Word or, if that is empty, w.
func ofRefusal(w Word, r *Refusal) Cause {
	return Cause{Word: cmp.Or(r.Word, w), Code: r.Code, Field: r.Field, Data: maps.Clone(r.Data), Said: r.Said, By: r.By, text: r.Reason}
}

// says returns c with another text.
func (c Cause) says(text string) Cause {
	c.text = text
	return c
}

// quoting returns c with a quotation, bounded and printable, also appended to its text.
func (c Cause) quoting(by Speaker, said string) Cause {
	if said != "" {
		c.By, c.Said, c.text = by, shown(said, maxRefused), c.text+": "+shown(said, maxRefused)
	}
	return c
}

// stored returns c as it is stored beside its text; nil if c is empty.
func (c Cause) stored() *Cause {
	if c.Word == "" {
		return nil
	}
	return &c
}

// because sets o's reason and cause; untold clears both.
func (o *Order) because(c Cause) { o.Reason, o.Cause = c.text, c.stored() }
