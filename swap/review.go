package swap

import (
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// Severity of a finding: what it asks of the user.
type Severity string

// The severities, mildest first.
const (
	Note        Severity = "note"        // shown
	Warn        Severity = "warn"        // shown as a warning
	Acknowledge Severity = "acknowledge" // needs a second act: execute must name its code
	Block       Severity = "block"       // cannot be executed
)

// A Finding is one thing a review tells the user before consent.
type Finding struct {
	Code     string            `json:"code"` // stable: gas_insufficient, gas_scam, price_unknown, slippage_low …
	Severity Severity          `json:"severity"`
	Text     string            `json:"text"` // for a person
	Data     map[string]string `json:"data,omitempty"`
}

// Gas is the guard's account of a plan's own transactions.
type Gas struct {
	Costs    []chain.Cost `json:"costs"`    // by call step
	Expected *big.Int     `json:"expected"` // wei, all together, at the present base fee
	Max      *big.Int     `json:"max"`      // wei, what the account must be able to pay besides the value
	Balance  *big.Int     `json:"balance"`  // wei, native
	Missing  *big.Int     `json:"missing,omitempty"`
	Share    *float64     `json:"share,omitempty"` // expected cost / swap value; absent when unknown
}

// A Review is what the user is asked to accept: the plan's decoded effects,
// what they cost and what was found. Consent is the digest.
type Review struct {
	Digest   common.Hash `json:"digest"`
	Terms    Terms       `json:"terms"`
	Offer    Offer       `json:"offer"`
	Plan     Plan        `json:"plan"`
	Gas      Gas         `json:"gas"`
	Findings []Finding   `json:"findings"`
	Expires  time.Time   `json:"expires"` // the plan is forgotten then
}

// A FeeBasis is what the wallet's fee in a review rests on.
type FeeBasis string

// The bases of a fee.
const (
	FeeDecoded FeeBasis = "decoded" // what is signed takes it, and pays the receiver
	FeeTold    FeeBasis = "told"    // the provider says that it takes it; nothing that is signed shows it
	FeeAsked   FeeBasis = "asked"   // it was asked for, and nothing says whether it is taken: no terms state it
	FeeNone    FeeBasis = "none"    // there is no fee
)

// FeeBasis says whether the fee of the terms is in the decoded effects; where the terms
// have none, whether one was asked for all the same.
func (r Review) FeeBasis() FeeBasis {
	t := r.Terms
	paid := func(p Payment) bool { return p.To == t.FeeReceiver && p.Bps == t.FeeBps }
	switch {
	case t.FeeBps == 0 && r.Offer.FeeAsked > 0:
		return FeeAsked
	case t.FeeBps == 0:
		return FeeNone
	case slices.ContainsFunc(r.Plan.last().Pays, paid):
		return FeeDecoded
	}
	return FeeTold
}

// ToldMinimum is what the quote itself calls the least that arrives, where that is not the
// floor that the decoded effects enforce; nil = it says the same, or nothing. It is a claim,
// to be shown.
func (r Review) ToldMinimum() *big.Int {
	told, floor := r.Offer.ToldMin, r.Terms.FloorOut
	if last := r.Plan.last(); len(last.Receives) > 0 {
		floor = r.Terms.enforced(last)
	}
	if told == nil || told.Cmp(floor) == 0 {
		return nil
	}
	return told
}

// Blocked reports whether a finding forbids execution.
func (r Review) Blocked() bool {
	for _, f := range r.Findings {
		if f.Severity == Block {
			return true
		}
	}
	return false
}
