package chain

import (
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// TestWhatOneEndpointMaySayAndSees shows what docs/security.md says of an endpoint: what
// is only displayed, a balance or a gas price, is taken from the first that answers, and
// that one learns which accounts belong together.
func TestWhatOneEndpointMaySayAndSees(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	node := func(balance, price *big.Int, note bool) *testNode {
		return &testNode{answer: func(_ context.Context, method string, args []json.RawMessage) (any, error) {
			switch method {
			case "eth_getBalance":
				if note {
					mu.Lock()
					seen = append(seen, strings.ToLower(strings.Trim(string(args[0]), `"`)))
					mu.Unlock()
				}
				return (*hexutil.Big)(balance), nil
			case "eth_getBlockByNumber":
				return map[string]any{"number": "0x1", "baseFeePerGas": (*hexutil.Big)(price), "hash": common.Hash{1}, "parentHash": common.Hash{2}, "timestamp": "0x1", "gasUsed": "0x0", "gasLimit": "0x1c9c380"}, nil
			case "eth_chainId", "eth_blockNumber":
				return "0x1", nil
			case "eth_maxPriorityFeePerGas":
				return "0x1", nil
			}
			return nil, &rpcError{Code: -32601, Message: "no such method"}
		}}
	}
	liar, honest := node(big.NewInt(7_000_000), big.NewInt(1e12), true), node(big.NewInt(5), big.NewInt(1e9), false)
	h := newTestClient(t, 1, 1, liar.serve(t), honest.serve(t))
	accounts := []common.Address{{1}, {2}}
	for _, account := range accounts {
		if got, err := h.Balance(t.Context(), 1, account, Native); err != nil || got.Int64() != 7_000_000 {
			t.Errorf("the balance shown is %v, %v", got, err)
		}
		if !slices.Contains(seen, strings.ToLower(account.Hex())) {
			t.Errorf("it saw %v and not %s", seen, account)
		}
	}
	if g, err := h.GasPrice(t.Context(), 1); err != nil || g.BaseFee.Cmp(big.NewInt(1e12)) != 0 {
		t.Errorf("the gas price shown is %+v, %v", g, err)
	}
}
