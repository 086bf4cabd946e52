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
	// Routing is the route that a fresh quote must be of, where one was accepted: a provider
	// need not ask for others. Empty = any.
	Routing string `json:"routing,omitempty"`
}

// Taking is the request as an offer with these fees answers it: with the wallet's at the
// rate that is among them, at most what was asked for, and without one where none is, so
// that no terms state a fee that nobody takes.
func (r QuoteRequest) Taking(fees []Payment) QuoteRequest {
	i := slices.IndexFunc(fees, func(p Payment) bool { return p.To == r.FeeReceiver && p.Bps > 0 && p.Bps <= r.FeeBps })
	if i < 0 {
		r.FeeBps, r.FeeReceiver = 0, common.Address{}
		return r
	}
	r.FeeBps = fees[i].Bps
	return r
}

// An Offer is a provider's priced answer. Everything in it is a claim of the
// provider's; what binds it is the plan built from it and [Check].
type Offer struct {
	ID        string        `json:"id"` // ours, given by the service
	Provider  Kind          `json:"provider"`
	Request   QuoteRequest  `json:"request"`
	Routing   string        `json:"routing"` // provider's word: CLASSIC, WRAP …
	Route     string        `json:"route"`   // for people
	AmountOut *big.Int      `json:"amountOut"`
	MinOut    *big.Int      `json:"minAmountOut"`      // enforced for the recipient after fees
	ToldMin   *big.Int      `json:"toldMin,omitempty"` // what the quote itself calls that, where it says another; decides nothing
	Gas       uint64        `json:"gas"`               // provider's estimate of its own call, units; 0 = unknown
	Gasless   bool          `json:"gasless,omitempty"` // executing it costs no gas once the allowance is in place
	Duration  time.Duration `json:"duration"`
	Expires   time.Time     `json:"expires"` // by our clock; not executable later
	// Fees are what it takes of the output, or says that it takes. The wallet's is in its
	// terms where it is among them.
	Fees []Payment `json:"fees,omitempty"`
	// FeeAsked is the wallet's fee that was asked for, basis points, where the provider
	// says nothing of whether it takes it; 0 = it says, or was not asked.
	FeeAsked int `json:"feeAsked,omitempty"`
	// Wrap is the wrapped coin that a native input is turned into first, by a call
	// of the wallet's own, since the provider takes tokens only; zero = it is not.
	Wrap common.Address  `json:"wrap,omitzero"`
	Raw  json.RawMessage `json:"raw"` // provider's own words, handed back unmodified to Build

	// Refund is what at least would come back of a deposit that nobody fills; nil =
	// the whole input, or there is no deposit.
	Refund *Spend `json:"refund,omitempty"`
	// Unusable says why an offer is only shown and cannot be executed; empty = it can.
	Unusable string `json:"unusable,omitempty"`

	// What package swap adds for the ranking: gas it is expected to cost (wei), what
	// is left of AmountOut after that (nil = no price of our own), and why it
	// stands where it does.
	GasCost *big.Int `json:"gasCost,omitempty"`
	Net     *big.Int `json:"net,omitempty"`
	Rank    string   `json:"rank,omitempty"`
}

