package bridgesim

import (
	"context"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// Operations, as the API names the kinds of requests.
const (
	operationSend   = "send"
	operationWrap   = "wrap"
	operationUnwrap = "unwrap"
	operationSwap   = "swap"
	operationBridge = "bridge"
)

// An offer is the price of a request. Amounts are base units; the fees are in the input
// currency.
type offer struct {
	origin, destination *market
	operation           string
	in, out             network.Token
	amountIn            *big.Int
	gasFee, serviceFee  *big.Int
	classFee, appFee    *big.Int
	slippage            int64 // basis points

	// The deposit into the depository: the input itself, or what a router swaps it for,
	// at least minDeposit.
	deposited                 network.Token
	depositAmount, minDeposit *big.Int

	amountOut, minAmountOut *big.Int
}

// The execution fee: a flat part, and the gas of the fill by chain, in microdollars.
const serviceFee = 20_000

var fillGas = map[uint64]int64{1: 195_000, 10: 300, 56: 600, 143: 300, 5330: 300, 8453: 300, 42161: 300, 43114: 300}

// Relay's fees in millionths, by kind of pair.
const (
	sameAsset = 0
	stables   = 100
	majors    = 600
	minors    = 1500
	million   = 1_000_000
)

// minValue is the minimum value of a request, and minAppFee the minimum app fee
// collected for a swap on one chain, in microdollars.
const (
	minValue  = 50_000
	minAppFee = 25_000
)

// priceOf prices a request.
func (s *Server) priceOf(q quoteRequest, p parties) (*offer, error) {
	o, err := s.pair(q)
	if err != nil {
		return nil, err
	}
	if o.slippage, err = q.slippage(); err != nil {
		return nil, err
	}
	if o.amountIn, err = q.amount(); err != nil {
		return nil, err
	}
	bips, err := q.appBips()
	if err != nil {
		return nil, err
	}
	if _, isToken := o.destination.token(p.recipient); isToken {
		return nil, errRecipient
	}
	if o.operation == operationSend && p.recipient == p.user {
		return nil, errNoRoute
	}
	if value(o.in, o.amountIn).Cmp(big.NewInt(minValue)) < 0 {
		return nil, errTooLow
	}
	o.setFees(bips)
	return o, o.setAmounts()
}

// pair looks up the chains and currencies of a request.
func (s *Server) pair(q quoteRequest) (*offer, error) {
	origin, err := s.market(q.OriginChainID)
	if err != nil {
		return nil, err
	}
	destination, err := s.market(q.DestinationChainID)
	if err != nil {
		return nil, err
	}
	o := &offer{origin: origin, destination: destination}
	for _, c := range []struct {
		on   *market
		text string
		to   *network.Token
		bad  error
	}{{origin, q.OriginCurrency, &o.in, errCurrencyIn}, {destination, q.DestinationCurrency, &o.out, errCurrencyOut}} {
		a, ok := address(c.text)
		token, known := c.on.token(a)
		if !ok || !known {
			return nil, c.bad
		}
		*c.to = token
	}
	o.operation = o.kind()
	return o, nil
}

func (o *offer) kind() string {
	wrapped := o.origin.Wrapped.Address
	switch {
	case o.crosses() && o.in.Symbol == o.out.Symbol:
		return operationBridge
	case o.crosses():
		return operationSwap
	case o.in.Address == o.out.Address:
		return operationSend
	case o.in.Address == native && o.out.Address == wrapped:
		return operationWrap
	case o.in.Address == wrapped && o.out.Address == native:
		return operationUnwrap
	}
	return operationSwap
}

func (o *offer) crosses() bool { return o.origin != o.destination }

// routed reports whether the input goes through a router.
func (o *offer) routed() bool {
	return o.operation != operationSend && (!o.crosses() || !o.origin.direct(o.in.Address))
}

// class returns Relay's fee in millionths.
func (o *offer) class() int64 {
	major := func(t network.Token) bool {
		return t.MicroUSD == dollar || slices.Contains([]string{"ETH", "WETH", "BNB", "WBNB"}, t.Symbol)
	}
	switch {
	case o.in.Symbol == o.out.Symbol, o.operation == operationWrap, o.operation == operationUnwrap:
		return sameAsset
	case o.in.MicroUSD == dollar && o.out.MicroUSD == dollar:
		return stables
	case major(o.in) && major(o.out):
		return majors
	}
	return minors
}

// setFees sets the fees. A plain transfer has none.
func (o *offer) setFees(appBips int64) {
	o.gasFee, o.serviceFee, o.classFee, o.appFee = new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	if o.operation == operationSend {
		return
	}
	o.serviceFee = unitsFor(o.in, serviceFee)
	o.classFee = part(o.amountIn, o.class(), million)
	o.appFee = part(o.amountIn, appBips, allBips)
	if o.crosses() {
		o.gasFee = unitsFor(o.in, fillGas[o.destination.ID])
	} else if value(o.in, o.appFee).Cmp(big.NewInt(minAppFee)) < 0 {
		o.appFee = new(big.Int)
	}
}

// setAmounts sets the amounts after fees and their guaranteed minimums.
func (o *offer) setAmounts() error {
	rest := new(big.Int).Set(o.amountIn)
	for _, fee := range []*big.Int{o.gasFee, o.serviceFee, o.classFee, o.appFee} {
		rest.Sub(rest, fee)
	}
	if rest.Sign() <= 0 {
		return errTooLow
	}
	o.amountOut = convert(rest, o.in, o.out)
	o.minAmountOut = part(o.amountOut, allBips-o.slippage, allBips)
	if o.operation == operationSend {
		o.minAmountOut = o.amountOut
	}
	if o.amountOut.Sign() <= 0 {
		return errTooLow
	}
	o.deposited, o.depositAmount, o.minDeposit = o.in, o.amountIn, o.amountIn
	if o.crosses() && o.routed() {
		o.deposited = o.origin.Tokens[0]
		o.depositAmount = convert(o.amountIn, o.in, o.deposited)
		o.minDeposit = part(o.depositAmount, allBips-o.slippage, allBips)
	}
	return nil
}

// checkLiquidity returns errLiquidity if the payer lacks the output: the solver on another chain,
// a router on the same. A plain transfer is not checked.
func (s *Server) checkLiquidity(ctx context.Context, o *offer) error {
	payer := s.Solver.Address
	switch {
	case o.operation == operationSend:
		return nil
	case !o.crosses():
		pair, err := o.origin.pair(s.Settings().Router)
		if err != nil {
			return err
		}
		payer = pair.Router
	}
	has, err := o.destination.balance(ctx, payer, o.out.Address)
	if err != nil {
		return err
	}
	if has.Cmp(o.amountOut) < 0 {
		return errLiquidity
	}
	return nil
}

// balance returns a balance in base units.
func (m *market) balance(ctx context.Context, of, token common.Address) (*big.Int, error) {
	if token == native {
		return m.Client.BalanceAt(ctx, of, nil)
	}
	return m.read(ctx, token, "balanceOf", of)
}

// read calls a token's view method that returns one number.
func (m *market) read(ctx context.Context, token common.Address, method string, args ...any) (*big.Int, error) {
	data, err := m.abis.erc20.Pack(method, args...)
	if err != nil {
		return nil, err
	}
	out, err := m.Client.CallContract(ctx, ethereum.CallMsg{To: &token, Data: data}, nil)
	if err != nil {
		return nil, err
	}
	return new(big.Int).SetBytes(out), nil
}
