package dexsim

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
)

// errTooLow means that the amount is too small for an auction.
var errTooLow = failure{http.StatusNotFound, "QuoteAmountTooLowError", "Order size is below the minimum quotable size for the requested protocols on this chain."}

// dutchQuote is the quote object of an auction. OrderInfo is the order.
type dutchQuote struct {
	ChainID            uint64             `json:"chainId"`
	Swapper            eip55.Address      `json:"swapper"`
	TradeType          string             `json:"tradeType"`
	EncodedOrder       hexutil.Bytes      `json:"encodedOrder"`
	OrderID            common.Hash        `json:"orderId"`
	QuoteID            string             `json:"quoteId"`
	OrderInfo          json.RawMessage    `json:"orderInfo"`
	SlippageTolerance  json.Number        `json:"slippageTolerance"`
	DeadlineBufferSecs int64              `json:"deadlineBufferSecs"`
	ClassicGasUSD      string             `json:"classicGasUseEstimateUSD"`
	Input              input              `json:"input"`
	Output             output             `json:"output"`
	AggregatedOutputs  []aggregatedOutput `json:"aggregatedOutputs"`
	ExpectedAmountIn   string             `json:"expectedAmountIn,omitempty"`  // V3
	ExpectedAmountOut  string             `json:"expectedAmountOut,omitempty"` // V3
}

// A dutchInfo is an order as quotes show it.
type dutchInfo interface {
	ok() bool
	amounts() []string // all members that must be decimal
	order() dutchOrder
	legs() (input, outputs any)
	chain() uint64
	cosigner() eip55.Address
}

// decodeQuote decodes a quote that was sent back, and its order. Both must still have the
// shape in which they were issued, else it returns errQuoteMismatch.
func decodeQuote[I dutchInfo](raw []byte) (*dutchQuote, dutchOrder, error) {
	var q dutchQuote
	if err := decodeExact(raw, &q); err != nil {
		return nil, nil, errQuoteMismatch
	}
	var info I
	if decodeExact(q.OrderInfo, &info) != nil || !info.ok() || !allDigits(info.amounts()) {
		return nil, nil, errQuoteMismatch
	}
	return &q, info.order(), nil
}

// Values of Settings.Auctions: when to offer an auction if the request allows both
// auctions and pools.
const (
	AuctionsBest   = "best"   // from AuctionMinUSD on; also ""
	AuctionsNever  = "never"  // pools only
	AuctionsAlways = "always" // whatever the value
)

// usesAuction reports whether an auction of the kind answers the request.
func (s *Server) usesAuction(m *market, q quoteRequest, kind *dutchKind) bool {
	settings := s.Settings()
	offered := m.UniswapX().Protocol == kind.protocol && settings.Auctions != AuctionsNever
	requested := len(q.Protocols) == 0 || slices.ContainsFunc(q.Protocols, isUniswapX) // accepts has checked which
	if !offered || !requested || q.TokenIn == native || q.RoutingPreference == "FASTEST" {
		return false
	}
	return settings.Auctions == AuctionsAlways || q.auctionOnly() || m.usdValue(q) >= settings.auctionMin()
}

// auctionOnly reports whether the request allows auctions only.
func (q quoteRequest) auctionOnly() bool {
	return len(q.Protocols) > 0 && !slices.ContainsFunc(q.Protocols, func(p string) bool { return !isUniswapX(p) })
}

// usdValue returns the value of the input, in whole US dollars.
func (m *market) usdValue(q quoteRequest) int64 {
	in, _ := m.TokenAt(q.TokenIn)
	value := new(big.Int).Mul(q.amount, big.NewInt(in.MicroUSD))
	value.Div(value, power(in.Decimals)).Div(value, big.NewInt(1_000_000))
	if !value.IsInt64() {
		return 1 << 62
	}
	return value.Int64()
}

