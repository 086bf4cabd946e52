package journal

import (
	"errors"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// traceBucket indexes what the fill of each signed open order would leave on its chain:
// name of that trace -> order id. It changes in the same commit as the order.
var traceBucket = []byte("fill_trace")

// ErrIndistinguishable means that an order's fill would be indistinguishable from that of another open
// order, so that one fill could be taken for both, or for the wrong one.
var ErrIndistinguishable = errors.New("another open order would look alike on the chain")

// checkDistinguishable returns ErrIndistinguishable if another order has one of those names.
func checkDistinguishable(w owner, names []common.Hash) error {
	if slices.ContainsFunc(names, func(n common.Hash) bool { return w.othersHave(traceBucket, n[:]) }) {
		return ErrIndistinguishable
	}
	return nil
}

// CheckDistinguishable returns ErrIndistinguishable if the fill of another open order has one of those names.
func (j *Journal) CheckDistinguishable(order string, names []common.Hash) error {
	return j.db.View(func(tx *bolt.Tx) error { return checkDistinguishable(owner{tx, order}, names) })
}

// writeTraces indexes o's fill while o is signed and open, or returns ErrIndistinguishable.
func writeTraces(w owner, o *swap.Order) error {
	write := w.release
	if !o.State.Final() {
		if err := checkDistinguishable(w, o.FillTraces); err != nil {
			return err
		}
		write = w.take
	}
	for _, n := range o.FillTraces {
		if err := write(traceBucket, n[:]); err != nil {
			return err
		}
	}
	return nil
}
