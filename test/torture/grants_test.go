//go:build faults && linux

package torture

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
)

// A grant is an approval that an account gave at some time.
type grant struct {
	chain                   uint64
	account, token, spender common.Address
	via                     common.Address // Permit2, if it keeps the allowance; zero: the token does
}

// approvalEvent is the approval event of tokens, permitted lists those of Permit2. Owner, token
// and spender are topics of Permit2's; tokens' have owner and spender.
var (
	approvalEvent = common.HexToHash("0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925") // Approval(address,address,uint256)
	permit2Events = []common.Hash{
		common.HexToHash("0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b"), // Approval(address,address,address,uint160,uint48)
		common.HexToHash("0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec"), // Permit(address,address,address,uint160,uint48,uint48)
	}
)

// grantIn returns the approval in a log if it is by one of the accounts.
func grantIn(chain uint64, permit2 common.Address, l *types.Log, mine map[common.Address]bool) (g grant, ok bool) {
	switch {
	case len(l.Topics) == 3 && l.Topics[0] == approvalEvent:
		g = grant{chain: chain, account: addressOf(l.Topics[1]), token: l.Address, spender: addressOf(l.Topics[2])}
	case len(l.Topics) == 4 && l.Address == permit2 && slices.Contains(permit2Events, l.Topics[0]):
		g = grant{chain, addressOf(l.Topics[1]), addressOf(l.Topics[2]), addressOf(l.Topics[3]), permit2}
	}
	return g, mine[g.account]
}

// listed returns the allowances that the wallet shows its user.
func (w *world) listed(u *user) (map[grant]protocol.Allowance, error) {
	all := map[grant]protocol.Allowance{}
	for _, chain := range w.route {
		via := map[string]common.Address{protocol.AllowanceERC20: {}, protocol.AllowancePermit2: w.Chain(chain).Network.Contracts.Permit2}
		for _, a := range w.accounts {
			params := protocol.ApprovalsParams{Account: protocol.Address(a.Hex()), ChainID: chain}
			for more := true; more; more = params.Cursor != "" {
				var page protocol.ApprovalsResult
				if err := u.retryUntilAnswered("approvals.list", params, &page); err != nil {
					return nil, err
				}
				for _, l := range page.Allowances {
					all[grant{chain, a, addr(l.Token), addr(l.Spender), via[l.Kind]}] = l
				}
				params.Cursor = page.Cursor
			}
		}
	}
	return all, nil
}

// checkAllowances checks that every remaining allowance is listed, as a leftover of an order or
// with the share that an open order needs.
func (r *audit) checkAllowances() {
	for g := range r.grants {
		left, err := r.allowance(g)
		if err != nil {
			r.find("allowance: %v", err)
			continue
		}
		listed := r.listed[g]
		switch {
		case left.Sign() == 0:
		case listed.Kind == "":
			r.find("%s: %s is left, and the list does not say so", g, left)
		case listed.Amount.Int().Cmp(left) != 0:
			r.find("%s: %s is left, listed is %s", g, left, listed.Amount)
		case listed.Leftover == "" && listed.Reserved.Int().Sign() == 0:
			r.find("%s: %s is left, by no order that is named", g, left)
		}
	}
}

func (g grant) String() string {
	return fmt.Sprintf("chain %d: what %s may take of %s from %s (by Permit2: %t)", g.chain, g.spender, g.token, g.account, g.via != common.Address{})
}

// allowance returns what a spender may pull at the latest block, by the token or Permit2.
func (r *audit) allowance(g grant) (*big.Int, error) {
	to, question := g.token, [][]byte{common.FromHex("0xdd62ed3e"), word(g.account), word(g.spender)} // allowance(address,address)
	if g.via != (common.Address{}) {
		to, question = g.via, [][]byte{common.FromHex("0x927da105"), word(g.account), word(g.token), word(g.spender)} // allowance(address,address,address)
	}
	c := r.Chain(g.chain)
	out, err := c.Client().CallContract(r.ctx, ethereum.CallMsg{To: &to, Data: slices.Concat(question...)}, nil)
	return decodeAllowance(out, err, g.via != common.Address{}, c.Head().Time)
}

func word(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// decodeAllowance decodes an allowance. Permit2's ends with its last valid second.
func decodeAllowance(out []byte, err error, permit2 bool, now uint64) (*big.Int, error) {
	switch {
	case err != nil:
		return nil, err
	case len(out) < 32 || permit2 && len(out) < 64:
		return nil, fmt.Errorf("an answer of %d bytes", len(out))
	case permit2 && new(big.Int).SetBytes(out[32:64]).Cmp(new(big.Int).SetUint64(now)) < 0:
		return new(big.Int), nil
	}
	return new(big.Int).SetBytes(out[:32]), nil
}

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
	inToken, inPermit2 := grant{1, ours, token, spender, common.Address{}}, grant{1, ours, token, spender, permit2}
	for name, x := range map[string]struct {
		log  types.Log
		want grant
	}{
		"of a token":            {types.Log{Address: token, Topics: topics(approvalEvent, ours, spender)}, inToken},
		"another's":             {types.Log{Address: token, Topics: topics(approvalEvent, spender, ours)}, grant{}},
		"Permit2's approval":    {types.Log{Address: permit2, Topics: topics(permit2Events[0], ours, token, spender)}, inPermit2},
		"Permit2's permit":      {types.Log{Address: permit2, Topics: topics(permit2Events[1], ours, token, spender)}, inPermit2},
		"another's in Permit2":  {types.Log{Address: permit2, Topics: topics(permit2Events[1], spender, token, ours)}, grant{}},
		"of no Permit2":         {types.Log{Address: token, Topics: topics(permit2Events[0], ours, token, spender)}, grant{}},
		"another event of it":   {types.Log{Address: permit2, Topics: topics(transferred, ours, token, spender)}, grant{}},
		"an event of no topics": {types.Log{Address: token}, grant{}},
	} {
		if g, ok := grantIn(1, permit2, &x.log, map[common.Address]bool{ours: true}); ok != (x.want != grant{}) || ok && g != x.want {
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
