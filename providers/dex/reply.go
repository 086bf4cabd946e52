package dex

import (
	"encoding/json"
	"math/big"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/swap"
)

// The API's values that decide something.
const (
	exactInput = "EXACT_INPUT"

	classic = "CLASSIC"
	wraps   = "WRAP"
	unwraps = "UNWRAP"
)

// unrequestedRoutings are routings that the API knows and that were not requested, except where one is
// the chain's own auction.
var unrequestedRoutings = []string{"DUTCH_LIMIT", "DUTCH_V2", "DUTCH_V3", "BRIDGE", "LIMIT_ORDER", "PRIORITY", "CHAINED"}

// envelope is the reply to POST /quote. Other members are ignored and counted.
type envelope struct {
	Routing           string          `json:"routing"`
	Quote             json.RawMessage `json:"quote"` // echoed to /swap byte for byte
	PermitData        json.RawMessage `json:"permitData"`
	PermitTransaction json.RawMessage `json:"permitTransaction"`
}

// quoteBody is the quote object of the routings CLASSIC, WRAP and UNWRAP. A missing field
// is nil, and refused where it is needed. The quote's own minimums (minAmount,
// minimumAmount) decide nothing: the minimum is computed here from amount and slippage, and
// what the calldata enforces is compared with that.
type quoteBody struct {
	ChainID   *wire.Quantity `json:"chainId"`
	Swapper   *address       `json:"swapper"`
	TradeType string         `json:"tradeType"`
	Input     struct {
		Token         *address     `json:"token"`
		Amount        *wire.Amount `json:"amount"`
		MaximumAmount *wire.Amount `json:"maximumAmount"`
	} `json:"input"`
	Output struct {
		Token     *address     `json:"token"`
		Amount    *wire.Amount `json:"amount"`
		Recipient *address     `json:"recipient"`
	} `json:"output"`
	Slippage       *wire.Ratio    `json:"slippage"`
	RouteString    string         `json:"routeString"`
	GasUseEstimate *wire.Quantity `json:"gasUseEstimate"`
	Outputs        []outputLine   `json:"aggregatedOutputs"`
}

// An outputLine is one receiver's part of the output: the swapper's, a fee's.
type outputLine struct {
	Token     *address     `json:"token"`
	Amount    *wire.Amount `json:"amount"`
	Recipient *address     `json:"recipient"`
	Bps       *wire.Ratio  `json:"bps"`

	MinAmount json.RawMessage `json:"minAmount"` // read by [statedMinimum] only
}

// maxLines bounds the receivers of one swap: the user, the wallet, the provider.
const maxLines = 3

// decodeReply reads what every quote has, and refuses routings that were not requested.
func decodeReply(raw []byte, pr tokenPair) (envelope, error) {
	var e envelope
	if err := service.Read("quote", raw, &e); err != nil {
		return e, garbage("reply", err)
	}
	switch {
	case slices.Contains([]string{classic, wraps, unwraps}, e.Routing), pr.auctioned(e.Routing):
	case slices.Contains(unrequestedRoutings, e.Routing):
		return e, refuse(swap.NotAsAccepted, "routing", "the dex provider answered with %s, which was not asked for", e.Routing)
	default:
		return e, refuse(swap.Undecodable, "routing", "the dex provider answered with a routing unknown to this version")
	}
	if wire.IsNull(e.Quote) {
		return e, refuse(swap.ProviderInvalidResponse, "quote", "the dex provider's reply has no quote")
	}
	return e, nil
}

// routingOf returns the routing that an answer states, "" if it states none.
func routingOf(raw []byte) string {
	var e envelope
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	return e.Routing
}

