package engine

import (
	"encoding/binary"
	"regexp"
	"slices"
	"testing"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// The journal's buckets, as they are named on disk.
var (
	orderBucket   = []byte("order")
	requestBucket = []byte("request")
	digestBucket  = []byte("digest")
	openBucket    = []byte("open")
	historyBucket = []byte("history")
	grantBucket   = []byte("grant")
	useBucket     = []byte("allowance")
	usedBucket    = []byte("used_proof")
	traceBucket   = []byte("fill_trace")
)

// Names of searches, as orders are stored with them.
const (
	searchArrival = "arrival"
	searchRefund  = "refund"
)

// allowanceKeyOf returns the allowance that o needs.
func allowanceKeyOf(o swap.Order) journal.AllowanceKey {
	return journal.AllowanceKey{Chain: o.Terms.SrcChain, Account: o.Terms.Account, Token: o.Terms.Input(), Spender: o.Plan.Spender}
}

// needOf returns what o needs of its allowance.
func needOf(o swap.Order) (journal.Use, bool) { return journal.UseOf(o, allowanceKeyOf(o)) }

// grantKey returns the key of a grant in its bucket.
func grantKey(account common.Address, chainID uint64, g swap.Grant) []byte {
	return slices.Concat(binary.BigEndian.AppendUint64(slices.Clone(account[:]), chainID), g.Token[:], g.Spender[:], []byte(g.Kind))
}

// usedLogKey returns the key of a log that proved an end.
func usedLogKey(chainID uint64, tx common.Hash, index uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Concat(binary.BigEndian.AppendUint64(nil, chainID), []byte{'l'}, tx[:]), index)
}

// plainID matches what may be an order's id.
var plainID = regexp.MustCompile(`^[-0-9a-z]{1,64}$`)

// readStored reads bytes that are stored as the record of order "a".
func readStored(t testing.TB, j *journal.Journal, stored []byte) (swap.Order, error) {
	t.Helper()
	if err := j.DB().Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte("a"), stored) }); err != nil {
		t.Fatal(err)
	}
	return j.Get("a")
}
