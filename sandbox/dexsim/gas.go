package dexsim

import (
	"context"
	"fmt"
	"math/big"

	"swapkeep/sandbox/network"
)

// gas is the gas price in replies; the strings are wei per gas.
type gas struct {
	MaxFeePerGas         string `json:"maxFeePerGas"`
	MaxPriorityFeePerGas string `json:"maxPriorityFeePerGas"`

	feeCap *big.Int
}

// gasPrice returns what a transaction should offer now.
func (m *market) gasPrice(ctx context.Context) (gas, error) {
	head, err := m.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return gas{}, err
	}
	tip, err := m.Client.SuggestGasTipCap(ctx)
	if err != nil {
		return gas{}, err
	}
	feeCap := new(big.Int).Add(tip, new(big.Int).Mul(head.BaseFee, big.NewInt(2)))
	return gas{feeCap.String(), tip.String(), feeCap}, nil
}

// fee returns the cost of an amount of gas, in wei.
func (g gas) fee(units uint64) *big.Int {
	return new(big.Int).Mul(g.feeCap, new(big.Int).SetUint64(units))
}

// gasFields are the cost of a swap in wei, in US dollars and in the output token.
type gasFields struct {
	GasFee         string `json:"gasFee"`
	GasFeeUSD      string `json:"gasFeeUSD"`
	GasFeeQuote    string `json:"gasFeeQuote"`
	GasUseEstimate string `json:"gasUseEstimate"`
	gas
}

func (m *market) gasFields(price gas, units uint64, out network.Token) gasFields {
	wei := price.fee(units)
	microUSD := new(big.Int).Mul(wei, big.NewInt(m.Wrapped.MicroUSD))
	microUSD.Div(microUSD, power(18))
	quote := new(big.Int).Mul(wei, big.NewInt(m.Wrapped.MicroUSD))
	quote.Mul(quote, power(out.Decimals)).Div(quote, new(big.Int).Mul(power(18), big.NewInt(out.MicroUSD)))
	usd := new(big.Int)
	usd.QuoRem(microUSD, big.NewInt(1_000_000), microUSD)
	return gasFields{
		GasFee:         wei.String(),
		GasFeeUSD:      fmt.Sprintf("%d.%06d", usd, microUSD),
		GasFeeQuote:    quote.String(),
		GasUseEstimate: fmt.Sprint(units),
		gas:            price,
	}
}

func power(decimals uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}
