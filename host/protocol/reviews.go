package protocol

import (
	"encoding/json"
	"time"
)

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
	Lines         []Line    `json:"lines" doc:"what is asked, in the words of the catalogue: popup, terminal and dialogs show these lines in this order"`
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
	Isolated        Address   `json:"isolated,omitempty" doc:"the throwaway account that makes the provider's call; absent: the account itself"`
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
	Kind    string          `json:"kind" of:"StepKind" doc:"call, typed or deferred"`
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
	Kind      string     `json:"kind" of:"EffectKind" doc:"fund (of the throwaway account), approve, permit, swap, wrap, unwrap, order (signed, settled by others), deposit or opaque (of unknown content)"`
	ChainID   uint64     `json:"chainId"`
	Target    Address    `json:"target" doc:"contract called, or the domain's verifying contract"`
	Spends    []Spend    `json:"spends,omitempty" doc:"what leaves the account"`
	Approves  []Approval `json:"approves,omitempty" doc:"who may pull what afterwards"`
	Receives  []Receive  `json:"receives,omitempty" doc:"what is enforced to arrive"`
	Pays      []Payment  `json:"pays,omitempty" doc:"fees taken during the swap"`
	Deadline  time.Time  `json:"deadline,omitzero" doc:"last second at which it can take effect on chain"`
	TrustedTo string     `json:"trustedTo,omitempty" of:"Trusted" doc:"who must be trusted to settle it"`
	Settler   Address    `json:"settler,omitempty" doc:"of an order: the built-in contract that may settle it"`
	DepositID Hash       `json:"depositId,omitempty" doc:"of a deposit: the identifier that its bytes carry"`
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
	OtherOrders Amount    `json:"otherOrders,omitempty" doc:"part of the amount that is not this plan's but other open orders'"`
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

// A Line is one thing that the user is told before consent.
type Line struct {
	Key      string `json:"key" doc:"a message of the catalogue: line_… or finding_…"`
	Args     []Arg  `json:"args" doc:"the values of its placeholders, in order"`
	Severity string `json:"severity" of:"Severity" doc:"as of a finding"`
}

// An Arg is the value of one placeholder of a line.
type Arg struct {
	Kind  string `json:"kind" of:"ArgKind" doc:"text (as it is), number (decimal with a point, not grouped, shown with the language's own decimal mark, and unit), units (base units of the token that unit names) or word (a message of the catalogue; brand_ and a kind of provider is its brand)"`
	Value string `json:"value" doc:"printable and bounded"`
	Unit  string `json:"unit,omitempty"`
}

// A Finding is something the user is told before consent.
type Finding struct {
	Code     string            `json:"code" of:"FindingCode"`
	Severity string            `json:"severity" of:"Severity" doc:"note, warn, acknowledge (execute must name its code) or block"`
	Text     string            `json:"text"`
	Data     map[string]string `json:"data,omitempty"`
}
