package dex

import (
	"encoding/json"
	"math/big"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// The words of the API that decide something.
const (
	exactInput = "EXACT_INPUT"

	classic = "CLASSIC"
	wraps   = "WRAP"
	unwraps = "UNWRAP"
)

// auctions are routings the API knows and this provider does not ask for.
var auctions = []string{"DUTCH_LIMIT", "DUTCH_V2", "DUTCH_V3", "BRIDGE", "LIMIT_ORDER", "PRIORITY", "CHAINED"}

// envelope is the reply to POST /quote. Fields that decide nothing are
// tolerated and left unread.
type envelope struct {
	Routing           string          `json:"routing"`
	Quote             json.RawMessage `json:"quote"` // echoed to /swap byte for byte
	PermitData        json.RawMessage `json:"permitData"`
	PermitTransaction json.RawMessage `json:"permitTransaction"`
}

// quoteBody is the quote object of the routings CLASSIC, WRAP and UNWRAP. A
// missing field is nil and refused where it is relied on.
type quoteBody struct {
	ChainID   *quantity `json:"chainId"`
	Swapper   *address  `json:"swapper"`
	TradeType string    `json:"tradeType"`
	Input     struct {
		Token         *address `json:"token"`
		Amount        *amount  `json:"amount"`
		MaximumAmount *amount  `json:"maximumAmount"`
	} `json:"input"`
	Output struct {
		Token         *address `json:"token"`
		Amount        *amount  `json:"amount"`
		Recipient     *address `json:"recipient"`
		MinimumAmount *amount  `json:"minimumAmount"`
	} `json:"output"`
	Slippage       *ratio       `json:"slippage"`
	RouteString    string       `json:"routeString"`
	GasUseEstimate *quantity    `json:"gasUseEstimate"`
	Outputs        []outputLine `json:"aggregatedOutputs"`
}

// An outputLine is one receiver's part of the output: the swapper's, a fee's.
type outputLine struct {
	Token     *address `json:"token"`
	Amount    *amount  `json:"amount"`
	Recipient *address `json:"recipient"`
	Bps       *ratio   `json:"bps"`
	MinAmount *amount  `json:"minAmount"`
}

// maxLines bounds the receivers of one swap: the user, the wallet's fee, the
// provider's.
const maxLines = 3

func decodeQuote(raw []byte) (envelope, quoteBody, error) {
	var e envelope
	var q quoteBody
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, q, garbage("reply", err)
	}
	if !slices.Contains([]string{classic, wraps, unwraps}, e.Routing) {
		if slices.Contains(auctions, e.Routing) {
			return e, q, refuse(swap.NotAsAccepted, "routing", "the dex provider answered with %s, which was not asked for", e.Routing)
		}
		return e, q, refuse(swap.NotUnderstood, "routing", "the dex provider answered with a routing unknown to this version")
	}
	if isNull(e.Quote) {
		return e, q, refuse(swap.ProviderGarbage, "quote", "the dex provider's reply has no quote")
	}
	if err := json.Unmarshal(e.Quote, &q); err != nil {
		return e, q, garbage("quote", err)
	}
	return e, q, nil
}

func garbage(field string, err error) error {
	r := refuse(swap.ProviderGarbage, field, "the dex provider's reply is not of the agreed form: %v", err)
	r.Err = err
	return r
}

// An echo is one field of a reply that must repeat the request. Where it is
// missing the reply is garbage; where it differs it is not what was asked for.
type echo struct {
	field       string
	there, same bool
}

func checkEchoes(list []echo) error {
	for _, c := range list {
		switch {
		case !c.there:
			return refuse(swap.ProviderGarbage, c.field, "the dex provider's reply lacks %s", c.field)
		case !c.same:
			return refuse(swap.NotAsAccepted, c.field, "the dex provider answered with another %s than was asked for", c.field)
		}
	}
	return nil
}

