package audit

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestJudgeGrants checks that only approvals by our accounts count, by the token or
// Permit2, and only while they can be used.
func TestJudgeGrants(t *testing.T) {
	token, permit2, spender := common.Address{0xd}, common.Address{0x22}, common.Address{0x5}
	topics := func(event common.Hash, of ...common.Address) []common.Hash {
		all := []common.Hash{event}
		for _, a := range of {
			all = append(all, common.Hash(word(a)))
		}
		return all
	}
	inToken, inPermit2 := Grant{1, ours, token, spender, common.Address{}}, Grant{1, ours, token, spender, permit2}
	for name, x := range map[string]struct {
		log  types.Log
		want Grant
	}{
		"a token's approval":   {types.Log{Address: token, Topics: topics(approvalEvent, ours, spender)}, inToken},
		"another's":            {types.Log{Address: token, Topics: topics(approvalEvent, spender, ours)}, Grant{}},
		"Permit2's approval":   {types.Log{Address: permit2, Topics: topics(permit2Events[0], ours, token, spender)}, inPermit2},
		"Permit2's permit":     {types.Log{Address: permit2, Topics: topics(permit2Events[1], ours, token, spender)}, inPermit2},
		"another's in Permit2": {types.Log{Address: permit2, Topics: topics(permit2Events[1], spender, token, ours)}, Grant{}},
		"permit event of another contract than Permit2": {types.Log{Address: token, Topics: topics(permit2Events[0], ours, token, spender)}, Grant{}},
		"another event of Permit2":                      {types.Log{Address: permit2, Topics: topics(transferred, ours, token, spender)}, Grant{}},
		"an event of no topics":                         {types.Log{Address: token}, Grant{}},
	} {
		if g, ok := grantIn(1, permit2, &x.log, map[common.Address]bool{ours: true}); ok != (x.want != Grant{}) || ok && g != x.want {
			t.Errorf("%s: %v, %t", name, g, ok)
		}
	}
	answer := func(words ...int64) (all []byte) {
		for _, n := range words {
			all = append(all, common.BigToHash(big.NewInt(n)).Bytes()...)
		}
		return all
	}
	for name, x := range map[string]struct {
		out     []byte
		permit2 bool
		want    int64 // -1: an error
	}{
		"a token's":         {answer(7), false, 7},
		"Permit2's":         {answer(7, 100, 1), true, 7},
		"Permit2's, over":   {answer(7, 99, 1), true, 0},
		"nobody's":          {nil, false, -1},
		"half of Permit2's": {answer(7), true, -1},
	} {
		if n, err := decodeAllowance(x.out, nil, x.permit2, 100); (err != nil) != (x.want < 0) || err == nil && n.Int64() != x.want {
			t.Errorf("%s: %v, %v", name, n, err)
		}
	}
}
