package swap

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A QuoteRequest asks one provider for EXACT_INPUT prices.
type QuoteRequest struct {
	Account     common.Address `json:"account"`
	SrcChain    uint64         `json:"srcChainId"`
	TokenIn     common.Address `json:"tokenIn"`
	AmountIn    *big.Int       `json:"amountIn"`
	DstChain    uint64         `json:"dstChainId"`
	TokenOut    common.Address `json:"tokenOut"`
	Recipient   common.Address `json:"recipient"`
	RefundTo    common.Address `json:"refundTo"`
	SlippageBps int            `json:"slippageBps"` // 50 = the default 0.5 %
	FeeBps      int            `json:"feeBps"`      // the wallet's fee for this provider; 0 = send no fee field
	FeeReceiver common.Address `json:"feeReceiver,omitzero"`
}

// An Offer is a provider's priced answer. Everything in it is a claim of the
// provider's; what binds it is the plan built from it and [Check].
type Offer struct {
	ID        string          `json:"id"` // ours, given by the service
	Provider  Kind            `json:"provider"`
	Request   QuoteRequest    `json:"request"`
	Routing   string          `json:"routing"` // provider's word: CLASSIC, WRAP …
	Route     string          `json:"route"`   // for people
	AmountOut *big.Int        `json:"amountOut"`
	MinOut    *big.Int        `json:"minAmountOut"` // enforced for the recipient after fees
	Gas       uint64          `json:"gas"`          // provider's estimate, units; 0 = unknown
	Duration  time.Duration   `json:"duration"`
	Expires   time.Time       `json:"expires"` // by our clock; not executable later
	Fees      []Payment       `json:"fees,omitempty"`
	Raw       json.RawMessage `json:"raw"` // provider's own words, handed back unmodified to Build
}

// A Built plan is what a provider returns for an offer: steps whose effects are
// not yet known. Only Decode, from the bytes themselves, says what they do.
//
// A provider builds no approvals: it names the spender and package swap makes
// them, of exactly the amount. A permit is the provider's, as a typed step.
type Built struct {
	Steps      []Step     `json:"steps"`
	Settlement Settlement `json:"settlement"`
	// Spender must be allowed, by an ERC-20 allowance on the input token, to pull
	// it before the steps can take effect; zero = nobody (native input, unwrap).
	Spender common.Address `json:"spender,omitzero"`
}

// A Provider prices swaps and says how to carry them out. It holds no keys and
// sends no transactions. Errors it returns are of type [*Refusal] where the
// reason is known, else temporary.
type Provider interface {
	Kind() Kind
	// Pins are the only contracts that its plans may call, approve or name.
	Pins() Pins
	// Quote returns executable offers, best first. It may be repeated.
	Quote(ctx context.Context, r QuoteRequest) ([]Offer, error)
	// Build turns an offer into ordered steps under the accepted-to-be terms. It
	// refuses any step it does not fully understand. It may be repeated.
	Build(ctx context.Context, o Offer, t Terms) (Built, error)
	// Decode says what a step would do, from its bytes alone. It does no I/O, and
	// refuses bytes it does not fully understand.
	Decode(t Terms, s Step) (Effect, error)
}

// A LateBuilder makes the bytes of a late step from what earlier steps left.
type LateBuilder interface {
	// Late may be repeated until the call it returned is journaled.
	Late(ctx context.Context, o Order, step int) (chain.Call, error)
}

// A Settler is a provider that settles orders itself ([ByProvider]).
type Settler interface {
	// Submit hands the provider what the steps produced and returns its name for
	// the order. It is keyed by content: repeating it makes no second order.
	// A [*Refusal] means certainly not accepted; any other error means unknown.
	Submit(ctx context.Context, o Order) (ref string, err error)
	// Status reports what the provider claims. It proves nothing.
	Status(ctx context.Context, o Order) (Claim, error)
	// Prove looks for chain evidence of the order's end; ok is false when there
	// is none yet.
	Prove(ctx context.Context, o Order) (v Verdict, ok bool, err error)
}

// A Claim is what a provider says of an order, in our words.
type Claim struct {
	State  State       `json:"state"` // settling, or a final state as claimed
	Tx     common.Hash `json:"tx,omitzero"`
	Reason string      `json:"reason,omitempty"`
}

// A Role is what a pinned contract may be used for.
type Role string

// The roles of pinned contracts.
const (
	Router   Role = "router"   // may be called, may receive the value
	Wrapper  Role = "wrapper"  // wrapped native coin: deposit and withdraw
	Spender  Role = "spender"  // may be approved
	Verifier Role = "verifier" // may be the verifying contract of typed data
)

// A Pin allows one contract on one chain in one role.
type Pin struct {
	Chain   uint64
	Role    Role
	Address common.Address
}

// Pins are a provider's allow-list. Configuration may take entries away, never
// add one.
type Pins []Pin

// Allows reports whether the contract is pinned for that chain and role.
func (p Pins) Allows(chainID uint64, r Role, a common.Address) bool {
	for _, q := range p {
		if q.Chain == chainID && q.Role == r && q.Address == a {
			return a != (common.Address{})
		}
	}
	return false
}

// Addresses lists the contracts pinned for a chain and role.
func (p Pins) Addresses(chainID uint64, r Role) []common.Address {
	var out []common.Address
	for _, q := range p {
		if q.Chain == chainID && q.Role == r {
			out = append(out, q.Address)
		}
	}
	return out
}
