package swap

// Capabilities are a provider's features in the words of the spec's table (section 1,
// item 4): "yes", "no", or a condition.
type Capabilities struct {
	SameChain  string `json:"sameChain"`
	CrossChain string `json:"crossChain"`
	Intents    string `json:"intentRouting"`
	Gasless    string `json:"gaslessExecution"`
	Tracking   string `json:"orderTracking"`
}

// capabilities is the spec's table by column.
var capabilities = map[Kind]Capabilities{
	DEX:     {"yes", "no", "no", "only through the auction-style route", "yes"},
	Bridge:  {"yes", "yes", "no", "no", "yes"},
	Intent:  {"route-dependent", "yes", "yes", "no (a source-chain deposit transaction is required)", "yes"},
	Gasless: {"yes", "no", "yes, for its own orders", "yes, after the token approval", "yes"},
}

// Capabilities returns what the provider can do; zero for an unknown kind.
func (k Kind) Capabilities() Capabilities { return capabilities[k] }

// A ProviderFee is what a swap through a provider costs in fees, in basis points (spec
// section 8): the wallet's own part, the most that the provider's side may take besides,
// and how the wallet's part is taken.
type ProviderFee struct {
	FeeBps      int    `json:"feeBps"` // 0 if no receiver is configured
	MakerBps    int    `json:"makerFeeBps"`
	Description string `json:"description"`
}

// feeWays says how each provider takes the wallet's fee.
var feeWays = map[Kind]string{
	DEX:     "taken from the output, in the swap's own call or as an output of the auction order: decoded; the maker's fee is bounded and shown separately",
	Bridge:  "an app fee, taken from the output and credited by the provider: reported, if the quote shows it",
	Intent:  "a referrer fee, taken from the output: reported, if the route states it; otherwise only requested",
	Gasless: "inside JAM's signed order, taken from the output: decoded; an RFQ order cannot carry a fee, and none is requested",
}

// ForProvider returns what a swap through k costs in fees.
func (c FeeConfig) ForProvider(k Kind) ProviderFee {
	ours, _, theirs := c.For(k)
	return ProviderFee{FeeBps: ours, MakerBps: theirs, Description: feeWays[k]}
}
