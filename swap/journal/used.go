package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// usedBucket indexes every log and payment that proved an order's end: key -> order id.
// It changes in the same commit as the order.
var usedBucket = []byte("used_proof")

// ErrProofUsed means that another order's end rests on the same log or payment.
var ErrProofUsed = errors.New("another order ended by the same payment")

// What an entry of the bucket stands for. After chain id and kind, a key has: hash and
// index of a log; hash (n); block and account (i); or block, account, hash and, if a log shows it,
// the log's index (p).
const (
	usedLog      = 'l'
	usedCoin     = 'n' // a transaction's payment of the native coin
	usedIncrease = 'i' // increase of an account's native balance in a block
	usedPaid     = 'p' // the same payment as usedCoin, or one of the coin as usedLog, by where it arrived
)

// usedKey returns a key, or the beginning of one.
func usedKey(chainID uint64, kind byte, parts ...[]byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint64(nil, chainID), []byte{kind}, slices.Concat(parts...))
}

// keys returns the keys that r takes, and the beginnings of keys that must not exist: an
// increase of a balance proves nothing where a payment of the same block to that account
// counted, and the other way round.
func keys(r swap.LogRef) (takes, excludes [][]byte) {
	number := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	where := slices.Concat(number(r.Block), r.Account[:])
	if r.Index >= 0 {
		takes = [][]byte{usedKey(r.Chain, usedLog, r.Tx[:], number(uint64(r.Index)))}
		if r.Account == (common.Address{}) { // of a token
			return takes, nil
		}
		return append(takes, usedKey(r.Chain, usedPaid, where, r.Tx[:], number(uint64(r.Index)))), [][]byte{usedKey(r.Chain, usedIncrease, where)}
	}
	takes = [][]byte{usedKey(r.Chain, usedCoin, r.Tx[:])}
	if r.BalanceIncrease {
		return append(takes, usedKey(r.Chain, usedIncrease, where)), [][]byte{usedKey(r.Chain, usedPaid, where)}
	}
	return append(takes, usedKey(r.Chain, usedPaid, where, r.Tx[:])), [][]byte{usedKey(r.Chain, usedIncrease, where)}
}

// usedByOther reports whether another order ended by r, or by something that cannot be told
// from it.
func usedByOther(w owner, r swap.LogRef) bool {
	takes, excludes := keys(r)
	return slices.ContainsFunc(takes, func(k []byte) bool { return w.othersHave(usedBucket, k) }) ||
		slices.ContainsFunc(excludes, func(prefix []byte) bool { return w.othersHaveUnder(usedBucket, prefix) })
}

// writeUsed indexes what o's end rests on. It returns ErrProofUsed if another order's end
// rests on that.
func writeUsed(w owner, o *swap.Order) error {
	if o.Verdict == nil || !o.State.Final() {
		return nil
	}
	for _, r := range o.Verdict.Logs {
		if usedByOther(w, r) {
			return fmt.Errorf("%w: transaction %s on chain %d", ErrProofUsed, r.Tx, r.Chain)
		}
		takes, _ := keys(r)
		for _, k := range takes {
			if err := w.take(usedBucket, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unused returns those of refs by which no order other than the given one ended.
func (j *Journal) Unused(order string, refs []swap.LogRef) (free []swap.LogRef, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		free = slices.DeleteFunc(slices.Clone(refs), func(r swap.LogRef) bool { return usedByOther(owner{tx, order}, r) })
		return nil
	})
	return free, err
}
