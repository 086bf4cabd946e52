package audit

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A Grant is an approval that an account gave at some time.
type Grant struct {
	Chain                   uint64
	Account, Token, Spender common.Address
	Via                     common.Address // Permit2, if it keeps the allowance; zero: the token does
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
func grantIn(chain uint64, permit2 common.Address, l *types.Log, mine map[common.Address]bool) (g Grant, ok bool) {
	switch {
	case len(l.Topics) == 3 && l.Topics[0] == approvalEvent:
		g = Grant{Chain: chain, Account: addressOf(l.Topics[1]), Token: l.Address, Spender: addressOf(l.Topics[2])}
	case len(l.Topics) == 4 && l.Address == permit2 && slices.Contains(permit2Events, l.Topics[0]):
		g = Grant{chain, addressOf(l.Topics[1]), addressOf(l.Topics[2]), addressOf(l.Topics[3]), permit2}
	}
	return g, mine[g.Account]
}

// checkAllowances checks that every remaining allowance is listed, as a leftover of an order or
// with the share that an open order needs, or as granted by somebody else with the account's key.
func (r *Audit) checkAllowances() {
	for g, tx := range r.grants {
		left, err := r.Chains[g.Chain].Allowance(r.Context, g)
		if err != nil {
			r.Find("allowance: %v", err)
			continue
		}
		listed := r.Listed[g]
		switch {
		case left.Sign() == 0:
		case listed.Kind == "":
			r.Find("%s: %s is left, and the list does not say so", g, left)
		case listed.Amount.Int().Cmp(left) != 0:
			r.Find("%s: %s is left, listed is %s", g, left, listed.Amount)
		case listed.Leftover == "" && listed.Reserved.Int().Sign() == 0 && !r.Foreign[tx]:
			r.Find("%s: %s is left, by no order that is named", g, left)
		}
	}
}

func (g Grant) String() string {
	return fmt.Sprintf("chain %d: what %s may take of %s from %s (by Permit2: %t)", g.Chain, g.Spender, g.Token, g.Account, g.Via != common.Address{})
}
