package journal

import (
	"bytes"
	"errors"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// TraceBucket indexes what the fill of each signed open order would leave on its chain:
// name of that trace -> order id. It changes in the same commit as the order.
var TraceBucket = []byte("twin")

// ErrIndistinguishable means that an order's fill would be indistinguishable from that of another open
// order, so that one fill could be taken for both, or for the wrong one.
var ErrIndistinguishable = errors.New("another open order would look alike on the chain")

// checkDistinguishable returns ErrIndistinguishable if an order other than the given one has one of those names.
func checkDistinguishable(tx *bolt.Tx, order string, names []common.Hash) error {
	for _, n := range names {
		if v := tx.Bucket(TraceBucket).Get(n[:]); v != nil && string(v) != order {
			return ErrIndistinguishable
		}
	}
	return nil
}

// CheckDistinguishable returns ErrIndistinguishable if the fill of another open order has one of those names.
func (j *Journal) CheckDistinguishable(order string, names []common.Hash) error {
	return j.db.View(func(tx *bolt.Tx) error { return checkDistinguishable(tx, order, names) })
}

// writeTraces indexes o's fill while o is signed and open, or returns ErrIndistinguishable.
func writeTraces(tx *bolt.Tx, o *swap.Order) error {
	b := tx.Bucket(TraceBucket)
	if !o.State.Final() {
		if err := checkDistinguishable(tx, o.ID, o.FillTraces); err != nil {
			return err
		}
	}
	for _, n := range o.FillTraces {
		var err error
		switch {
		case !o.State.Final():
			err = b.Put(n[:], []byte(o.ID))
		case bytes.Equal(b.Get(n[:]), []byte(o.ID)):
			err = b.Delete(n[:])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
