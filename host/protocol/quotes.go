package protocol

import (
	"encoding/json"
	"time"
)

// QuoteParams request offers for an exact input.
type QuoteParams struct {
	Account    Address  `json:"account" doc:"one of keys.accounts"`
	SrcChainID uint64   `json:"srcChainId,omitempty" doc:"absent: the active network; given, it must be that"`
	TokenIn    Address  `json:"tokenIn"`
	AmountIn   Amount   `json:"amountIn"`
	DstChainID uint64   `json:"dstChainId,omitempty" doc:"default: the source chain"`
	TokenOut   Address  `json:"tokenOut"`
	Recipient  Address  `json:"recipient,omitempty" doc:"default: account; another one needs password"`
	RefundTo   Address  `json:"refundTo,omitempty" doc:"default: account; another one needs password"`
	Slippage   *Percent `json:"slippage,omitempty" doc:"percent, 0 < s <= 50, from a browser <= 15; default: the setting swap.slippage"`
	Providers  []string `json:"providers,omitempty" of:"ProviderKind" doc:"kinds; default: all that serve the route"`
	Password   Secret   `json:"password,omitempty" doc:"for another recipient or refund address, not yet confirmed in this session"`
	Watch      bool     `json:"watch,omitempty" doc:"go on asking, and push the answers as swap.quoted"`
}

// WatchTimeout is how long quotes are refreshed after the last sign that somebody looks at
// them.
const WatchTimeout = time.Minute

// WatchParams keep the refresh of quotes going, or end it.
type WatchParams struct {
	Stop bool `json:"stop,omitempty"`
}

// WatchResult reports whether quotes are being refreshed.
type WatchResult struct {
	Watching bool       `json:"watching"`
	Until    *time.Time `json:"until,omitempty" doc:"when it pauses unless swap.watch is called again"`
}

type QuoteResult struct {
	Offers   []Offer           `json:"offers" doc:"ranked, best first"`
	Failures map[string]*Error `json:"failures" of:"ProviderKind" doc:"by kind of the providers that had no offer; form of an error object"`
}

// Quoted is one provider's answer to a quote in progress.
type Quoted struct {
	Call     json.RawMessage `json:"call" doc:"id of the swap.quote request"`
	Provider string          `json:"provider" of:"ProviderKind"`
	Offers   []Offer         `json:"offers" doc:"new ones; with done all of the provider's, in its order, in place of those before"`
	Failure  *Error          `json:"failure,omitempty" doc:"why it has none; form of an error object"`
	Done     bool            `json:"done" doc:"the provider has answered in full"`
	Order    []string        `json:"order" doc:"ids of all offers of this quote so far, best first"`
}

// An Offer is a provider's priced answer. All of it is the provider's claim.
type Offer struct {
	ID              string    `json:"id"`
	Provider        string    `json:"provider" of:"OrderKind"`
	Account         Address   `json:"account"`
	Isolated        Address   `json:"isolated,omitempty" doc:"the throwaway account that makes the provider's call; absent: the account itself"`
	SrcChainID      uint64    `json:"srcChainId"`
	TokenIn         Address   `json:"tokenIn"`
	AmountIn        Amount    `json:"amountIn"`
	DstChainID      uint64    `json:"dstChainId"`
	TokenOut        Address   `json:"tokenOut"`
	AmountOut       Amount    `json:"amountOut"`
	MinAmountOut    Amount    `json:"minAmountOut" doc:"enforced for the recipient, after fees"`
	Recipient       Address   `json:"recipient"`
	RefundTo        Address   `json:"refundTo"`
	Slippage        Percent   `json:"slippage"`
	Routing         string    `json:"routing" doc:"the provider's word: CLASSIC, WRAP …"`
	Route           string    `json:"route" doc:"for people"`
	Gas             uint64    `json:"gas,omitempty" doc:"provider's estimate, units"`
	DurationSeconds float64   `json:"durationSeconds"`
	Expires         time.Time `json:"expires" doc:"by the daemon's clock; not executable later"`
	Fees            []Payment `json:"fees,omitempty"`
	FeeRequested    int       `json:"feeRequested,omitempty" doc:"the wallet's fee that was asked for, basis points, where the provider does not say whether it takes it"`
	GasCost         Amount    `json:"gasCost,omitempty" doc:"wei; what its own gas is expected to cost"`
	NetAmountOut    Amount    `json:"netAmountOut,omitempty" doc:"what is left of amountOut after gas; absent: no price of our own"`
	Rank            string    `json:"rank,omitempty" doc:"why it stands where it does, for people"`
	Gasless         bool      `json:"gasless,omitempty" doc:"executing it costs no gas once the allowance is in place"`
	Wrap            Address   `json:"wrap,omitempty" doc:"the wrapped coin that a native input is turned into first"`
	Refund          *Spend    `json:"refund,omitempty" doc:"minimum refund of a deposit that nobody fills; absent: the whole deposit, or there is no deposit"`
	Unusable        string    `json:"unusable,omitempty" doc:"why it is only shown and cannot be executed"`
	USD             OfferUSD  `json:"usd,omitzero" doc:"what the amounts are worth now; in quotes and reviews"`
}

// A Payment is a fee taken from the output.
type Payment struct {
	Token Address `json:"token"`
	To    Address `json:"to"`
	Bps   int     `json:"bps" doc:"basis points of the output"`
}
