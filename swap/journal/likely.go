package journal

import (
	"fmt"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// LikelyUsed reports whether another watched order is [swap.LikelyPaid] by the same payment.
func (j *Journal) LikelyUsed(order string, r swap.LogRef) (used bool, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		used = likelyUsed(tx, order, r)
		return nil
	})
	return used, err
}

// checkLikely returns ErrProofUsed if o becomes likely paid by a payment by which another order
// ended, or is likely paid. That order keeps it: a proof, in contrast, takes it away.
func checkLikely(tx *bolt.Tx, was, o swap.Order) error {
	if o.Condition != swap.LikelyPaid || o.Candidate == nil || was.Condition == swap.LikelyPaid && was.Candidate != nil && was.Candidate.Log == o.Candidate.Log {
		return nil
	}
	if r := o.Candidate.Log; r.Tx == (common.Hash{}) || usedByOther(owner{tx, o.ID}, r) || likelyUsed(tx, o.ID, r) {
		return fmt.Errorf("%w: transaction %s on chain %d", ErrProofUsed, r.Tx, r.Chain)
	}
	return nil
}

// likelyUsed needs no index: only watched orders can be likely paid by a payment that is still
// younger than another order's deposit, and they are few.
func likelyUsed(tx *bolt.Tx, order string, r swap.LogRef) bool {
	c := tx.Bucket(openBucket).Cursor()
	for id, _ := c.First(); id != nil; id, _ = c.Next() {
		if string(id) == order {
			continue
		}
		o, err := read(tx, string(id))
		if err == nil && o.Condition == swap.LikelyPaid && o.Candidate != nil && o.Candidate.Log == r {
			return true
		}
	}
	return false
}
