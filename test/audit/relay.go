package audit

import (
	"bytes"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
)

// Topics of Across, by its published events.
var (
	relayMade   = common.HexToHash("0x32ed1a409ef04c7b0227189c3a103dc5ac10e775a15b785dcc510201f7c25ad3")
	relayFilled = common.HexToHash("0x44b559f101f8fbcc8a0ea43fa91a05a729a5ea6e14a7c75aa750374690137208")
)

// sameWords are the places of the members that the two events have in common, in the data of the
// deposit's and in that of the fill's: tokens, amounts, deadlines, exclusive relayer, recipient.
var sameWords = [][2]int{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 5}, {6, 6}, {8, 7}, {7, 9}}

// fillsRelay reports whether a payment is the fill, by Across's contracts, of exactly the relay
// that the receipt of an order's deposit names, and pays the order's account.
func (r *Audit) fillsRelay(o Order, deposit, payment common.Hash) bool {
	made := r.logsOf(o.Terms.SrcChainID, deposit, relayMade)
	if len(made) != 1 || len(made[0].Data) != 11*32 || common.Hash(made[0].Data[7*32:8*32]) != common.Hash(word(o.Terms.Account)) {
		return false
	}
	d := made[0]
	return slices.ContainsFunc(r.logsOf(o.Terms.DstChainID, payment, relayFilled), func(f *types.Log) bool {
		if len(f.Data) != 15*32 || len(d.Topics) != 4 || len(f.Topics) != 4 {
			return false
		}
		at := func(l *types.Log, i int) []byte { return l.Data[i*32 : (i+1)*32] }
		ids := d.Topics[1].Big().Uint64() == o.Terms.DstChainID && f.Topics[1].Big().Uint64() == o.Terms.SrcChainID && d.Topics[2] == f.Topics[2]
		people := bytes.Equal(d.Topics[3][:], at(f, 8)) && bytes.Equal(at(f, 9), at(f, 11))
		return ids && people && !slices.ContainsFunc(sameWords, func(w [2]int) bool { return !bytes.Equal(at(d, w[0]), at(f, w[1])) })
	})
}

// logsOf returns what Across's contract logged in a transaction with a topic.
func (r *Audit) logsOf(chain uint64, tx, topic common.Hash) (found []*types.Log) {
	i := slices.IndexFunc(sandbox.Networks(), func(n sandbox.Network) bool { return n.ID == chain })
	c := r.Chains[chain]
	if c == nil || i < 0 {
		return nil
	}
	receipt, err := c.Receipt(r.Context, tx)
	if err != nil || receipt == nil || receipt.Status != types.ReceiptStatusSuccessful {
		return nil
	}
	for _, l := range receipt.Logs {
		if l.Address == sandbox.Networks()[i].SpokePool() && len(l.Topics) > 0 && l.Topics[0] == topic {
			found = append(found, l)
		}
	}
	return found
}
