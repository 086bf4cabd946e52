package protocol

import (
	"encoding/json"
	"time"
)

// ProvidersResult lists the providers and their capabilities.
type ProvidersResult struct {
	Providers []Provider `json:"providers"`
}

// A Provider is one swap provider, identified by its kind.
type Provider struct {
	Kind    string             `json:"kind" of:"ProviderKind" doc:"dex, bridge, intent or gasless"`
	Ready   bool               `json:"ready" doc:"built in and configured"`
	Reason  string             `json:"reason,omitempty" doc:"why it is not ready"`
	Support map[string]Support `json:"support" doc:"by chain id"`
	Can     Capabilities       `json:"capabilities"`
	Fee     ProviderFee        `json:"fee"`

	Host        string                     `json:"host,omitempty" doc:"where the daemon asks it; of the intent provider"`
	FrontendURL string                     `json:"frontendBaseUrl,omitempty" doc:"where windows may ask it; of the intent provider"`
	Networks    map[string]ProviderNetwork `json:"networks,omitempty" doc:"by chain id; of the intent provider"`
}

// A ProviderNetwork is the intent provider's configuration of one network.
type ProviderNetwork struct {
	Enabled            bool   `json:"enabled"`
	HyperstreamChainID uint64 `json:"hyperstreamChainId" doc:"the provider's id of the network"`
	DisplayName        string `json:"displayName"`
	CrossChainEnabled  bool   `json:"crossChainEnabled"`
}

// Capabilities are the features of a provider: yes, no, or under what condition.
type Capabilities struct {
	SameChain  string `json:"sameChain"`
	CrossChain string `json:"crossChain"`
	Intents    string `json:"intentRouting"`
	Gasless    string `json:"gaslessExecution"`
	Tracking   string `json:"orderTracking"`
}

// A ProviderFee is the fees of a swap through a provider.
type ProviderFee struct {
	FeeBps   int    `json:"feeBps" doc:"the wallet's, basis points; 0: no receiver is configured"`
	MakerBps int    `json:"makerFeeBps" doc:"maximum additional fee of the provider's side, basis points"`
	How      string `json:"how" doc:"for people"`
}

// Support is a provider's support of one chain.
type Support struct {
	Support    string   `json:"support" of:"SupportLevel" doc:"active, disabled or not supported"`
	CrossChain bool     `json:"crossChainEnabled"`
	Note       string   `json:"note,omitempty"`
	Pools      []string `json:"pools,omitempty" doc:"pool versions of the classic route"`
	Auction    bool     `json:"auction,omitempty" doc:"the auction route is served"`
}

type DestinationsParams struct {
	Provider string `json:"provider" of:"ProviderKind" doc:"bridge or intent: those that leave the source chain"`
}

// DestinationsResult lists the chains a provider pays out on.
type DestinationsResult struct {
	Destinations []Destination `json:"destinations"`
}

// A Destination is a chain that can receive. For a chain that is not known here, all
// fields are the provider's claims, sanitized for display like token names.
type Destination struct {
	ChainID  uint64 `json:"chainId"`
	Name     string `json:"name"`
	Symbol   string `json:"symbol,omitempty" doc:"of the native coin; absent: unknown"`
	Decimals int    `json:"decimals,omitempty" doc:"of the native coin; absent: unknown"`
	Explorer string `json:"explorer,omitempty" doc:"URL of a block explorer, https"`
	Known    bool   `json:"known" doc:"one of networks.list; for others the wallet reads no balance, and only the provider reports a payment there"`
}

type FeesResult struct {
	FeeBps      int     `json:"feeBps" doc:"basis points"`
	PartnerInfo Partner `json:"partnerInfo"`
}

// A Partner receives the wallet's fee.
type Partner struct {
	Name            string  `json:"name"`
	ReceiverAddress Address `json:"receiverAddress,omitempty" doc:"absent: no fee is asked"`
	Website         string  `json:"website"`
}

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
	FeeAsked        int       `json:"feeAsked,omitempty" doc:"the wallet's fee that was asked for, basis points, where the provider does not say whether it takes it"`
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

