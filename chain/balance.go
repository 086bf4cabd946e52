package chain

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
)

var (
	balanceOfSelector     = []byte{0x70, 0xa0, 0x82, 0x31} // balanceOf(address)
	getEthBalanceSelector = []byte{0x4d, 0x23, 0x01, 0xcc} // getEthBalance(address), of Multicall3
)

// Balance returns account's balance of token, in base units: of the native coin for
// Native, else of an ERC-20.
func (h *MultiClient) Balance(ctx context.Context, id uint64, account, token common.Address) (*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	r := reader{p}
	if token == Native {
		return r.BalanceAt(ctx, account, nil)
	}
	return tokenAmount(ctx, r, token, "balance", onAccounts(balanceOfSelector, account))
}

// tokenAmount calls an ERC-20 token and decodes a uint256; what names it in errors.
func tokenAmount(ctx context.Context, r reader, token common.Address, what string, data []byte) (*big.Int, error) {
	out, err := r.CallContract(ctx, ethereum.CallMsg{To: &token, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s of token %s: %w", what, token, err)
	}
	n := amount(out)
	if n == nil {
		return nil, fmt.Errorf("%s of token %s: the contract is no erc-20 token", what, token)
	}
	return n, nil
}

// Balances returns Balance for each of tokens: nil for one whose contract gives none,
// zero where there is no contract. It uses Multicall3 where the chain has it.
func (h *MultiClient) Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	questions := make([]Question, len(tokens))
	for i, token := range tokens {
		questions[i] = Question{token, onAccounts(balanceOfSelector, account)}
		if token == Native {
			questions[i] = Question{multicall3, onAccounts(getEthBalanceSelector, account)}
		}
	}
	answers, err := ask(ctx, reader{p}, questions)
	if err != nil {
		return nil, fmt.Errorf("balances: %w", err)
	}
	all := amounts(answers, amount)
	for i, answer := range answers {
		if answer != nil && len(answer) == 0 && tokens[i] != Native {
			all[i] = new(big.Int)
		}
	}
	if i := slices.Index(tokens, Native); i >= 0 && all[i] == nil { // without Multicall3
		coin, err := reader{p}.BalanceAt(ctx, account, nil)
		if err != nil {
			return nil, err
		}
		for i, token := range tokens {
			if token == Native {
				all[i] = new(big.Int).Set(coin)
			}
		}
	}
	return all, nil
}

func isRevert(err error) bool { _, ok := reverted(err); return ok }

// onAccounts encodes a call whose arguments are addresses.
func onAccounts(selector []byte, accounts ...common.Address) []byte {
	data := slices.Clone(selector)
	for _, a := range accounts {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	return data
}

// amount decodes a uint256 answer. Any other length is nil: the first of several values
// need not be the amount.
func amount(out []byte) *big.Int {
	if len(out) != 32 {
		return nil
	}
	return new(big.Int).SetBytes(out)
}

// firstWord returns what a contract would read as the uint256 of an answer, which may be
// longer; nil if it is shorter.
func firstWord(out []byte) *big.Int {
	if len(out) < 32 {
		return nil
	}
	return new(big.Int).SetBytes(out[:32])
}

// amounts decodes each answer with read, which is amount or firstWord.
func amounts(answers [][]byte, read func([]byte) *big.Int) []*big.Int {
	all := make([]*big.Int, len(answers))
	for i, out := range answers {
		all[i] = read(out)
	}
	return all
}
