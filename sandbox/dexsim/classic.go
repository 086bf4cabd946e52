package dexsim

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// classicQuote is the quote object of an AMM swap.
type classicQuote struct {
	ChainID     uint64        `json:"chainId"`
	Swapper     eip55.Address `json:"swapper"`
	TradeType   string        `json:"tradeType"`
	Input       input         `json:"input"`
	Output      output        `json:"output"`
	Route       [][]hop       `json:"route"`
	RouteString string        `json:"routeString"`
	Slippage    json.Number   `json:"slippage"`
	QuoteID     string        `json:"quoteId"`
	gasFields
	PriceImpact       json.Number        `json:"priceImpact"`
	TxFailureReasons  []string           `json:"txFailureReasons"`
	BlockNumber       string             `json:"blockNumber"`
	AggregatedOutputs []aggregatedOutput `json:"aggregatedOutputs"`
	recordedFields
}

// recordedFields are members that recorded quotes have but the documentation lacks.
type recordedFields struct {
	PriceDifference  json.Number    `json:"priceDifference,omitempty"`
	GasPrice         string         `json:"gasPrice,omitempty"`
	GasEstimates     []gasEstimate  `json:"gasEstimates,omitempty"`
	PortionBips      int64          `json:"portionBips,omitempty"`
	PortionAmount    string         `json:"portionAmount,omitempty"`
	PortionRecipient *eip55.Address `json:"portionRecipient,omitempty"`
}

// A gasEstimate is one way to price the call. Strategy is internal to the service.
type gasEstimate struct {
	Type     string                 `json:"type"`
	Strategy map[string]json.Number `json:"strategy"`
	GasLimit string                 `json:"gasLimit"`
	GasFee   string                 `json:"gasFee"`
	GasPrice string                 `json:"gasPrice"`
}

// strategy has the recorded members.
var strategy = map[string]json.Number{
	"limitInflationFactor": "1.15", "priceInflationFactor": "1.5", "percentileThresholdFor1559Fee": "75", "minPriorityFeeGwei": "2", "maxPriorityFeeGwei": "9",
	"baseFeeMultiplier": "1", "baseFeeHistoryWindow": "20", "minPriorityFeeRatioOfBaseFee": "0.2", "thresholdToInflateLastBlockBaseFee": "0.75",
}

// asRecorded fills recordedFields for a quote whose outputs are the user's, then the
// fees.
func asRecorded(price gas, units uint64, impact json.Number, outputs []aggregatedOutput) recordedFields {
	f := recordedFields{PriceDifference: impact, GasPrice: price.MaxFeePerGas,
		GasEstimates: []gasEstimate{{"legacy", strategy, fmt.Sprint(units), price.fee(units).String(), price.MaxFeePerGas}}}
	if len(outputs) > 1 {
		fee := outputs[1]
		f.PortionBips, f.PortionAmount, f.PortionRecipient = fee.Bps, fee.Amount, &fee.Recipient
	}
	return f
}

type input struct {
	Amount        string        `json:"amount"`
	Token         eip55.Address `json:"token"`
	MaximumAmount string        `json:"maximumAmount,omitempty"`
}

type output struct {
	Amount        string        `json:"amount"`
	Token         eip55.Address `json:"token"`
	Recipient     eip55.Address `json:"recipient"`
	MinimumAmount string        `json:"minimumAmount,omitempty"`
}

type aggregatedOutput struct {
	Token     eip55.Address `json:"token"`
	Amount    string        `json:"amount"`
	Recipient eip55.Address `json:"recipient"`
	Bps       int64         `json:"bps"`
	MinAmount string        `json:"minAmount"`
	Fee       string        `json:"fee,omitempty"`
}

// A hop is a pool of the route.
type hop struct {
	Type      string   `json:"type"`
	Address   string   `json:"address"` // V4: the pool id
	TokenIn   hopToken `json:"tokenIn"`
	TokenOut  hopToken `json:"tokenOut"`
	Fee       string   `json:"fee,omitempty"`
	Spacing   string   `json:"tickSpacing,omitempty"` // V4, like Hooks
	Hooks     string   `json:"hooks,omitempty"`
	Liquidity string   `json:"liquidity,omitempty"`
	SqrtRatio string   `json:"sqrtRatioX96,omitempty"`
	Tick      string   `json:"tickCurrent,omitempty"`
	Reserve0  *reserve `json:"reserve0,omitempty"`
	Reserve1  *reserve `json:"reserve1,omitempty"`
	AmountIn  string   `json:"amountIn,omitempty"`
	AmountOut string   `json:"amountOut,omitempty"`
}