// A Built plan is what a provider returns for an offer: steps whose effects are
// not yet known. Only Decode, from the bytes themselves, says what they do.
//
// A provider builds no approvals: it names the spender and package swap makes
// them, of exactly the amount. A permit is the provider's, as a typed step.
type Built struct {
	Steps      []Step    `json:"steps"`
	Settlement SettledBy `json:"settlement"`
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

// A Settler is a provider that settles orders itself ([ByProvider]): it is given
// a signature, or told of a mined deposit, and somebody else does the rest.
type Settler interface {
	// Submit hands the provider what the steps produced and returns its name for
	// the order. It is keyed by content: repeating it makes no second order. A
	// [*Refusal] that is not temporary means certainly not accepted; any other
	// error means unknown, and the engine asks Status before it repeats.
	Submit(ctx context.Context, o Order) (ref string, err error)
	// Status reports what the provider claims. It proves nothing. A refusal with
	// code [OrderUnknown] means that the provider certainly does not know it.
	// It refuses (ProviderGarbage) a reply that is about another order.
	Status(ctx context.Context, o Order) (Claim, error)
	// Proof says what on the chain would prove the order's end, from the bytes
	// that were checked and signed alone: no I/O, nothing of the provider's
	// replies but the route's own identifiers that those bytes carry.
	Proof(o Order) (Proof, error)
}

// A Canceller is a Settler whose signed orders can be made void on the chain.
type Canceller interface {
	// CancelCall is the account's own call that makes the signed order void. No I/O.
	CancelCall(o Order) (chain.Call, error)
}

// A Watcher is a Settler that can push claims, beside being asked.
type Watcher interface {
	// Watch calls told at each claim until ctx ends or the connection is lost; it
	// may return at once with an error where there is nothing to connect to.
	Watch(ctx context.Context, o Order, told func(Claim)) error
}

// A Lister is a provider that lists what it trades, for people to choose from.
type Lister interface {
	// Tokens are the provider's word, and nobody's here. It may be repeated: the
	// provider keeps an answer for a while.
	Tokens(ctx context.Context, chainID uint64) ([]tokens.Token, error)
}

// A Reacher is a provider that tells which chains it pays out on.
type Reacher interface {
	// Destinations are the EVM chains that may receive now, each once. It may be
	// repeated: the provider keeps an answer for a while.
	Destinations(ctx context.Context) ([]Destination, error)
}

// A Destination is a chain as a provider describes it, fit for a screen.
type Destination struct {
	ChainID  uint64
	Name     string
	Symbol   string // of the native coin; "" = not told
	Decimals uint8  // of the native coin
	Explorer string // https URL of a block explorer; "" = none told
}

// A Placed provider says where its API is and what it calls the networks.
type Placed interface {
	// Place does no I/O.
	Place() Place
}

// A Place is where a provider's API is, for the daemon and for windows, and its
// per-network configuration (spec section 2).
type Place struct {
	Base, Frontend string // absolute URLs
	Networks       []NetworkEntry
}

// A NetworkEntry is a provider's configuration entry of one network.
type NetworkEntry struct {
	ChainID           uint64 // the wallet's
	Enabled           bool
	ProviderChainID   uint64 // the provider's own id of it
	DisplayName       string
	CrossChainEnabled bool
}

// A Claim is what a provider says of an order, in our words. Nothing in it is
// evidence; Tx and Chain only say where to look first.
type Claim struct {
	State  State       `json:"state"`            // settling, or a final state as claimed
	Word   string      `json:"word,omitempty"`   // the provider's own word for it
	Tx     common.Hash `json:"tx,omitzero"`      // of the fill or refund it speaks of
	Chain  uint64      `json:"chainId,omitzero"` // where Tx is
	Reason string      `json:"reason,omitempty"`
	Ref    string      `json:"-"` // its name for the order, of one that has none yet
}

// A Role is what a pinned contract may be used for.
type Role string

// The roles of pinned contracts.
const (
	Router   Role = "router"   // may be called, may receive the value
	Wrapper  Role = "wrapper"  // wrapped native coin: deposit and withdraw
	Spender  Role = "spender"  // may be approved
	Verifier Role = "verifier" // may be the verifying contract of typed data
	// Settlement contracts settle signed orders, and their events prove it.
	Settlement Role = "settlement"
	// Depot contracts take deposits for others to settle; they may be called
	// with the value, or approved and called.
	Depot Role = "depot"
	// Fillers are the accounts from which a transfer counts as the fill, or the
	// refund, of a deposit.
	Filler Role = "filler"
	// Cosigners may be named in a signed order to improve its terms later.
	Cosigner Role = "cosigner"
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