type PrepareParams struct {
	Offer string `json:"offer" doc:"id of an offer that has not expired"`
}

// A Review is the plan that the user is asked to accept.
type Review struct {
	Digest        Hash      `json:"digest" doc:"what consent names: terms and effects"`
	Terms         Terms     `json:"terms"`
	Offer         Offer     `json:"offer"`
	Steps         []Step    `json:"steps" doc:"in order"`
	Settlement    string    `json:"settlement" of:"SettledBy" doc:"own_call or provider"`
	Gas           Gas       `json:"gas"`
	Findings      []Finding `json:"findings"`
	FeeBasis      string    `json:"feeBasis" of:"FeeBasis" doc:"how the wallet's fee is known: decoded (from what is signed), reported (by the provider only), requested (the offer's feeAsked; nothing confirms that it is charged) or none"`
	StatedMinimum Amount    `json:"statedMinimum,omitempty" doc:"the minimum that the quote states, if it differs from the decoded one; a claim, for display"`
	Blocked       bool      `json:"blocked" doc:"a finding forbids execution"`
	Expires       time.Time `json:"expires" doc:"the plan is forgotten then"`

	PasswordFor []string `json:"passwordFor,omitempty" of:"PasswordReason" doc:"for a browser: why carrying it out would take the password now; of swap.prepare alone"`
	AmountAgain bool     `json:"amountAgain,omitempty" doc:"for a terminal: carrying it out would take the amount again; of swap.prepare alone"`
}

// Terms are the bounds that everything the wallet signs for an order must keep.
type Terms struct {
	Provider        string    `json:"provider" of:"OrderKind"`
	Account         Address   `json:"account"`
	SrcChainID      uint64    `json:"srcChainId"`
	TokenIn         Address   `json:"tokenIn"`
	AmountIn        Amount    `json:"amountIn"`
	DstChainID      uint64    `json:"dstChainId"`
	TokenOut        Address   `json:"tokenOut"`
	Recipient       Address   `json:"recipient"`
	MinimumReceived Amount    `json:"minOut" doc:"minimum received by the recipient"`
	Deadline        time.Time `json:"deadline" doc:"nothing is signed or sent later"`
	RefundTo        Address   `json:"refundTo"`
	FeeBps          int       `json:"feeBps" doc:"the wallet's own fee, basis points"`
	FeeReceiver     Address   `json:"feeReceiver,omitempty"`
	MakerFeeBps     int       `json:"makerFeeBps,omitempty" doc:"maximum additional fee of the provider's side, basis points"`
	GasCeiling      Amount    `json:"gasCeiling" doc:"wei, all transactions of the plan together"`
	Refund          *Spend    `json:"refund,omitempty" doc:"minimum refund to refundTo of a deposit that nobody fills; absent: the whole input"`
	Wrap            Address   `json:"wrap,omitempty" doc:"the wrapped coin that the native input becomes before it is spent"`
}

// A Step is one action that only the wallet can perform.
type Step struct {
	Kind    string          `json:"kind" of:"StepKind" doc:"call, typed or late"`
	Effect  Effect          `json:"effect"`
	To      Address         `json:"to,omitempty" doc:"of a call"`
	Value   Amount          `json:"value,omitempty" doc:"wei, of a call"`
	Data    string          `json:"data,omitempty" doc:"calldata in hex, in reviews only"`
	Typed   json.RawMessage `json:"typed,omitempty" doc:"EIP-712 data, in reviews only"`
	Tx      Hash            `json:"tx,omitempty" doc:"of a finished call, in orders"`
	Done    bool            `json:"done,omitempty" doc:"finished, in orders"`
	Skipped bool            `json:"skipped,omitempty" doc:"an approval that was not needed any more, in orders"`
}

