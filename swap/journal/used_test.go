package journal

import (
	"bytes"
	"slices"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestCoinCountsOnce checks that the increase of a balance in a block and a payment of the coin to
// it in that block, sent directly or logged, cannot prove two orders; two such payments can.
func TestCoinCountsOnce(t *testing.T) {
	at, tx, other := common.Address{1}, common.Hash{2}, common.Hash{3}
	grew := swap.LogRef{Chain: 1, Tx: tx, Index: -1, BalanceIncrease: true, Block: 7, Account: at}
	sent := swap.LogRef{Chain: 1, Tx: other, Index: -1, Block: 7, Account: at}
	logged := swap.LogRef{Chain: 1, Tx: other, Index: 4, Block: 7, Account: at}
	again := swap.LogRef{Chain: 1, Tx: other, Index: 5, Block: 7, Account: at}
	token := swap.LogRef{Chain: 1, Tx: other, Index: 6}
	elsewhere := swap.LogRef{Chain: 1, Tx: other, Index: 4, Block: 8, Account: at}
	collide := func(a, b swap.LogRef) bool {
		takes, _ := keys(a)
		same, excludes := keys(b)
		return slices.ContainsFunc(takes, func(k []byte) bool {
			return slices.ContainsFunc(same, func(s []byte) bool { return bytes.Equal(k, s) }) ||
				slices.ContainsFunc(excludes, func(p []byte) bool { return bytes.HasPrefix(k, p) })
		})
	}
	for _, tc := range []struct {
		a, b swap.LogRef
		want bool
	}{
		{grew, sent, true}, {grew, logged, true}, {logged, logged, true},
		{sent, logged, false}, {logged, again, false}, {grew, token, false}, {grew, elsewhere, false},
	} {
		if collide(tc.a, tc.b) != tc.want || collide(tc.b, tc.a) != tc.want {
			t.Errorf("%+v and %+v: exclude each other %t", tc.a, tc.b, !tc.want)
		}
	}
}
