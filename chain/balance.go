package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

// multicall3 has this address on every chain that has it.
var multicall3 = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")

// balancesAtOnce is how many tokens one Multicall3 call asks for.
const balancesAtOnce = 200

var (
	balanceOfSelector     = []byte{0x70, 0xa0, 0x82, 0x31} // balanceOf(address)
	getEthBalanceSelector = []byte{0x4d, 0x23, 0x01, 0xcc} // getEthBalance(address), of Multicall3
)

// errNoMulticall means the chain has no Multicall3.
var errNoMulticall = errors.New("no multicall contract")

// Balance returns what account holds of token, in base units: the native coin
// for Native, else an ERC-20.
func (h *Hub) Balance(ctx context.Context, id uint64, account, token common.Address) (*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	r := reader{p}
	if token == Native {
		return r.BalanceAt(ctx, account, nil)
	}
	out, err := r.CallContract(ctx, ethereum.CallMsg{To: &token, Data: onAccount(balanceOfSelector, account)}, nil)
	if err != nil {
		return nil, fmt.Errorf("balance of token %s: %w", token, err)
	}
	balance, ok := amount(out)
	if !ok {
		return nil, fmt.Errorf("balance of token %s: the contract is no erc-20 token", token)
	}
	return balance, nil
}

// Balances returns Balance for each of tokens, nil for one whose contract gives
// none. It uses Multicall3 where the chain has it.
func (h *Hub) Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	all := make([]*big.Int, 0, len(tokens))
	for start := 0; start < len(tokens); start += balancesAtOnce {
		some, err := balancesByMulticall(ctx, reader{p}, account, tokens[start:min(start+balancesAtOnce, len(tokens))])
		if errors.Is(err, errNoMulticall) {
			return h.balancesOneByOne(ctx, id, account, tokens)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (h *Hub) balancesOneByOne(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	all := make([]*big.Int, len(tokens))
	for i, token := range tokens {
		balance, err := h.Balance(ctx, id, account, token)
		var ne *nodeError
		if err != nil && (errors.Is(err, ErrUnreachable) || errors.Is(err, ErrWrongChain) || errors.As(err, &ne) && !isRevert(err)) {
			return nil, err
		}
		all[i] = balance
	}
	return all, nil
}

func isRevert(err error) bool { _, ok := reverted(err); return ok }

// onAccount is a call with one address argument.
func onAccount(selector []byte, account common.Address) []byte {
	return append(append([]byte(nil), selector...), common.LeftPadBytes(account[:], 32)...)
}

// amount reads a uint256 answer.
func amount(out []byte) (*big.Int, bool) {
	if len(out) < 32 {
		return nil, false
	}
	return new(big.Int).SetBytes(out[:32]), true
}

var aggregate3 = sync.OnceValue(func() abi.ABI {
	parsed, err := abi.JSON(strings.NewReader(`[{"name":"aggregate3","type":"function","stateMutability":"payable",
		"inputs":[{"name":"calls","type":"tuple[]","components":[{"name":"target","type":"address"},{"name":"allowFailure","type":"bool"},{"name":"callData","type":"bytes"}]}],
		"outputs":[{"name":"returnData","type":"tuple[]","components":[{"name":"success","type":"bool"},{"name":"returnData","type":"bytes"}]}]}]`))
	if err != nil {
		panic(err) // the text above is constant
	}
	return parsed
})

// A multicall is one entry of aggregate3, a multicallResult its outcome.
type (
	multicall struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	multicallResult struct {
		Success    bool
		ReturnData []byte
	}
)

func balancesByMulticall(ctx context.Context, r reader, account common.Address, tokens []common.Address) ([]*big.Int, error) {
	calls := make([]multicall, len(tokens))
	for i, token := range tokens {
		calls[i] = multicall{token, true, onAccount(balanceOfSelector, account)}
		if token == Native {
			calls[i] = multicall{multicall3, true, onAccount(getEthBalanceSelector, account)}
		}
	}
	data, err := aggregate3().Pack("aggregate3", calls)
	if err != nil {
		return nil, err
	}
	out, err := r.CallContract(ctx, ethereum.CallMsg{To: &multicall3, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("balances: %w", err)
	}
	if len(out) == 0 {
		return nil, errNoMulticall
	}
	var results []multicallResult
	if err := aggregate3().UnpackIntoInterface(&results, "aggregate3", out); err != nil {
		return nil, fmt.Errorf("balances: %w", err)
	}
	if len(results) != len(tokens) {
		return nil, fmt.Errorf("balances: %d answers to %d questions", len(results), len(tokens))
	}
	all := make([]*big.Int, len(tokens))
	for i, res := range results {
		if res.Success {
			all[i], _ = amount(res.ReturnData)
		}
	}
	return all, nil
}