// echoes checks that the quote is for what was requested.
func (q quoteBody) echoes(e envelope, r swap.QuoteRequest, pr tokenPair) error {
	want := classic
	switch {
	case pr.wrap:
		want = wraps
	case pr.unwrap:
		want = unwraps
	}
	list := []wire.Echo{
		{Field: "routing", Present: true, Matches: e.Routing == want},
		{Field: "permitTransaction", Present: true, Matches: wire.IsNull(e.PermitTransaction)},
		{Field: "tradeType", Present: q.TradeType != "", Matches: q.TradeType == exactInput},
		{Field: "chainId", Present: q.ChainID != nil, Matches: q.ChainID.IsID(r.SrcChain)},
		{Field: "swapper", Present: q.Swapper != nil, Matches: q.Swapper.is(r.Account)},
		{Field: "input.token", Present: q.Input.Token != nil, Matches: q.Input.Token.is(r.TokenIn)},
		{Field: "input.amount", Present: q.Input.Amount != nil, Matches: q.Input.Amount.Is(r.AmountIn)},
		{Field: "input.maximumAmount", Present: true, Matches: q.Input.MaximumAmount == nil || q.Input.MaximumAmount.Is(r.AmountIn)},
		{Field: "output.token", Present: q.Output.Token != nil, Matches: q.Output.Token.is(r.TokenOut)},
		{Field: "output.recipient", Present: q.Output.Recipient != nil, Matches: q.Output.Recipient.is(r.Recipient)},
		{Field: "output.amount", Present: q.Output.Amount != nil, Matches: q.Output.Amount != nil && q.Output.Amount.Sign() > 0},
		{Field: "gasUseEstimate", Present: true, Matches: q.GasUseEstimate == nil || q.GasUseEstimate.IsUint64() && q.GasUseEstimate.Uint64() <= maxGas},
	}
	if want == classic {
		asked := big.NewRat(int64(r.SlippageBps), 100)
		list = append(list,
			wire.Echo{Field: "slippage", Present: q.Slippage != nil, Matches: q.Slippage != nil && q.Slippage.Cmp(asked) == 0},
			wire.Echo{Field: "aggregatedOutputs", Present: len(q.Outputs) > 0, Matches: len(q.Outputs) <= maxLines},
		)
	} else { // one to one: nothing may be lost on the way
		list = append(list,
			wire.Echo{Field: "output.amount", Present: q.Output.Amount != nil, Matches: q.Output.Amount.Is(r.AmountIn)},
			wire.Echo{Field: "aggregatedOutputs", Present: true, Matches: oneToOne(q.Outputs, r)},
		)
	}
	return service.CheckEchoes(list)
}

// oneToOne accepts no lines, or one that gives the recipient everything.
func oneToOne(lines []outputLine, r swap.QuoteRequest) bool {
	for _, l := range lines {
		if !l.Recipient.is(r.Recipient) || !l.Amount.Is(r.AmountIn) {
			return false
		}
	}
	return len(lines) <= 1
}

// split reads who gets what of the output. The recipient's part is the offer; every other
// line is a fee. Only two fees are accepted: the wallet's at exactly its rate, and the
// provider's within its bound.
func (q quoteBody) split(r swap.QuoteRequest, pr tokenPair) (out, minOut *big.Int, fees []swap.Payment, err error) {
	total := q.Output.Amount.Int
	sum, bips := new(big.Int), 0
	for i, l := range q.Outputs {
		bps, err := l.check(total, r, pr)
		if err != nil {
			return nil, nil, nil, err
		}
		sum.Add(sum, l.Amount.Int)
		bips += bps
		if l.Recipient.is(r.Recipient) {
			if out != nil {
				return nil, nil, nil, refuse(swap.ProviderInvalidResponse, "aggregatedOutputs", "the dex provider's reply has no single part for the recipient")
			}
			out = l.Amount.Int
			continue
		}
		if slices.ContainsFunc(q.Outputs[:i], func(o outputLine) bool { return o.Recipient.is(l.Recipient.Address) }) {
			return nil, nil, nil, refuse(swap.NotAsAccepted, "aggregatedOutputs", "the dex provider would pay %s twice", l.Recipient)
		}
		fees = append(fees, swap.Payment{Token: r.TokenOut, To: l.Recipient.Address, Bps: bps})
	}
	switch {
	case out == nil:
		return nil, nil, nil, refuse(swap.NotAsAccepted, "aggregatedOutputs", "nothing of the output is for the recipient")
	case sum.Cmp(total) != 0 || bips != 10_000:
		return nil, nil, nil, refuse(swap.ProviderInvalidResponse, "aggregatedOutputs", "the parts of the output do not add up to it")
	}
	// The calldata takes each fee off the minimum and rounds down once more, so two base
	// units per fee are not counted on. Without a fee each of two routes has its own
	// minimum, rounded down by itself (universal-router-sdk 5.13.0).
	out = new(big.Int).Sub(out, big.NewInt(int64(maxRounding*max(1, len(fees)))))
	if minOut = minAfterSlippage(out, r.SlippageBps); minOut.Sign() <= 0 {
		return nil, nil, nil, refuse(swap.AmountTooSmall, "minAmount", "nothing is left of the output after the slippage that was asked for; enter a larger amount")
	}
	sortFees(fees, r.FeeReceiver)
	return out, minOut, fees, checkFees(fees, r)
}

