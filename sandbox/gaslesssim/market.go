package gaslesssim

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// A market is a running chain that the provider serves.
type market struct {
	operator.Chain
	abis abis
}

const allBps = 10_000

// Spreads below the pools' starting prices.
const (
	spreadBps = 5
	demoBps   = 50 // on top, without an API key
)

// token looks up a token of the chain; for the native coin it returns the wrapped token.
func (m *market) token(a common.Address) (network.Token, bool) {
	switch a {
	case native:
		return m.Wrapped, true
	case common.Address{}:
		return network.Token{}, false
	}
	return m.TokenAt(a)
}

// An exchange converts amounts of one token to another.
type exchange struct {
	in, out network.Token
	bps     int64 // of the price
	gas     *big.Int
}

func (m *market) exchange(in, out network.Token, b Behaviour, demo bool) exchange {
	bps := int64(allBps) - spreadBps + b.PriceBps
	if demo {
		bps -= demoBps
	}
	gas := new(big.Int).Mul(big.NewInt(b.GasMicroUSD), power(out.Decimals))
	return exchange{in, out, max(bps, 0), gas.Div(gas, big.NewInt(out.MicroUSD))}
}

// pays returns the output for an amount, after gas and before fees, rounded down.
func (x exchange) pays(amount *big.Int) *big.Int {
	n := new(big.Int).Mul(amount, big.NewInt(x.in.MicroUSD*x.bps))
	n.Mul(n, power(x.out.Decimals))
	d := new(big.Int).Mul(power(x.in.Decimals), big.NewInt(x.out.MicroUSD*allBps))
	return n.Div(n, d).Sub(n, x.gas)
}

// costs returns the smallest input whose output before fees is at least paid.
func (x exchange) costs(paid *big.Int) *big.Int {
	n := new(big.Int).Add(paid, x.gas)
	n.Mul(n, power(x.in.Decimals)).Mul(n, big.NewInt(x.out.MicroUSD*allBps))
	d := new(big.Int).Mul(big.NewInt(x.in.MicroUSD*x.bps), power(x.out.Decimals))
	return ceil(n, d)
}

func ceil(n, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(n, d, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func power(decimals uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}

// part returns the given basis points of an amount, rounded down.
func part(amount *big.Int, bps int64) *big.Int {
	n := new(big.Int).Mul(amount, big.NewInt(bps))
	return n.Div(n, big.NewInt(allBps))
}

// whole returns an amount in whole tokens, for numeric members.
func whole(amount *big.Int, t network.Token) float64 {
	f, _ := new(big.Rat).SetFrac(amount, power(t.Decimals)).Float64()
	return f
}

// read calls a view method and returns its results.
func (m *market) read(ctx context.Context, at common.Address, contract abi.ABI, method string, args ...any) ([]any, error) {
	data, err := contract.Pack(method, args...)
	if err != nil {
		return nil, err
	}
	out, err := m.Client.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", method, at, err)
	}
	return contract.Unpack(method, out)
}

func (m *market) number(ctx context.Context, at common.Address, contract abi.ABI, method string, args ...any) (*big.Int, error) {
	out, err := m.read(ctx, at, contract, method, args...)
	if err != nil {
		return nil, err
	}
	return out[0].(*big.Int), nil
}

// balance returns a balance in base units of a token or, for native, of the chain's coin.
func (m *market) balance(ctx context.Context, of, token common.Address) (*big.Int, error) {
	if token == native {
		return m.Client.BalanceAt(ctx, of, nil)
	}
	return m.number(ctx, token, m.abis.erc20, "balanceOf", of)
}

// checkFunds returns onBalance or onAllowance if the owner's balance, or the spender's
// allowance, is below the amount.
func (m *market) checkFunds(ctx context.Context, owner, token, spender common.Address, amount *big.Int, onBalance, onAllowance failure) error {
	balance, err := m.balance(ctx, owner, token)
	if err != nil {
		return err
	}
	if balance.Cmp(amount) < 0 {
		return onBalance
	}
	if token == native {
		return nil
	}
	allowed, err := m.number(ctx, token, m.abis.erc20, "allowance", owner, spender)
	if err != nil {
		return err
	}
	if allowed.Cmp(amount) < 0 {
		return onAllowance
	}
	return nil
}

// reverted distinguishes a reverted call from one that did not reach the chain.
func reverted(err error) bool {
	var data interface{ ErrorData() any }
	return errors.As(err, &data)
}
