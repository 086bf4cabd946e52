package swap

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"
)

// Code says why something was refused. Codes are part of the wire: the protocol's error
// table has a row for each, with its remedy.
type Code string

const (
	BadRequest              Code = "bad_request"               // a parameter is missing or malformed
	UnsupportedNetwork      Code = "unsupported_network"       // the support table says no, or not a network of the wallet
	NetworkEnded            Code = "network_ended"             // the chain was shut down
	UnsupportedRoute        Code = "unsupported_route"         // cross-chain at a same-chain provider, exact output …
	SameToken               Code = "same_token"                // token in is token out
	AmountZero              Code = "amount_zero"               // amount in is zero or negative
	AmountTooSmall          Code = "amount_too_small"          // the provider quotes only larger amounts
	InsufficientFunds       Code = "insufficient_funds"        // amount in exceeds the balance
	InsufficientGas         Code = "insufficient_gas"          // native balance does not cover gas
	SlippageBounds          Code = "slippage_bounds"           // not in 0 < s <= 50 percent
	QuoteUnknown            Code = "quote_unknown"             // no offer with that id, or it was dropped
	QuoteExpired            Code = "quote_expired"             // too old to execute
	PlanUnknown             Code = "plan_unknown"              // no prepared plan has that digest
	PlanExecuted            Code = "plan_executed"             // that plan was already carried out
	RequestConflict         Code = "request_conflict"          // the same request uuid with other content
	NeedsAcknowledge        Code = "needs_acknowledge"         // a finding needs an acknowledgement
	OrderUnknown            Code = "order_unknown"             // no order of that id
	OrderFinal              Code = "order_final"               // nothing left to do for it
	TooManyOrders           Code = "too_many_orders"           // the limit of open orders is reached
	NotAsAccepted           Code = "not_as_accepted"           // the provider returned something outside the terms
	Undecodable             Code = "undecodable"               // bytes or fields that cannot be fully decoded
	NotPinned               Code = "not_pinned"                // a contract outside the built-in list
	WouldRevert             Code = "would_revert"              // simulation failed
	SimulationUnsupported   Code = "simulation_unsupported"    // the RPC cannot show what would move
	NodesDisagree           Code = "rpc_disagree"              // two RPC hosts disagree on what decides about a call
	PriceRefused            Code = "price_refused"             // implied price is off by half or more
	NoRoute                 Code = "no_route"                  // the provider has no offer
	ProviderBusy            Code = "provider_busy"             // HTTP 429
	ProviderDown            Code = "provider_down"             // HTTP 5xx, timeout, unreachable
	ProviderInvalidResponse Code = "provider_invalid_response" // a reply not in the agreed form
	ProviderRefused         Code = "provider_refused"          // HTTP 4xx about the request
	ProviderKey             Code = "provider_key"              // API key missing or refused
	ClockSkew               Code = "clock_skew"                // our clock and the provider's differ by over 60 s
	ConsentDeclined         Code = "consent_declined"          // the confirmer said no
	ConsentNeeded           Code = "consent_needed"            // going on needs consent to other terms
	AllowanceInUse          Code = "allowance_in_use"          // an open order needs the allowance that was to be revoked
	GasCeiling              Code = "gas_ceiling"               // more gas than was accepted
	CancelInProgress        Code = "cancel_in_progress"        // a cancelling transaction is in flight
	TooLate                 Code = "too_late"                  // the last moment has passed
	NothingPending          Code = "nothing_pending"           // no transaction of the order is in flight
	CannotCancel            Code = "cannot_cancel"             // the wallet can no longer end the order
	CannotClose             Code = "cannot_close"              // the order ends by itself, or it is too early
	JournalFailed           Code = "journal_failed"            // the database cannot be written: nothing is signed
	ConsentPassword         Code = "consent_password"          // the act needs the wallet's password
	AmountAgain             Code = "amount_again"              // at a terminal: the amount must be typed again
	SlippageTerminal        Code = "slippage_terminal"         // so much slippage is accepted at a terminal only
	SessionRequired         Code = "session_required"          // the session that asked has ended
	NoMinimum               Code = "no_minimum"                // what is signed would enforce no minimum received
	RecordChanged           Code = "record_changed"            // an order's record is not what was accepted: nothing is signed
)

