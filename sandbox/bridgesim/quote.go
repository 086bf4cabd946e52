package bridgesim

import (
	"context"
	"math/big"
	"mime"
	"net/http"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/internal/clock"
	"swapkeep/sandbox/eip55"
)

// quoteReply is the response of POST /quote/v2. POST /price omits id, steps and protocol.
type quoteReply struct {
	RequestID *common.Hash `json:"requestId,omitempty"`
	Steps     []step       `json:"steps,omitempty"`
	Fees      fees         `json:"fees"`
	Details   details      `json:"details"`
	Protocol  *protocol    `json:"protocol,omitempty"`
}

type fees struct {
	Gas            *amount `json:"gas"`
	Relayer        *amount `json:"relayer"`
	RelayerGas     *amount `json:"relayerGas"`
	RelayerService *amount `json:"relayerService"`
	App            *amount `json:"app"`
	Subsidized     *amount `json:"subsidized,omitempty"`
}

type impact struct {
	USD     string `json:"usd"`
	Percent string `json:"percent"`
}

type impactUSD struct {
	USD string `json:"usd"`
}

type tolerance struct {
	USD     string `json:"usd"`
	Value   string `json:"value"`
	Percent string `json:"percent"`
}

type tolerances struct {
	Total       string    `json:"total"`
	Origin      tolerance `json:"origin"`
	Destination tolerance `json:"destination"`
}

type routeLeg struct {
	Input   *amount  `json:"inputCurrency"`
	Output  *amount  `json:"outputCurrency"`
	Router  string   `json:"router"`
	Sources []string `json:"includedSwapSources"`
}

type route struct {
	Origin      *routeLeg `json:"origin"`
	Destination *routeLeg `json:"destination,omitempty"`
}