// quoteDutch answers with an order that starts out paying slightly more than the pools.
func (s *Server) quoteDutch(ctx context.Context, m *market, q quoteRequest, kind *dutchKind) (*envelope, error) {
	settings := s.Settings()
	if settings.Auctions != AuctionsAlways && m.usdValue(q) < settings.auctionMin() {
		return nil, errTooLow
	}
	in, _ := m.TokenAt(q.TokenIn)
	out, _ := m.TokenAt(q.TokenOut)
	route, err := m.best(ctx, in.Address, out.Address, q.amount, []string{"V2", "V3"})
	if err != nil {
		return nil, err
	}
	price, err := m.gasPrice(ctx)
	if err != nil {
		return nil, err
	}
	total := new(big.Int).Mul(route.out, big.NewInt(allBips+settings.improvement()))
	total.Div(total, big.NewInt(allBips))
	slippage, _ := q.slippage()
	parts := aggregate(eip55.Address(q.TokenOut), total, q.recipient(), s.portions(q), slippage)
	for i := range parts {
		parts[i].MinAmount = kind.minAmount(amount(parts[i].Amount), slippage).String()
	}
	o, err := s.newOrder(ctx, m, q, kind, parts)
	if err != nil {
		return nil, err
	}
	quote, err := m.dutchQuote(q, o, total, parts)
	if err != nil {
		return nil, err
	}
	quote.ClassicGasUSD = m.gasFields(price, route.gas.Uint64()+overhead(len(parts)-1), out).GasFeeUSD
	return &envelope{Approval: true, Permit: typed(o, m.ID, m.Contracts.Permit2), Quote: quote}, nil
}

// newOrder makes the order of a quote.
func (s *Server) newOrder(ctx context.Context, m *market, q quoteRequest, kind *dutchKind, parts []aggregatedOutput) (dutchOrder, error) {
	now, err := m.Now(ctx)
	if err != nil {
		return nil, err
	}
	var legs []leg
	for _, p := range parts {
		legs = append(legs, leg{common.Address(p.Token), common.Address(p.Recipient), amount(p.Amount)})
	}
	info := orderInfo{
		Reactor: kind.reactor(m.UniswapX()), Swapper: q.Swapper, Nonce: newNonce(),
		Deadline: big.NewInt(now.Unix() + s.Settings().lifetime(kind)), AdditionalValidationData: []byte{},
	}
	slippage, _ := q.slippage()
	return kind.make(m.ID, info, s.Cosigner.Address, q.TokenIn, q.amount, legs, slippage), nil
}

// noncePrefix is the prefix of the API's nonces.
var noncePrefix = []byte{0x04, 0x68, 0x32}

func newNonce() *big.Int {
	nonce := make([]byte, 32)
	_, _ = rand.Read(nonce[copy(nonce, noncePrefix):]) // never fails
	return new(big.Int).SetBytes(nonce)
}

func (m *market) dutchQuote(q quoteRequest, o dutchOrder, total *big.Int, parts []aggregatedOutput) (*dutchQuote, error) {
	id, err := orderHash(o)
	if err != nil {
		return nil, err
	}
	encoded, err := o.encoded(unsigned(), nil)
	if err != nil {
		return nil, err
	}
	info, err := json.Marshal(o.shown())
	if err != nil {
		return nil, err
	}
	slippage, percent := q.slippage()
	quote := &dutchQuote{
		ChainID: m.ID, Swapper: eip55.Address(q.Swapper), TradeType: q.Type, EncodedOrder: encoded, OrderID: id,
		QuoteID: uuid.NewString(), OrderInfo: info, SlippageTolerance: percent, DeadlineBufferSecs: o.kind().lifetime,
		Input: input{q.amount.String(), eip55.Address(q.TokenIn), q.amount.String()},
		Output: output{
			Amount: total.String(), Token: eip55.Address(q.TokenOut), Recipient: eip55.Address(q.recipient()),
			MinimumAmount: o.kind().minAmount(total, slippage).String(),
		},
		AggregatedOutputs: parts,
	}
	if o.kind() == v3Kind {
		quote.ExpectedAmountIn, quote.ExpectedAmountOut = q.amount.String(), total.String()
	}
	return quote, nil
}

// lifetime returns how long a new order can be filled, in seconds.
func (s Settings) lifetime(kind *dutchKind) int64 {
	if s.DeadlineSeconds > 0 {
		return s.DeadlineSeconds
	}
	return kind.lifetime
}

// Defaults of AuctionMinUSD and AuctionImprovementBips.
const (
	usualAuctionMin  = 300 // US dollars
	usualImprovement = 10  // basis points
)

func (s Settings) auctionMin() int64 {
	if s.AuctionMinUSD > 0 {
		return s.AuctionMinUSD
	}
	return usualAuctionMin
}

func (s Settings) improvement() int64 {
	if s.AuctionImprovementBips != nil {
		return *s.AuctionImprovementBips
	}
	return usualImprovement
}

// reactor returns the chain's reactor for a kind; zero if it has none.
func (m *market) reactor(kind *dutchKind) common.Address { return kind.reactor(m.UniswapX()) }