// Temporary reports whether c is a temporary problem of the provider. It says nothing
// about an accepted order, which is tried again until its deadline.
func (c Code) Temporary() bool {
	return slices.Contains([]Code{ProviderBusy, ProviderDown, ProviderInvalidResponse, ProviderKey, ClockSkew, QuoteExpired}, c)
}

// A Refusal is an error that says why something was not done. Field names what was wrong;
// Data has values that a client may show.
type Refusal struct {
	Code       Code
	Reason     string // for a person: lower case, no full stop, says what to do where it can
	Field      string
	Data       map[string]string
	ReasonCode ReasonCode // for an order's cause, if the code says too little
	QuotedText string     // text of a third party that the reason quotes
	QuotedFrom TextAuthor // who said it
	Err        error
}

func (r *Refusal) Error() string {
	s := string(r.Code) + ": " + r.Reason
	if r.Field != "" {
		s += " (" + r.Field + ")"
	}
	return s
}

func (r *Refusal) Unwrap() error { return r.Err }

// Temporary reports a temporary problem of the provider: nothing was decided, and the
// same may succeed later.
func (r *Refusal) Temporary() bool { return r.Code.Temporary() }

// RetryDelay returns how long a provider asked with err not to be asked again, at most ten
// minutes; 0 if it did not ask, or if err is not temporary.
func RetryDelay(err error) time.Duration {
	var refused *Refusal
	if !errors.As(err, &refused) || !refused.Temporary() {
		return 0
	}
	seconds, err := strconv.ParseUint(refused.Data[retryAfter], 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryDelay)
}

const (
	retryAfter    = "retryAfterSeconds" // key in Refusal.Data
	maxRetryDelay = 10 * time.Minute
)

// Is makes errors.Is(err, &Refusal{Code: c}) compare the code alone.
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// MaxRefusalReason bounds a reason, in runes: it may quote a provider's whole reply, and is
// kept with the order.
const MaxRefusalReason = 1000

// Refuse returns a refusal with a formatted reason.
func Refuse(c Code, format string, args ...any) *Refusal {
	return &Refusal{Code: c, Reason: Printable(fmt.Sprintf(format, args...), MaxRefusalReason)}
}

// RefuseField returns a refusal that names a field.
func RefuseField(c Code, field, format string, args ...any) *Refusal {
	r := Refuse(c, format, args...)
	r.Field = field
	return r
}

// RefuseFor returns a refusal because of err, which may be nil, for a reason from the table of
// causes.
func RefuseFor(c Code, w ReasonCode, err error) *Refusal {
	return &Refusal{Code: c, ReasonCode: w, Reason: NewCause(w).Text(), Err: err}
}

// AskConsent refuses with ConsentNeeded, for a reason from the table of causes.
func AskConsent(w ReasonCode, figures ...string) *Refusal {
	c := NewCause(w, figures...)
	return &Refusal{Code: ConsentNeeded, ReasonCode: w, Reason: c.text, Data: c.Data}
}

// RefuseRevert refuses with WouldRevert and quotes the node's words.
func RefuseRevert(err error) *Refusal {
	c := Cause{text: "the transaction would fail now"}.Quoting(AuthorNode, err.Error())
	return &Refusal{Code: WouldRevert, Reason: c.text, QuotedText: c.QuotedText, QuotedFrom: c.QuotedFrom, Err: err}
}

// A Unit says which token a refusal's amounts are in.
type Unit string

const (
	OfInput  Unit = "tokenIn"
	OfOutput Unit = "tokenOut"
	OfCoin   Unit = "coin" // native coin of the source chain
)

// WithAmounts replaces r.Data by the amount found and, unless it is nil, the amount wanted,
// both in base units of the same token. Without an amount found it does nothing.
func (r *Refusal) WithAmounts(of Unit, got, wanted *big.Int) *Refusal {
	if got == nil {
		return r
	}
	r.Data = map[string]string{"of": string(of), "got": got.String()}
	if wanted != nil {
		r.Data["wanted"] = wanted.String()
	}
	return r
}