// echoes checks that the quote is for what was asked.
func (q quoteBody) echoes(e envelope, r swap.QuoteRequest, pr pair) error {
	want := classic
	switch {
	case pr.wrap:
		want = wraps
	case pr.unwrap:
		want = unwraps
	}
	list := []echo{
		{"routing", true, e.Routing == want},
		{"permitTransaction", true, isNull(e.PermitTransaction)},
		{"tradeType", q.TradeType != "", q.TradeType == exactInput},
		{"chainId", q.ChainID != nil, q.ChainID.is(r.SrcChain)},
		{"swapper", q.Swapper != nil, q.Swapper.is(r.Account)},
		{"input.token", q.Input.Token != nil, q.Input.Token.is(r.TokenIn)},
		{"input.amount", q.Input.Amount != nil, q.Input.Amount.is(r.AmountIn)},
		{"input.maximumAmount", true, q.Input.MaximumAmount == nil || q.Input.MaximumAmount.is(r.AmountIn)},
		{"output.token", q.Output.Token != nil, q.Output.Token.is(r.TokenOut)},
		{"output.recipient", q.Output.Recipient != nil, q.Output.Recipient.is(r.Recipient)},
		{"output.amount", q.Output.Amount != nil, q.Output.Amount != nil && q.Output.Amount.Sign() > 0},
		{"gasUseEstimate", true, q.GasUseEstimate == nil || q.GasUseEstimate.IsUint64() && q.GasUseEstimate.Uint64() <= maxGas},
	}
	if want == classic {
		asked := big.NewRat(int64(r.SlippageBps), 100)
		list = append(list,
			echo{"slippage", q.Slippage != nil, q.Slippage != nil && q.Slippage.Cmp(asked) == 0},
			echo{"aggregatedOutputs", len(q.Outputs) > 0, len(q.Outputs) <= maxLines},
		)
	} else { // one to one: nothing may be lost on the way
		list = append(list,
			echo{"output.amount", q.Output.Amount != nil, q.Output.Amount.is(r.AmountIn)},
			echo{"output.minimumAmount", true, q.Output.MinimumAmount == nil || q.Output.MinimumAmount.is(r.AmountIn)},
			echo{"aggregatedOutputs", true, oneToOne(q.Outputs, r)},
		)
	}
	return checkEchoes(list)
}

// oneToOne accepts no lines, or one that gives the account everything.
func oneToOne(lines []outputLine, r swap.QuoteRequest) bool {
	for _, l := range lines {
		if !l.Recipient.is(r.Recipient) || !l.Amount.is(r.AmountIn) {
			return false
		}
	}
	return len(lines) <= 1
}

func (q *quantity) is(n uint64) bool           { return q != nil && q.IsUint64() && q.Uint64() == n }
func (a *address) is(want common.Address) bool { return a != nil && a.Address == want }
func (a *amount) is(want *big.Int) bool        { return a != nil && a.Cmp(want) == 0 }

// split reads who gets what of the output. What is left for the recipient is
// the offer; every other line is a fee, and only two are known: ours at exactly
// our rate, and the provider's within its bound.
func (q quoteBody) split(r swap.QuoteRequest, pr pair) (out, least *big.Int, fees []swap.Payment, err error) {
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
			if out != nil || l.MinAmount == nil {
				return nil, nil, nil, refuse(swap.ProviderGarbage, "aggregatedOutputs", "the dex provider's reply has no single minimum for the recipient")
			}
			out, least = l.Amount.Int, l.MinAmount.Int
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
		return nil, nil, nil, refuse(swap.ProviderGarbage, "aggregatedOutputs", "the parts of the output do not add up to it")
	case least.Cmp(out) > 0 || least.Cmp(floorOf(out, r.SlippageBps)) < 0 || least.Sign() == 0:
		return nil, nil, nil, refuse(swap.NotAsAccepted, "minAmount", "the minimum does not follow from the amount and the slippage that was asked for")
	case q.Output.MinimumAmount != nil && (q.Output.MinimumAmount.Cmp(total) > 0 || q.Output.MinimumAmount.Cmp(least) < 0):
		return nil, nil, nil, refuse(swap.ProviderGarbage, "output.minimumAmount", "the minimum of the whole output contradicts its parts")
	}
	sortFees(fees, r.FeeReceiver)
	return out, least, fees, checkFees(fees, r)
}

// check reads one line: in the output token, with whole bips that its amount
// does not exceed.
func (l outputLine) check(total *big.Int, r swap.QuoteRequest, pr pair) (bps int, err error) {
	switch {
	case l.Token == nil || l.Amount == nil || l.Recipient == nil || l.Bps == nil:
		return 0, refuse(swap.ProviderGarbage, "aggregatedOutputs", "a part of the output lacks token, amount, recipient or bps")
	case pr.pooled(l.Token.Address) != pr.pooled(r.TokenOut):
		return 0, refuse(swap.NotAsAccepted, "aggregatedOutputs.token", "a part of the output is in %s", l.Token)
	case !l.Bps.IsInt() || !l.Bps.Num().IsInt64() || l.Bps.Num().Int64() <= 0 || l.Bps.Num().Int64() > 10_000:
		return 0, refuse(swap.NotUnderstood, "aggregatedOutputs.bps", "a part of the output is not of whole basis points")
	}
	bps = int(l.Bps.Num().Int64())
	most := new(big.Int).Mul(total, big.NewInt(int64(bps)))
	most.Div(most.Add(most, big.NewInt(9_999)), big.NewInt(10_000)) // rounded up
	if !l.Recipient.is(r.Recipient) && l.Amount.Cmp(most) > 0 {
		return 0, refuse(swap.NotAsAccepted, "aggregatedOutputs.amount", "%s would get more than its %d bps", l.Recipient, bps)
	}
	return bps, nil
}

// checkFees wants our fee at exactly its rate, and bounds everybody else's.
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
		return refuse(swap.NotAsAccepted, "makerFeeBps", "the dex provider takes %d bps, more than %d", theirs, bound)
	}
	return nil
}
