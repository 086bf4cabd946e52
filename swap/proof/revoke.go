package proof

import (
	"bytes"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// TopicOf returns an account as an event's topic.
func TopicOf(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

// Topics of the events that an allowance was set.
var (
	erc20Approved   = crypto.Keccak256Hash([]byte("Approval(address,address,uint256)"))                // EIP-20
	permit2Approved = crypto.Keccak256Hash([]byte("Approval(address,address,address,uint160,uint48)")) // Permit2, IAllowanceTransfer
)

// RevokedIn reports whether the last log about g sets it to zero.
func RevokedIn(logs []*types.Log, owner common.Address, g swap.Grant) (gone bool) {
	topics, data := []common.Hash{erc20Approved, TopicOf(owner), TopicOf(g.Spender)}, 32
	if g.Kind == swap.ByPermit2 {
		topics, data = []common.Hash{permit2Approved, TopicOf(owner), TopicOf(g.Token), TopicOf(g.Spender)}, 64
	}
	for _, l := range logs {
		if l.Address == g.Keeper() && slices.Equal(l.Topics, topics) && len(l.Data) == data {
			gone = len(bytes.Trim(l.Data[:32], "\x00")) == 0
		}
	}
	return gone
}