// An Effect is the effect of a step, decoded from its bytes.
type Effect struct {
	Kind      string     `json:"kind" of:"EffectKind" doc:"approve, permit, swap, wrap, unwrap, order (signed, settled by others), deposit or opaque (of unknown content)"`
	ChainID   uint64     `json:"chainId"`
	Target    Address    `json:"target" doc:"contract called, or the domain's verifying contract"`
	Spends    []Spend    `json:"spends,omitempty" doc:"what leaves the account"`
	Approves  []Approval `json:"approves,omitempty" doc:"who may pull what afterwards"`
	Receives  []Receive  `json:"receives,omitempty" doc:"what is enforced to arrive"`
	Pays      []Payment  `json:"pays,omitempty" doc:"fees taken during the swap"`
	Deadline  time.Time  `json:"deadline,omitzero" doc:"last second at which it can take effect on chain"`
	TrustedTo string     `json:"trustedTo,omitempty" of:"Trusted" doc:"who must be trusted to settle it"`
	Settler   Address    `json:"settler,omitempty" doc:"of an order: the built-in contract that may settle it"`
	Ref       Hash       `json:"ref,omitempty" doc:"of a deposit: the identifier that its bytes carry"`
}

// A Spend is an amount that leaves the account.
type Spend struct {
	Token  Address `json:"token"`
	Amount Amount  `json:"amount"`
}

// An Approval allows a spender to pull tokens.
type Approval struct {
	Token       Address   `json:"token"`
	Spender     Address   `json:"spender"`
	Amount      Amount    `json:"amount"`
	OtherOrders Amount    `json:"shares,omitempty" doc:"part of the amount that is not this plan's but other open orders'"`
	Until       time.Time `json:"until,omitzero" doc:"absent: it does not expire"`
}

// A Receive is a minimum amount that the contract enforces.
type Receive struct {
	Token Address `json:"token"`
	To    Address `json:"to"`
	Min   Amount  `json:"min"`
}

// Gas is the cost of the plan's own transactions.
type Gas struct {
	Expected Amount   `json:"expected" doc:"wei, at the present base fee"`
	Max      Amount   `json:"max" doc:"wei, what the account must be able to pay besides the value"`
	Balance  Amount   `json:"balance" doc:"wei, native"`
	Missing  Amount   `json:"missing,omitempty" doc:"wei; present: not enough for gas"`
	Share    *float64 `json:"share,omitempty" doc:"expected cost / swap value; absent: unknown"`
	Costs    []Cost   `json:"costs" doc:"by call step"`
	USD      GasUSD   `json:"usd,omitzero" doc:"what it is worth now; in reviews"`
}

type Cost struct {
	Gas            uint64 `json:"gas" doc:"limit"`
	BaseFee        Amount `json:"baseFee,omitempty" doc:"wei per unit"`
	MaxFee         Amount `json:"maxFeePerGas,omitempty" doc:"wei per unit"`
	MaxPriorityFee Amount `json:"maxPriorityFeePerGas,omitempty" doc:"wei per unit"`
	L1             Amount `json:"l1,omitempty" doc:"wei paid for data on L1"`
	Expected       Amount `json:"expected" doc:"wei"`
	Max            Amount `json:"max" doc:"wei"`
}

// A Finding is something the user is told before consent.
type Finding struct {
	Code     string            `json:"code" of:"FindingCode"`
	Severity string            `json:"severity" of:"Severity" doc:"note, warn, acknowledge (execute must name its code) or block"`
	Text     string            `json:"text"`
	Data     map[string]string `json:"data,omitempty"`
}