type hopToken struct {
	ChainID  uint64        `json:"chainId"`
	Decimals string        `json:"decimals"`
	Address  eip55.Address `json:"address"`
	Symbol   string        `json:"symbol"`
}

type reserve struct {
	Token    hopToken `json:"token"`
	Quotient string   `json:"quotient"`
}

// A portion is a share of the output for a recipient other than the user. Portions are
// taken in order, each from what the previous ones left.
type portion struct {
	recipient common.Address
	bips      int64
	label     string
}

const allBips = 10_000

// quoteClassic answers with the best AMM route.
func (s *Server) quoteClassic(ctx context.Context, m *market, q quoteRequest) (*envelope, error) {
	in, _ := m.TokenAt(q.TokenIn)
	out, _ := m.TokenAt(q.TokenOut)
	allowed := q.Protocols
	if len(allowed) == 0 {
		allowed = protocols
	}
	if s.Settings().Mixed && slices.Contains(allowed, "V2") && slices.Contains(allowed, "V3") {
		allowed = []string{"MIXED"}
	}
	route, err := m.best(ctx, in.Address, out.Address, q.amount, allowed)
	if err != nil {
		return nil, err
	}
	quote, err := m.classicQuote(ctx, q, route, out, s.portions(q))
	if err != nil {
		return nil, err
	}
	permit, err := m.permit(ctx, q)
	if err != nil {
		return nil, err
	}
	e := &envelope{Approval: q.TokenIn != native, Permit: permit, Quote: quote}
	if permit == nil {
		e.SwapTx, e.SwapGasFee = &swapTarget{eip55.Address(m.Contracts.UniversalRouter)}, quote.GasFee
	}
	return e, nil
}

func (s *Server) portions(q quoteRequest) []portion {
	var all []portion
	for _, f := range q.IntegratorFees {
		all = append(all, portion{f.Recipient, f.Bips, "INTEGRATOR"})
	}
	if settings := s.Settings(); settings.MakerFeeBips > 0 {
		all = append(all, portion{settings.MakerRecipient, settings.MakerFeeBips, ""})
	}
	return all
}

func (m *market) classicQuote(ctx context.Context, q quoteRequest, route path, out network.Token, portions []portion) (*classicQuote, error) {
	price, err := m.gasPrice(ctx)
	if err != nil {
		return nil, err
	}
	head, err := m.Client.BlockNumber(ctx)
	if err != nil {
		return nil, err
	}
	hops, impact, err := m.hops(ctx, route, q.amount)
	if err != nil {
		return nil, err
	}
	slippage, percent := q.slippage()
	token := eip55.Address(q.TokenOut)
	outputs, lost := aggregate(token, route.out, q.recipient(), portions, slippage), json.Number(fmt.Sprintf("%.2f", impact))
	return &classicQuote{
		ChainID:   m.ID,
		Swapper:   eip55.Address(q.Swapper),
		TradeType: q.Type,
		Input:     input{q.amount.String(), eip55.Address(q.TokenIn), q.amount.String()},
		Output: output{
			Amount: route.out.String(), Token: token, Recipient: eip55.Address(q.recipient()),
			MinimumAmount: minAmountFloor(route.out, slippage).String(),
		},
		Route:             [][]hop{hops},
		RouteString:       routeString(route),
		Slippage:          percent,
		QuoteID:           uuid.NewString(),
		gasFields:         m.gasFields(price, route.gas.Uint64()+overhead(len(portions)), out),
		PriceImpact:       lost,
		TxFailureReasons:  []string{},
		BlockNumber:       fmt.Sprint(head),
		AggregatedOutputs: outputs,
		recordedFields:    asRecorded(price, route.gas.Uint64()+overhead(len(portions)), lost, outputs),
	}, nil
}

// overhead returns the gas of a router transaction without its swap.
func overhead(portions int) uint64 { return 90_000 + 35_000*uint64(portions) }

