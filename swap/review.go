package swap

import (
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// Severity says what a finding asks of the user.
type Severity string

// The severities, mildest first.
const (
	Note        Severity = "note"        // shown
	Warn        Severity = "warn"        // shown as a warning
	Acknowledge Severity = "acknowledge" // needs an acknowledgement: Execute must name its code
	Block       Severity = "block"       // cannot be executed
)

// A Finding is one thing a review tells the user before consent.
type Finding struct {
	Code     string            `json:"code"` // stable: gas_insufficient, gas_excessive, price_unknown, slippage_low …
	Severity Severity          `json:"severity"`
	Text     string            `json:"text"` // for a person
	Data     map[string]string `json:"data,omitempty"`
}

// Gas is the estimated gas cost of a plan's own transactions.
type Gas struct {
	Costs    []chain.Cost `json:"costs"`    // one per transaction
	Expected *big.Int     `json:"expected"` // wei, all transactions, at the present base fee
	Max      *big.Int     `json:"max"`      // wei, what the account must be able to pay in addition to the value
	Balance  *big.Int     `json:"balance"`  // wei, native
	Missing  *big.Int     `json:"missing,omitempty"`
	Share    *float64     `json:"share,omitempty"` // expected cost / swap value; absent when unknown
}

// A Review is what the user is asked to accept: the plan's decoded effects, their cost
// and the findings. The user consents to the digest.
type Review struct {
	Digest   common.Hash `json:"digest"`
	Terms    Terms       `json:"terms"`
	Offer    Offer       `json:"offer"`
	Plan     Plan        `json:"plan"`
	Gas      Gas         `json:"gas"`
	Findings []Finding   `json:"findings"`
	Lines    []Line      `json:"lines,omitempty"` // the same for a person, as every screen shows it
	Expires  time.Time   `json:"expires"`         // not executable later
}

// A FeeBasis says what shows that the wallet's fee in a review is taken.
type FeeBasis string

const (
	FeeDecoded   FeeBasis = "decoded"   // the signed bytes take it and pay the receiver
	FeeReported  FeeBasis = "reported"  // the provider says that it takes it; no signed bytes show it
	FeeRequested FeeBasis = "requested" // it was requested, and nothing says whether it is taken: no terms state it
	FeeNone      FeeBasis = "none"      // there is no fee
)

// FeeBasis returns whether the decoded effects pay the fee of the terms or, if the terms
// have none, whether one was requested.
func (r Review) FeeBasis() FeeBasis {
	t := r.Terms
	paid := func(p Payment) bool { return p.To == t.FeeReceiver && p.Bps == t.FeeBps }
	switch {
	case t.FeeBps == 0 && r.Offer.FeeRequested > 0:
		return FeeRequested
	case t.FeeBps == 0:
		return FeeNone
	case slices.ContainsFunc(r.Plan.LastEffect().Pays, paid):
		return FeeDecoded
	}
	return FeeReported
}

// QuotedMinimum returns the minimum that the quote itself states, if the decoded effects
// enforce another; else nil. It is a claim, for display only.
func (r Review) QuotedMinimum() *big.Int {
	told, floor := r.Offer.QuotedMin, r.Terms.MinOut
	if last := r.Plan.LastEffect(); len(last.Receives) > 0 {
		floor = r.Terms.enforced(last)
	}
	if told == nil || told.Cmp(floor) == 0 {
		return nil
	}
	return told
}

// Executable reports whether consent to it may be asked for at a time.
func (r Review) Executable(at time.Time) bool { return !at.After(r.Expires) && r.Refreshable(at) }

// Refreshable reports whether it could still be carried out at a time, with a fresh quote if need
// be: the engine gets one by itself under the same consent. A person may confirm it until then.
func (r Review) Refreshable(at time.Time) bool { return at.Before(r.Terms.Deadline) }

// Blocked reports whether a finding forbids execution.
func (r Review) Blocked() bool {
	for _, f := range r.Findings {
		if f.Severity == Block {
			return true
		}
	}
	return false
}

// A Recognition is what the wallet's own lists say of a token, not of its price.
type Recognition struct {
	Listed   bool           // on a list that the wallet trusts; an imported token alone is not
	Imitates common.Address // token of the built-in list that it could be mistaken for; zero = none known
}
