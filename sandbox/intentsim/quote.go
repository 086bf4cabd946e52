package intentsim

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"

	"swapkeep/sandbox/network"
)

// Deposit methods.
const (
	contractCall = "CONTRACT_CALL"
	permit2      = "PERMIT2"
	transfer     = "TRANSFER"
	transferHash = "TRANSFER_WITH_TX_HASH_SUBMIT"
)

var methods = []string{contractCall, permit2, transfer, transferHash}

// A filler offers routes. It keeps spread, in basis points, and takes the given seconds.
type filler struct {
	id, kind  string
	spread    int64
	seconds   int64
	methods   []string
	sameChain bool   // also offers routes within one chain
	gas       uint64 // stated gas of a deposit; 0 = not stated
	earlier   int64  // seconds by which its price expires earlier than the others'
}

// fillers is the table of fillers, in the order in which their routes are listed.
var fillers = []filler{
	{id: "Hyperstream", kind: "native-filler", spread: 10, seconds: 12, methods: []string{contractCall, permit2}, sameChain: true, gas: 120_000},
	{id: across, kind: "external-intent-router", spread: 14, seconds: 6, methods: []string{contractCall}},
	{id: "DeBridge", kind: "external-intent-router", spread: 40, seconds: 25, methods: []string{contractCall}, sameChain: true, gas: 180_000, earlier: 15},
	{id: "HyperstreamUTXO", kind: "native-filler", spread: 5, seconds: 60, methods: []string{transfer, transferHash}},
}

// quoteFields is the schema of POST /v1/quotes.
var quoteFields = []field{
	{"tradeType", true, isTradeType},
	{"fromChainId", true, isChainID},
	{"fromToken", true, isAddress},
	{"toChainId", true, isChainID},
	{"toToken", true, isAddress},
	{"amount", true, isAmount},
	{"fromAddress", true, isAddress},
	{"recipient", false, isAddress},
	{"refundTo", false, isAddress},
	{"depositMethods", false, isMethods},
	{"slippageTolerance", false, isSlippage},
	{"referrer", false, isAddress},
	{"referrerFeeBps", false, isFeeBps},
	{"filler", false, isID},
}

// A quoteRequest has passed the schema.
type quoteRequest struct {
	TradeType         string         `json:"tradeType"`
	FromChainID       uint64         `json:"fromChainId"`
	FromToken         string         `json:"fromToken"`
	ToChainID         uint64         `json:"toChainId"`
	ToToken           string         `json:"toToken"`
	Amount            string         `json:"amount"`
	FromAddress       common.Address `json:"fromAddress"`
	Recipient         common.Address `json:"recipient"`
	RefundTo          common.Address `json:"refundTo"`
	DepositMethods    []string       `json:"depositMethods"`
	SlippageTolerance json.Number    `json:"slippageTolerance"`
	Referrer          common.Address `json:"referrer"`
	ReferrerFeeBps    int64          `json:"referrerFeeBps"`
	Filler            string         `json:"filler"`
}

// usualSlippage applies if the request has no tolerance.
const usualSlippage = "0.005"

func parseQuote(body []byte) (quoteRequest, error) {
	q, err := parse[quoteRequest](body, quoteFields)
	if q.SlippageTolerance == "" {
		q.SlippageTolerance = usualSlippage
	}
	if q.Recipient == (common.Address{}) {
		q.Recipient = q.FromAddress
	}
	if q.RefundTo == (common.Address{}) {
		q.RefundTo = q.FromAddress
	}
	if len(q.DepositMethods) == 0 {
		q.DepositMethods = methods
	}
	return q, err
}

// A quote is an issued quote.
type quote struct {
	id           string
	request      quoteRequest
	from, to     *chain
	tokenIn      network.Token
	tokenOut     network.Token
	amountIn     *big.Int
	routes       []*route
	validBefore  int64  // Unix seconds
	fromBlock    uint64 // of the source chain when quoted; no deposit can be earlier
	used, lost   bool   // guarded by Server.mu
	recipient    common.Address
	refundTo     common.Address
	quotedAtUnix int64
}

// A route is one filler's part of a quote.
type route struct {
	filler
	offered        []string // deposit methods, of those requested
	amountOut, min *big.Int
	expires        int64 // when the price expires; Unix seconds
	estimatedGas   *big.Int
	built          bool // guarded by Server.mu
}

