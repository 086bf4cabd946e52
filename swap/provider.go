package swap

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A QuoteRequest asks one provider for EXACT_INPUT prices.
type QuoteRequest struct {
	Account common.Address `json:"account"`
	// Isolated is the account from which the provider takes the input, and Number its
	// number among the account's isolated ones; zero = Account itself.
	Isolated    common.Address `json:"isolated,omitzero"`
	Number      uint32         `json:"isolatedNumber,omitempty"`
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
	// Routing is the route kind that a fresh quote must have, once one was accepted: the
	// provider need not ask for others. Empty = any.
	Routing string `json:"routing,omitempty"`
}

// WithActualFee returns the request with the wallet's fee as an offer with these fees takes it:
// at the rate found among them, at most what was requested, or no fee if it is not among
// them. So no terms state a fee that nobody takes.
func (r QuoteRequest) WithActualFee(fees []Payment) QuoteRequest {
	i := slices.IndexFunc(fees, func(p Payment) bool { return p.To == r.FeeReceiver && p.Bps > 0 && p.Bps <= r.FeeBps })
	if i < 0 {
		r.FeeBps, r.FeeReceiver = 0, common.Address{}
		return r
	}
	r.FeeBps = fees[i].Bps
	return r
}

// An Offer is a provider's priced answer. Everything in it is only the provider's claim;
// the plan built from it and [Check] make it binding.
type Offer struct {
	ID        string        `json:"id"` // ours, set by the service
	Provider  Kind          `json:"provider"`
	Request   QuoteRequest  `json:"request"`
	Routing   string        `json:"routing"` // provider's name for it: CLASSIC, WRAP …
	Route     string        `json:"route"`   // for people
	AmountOut *big.Int      `json:"amountOut"`
	MinOut    *big.Int      `json:"minAmountOut"`        // minimum received, enforced after fees
	QuotedMin *big.Int      `json:"quotedMin,omitempty"` // the quote's own minimum where it is another; decides nothing
	Gas       uint64        `json:"gas"`                 // provider's estimate of its own call, units; 0 = unknown
	Gasless   bool          `json:"gasless,omitempty"`   // executing it costs no gas once the allowance is in place
	Duration  time.Duration `json:"duration"`
	Expires   time.Time     `json:"expires"` // by our clock; not executable later
	// Fees are what the provider takes from the output, or says that it takes. The terms
	// state the wallet's fee only if it is among them.
	Fees []Payment `json:"fees,omitempty"`
	// FeeRequested is the wallet's fee that was requested, in bps, if the provider does not
	// say whether it takes it; else 0.
	FeeRequested int `json:"feeRequested,omitempty"`
	// Wrap is the wrapped coin that the wallet's own call turns a native input into
	// first, since the provider takes tokens only; zero = not wrapped.
	Wrap common.Address  `json:"wrap,omitzero"`
	Raw  json.RawMessage `json:"raw"` // provider's reply, passed unmodified to Build

	// Refund is the least that would come back from a deposit that nobody fills; nil =
	// the whole input, or there is no deposit.
	Refund *Spend `json:"refund,omitempty"`
	// Unusable says why an offer is shown but cannot be executed; empty = it can.
	Unusable string `json:"unusable,omitempty"`

	// Set by package swap for the ranking: the expected gas cost (wei), what is left of
	// AmountOut after it (nil = no price of our own), and why the offer stands where it
	// does.
	GasCost *big.Int `json:"gasCost,omitempty"`
	Net     *big.Int `json:"netAmountOut,omitempty"`
	Rank    string   `json:"rank,omitempty"`
}

// A Built plan is what a provider returns for an offer: steps whose effects are not known
// yet. Only Decode says what they do, from the bytes themselves.
//
// A provider builds no approvals: it names the spender, and package swap makes them, for
// exactly the amount. A permit is the provider's, as a typed step.
type Built struct {
	Steps      []Step    `json:"steps"`
	Settlement SettledBy `json:"settlement"`
	// Spender needs an ERC-20 allowance on the input token before the steps can take
	// effect; zero = none is needed (native input, unwrap).
	Spender common.Address `json:"spender,omitzero"`
}

// A Provider prices swaps and says how to carry them out. It holds no keys and sends no
// transactions. Errors are of type [*Refusal] if the reason is known, else temporary.
type Provider interface {
	Kind() Kind
	// Pins returns the only contracts that its plans may call, approve or name.
	Pins() Pins
	// Quote returns executable offers, best first. It may be repeated.
	Quote(ctx context.Context, r QuoteRequest) ([]Offer, error)
	// Build turns an offer into ordered steps under the terms to be accepted. It refuses
	// any step that it does not fully understand. It may be repeated.
	Build(ctx context.Context, o Offer, t Terms) (Built, error)
	// Decode says what a step would do, from its bytes alone. It does no I/O, and refuses
	// bytes that it does not fully understand.
	Decode(t Terms, s Step) (Effect, error)
}

// A DeferredBuilder makes the bytes of a deferred step from the results of earlier steps.
type DeferredBuilder interface {
	// BuildDeferred returns the call of a step. It may be repeated until that call is journaled.
	BuildDeferred(ctx context.Context, o Order, step int) (chain.Call, error)
}