// ExecuteParams are the user's consent to a review.
type ExecuteParams struct {
	Request     UUID     `json:"request" doc:"names this act; repeating it returns the order it made"`
	Digest      Hash     `json:"digest" doc:"of the review that was shown"`
	Acknowledge []string `json:"acknowledge,omitempty" of:"FindingCode" doc:"codes of acknowledged findings"`
	Password    Secret   `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
	Amount      Amount   `json:"amount,omitempty" doc:"terms.amountIn entered again, if a terminal's request was refused with amount_again"`
}

// CancelParams request the cancellation of an order.
type CancelParams struct {
	Request  UUID   `json:"request" doc:"names this act"`
	Order    string `json:"order" doc:"id"`
	Digest   Hash   `json:"digest" doc:"the order's, as it was shown"`
	Password Secret `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
}

// Fee tiers of a replacement transaction.
const (
	TierNormal = "normal"
	TierFast   = "fast"
)

// SpeedupParams request that an order's pending transaction is sent again with a higher
// fee.
type SpeedupParams struct {
	Request    UUID   `json:"request" doc:"names this act; repeating it does not bump again"`
	Order      string `json:"order" doc:"id"`
	Digest     Hash   `json:"digest" doc:"the order's, as it was shown"`
	Tier       string `json:"tier,omitempty" of:"Tier" doc:"normal or fast; default: fast"`
	GasCeiling Amount `json:"gasCeiling,omitempty" doc:"wei, above the accepted one: consents to that much gas for all transactions of the order together, and changes terms and digest"`
	Password   Secret `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
}

// AcceptParams are the consent to the proposal of an order that needs consent.
type AcceptParams struct {
	Request     UUID     `json:"request" doc:"names this act"`
	Order       string   `json:"order" doc:"id"`
	Digest      Hash     `json:"digest" doc:"the proposal's, as it was shown"`
	Acknowledge []string `json:"acknowledge,omitempty" of:"FindingCode" doc:"codes of its acknowledged findings"`
	Password    Secret   `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
	Amount      Amount   `json:"amount,omitempty" doc:"terms.amountIn entered again, if a terminal's request was refused with amount_again"`
}

type OrderParams struct {
	Order string `json:"order" doc:"id"`
}

// OrderResult is an order and its history.
type OrderResult struct {
	Order   Order   `json:"order"`
	History []Entry `json:"history" doc:"oldest first"`
	Omitted int     `json:"omitted,omitempty" doc:"older lines left out"`
}