// depositID returns the id that a deposit for the route carries on the chain.
func depositID(quoteID, routeID string) common.Hash {
	return crypto.Keccak256Hash([]byte(quoteID + "/" + routeID))
}

func (q *quote) route(id string) *route {
	i := slices.IndexFunc(q.routes, func(r *route) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return q.routes[i]
}

// A quotesReply answers POST /v1/quotes.
type quotesReply struct {
	QuoteID string       `json:"quoteId"`
	Routes  []routeReply `json:"routes"`
}

type routeReply struct {
	QuoteID        string     `json:"quoteId,omitempty"` // only in a stream
	RouteID        string     `json:"routeId"`
	Type           string     `json:"type"`
	Icon           string     `json:"icon"`
	ExactOutMethod string     `json:"exactOutMethod"`
	DepositMethods []string   `json:"depositMethods"`
	Quote          priceReply `json:"quote"`
}

type priceReply struct {
	AmountIn                string      `json:"amountIn"`
	AmountOut               string      `json:"amountOut"`
	MinAmountOut            string      `json:"minAmountOut"`
	SlippageTolerance       json.Number `json:"slippageTolerance"`
	ExpectedDurationSeconds int64       `json:"expectedDurationSeconds"`
	ValidBefore             int64       `json:"validBefore"`
	QuoteExpiresAt          int64       `json:"quoteExpiresAt"`
	EstimatedGas            string      `json:"estimatedGas,omitempty"`
	Tags                    []string    `json:"tags"`
}

func (q *quote) reply(r *route) routeReply {
	reply := routeReply{
		RouteID: r.id, Type: r.kind, Icon: "https://example.invalid/" + r.id + ".svg", ExactOutMethod: "native", DepositMethods: r.offered,
		Quote: priceReply{
			AmountIn: q.amountIn.String(), AmountOut: r.amountOut.String(), MinAmountOut: r.min.String(),
			SlippageTolerance: q.request.SlippageTolerance, ExpectedDurationSeconds: r.seconds,
			ValidBefore: q.validBefore, QuoteExpiresAt: r.expires, Tags: []string{"1-click"},
		},
	}
	if q.tokenIn.Address != native {
		reply.Quote.Tags = []string{"needs-approval"}
	}
	if r.estimatedGas != nil {
		reply.Quote.EstimatedGas = r.estimatedGas.String()
	}
	return reply
}

// postQuotes answers POST /v1/quotes, as one response or as a stream.
func (s *Server) postQuotes(body []byte, r *http.Request) (any, error) {
	request, err := parseQuote(body)
	if err != nil {
		return nil, err
	}
	params := &query{Values: r.URL.Query()}
	q, err := s.quote(r.Context(), request, params.list("routes"))
	if err != nil {
		return nil, err
	}
	if params.Get("mode") == "stream" {
		return s.stream(q), nil
	}
	reply := quotesReply{QuoteID: q.id, Routes: []routeReply{}}
	if !wait(r.Context(), s.slowest(q)) {
		return nil, context.Cause(r.Context())
	}
	for _, route := range q.routes {
		reply.Routes = append(reply.Routes, q.reply(route))
	}
	return reply, nil
}

// quote prices a request with every filler that can serve it, and stores the quote.
func (s *Server) quote(ctx context.Context, request quoteRequest, only []string) (*quote, error) {
	q, err := s.resolve(request)
	if err != nil {
		return nil, err
	}
	if !q.from.IsRunning() || !q.to.IsRunning() || request.TradeType != "EXACT_INPUT" || (q.from == q.to && q.tokenIn == q.tokenOut) {
		return q, nil // no filler serves this
	}
	if err := s.price(ctx, q, only); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.evictOldest()
	s.quotes[q.id] = q
	return q, nil
}

// resolve looks up the chains and tokens of a request.
func (s *Server) resolve(request quoteRequest) (*quote, error) {
	q := &quote{id: uuid.NewString(), request: request, amountIn: amount(request.Amount), recipient: request.Recipient, refundTo: request.RefundTo}
	var err error
	if q.from, err = s.chain(request.FromChainID); err != nil {
		return nil, err
	}
	if q.to, err = s.chain(request.ToChainID); err != nil {
		return nil, err
	}
	if q.tokenIn, err = q.from.coin(request.FromToken); err != nil {
		return nil, err
	}
	q.tokenOut, err = q.to.coin(request.ToToken)
	return q, err
}

// price adds the fillers' routes to a quote.
func (s *Server) price(ctx context.Context, q *quote, only []string) error {
	now, err := s.now(ctx, q.from)
	if err != nil {
		return err
	}
	if q.fromBlock, err = q.from.Client.BlockNumber(ctx); err != nil {
		return err
	}
	gasPrice, err := q.from.Client.SuggestGasPrice(ctx)
	if err != nil {
		return err
	}
	liquid, err := s.balance(ctx, q.to, q.tokenOut.Address, s.solver.Address)
	if err != nil {
		return err
	}
	settings := s.Settings()
	q.quotedAtUnix = now.Unix()
	q.validBefore = now.Unix() + int64(settings.ValidSeconds)
	for _, f := range fillers {
		r := q.offer(f)
		if r == nil || !among(only, f.id) || f.id == across && !q.acrossServes() {
			continue
		}
		if r.amountOut.Cmp(liquid) > 0 {
			return fail("CannotFillException", "", nil)
		}
		r.expires = now.Unix() + max(int64(settings.QuoteSeconds)-f.earlier, 0)
		if f.gas != 0 {
			r.estimatedGas = new(big.Int).Mul(gasPrice, new(big.Int).SetUint64(f.gas))
		}
		q.routes = append(q.routes, r)
	}
	return nil
}

// offer returns a filler's route; nil if it offers none.
func (q *quote) offer(f filler) *route {
	r := &route{filler: f}
	for _, m := range f.methods {
		if slices.Contains(q.request.DepositMethods, m) && (m != permit2 || q.tokenIn.Address != native) {
			r.offered = append(r.offered, m)
		}
	}
	if len(r.offered) == 0 || (q.from == q.to && !f.sameChain) || (q.request.Filler != "" && q.request.Filler != f.id) {
		return nil
	}
	fee := f.spread
	if q.request.Referrer != (common.Address{}) {
		fee += q.request.ReferrerFeeBps
	}
	r.amountOut = q.worth(max(allBips-fee, 0))
	r.min = minAmount(r.amountOut, q.request.SlippageTolerance)
	if r.amountOut.Sign() == 0 {
		return nil
	}
	return r
}

// worth returns the given basis points of the input, converted to the output.
func (q *quote) worth(bips int64) *big.Int {
	out := new(big.Int).Mul(q.amountIn, big.NewInt(q.tokenIn.MicroUSD*bips))
	out.Mul(out, power(q.tokenOut.Decimals))
	below := new(big.Int).Mul(power(q.tokenIn.Decimals), big.NewInt(q.tokenOut.MicroUSD*allBips))
	return out.Div(out, below)
}

// power returns 10^n.
func power(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// minAmount returns the amount less a fraction of it, rounded down.
func minAmount(amount *big.Int, fraction json.Number) *big.Int {
	value, _ := fraction.Float64() // the schema has checked the format
	// Through a float64, as big.Rat would expand a huge exponent in full.
	part, _ := new(big.Rat).SetString(strconv.FormatFloat(value, 'f', 18, 64))
	part.Sub(big.NewRat(1, 1), part)
	part.Mul(part, new(big.Rat).SetInt(amount))
	return new(big.Int).Div(part.Num(), part.Denom())
}

// maxQuotes limits the stored quotes.
const maxQuotes = 10_000

// evictOldest makes room for one more quote. The caller holds the lock.
func (s *Server) evictOldest() {
	if len(s.quotes) < maxQuotes {
		return
	}
	var oldest *quote
	for _, q := range s.quotes {
		if oldest == nil || q.quotedAtUnix < oldest.quotedAtUnix {
			oldest = q
		}
	}
	delete(s.quotes, oldest.id)
}

// usableQuote looks up a quote and a route that can still be built or submitted.
func (s *Server) usableQuote(ctx context.Context, quoteID, routeID string) (*quote, *route, error) {
	s.mu.Lock()
	q := s.quotes[quoteID]
	unusable := q == nil || q.used || q.lost
	s.mu.Unlock()
	if unusable || q.route(routeID) == nil {
		return nil, nil, errQuote(quoteID, routeID)
	}
	now, err := s.now(ctx, q.from)
	if err == nil && now.Unix() >= q.validBefore {
		err = errQuote(quoteID, routeID)
	}
	return q, q.route(routeID), err
}

// wait sleeps; it returns false if the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
