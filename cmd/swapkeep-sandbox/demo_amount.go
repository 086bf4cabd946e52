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

// A coin is a token or a chain's native coin, with its address.
type coin struct {
	amount.Coin
	token protocol.Address
}

func nativeOf(n sandbox.Network) coin {
	return coin{amount.Coin{Symbol: n.Native, Decimals: 18}, protocol.Native}
}

// address returns the token's address; zero for the native coin.
func (c coin) address() common.Address { return common.HexToAddress(string(c.token)) }

// coinsOf returns a chain's tokens, the wrapped native coin first.
func coinsOf(n sandbox.Network) (all []coin) {
	for _, t := range append([]sandbox.Token{n.Wrapped}, n.Tokens...) {
		all = append(all, coin{amount.Coin{Symbol: t.Symbol, Decimals: int(t.Decimals)}, protocol.Checksummed(t.Address.Hex())})
	}
	return all
}

// coinNamed finds a coin by its symbol; "" is the native coin.
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

// briefPlaces is the number of decimals that fit the summary.
const briefPlaces = 4

// brief formats an amount for the summary.
func (c coin) brief(n *big.Int) string {
	if n.Sign() == 0 {
		return "none"
	}
	return amount.Decimal(n, c.Decimals, briefPlaces) + " " + c.Symbol
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

// short abbreviates an address.
func short(a protocol.Address) string {
	if len(a) != 42 {
		return string(a)
	}
	return string(a[:6] + "..." + a[38:])
}