type OrdersParams struct {
	Account Address `json:"account,omitempty" doc:"default: all accounts"`
	Open    bool    `json:"open,omitempty" doc:"only orders that have not ended"`
	Cursor  string  `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int     `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

type OrdersResult struct {
	Orders []Order `json:"orders" doc:"newest first"`
	Cursor string  `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

// An Order is an accepted plan and its progress.
type Order struct {
	ID               string            `json:"id"`
	Request          UUID              `json:"request"`
	Digest           Hash              `json:"digest"`
	Origin           string            `json:"origin" doc:"who asked for it"`
	Terms            Terms             `json:"terms"`
	Offer            Offer             `json:"offer"`
	Steps            []Step            `json:"steps"`
	Acknowledge      []string          `json:"acknowledged,omitempty" of:"FindingCode"`
	Revision         uint64            `json:"revision" doc:"counts recorded changes: the higher is the newer"`
	Cancelling       bool              `json:"cancel,omitempty" doc:"the user asked for it to end"`
	State            string            `json:"state" of:"OrderState" doc:"accepted, approving, executing, submitting, settling; filled, refunded, failed, expired, cancelled"`
	Means            string            `json:"means" doc:"the state in words"`
	Final            bool              `json:"final" doc:"the order has ended"`
	Condition        string            `json:"condition,omitempty" of:"Condition" doc:"in addition to the state: waiting_unlock …"`
	Reported         bool              `json:"reported,omitempty" doc:"the provider reported an end that is not proven yet: the chains are still watched, at growing intervals, and it may never be proven"`
	Report           string            `json:"report,omitempty" doc:"with reported: what is known, in words"`
	Step             int               `json:"step" doc:"next step to carry out"`
	Sending          Hash              `json:"sending,omitempty" doc:"the current step's transaction, as last signed"`
	Attempts         []Attempt         `json:"attempts,omitempty" doc:"every transaction signed for the current step's nonce, oldest first; at most one is mined"`
	Speedup          string            `json:"speedup,omitempty" of:"Tier" doc:"tier of a requested speed-up that is not sent yet"`
	Proposal         *Proposal         `json:"proposal,omitempty" doc:"with needs_consent: what swap.accept would consent to instead"`
	Leftovers        []Leftover        `json:"leftovers,omitempty" doc:"allowances granted for it that are still there; see approvals.list"`
	Submission       *Submitted        `json:"submission,omitempty" doc:"its submission to the provider, begun or done"`
	Wrapped          bool              `json:"wrapped,omitempty" doc:"its input was wrapped, by a transaction of its own"`
	Ref              string            `json:"ref,omitempty" doc:"the provider's name for it"`
	Claim            *Claim            `json:"claim,omitempty" doc:"the provider's latest word; proves nothing"`
	CandidatePayment *CandidatePayment `json:"seen,omitempty" doc:"a payment that may be the awaited one or another's; proves nothing"`
	Verdict          *Verdict          `json:"verdict,omitempty" doc:"the proven end"`
	Reason           string            `json:"reason,omitempty" doc:"in words"`
	Cause            *Cause            `json:"cause,omitempty" doc:"the reason for programs; absent of an order of an older version"`
	Created          time.Time         `json:"created"`
	Updated          time.Time         `json:"updated"`
	Checked          time.Time         `json:"checked,omitzero" doc:"when the daemon last looked how it stands, on the chains and at its provider; absent: not since its start, or it has ended"`
}

// A Proposal is what an order asks consent for when the accepted terms can no longer be
// kept.
type Proposal struct {
	Reason string    `json:"reason" doc:"why the accepted terms can no longer be kept"`
	Cause  *Cause    `json:"cause,omitempty" doc:"that for programs"`
	Made   time.Time `json:"made"`
	Review Review    `json:"review" doc:"as of swap.prepare; consent names its digest"`
}

// Submitted is the progress of submitting an order to its provider.
type Submitted struct {
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Tries   int       `json:"tries"`
	Taken   bool      `json:"taken,omitempty" doc:"the provider has the order"`
	Refused bool      `json:"refused,omitempty" doc:"of a signed order: the provider says that it did not take it; it may live all the same"`
}

// An Attempt is one signed transaction of a step.
type Attempt struct {
	Kind           string    `json:"kind" of:"AttemptKind" doc:"call, bump (the call for more) or cancel"`
	Tx             Hash      `json:"tx"`
	MaxFee         Amount    `json:"maxFeePerGas" doc:"wei per unit"`
	MaxPriorityFee Amount    `json:"maxPriorityFeePerGas" doc:"wei per unit"`
	Signed         time.Time `json:"signed"`
}

// A Leftover is an allowance that an order left behind.
type Leftover struct {
	ChainID uint64  `json:"chainId"`
	Token   Address `json:"token"`
	Spender Address `json:"spender"`
	Amount  Amount  `json:"amount"`
}

// A Claim is what a provider reports about an order.
type Claim struct {
	State   string `json:"state" of:"OrderState"`
	Word    string `json:"word,omitempty" doc:"the provider's own for it"`
	ChainID uint64 `json:"chainId,omitempty" doc:"where tx is, as far as it said"`
	Tx      Hash   `json:"tx,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// A CandidatePayment is a payment that may settle an order but may also belong to another.
type CandidatePayment struct {
	End     string    `json:"end" of:"OrderState" doc:"what it would prove: filled or refunded"`
	ChainID uint64    `json:"chainId"`
	Tx      Hash      `json:"tx"`
	Token   Address   `json:"token"`
	Amount  Amount    `json:"amount"`
	From    Address   `json:"from" doc:"who paid; of a native coin by way of a contract, who sent the transaction"`
	Time    time.Time `json:"time,omitzero" doc:"of its block"`
}

// A Verdict is the proven end of an order.
type Verdict struct {
	State    string    `json:"state" of:"OrderState"`
	By       string    `json:"by,omitempty" of:"ProvenBy" doc:"the way in which it was proven: fill, arrival, refund, absence …"`
	Means    string    `json:"means,omitempty" doc:"that in words"`
	Received *Spend    `json:"received,omitempty" doc:"what arrived, where a log or a balance shows it; of a refund, on the source chain"`
	Short    bool      `json:"short,omitempty" doc:"less than the minimum received"`
	Spent    *Spend    `json:"spent,omitempty" doc:"what left the account, where that may be another amount than was signed"`
	Sources  string    `json:"sources" doc:"one source, or how many agree"`
	Evidence *Evidence `json:"evidence,omitempty" doc:"of the transaction that ended it"`
	Deposit  *Evidence `json:"deposit,omitempty" doc:"of the order's own transaction, which that answers"`
	Logs     []LogRef  `json:"logs,omitempty" doc:"what of the evidence counts; each counts for one order only"`
	Absence  *Absence  `json:"absence,omitempty" doc:"where nothing was found"`
}

// A LogRef identifies one log of a transaction, or its native payment.
type LogRef struct {
	ChainID uint64 `json:"chainId"`
	Tx      Hash   `json:"tx"`
	Place   int    `json:"place" doc:"among the transaction's logs, from 0; -1: its payment of the native coin"`
	Balance bool   `json:"balance,omitempty" doc:"the payment is seen in a balance that the block raised"`
}

// An Absence is a range of blocks that was searched without a result.
type Absence struct {
	ChainID   uint64    `json:"chainId"`
	From      uint64    `json:"from" doc:"first block"`
	Through   uint64    `json:"through" doc:"last block"`
	BlockHash Hash      `json:"blockHash" doc:"of the last block"`
	Time      time.Time `json:"time" doc:"of the last block"`
	Hosts     []string  `json:"hosts" doc:"RPC hosts that searched"`
}

// Evidence is what the chain says about one mined transaction.
type Evidence struct {
	ChainID   uint64    `json:"chainId"`
	Tx        Hash      `json:"tx"`
	Block     uint64    `json:"block"`
	BlockHash Hash      `json:"blockHash"`
	Success   bool      `json:"success"`
	Depth     uint64    `json:"depth" doc:"blocks on top, its own included"`
	GasUsed   uint64    `json:"gasUsed"`
	FeePaid   Amount    `json:"feePaid" doc:"wei"`
	Hosts     []string  `json:"hosts" doc:"RPC hosts that agree"`
	To        Address   `json:"to"`
	From      Address   `json:"from,omitempty"`
	Value     Amount    `json:"value,omitempty" doc:"wei sent along"`
	Time      time.Time `json:"time,omitzero" doc:"of the block"`
}

// An Entry is one line of an order's history.
type Entry struct {
	Time      time.Time `json:"time"`
	State     string    `json:"state" of:"OrderState"`
	Condition string    `json:"condition,omitempty" of:"Condition"`
	Step      int       `json:"step"`
	Note      string    `json:"note,omitempty" doc:"what happened, in words"`
	Cause     *Cause    `json:"cause,omitempty" doc:"that for programs; absent in a line of an older version"`
}

// A Cause is a reason or a note in machine-readable form, so that clients can show it in
// the user's language.
type Cause struct {
	Word    string            `json:"word" of:"CauseWord" doc:"what happened"`
	Error   string            `json:"error,omitempty" doc:"of a refusal: its name in the table of errors"`
	Details map[string]string `json:"details,omitempty" doc:"of a refusal as in an error's; else figures by name, amounts in base units: minOut and offered in the output token, spent and allowed in the input token, previous and ceiling in the source chain's native coin"`
	Said    string            `json:"said,omitempty" doc:"text of a third party, not translated"`
	By      string            `json:"by,omitempty" of:"Speaker" doc:"author of said: provider or node"`
}