// minAmountFloor returns an amount less the slippage, in basis points, rounded down.
func minAmountFloor(amount *big.Int, slippage int64) *big.Int {
	minimum := new(big.Int).Mul(amount, big.NewInt(allBips-slippage))
	return minimum.Div(minimum, big.NewInt(allBips))
}

// aggregate splits the output among its recipients, the user first.
func aggregate(token eip55.Address, total *big.Int, user common.Address, portions []portion, slippage int64) []aggregatedOutput {
	entry := func(amount *big.Int, to common.Address, bips int64, fee string) aggregatedOutput {
		return aggregatedOutput{token, amount.String(), eip55.Address(to), bips, minAmountFloor(amount, slippage).String(), fee}
	}
	left, bips := new(big.Int).Set(total), int64(allBips)
	var others []aggregatedOutput
	for _, p := range portions {
		part := new(big.Int).Mul(left, big.NewInt(p.bips))
		part.Div(part, big.NewInt(allBips))
		left.Sub(left, part)
		bips -= p.bips
		others = append(others, entry(part, p.recipient, p.bips, p.label))
	}
	return append([]aggregatedOutput{entry(left, user, bips, "")}, others...)
}

// hops describes the route's pools and returns the price impact in percent: how much less
// the route pays than at the current prices.
func (m *market) hops(ctx context.Context, route path, amount *big.Int) ([]hop, float64, error) {
	expected, _ := new(big.Float).SetInt(amount).Float64()
	hops := make([]hop, len(route.pools))
	for i, p := range route.pools {
		st, err := m.state(ctx, p)
		if err != nil {
			return nil, 0, err
		}
		in, out := m.hopToken(route.tokens[i]), m.hopToken(route.tokens[i+1])
		hops[i] = hop{Type: "v3-pool", Address: p.address.Hex(), TokenIn: in, TokenOut: out}
		if p.v2 {
			hops[i].Type = "v2-pool"
			hops[i].Reserve0 = &reserve{m.hopToken(p.token0), st.reserves[0]}
			hops[i].Reserve1 = &reserve{m.hopToken(p.token1), st.reserves[1]}
		} else {
			hops[i].Fee, hops[i].Liquidity, hops[i].SqrtRatio, hops[i].Tick = fmt.Sprint(p.fee), st.liquidity, st.sqrtPrice, st.tick
		}
		if p.v4 {
			hops[i].Type, hops[i].Address = "v4-pool", p.id().Hex()
			hops[i].Spacing, hops[i].Hooks = fmt.Sprint(p.spacing), native.Hex()
		}
		spot := st.price()
		if route.tokens[i] == p.token1 {
			spot = 1 / spot
		}
		expected *= spot * (1 - float64(p.fee)/1e6)
	}
	hops[0].AmountIn, hops[len(hops)-1].AmountOut = amount.String(), route.out.String()
	paid, _ := new(big.Float).SetInt(route.out).Float64()
	return hops, math.Max(0, 100*(1-paid/expected)), nil
}

// price returns the value of one base unit of token0 in base units of token1.
func (st state) price() float64 {
	if st.reserves != nil {
		return number(st.reserves[1]) / number(st.reserves[0])
	}
	root := number(st.sqrtPrice) / math.Pow(2, 96)
	return root * root
}

func number(s string) float64 {
	f, _, _ := big.ParseFloat(s, 10, 64, big.ToNearestEven)
	v, _ := f.Float64()
	return v
}

func (m *market) hopToken(a common.Address) hopToken {
	t, _ := m.TokenAt(a)
	return hopToken{m.ID, fmt.Sprint(t.Decimals), eip55.Address(t.Address), t.Symbol}
}

func routeString(route path) string {
	parts := make([]string, len(route.pools))
	for i, p := range route.pools {
		parts[i] = fmt.Sprintf("[%v%%] %s", float64(p.fee)/1e4, p.address)
		if p.v4 {
			parts[i] = fmt.Sprintf("[%v%%] [%d] [%s] %s", float64(p.fee)/1e4, p.spacing, native.Hex(), p.id())
		}
	}
	version := strings.ToLower(route.protocol())
	if route.mixed() {
		version = "v2 + v3" // smart-order-router, routeAmountsToString
	}
	return "[" + version + "] 100.00% = " + strings.Join(parts, " ")
}
