package proof

import (
	"math/big"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestRevokeProof checks that a revoke is proven by a log of a zero allowance, with the
// right contract, owner and spender.
func TestRevokeProof(t *testing.T) {
	word := func(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
	byToken, byPermit2 := swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken}, swap.Grant{Token: usdc, Spender: router, Kind: swap.ByPermit2}
	log := func(at common.Address, data []byte, topics ...common.Hash) *types.Log {
		return &types.Log{Address: at, Topics: topics, Data: data}
	}
	zero := log(usdc, word(0), erc20Approved, TopicOf(account), TopicOf(permit2))
	one := log(usdc, word(1), erc20Approved, TopicOf(account), TopicOf(permit2))
	inside := log(permit2, append(word(0), word(0)...), permit2Approved, TopicOf(account), TopicOf(usdc), TopicOf(router))
	for name, c := range map[string]struct {
		g    swap.Grant
		logs []*types.Log
		want bool
	}{
		"by the token":          {byToken, []*types.Log{zero}, true},
		"granted before":        {byToken, []*types.Log{one, zero}, true},
		"granted after":         {byToken, []*types.Log{zero, one}, false},
		"nothing logged":        {byToken, nil, false},
		"of another token":      {byToken, []*types.Log{log(weth, word(0), zero.Topics...)}, false},
		"of another owner":      {byToken, []*types.Log{log(usdc, word(0), erc20Approved, TopicOf(thief), TopicOf(permit2))}, false},
		"of another spender":    {byToken, []*types.Log{log(usdc, word(0), erc20Approved, TopicOf(account), TopicOf(router))}, false},
		"inside Permit2":        {byPermit2, []*types.Log{inside}, true},
		"the token, not inside": {byPermit2, []*types.Log{zero}, false},
	} {
		if got := RevokedIn(c.logs, account, c.g); got != c.want {
			t.Errorf("%s: RevokedIn = %t, want %t", name, got, c.want)
		}
	}
}
