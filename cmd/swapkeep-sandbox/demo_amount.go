package main

import (
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// A coin is a token, or a chain's own coin, as the demo writes it.
type coin struct {
	amount.Coin
	token protocol.Address
}

func nativeOf(n sandbox.Network) coin {
	return coin{amount.Coin{Symbol: n.Native, Decimals: 18}, protocol.Native}
}

// address is the token's, zero for the chain's own coin.
func (c coin) address() common.Address { return common.HexToAddress(string(c.token)) }

// coinsOf are a chain's tokens, the wrapped coin first.
func coinsOf(n sandbox.Network) (all []coin) {
	for _, t := range append([]sandbox.Token{n.Wrapped}, n.Tokens...) {
		all = append(all, coin{amount.Coin{Symbol: t.Symbol, Decimals: int(t.Decimals)}, protocol.Checksummed(t.Address.Hex())})
	}
	return all
}

// coinNamed finds a coin by its symbol; "" is the chain's own.
func coinNamed(n sandbox.Network, symbol string) (coin, bool) {
	if symbol == "" {
		return nativeOf(n), true
	}
	for _, c := range coinsOf(n) {
		if c.Symbol == symbol {
			return c, true
		}
	}
	return coin{}, false
}

// briefPlaces are the decimals that the summary has room for.
const briefPlaces = 4

// brief writes an amount for the summary.
func (c coin) brief(n *big.Int) string {
	if n.Sign() == 0 {
		return "none"
	}
	return amount.Decimal(n, c.Decimals, briefPlaces) + " " + c.Symbol
}

// feeIn is the fee in an output that has been paid out without it.
func feeIn(net *big.Int, bps int) *big.Int {
	if net == nil || bps >= 10_000 {
		return nil
	}
	fee := new(big.Int).Mul(net, big.NewInt(int64(bps)))
	return fee.Div(fee, big.NewInt(int64(10_000-bps)))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", max(d, 0).Seconds()) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

// short is enough of an address to recognise it by.
func short(a protocol.Address) string {
	if len(a) != 42 {
		return string(a)
	}
	return string(a[:6] + "..." + a[38:])
}
