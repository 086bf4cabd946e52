// Package swap is the domain: the terms a user accepts, the effects of a plan, the
// checks that compare effects with terms, the states of an order, and the interface
// of a provider. It does no I/O: see swap/journal, swap/proof, swap/plan and
// swap/engine.
package swap

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Kind names a provider by what it does (spec section 1).
type Kind string

// The four providers, in the order of the spec's selector; DEX comes first.
const (
	DEX     Kind = "dex"
	Bridge  Kind = "bridge"
	Intent  Kind = "intent"
	Gasless Kind = "gasless"
)

// Kinds lists the providers in the spec's order.
func Kinds() []Kind { return []Kind{DEX, Bridge, Intent, Gasless} }

// Terms are what the user accepts. Nothing outside them is signed, whatever a provider
// returns later.
type Terms struct {
	Provider Kind           `json:"provider"`
	Account  common.Address `json:"account"`
	// Isolated is the account that makes the provider's call; zero = Account itself. What
	// the call needs is moved to it first.
	Isolated  common.Address `json:"isolated,omitzero"`
	SrcChain  uint64         `json:"srcChainId"`
	TokenIn   common.Address `json:"tokenIn"` // zero address = native coin
	AmountIn  *big.Int       `json:"amountIn"`
	DstChain  uint64         `json:"dstChainId"`
	TokenOut  common.Address `json:"tokenOut"`
	Recipient common.Address `json:"recipient"`
	MinOut    *big.Int       `json:"minOut"`   // minimum received, base units
	Deadline  time.Time      `json:"deadline"` // consent ends; nothing that carries out the plan is signed or sent later
	RefundTo  common.Address `json:"refundTo"`

	FeeBps      int            `json:"feeBps"`                // the wallet's own fee
	FeeReceiver common.Address `json:"feeReceiver,omitzero"`  // zero with FeeBps 0
	MakerFeeBps int            `json:"makerFeeBps,omitempty"` // most that the provider's side may take in addition
	GasCeiling  *big.Int       `json:"gasCeiling"`            // wei, all transactions of the plan together
	// Refund is the least that comes back to RefundTo, on the source chain, from a
	// deposit that nobody fills; nil = the whole input.
	Refund *Spend `json:"refund,omitempty"`
	// Wrap is the wrapped coin that a native input is turned into before it is spent;
	// zero = it is not wrapped.
	Wrap common.Address `json:"wrap,omitzero"`
}

// Input returns the token that the plan's last step spends.
func (t Terms) Input() common.Address {
	if t.Wrap != (common.Address{}) {
		return t.Wrap
	}
	return t.TokenIn
}

// MinRefund returns the least that a refund gives back.
func (t Terms) MinRefund() Spend {
	if t.Refund != nil {
		return *t.Refund
	}
	return Spend{t.TokenIn, t.AmountIn}
}

// RefundOf returns the refund that a user accepts with an offer: what the offer says less
// the slippage asked for, since refund costs differ from quote to quote.
func RefundOf(o Offer) *Spend {
	if o.Refund == nil || o.Refund.Amount == nil {
		return nil
	}
	return &Spend{o.Refund.Token, MinAfterSlippage(o.Refund.Amount, o.Request.SlippageBps)}
}

// RefundCovered reports whether an offer would give back what was accepted.
func (t Terms) RefundCovered(o Offer) bool {
	if o.Refund == nil {
		return t.Refund == nil || t.Refund.Token == t.TokenIn
	}
	want := t.MinRefund()
	return o.Refund.Token == want.Token && o.Refund.Amount != nil && want.Amount != nil && o.Refund.Amount.Cmp(want.Amount) >= 0
}

// EffectKind says what sort of thing a step does.
type EffectKind string

// The kinds of effect. An opaque call cannot be decoded and is bounded by simulation
// instead. With [Terms].Wrap, Wrap is the step before the rest.
const (
	Approve EffectKind = "approve" // allowance on a token contract
	Permit  EffectKind = "permit"  // signed allowance for a pinned spender
	Swap    EffectKind = "swap"    // one call that swaps on chain; its contract enforces the minimum received
	Fund    EffectKind = "fund"    // transfer of the input, or of the coin for gas, to the isolated account
	Wrap    EffectKind = "wrap"    // native to wrapped native, 1:1
	Unwrap  EffectKind = "unwrap"  // wrapped native to native, 1:1
	Signed  EffectKind = "order"   // signed order that somebody else settles
	Deposit EffectKind = "deposit" // decoded call that hands the input over for others to settle
	Opaque  EffectKind = "opaque"  // deposit or router call that cannot be decoded
)

// An Effect is what one step would do, decoded from the exact bytes that would be signed.
// Fields that do not apply are zero.
type Effect struct {
	Kind   EffectKind     `json:"kind"`
	Chain  uint64         `json:"chainId"`
	Target common.Address `json:"target"` // contract called, or the EIP-712 domain's verifying contract

	Spends   []Spend    `json:"spends,omitempty"`   // what leaves the account
	Approves []Approval `json:"approves,omitempty"` // who may pull what afterwards
	Receives []Receive  `json:"receives,omitempty"` // what the contract enforces to arrive
	Pays     []Payment  `json:"pays,omitempty"`     // fees taken from the output

	// Deadline is the last second at which the step can take effect on chain; zero if the
	// contract enforces none. It is not part of the digest.
	Deadline time.Time `json:"deadline,omitzero"`
	// Nonce is the nonce of a Permit2 permit (AllowanceTransfer), nil for every other
	// kind. It is not part of the digest: the contract takes each nonce once, and a
	// signed permit may be signed again with the same nonce only.
	Nonce *big.Int `json:"nonce,omitempty"`
	// TrustedTo names who must be trusted to settle a deposit or an opaque call.
	TrustedTo string `json:"trustedTo,omitempty"`
	// Settler is the pinned contract that may settle a signed order: the reactor
	// that a Permit2 witness names as spender, or the settlement contract.
	Settler common.Address `json:"settler,omitzero"`
	// DepositID is the identifier in a deposit's bytes by which it is filled. It is not part of
	// the digest, since each quote has its own.
	DepositID common.Hash `json:"depositId,omitzero"`
}

// A Spend is an amount of a token that leaves the account.
type Spend struct {
	Token  common.Address `json:"token"`
	Amount *big.Int       `json:"amount"`
}

// An Approval lets a spender pull up to Amount of Token. Until is zero if the allowance
// does not expire.
type Approval struct {
	Token   common.Address `json:"token"`
	Spender common.Address `json:"spender"`
	Amount  *big.Int       `json:"amount"`
	// Shares is the part of an approval's Amount that is not this plan's: what the
	// account's signed open orders still need of the same allowance. Only package swap
	// sets it, from the journal; nil = none.
	Shares *big.Int  `json:"shares,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// A Receive is a minimum that the called contract enforces for To.
type Receive struct {
	Token common.Address `json:"token"`
	To    common.Address `json:"to"`
	Min   *big.Int       `json:"min"`
}

// A Payment is a fee taken from the output, in basis points of it.
type Payment struct {
	Token common.Address `json:"token"`
	To    common.Address `json:"to"`
	Bps   int            `json:"bps"`
}
