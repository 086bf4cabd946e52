package engine

import (
	"bytes"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// What the planner would make, written down once more for the tests.

// consentLife is how long a consent lasts.
const consentLife = 20 * time.Minute

var (
	erc20Approve   = common.FromHex("0x095ea7b3") // approve(address spender, uint256 amount)
	permit2Approve = common.FromHex("0x87517c45") // approve(address token, address spender, uint160 amount, uint48 expiration)
)

func approveCall(t swap.Terms, spender common.Address, n *big.Int) chain.Call {
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: t.Input(), Value: new(big.Int), Data: slices.Concat(erc20Approve, pad(spender), common.BigToHash(n).Bytes())}
}

func approveStep(t swap.Terms, spender common.Address, n, shares *big.Int) swap.Step {
	c := approveCall(t, spender, n)
	a := swap.Approval{Token: c.To, Spender: spender, Amount: new(big.Int).Set(n)}
	if shares.Sign() > 0 {
		a.Shares = shares
	}
	return swap.Step{Kind: swap.CallStep, Call: &c, Effect: swap.Effect{Kind: swap.Approve, Chain: t.SrcChain, Target: c.To, Approves: []swap.Approval{a}}}
}

func isApprove(c chain.Call) bool { return bytes.HasPrefix(c.Data, erc20Approve) }

func pad(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// words splits ABI-encoded arguments into 32-byte words; nil if they are not whole words.
func words(b []byte) [][]byte {
	if len(b)%32 != 0 {
		return nil
	}
	return slices.Collect(slices.Chunk(b, 32))
}