type details struct {
	Operation   string               `json:"operation"`
	Sender      eip55.Address        `json:"sender"`
	Recipient   eip55.Address        `json:"recipient"`
	CurrencyIn  *amount              `json:"currencyIn"`
	CurrencyOut *amount              `json:"currencyOut"`
	Refund      *amount              `json:"refundCurrency,omitempty"`
	TotalImpact impact               `json:"totalImpact"`
	SwapImpact  impact               `json:"swapImpact"`
	Expanded    map[string]impactUSD `json:"expandedPriceImpact,omitempty"`
	Rate        string               `json:"rate"`
	Slippage    tolerances           `json:"slippageTolerance"`
	Time        int                  `json:"timeEstimate"` // seconds
	Balance     string               `json:"userBalance,omitempty"`
	FixedRate   *bool                `json:"isFixedRate,omitempty"`
	Route       *route               `json:"route,omitempty"`
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// timeEstimate is the stated duration of a fill, in seconds.
const timeEstimate = 2

// quote answers POST /quote/v2 and POST /quote.
func (s *Server) quote(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	o, indicative, err := s.order(ctx, body)
	if err != nil {
		return nil, err
	}
	reply, err := s.priced(ctx, o)
	if err != nil {
		return nil, err
	}
	settings := s.Settings()
	if !indicative {
		if reply.Steps, err = s.steps(ctx, o, settings); err != nil {
			return nil, err
		}
		if reply.Steps, err = s.extend(ctx, o, settings, reply.Steps); err != nil {
			return nil, err
		}
	}
	reply.RequestID = &o.request
	reply.Details.Balance, err = s.userBalance(ctx, o)
	if err != nil {
		return nil, err
	}
	reply.Fees.Subsidized = o.origin.amount(o.in, new(big.Int), new(big.Int))
	reply.Details.Refund = o.origin.amount(o.deposited, o.depositAmount, o.minDeposit)
	reply.Details.Expanded = o.expanded()
	reply.Details.Route = o.route()
	reply.Details.FixedRate = new(bool)
	if o.crosses() {
		reply.Protocol, err = s.protocol(o, settings)
	}
	return reply, err
}

// indicative answers POST /price: a quote without steps.
func (s *Server) indicative(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	o, _, err := s.order(ctx, body)
	if err != nil {
		return nil, err
	}
	return s.priced(ctx, o)
}

// order makes an order from a request and stores it.
func (s *Server) order(ctx context.Context, body []byte) (*order, bool, error) {
	var q quoteRequest
	if err := decode(body, quoteFields, &q); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	request, id := s.book.ids(s.Layout, body)
	s.mu.Unlock()
	o, err := s.offer(ctx, q)
	if err != nil {
		if f, ok := err.(failure); ok && f.errorCode != "" {
			err = s.withRequest(ctx, f, request, q.OriginChainID)
		}
		return nil, false, err
	}
	o.request, o.id = request, id
	if o.crosses() {
		if err := o.bind(s.Solver.Address, s.Settings().Router); err != nil {
			return nil, false, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.book.add(o)
	return o, q.Indicative, nil
}

func (s *Server) offer(ctx context.Context, q quoteRequest) (*order, error) {
	if err := q.supported(); err != nil {
		return nil, err
	}
	p, err := q.parties()
	if err != nil {
		return nil, err
	}
	offer, err := s.priceOf(q, p)
	if err != nil {
		return nil, err
	}
	now := clock.Now()
	return &order{
		offer: offer, parties: p, created: now, ttl: q.ttl(), refundForced: q.Referrer == forceRefund, wantsProtocolData: q.ProtocolData,
		state: state{status: waiting, since: now},
	}, s.checkLiquidity(ctx, offer)
}

// extend appends the extra step of the settings, if any.
func (s *Server) extend(ctx context.Context, o *order, settings Settings, steps []step) ([]step, error) {
	extra := extraSteps[settings.ExtraStep]
	s.mu.Lock()
	if extra != nil && s.settings.ExtraAfter > 0 {
		s.settings.ExtraAfter--
		extra = nil
	}
	s.mu.Unlock()
	if extra == nil {
		return steps, nil
	}
	more, err := extra(ctx, o, settings)
	return append(steps, more), err
}

func (s *Server) userBalance(ctx context.Context, o *order) (string, error) {
	has, err := o.origin.balance(ctx, o.user, o.in.Address)
	if err != nil {
		return "", err
	}
	return has.String(), nil
}

// priced returns the members that quotes and prices share.
func (s *Server) priced(ctx context.Context, o *order) (*quoteReply, error) {
	feeCap, _, err := o.origin.fees(ctx)
	if err != nil {
		return nil, err
	}
	gas := new(big.Int).Mul(feeCap, big.NewInt(o.gasUnits()))
	fee := func(n *big.Int) *amount { return o.origin.amount(o.in, n, n) }
	service := new(big.Int).Add(o.serviceFee, o.classFee)
	return &quoteReply{
		Fees: fees{
			Gas: o.origin.amount(o.origin.coin(), gas, gas), Relayer: fee(new(big.Int).Add(o.gasFee, service)),
			RelayerGas: fee(o.gasFee), RelayerService: fee(service), App: fee(o.appFee),
		},
		Details: details{
			Operation: o.operation, Sender: eip55.Address(o.user), Recipient: eip55.Address(o.recipient),
			CurrencyIn:  o.origin.amount(o.in, o.amountIn, o.amountIn),
			CurrencyOut: o.destination.amount(o.out, o.amountOut, o.minAmountOut),
			TotalImpact: o.totalImpact(), SwapImpact: impact{usd(new(big.Int)), "0.00"},
			Rate: o.rate(), Slippage: o.tolerances(), Time: timeEstimate,
		},
	}, nil
}

// gasUnits estimates the gas of the user's transactions.
func (o *offer) gasUnits() int64 {
	const approval, deposit, swap = 50_000, 60_000, 180_000
	units := int64(deposit)
	if o.routed() {
		units = swap
	}
	if o.in.Address != native {
		units += approval
	}
	return units
}

func (o *offer) fees() *big.Int {
	sum := new(big.Int)
	for _, fee := range []*big.Int{o.gasFee, o.serviceFee, o.classFee, o.appFee} {
		sum.Add(sum, fee)
	}
	return sum
}

func (o *offer) totalImpact() impact {
	lost := new(big.Int).Neg(value(o.in, o.fees()))
	return impact{usd(lost), percent(lost, value(o.in, o.amountIn))}
}

// expanded breaks the total impact down by cause.
func (o *offer) expanded() map[string]impactUSD {
	lost := func(parts ...*big.Int) impactUSD {
		sum := new(big.Int)
		for _, p := range parts {
			sum.Sub(sum, value(o.in, p))
		}
		return impactUSD{usd(sum)}
	}
	return map[string]impactUSD{
		"swap": lost(), "execution": lost(o.gasFee, o.serviceFee), "relay": lost(o.classFee), "app": lost(o.appFee), "sponsored": lost(),
	}
}

// rate returns whole units of output per whole unit of input.
func (o *offer) rate() string {
	v := new(big.Int).Mul(o.amountOut, power(o.in.Decimals))
	v.Mul(v, big.NewInt(million))
	return fixed(v.Quo(v, new(big.Int).Mul(o.amountIn, power(o.out.Decimals))), 6)
}

func (o *offer) tolerances() tolerances {
	at := func(value, micro *big.Int) tolerance {
		return tolerance{usd(micro), value.String(), fixed(big.NewInt(o.slippage), 2)}
	}
	none := tolerance{usd(new(big.Int)), "0", "0.00"}
	lost := new(big.Int).Sub(o.amountOut, o.minAmountOut)
	all := tolerances{big.NewInt(o.slippage).String(), none, at(lost, value(o.out, lost))}
	if !o.crosses() {
		all.Origin, all.Destination = all.Destination, none
	}
	return all
}

func (o *offer) route() *route {
	leg := func(in, out *amount) *routeLeg { return &routeLeg{in, out, "relay", []string{}} }
	in := o.origin.amount(o.in, o.amountIn, o.amountIn)
	out := o.destination.amount(o.out, o.amountOut, o.amountOut)
	if !o.crosses() {
		return &route{Origin: leg(in, out)}
	}
	return &route{
		Origin:      leg(in, o.origin.amount(o.deposited, o.depositAmount, o.depositAmount)),
		Destination: leg(out, out),
	}
}