// A Settler is a provider that settles orders ([ByProvider]): it is given a signature, or
// told of a mined deposit, and somebody else does the rest.
type Settler interface {
	// Submit hands the provider what the steps produced and returns its id for the order.
	// It is idempotent by content: a repeat makes no second order. A [*Refusal] that is
	// not temporary means certainly not accepted; any other error means unknown, and the
	// engine asks Status before it repeats.
	Submit(ctx context.Context, o Order) (ref string, err error)
	// Status returns the provider's claim, which proves nothing. A refusal with code
	// [OrderUnknown] means that the provider certainly does not know the order. A reply
	// about another order is refused with ProviderInvalidResponse.
	Status(ctx context.Context, o Order) (Claim, error)
	// Proof returns what on the chain would prove the order's end. It uses only the bytes
	// that were checked and signed: no I/O, and nothing from the provider's replies but
	// the route's identifiers that those bytes carry.
	Proof(o Order) (Proof, error)
}

// A Canceller is a Settler whose signed orders can be invalidated on the chain.
type Canceller interface {
	// CancelCall returns the account's own call that invalidates the order. No I/O.
	CancelCall(o Order) (chain.Call, error)
}

// A Watcher is a Settler that can also push claims.
type Watcher interface {
	// Watch calls told with each claim until ctx ends or the connection is lost. It may
	// return at once with an error if there is nothing to connect to.
	Watch(ctx context.Context, o Order, told func(Claim)) error
}

// A Lister is a provider that lists what it trades, for people to choose from.
type Lister interface {
	// Tokens returns the provider's own list, which nothing here has verified. It may be
	// repeated: the provider caches its answer.
	Tokens(ctx context.Context, chainID uint64) ([]tokens.Token, error)
}

// A DestinationLister is a provider that lists the chains it pays out on.
type DestinationLister interface {
	// Destinations returns the EVM chains that can receive now, each once. It may be
	// repeated: the provider caches its answer.
	Destinations(ctx context.Context) ([]Destination, error)
}

// A Destination is a chain as a provider describes it, safe to display.
type Destination struct {
	ChainID  uint64
	Name     string
	Symbol   string // of the native coin; "" = unknown
	Decimals uint8  // of the native coin
	Explorer string // https URL of a block explorer; "" = unknown
}

// A Endpointer provider says where its API is and what it calls the networks.
type Endpointer interface {
	// Endpoint does no I/O.
	Endpoint() Endpoint
}

// A Endpoint has the URLs of a provider's API, for the daemon and for browser windows, and
// its per-network configuration (spec section 2).
type Endpoint struct {
	Base, Frontend string // absolute URLs
	Networks       []NetworkEntry
}

// A NetworkEntry is a provider's configuration of one network.
type NetworkEntry struct {
	ChainID           uint64 // the wallet's
	Enabled           bool
	ProviderChainID   uint64 // the provider's id for it
	DisplayName       string
	CrossChainEnabled bool
}

// A Claim is what a provider says about an order, in our terms. Nothing in it is
// evidence; Tx and Chain only say where to look first.
type Claim struct {
	State           State       `json:"state"`                    // settling, or a final state as claimed
	ProviderStatus  string      `json:"providerStatus,omitempty"` // as the provider names it
	Tx              common.Hash `json:"tx,omitzero"`              // of the fill or refund that it names
	Chain           uint64      `json:"chainId,omitzero"`         // where Tx is
	Reason          string      `json:"reason,omitempty"`
	ProviderOrderID string      `json:"-"` // the provider's id for the order, if the order has none yet
}

// A Role is what a pinned contract may be used for.
type Role string

const (
	Router   Role = "router"   // may be called, may receive the value
	Wrapper  Role = "wrapper"  // wrapped native coin: deposit and withdraw
	Spender  Role = "spender"  // may be approved
	Verifier Role = "verifier" // may be the verifying contract of typed data
	// Settlement contracts settle signed orders, and their events prove it.
	Settlement Role = "settlement"
	// Depot contracts take deposits for others to settle. They may be called with the
	// value, or approved and called.
	Depot Role = "depot"
	// Filler accounts are those whose transfer counts as the fill, or the refund, of a
	// deposit.
	Filler Role = "filler"
	// Cosigner accounts may be named in a signed order to improve its terms later.
	Cosigner Role = "cosigner"
)

// A Pin allows one contract on one chain in one role.
type Pin struct {
	Chain   uint64
	Role    Role
	Address common.Address
}

// Pins are a provider's allow-list. Configuration may remove entries, never add one.
type Pins []Pin

// Allows reports whether a is pinned for that chain and role. The zero address never is.
func (p Pins) Allows(chainID uint64, r Role, a common.Address) bool {
	for _, q := range p {
		if q.Chain == chainID && q.Role == r && q.Address == a {
			return a != (common.Address{})
		}
	}
	return false
}

// Addresses returns the contracts pinned for a chain and role.
func (p Pins) Addresses(chainID uint64, r Role) []common.Address {
	var out []common.Address
	for _, q := range p {
		if q.Chain == chainID && q.Role == r {
			out = append(out, q.Address)
		}
	}
	return out
}

// A Streamer is a provider whose offers arrive one by one.
type Streamer interface {
	// Stream calls told with each offer as it arrives, and returns all of them, best
	// first, as Quote would. It must not call told after it returned.
	Stream(ctx context.Context, r QuoteRequest, told func(Offer)) ([]Offer, error)
}

// MinAfterSlippage returns the amount less slippage, rounded down.
func MinAfterSlippage(amount *big.Int, slippageBps int) *big.Int {
	n := new(big.Int).Mul(amount, big.NewInt(int64(10_000-slippageBps)))
	return n.Div(n, big.NewInt(10_000))
}