// check reads one line: in the output token, with a whole number of basis points that its
// amount does not exceed.
func (l outputLine) check(total *big.Int, r swap.QuoteRequest, pr tokenPair) (bps int, err error) {
	switch {
	case l.Token == nil || l.Amount == nil || l.Recipient == nil || l.Bps == nil:
		return 0, refuse(swap.ProviderInvalidResponse, "aggregatedOutputs", "a part of the output lacks token, amount, recipient or bps")
	case pr.pooled(l.Token.Address) != pr.pooled(r.TokenOut):
		return 0, refuse(swap.NotAsAccepted, "aggregatedOutputs.token", "a part of the output is in %s", l.Token)
	case !l.Bps.IsInt() || !l.Bps.Num().IsInt64() || l.Bps.Num().Int64() <= 0 || l.Bps.Num().Int64() > 10_000:
		return 0, refuse(swap.Undecodable, "aggregatedOutputs.bps", "a part of the output is not of whole basis points")
	}
	bps = int(l.Bps.Num().Int64())
	maxFee := new(big.Int).Mul(total, big.NewInt(int64(bps)))
	maxFee.Div(maxFee.Add(maxFee, big.NewInt(9_999)), big.NewInt(10_000)) // rounded up
	if !l.Recipient.is(r.Recipient) && l.Amount.Cmp(maxFee) > 0 {
		return 0, refuse(swap.NotAsAccepted, "aggregatedOutputs.amount", "%s would get more than its %d bps", l.Recipient, bps)
	}
	return bps, nil
}

// checkFees requires the wallet's fee at exactly its rate, and bounds all others.
func checkFees(fees []swap.Payment, r swap.QuoteRequest) error {
	_, _, bound := swap.DefaultFees().For(swap.DEX)
	ours, theirs := 0, 0
	for _, f := range fees {
		if r.FeeBps > 0 && f.To == r.FeeReceiver {
			ours += f.Bps
		} else {
			theirs += f.Bps
		}
	}
	switch {
	case ours != r.FeeBps:
		return refuse(swap.NotAsAccepted, "feeBps", "the wallet's fee is %d bps in the quote, not %d", ours, r.FeeBps)
	case theirs > bound:
		return refuse(swap.NotAsAccepted, "makerFeeBps", "the dex provider's fee is %d bps; at most %d are allowed", theirs, bound)
	}
	return nil
}

// statedMinimum returns what the quote itself calls the recipient's minimum, or nil if that
// cannot be read or is the offer's own within the rounding of fees. It is a claim that is
// shown and never a reason to refuse.
func statedMinimum(lines []outputLine, o swap.Offer) *big.Int {
	var stated wire.Amount
	i := slices.IndexFunc(lines, func(l outputLine) bool { return l.Recipient.is(o.Request.Recipient) })
	if i < 0 || json.Unmarshal(lines[i].MinAmount, &stated) != nil {
		return nil
	}
	off := new(big.Int).Sub(stated.Int, o.MinOut)
	if off.CmpAbs(big.NewInt(int64(maxRounding*max(1, len(o.Fees))))) <= 0 {
		return nil
	}
	return stated.Int
}
