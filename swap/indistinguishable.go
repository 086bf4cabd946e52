package swap

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	bolt "go.etcd.io/bbolt"
)

// traceBucket indexes what the fill of each signed open order would leave on its chain:
// name of that trace -> order id. It changes in the same commit as the order.
var traceBucket = []byte("twin")

// errIndistinguishable means that an order's fill would be indistinguishable from that of another open
// order, so that one fill could be taken for both, or for the wrong one.
var errIndistinguishable = errors.New("another open order would look alike on the chain")

// signatureLen is the length of an ECDSA signature (r, s, v).
const signatureLen = 65

// fillTraces returns the names of what a fill of o would leave: the log that is searched for,
// and the nonce that it uses up. It is called before o is signed, with a placeholder for
// the signature: an order whose end nothing could prove is not signed.
func (e *Engine) fillTraces(o Order) ([]common.Hash, error) {
	s, err := e.settler(&o)
	if err != nil {
		return nil, err
	}
	o = o.Clone()
	o.Results = append(o.Results[:o.Step:o.Step], Result{Signature: make([]byte, signatureLen)})
	p, err := s.Proof(o)
	if err == nil {
		err = p.check(o.Terms)
	}
	if err == nil && len(p.Fill) == 0 {
		err = errors.New("no event of a fill")
	}
	if err != nil {
		return nil, &Refusal{Code: NotUnderstood, Reason: "nothing on the chain would prove the end of the order: " + err.Error(), Err: err}
	}
	name := func(what any) common.Hash {
		return crypto.Keccak256Hash(fmt.Appendf(nil, "%d ", o.Terms.SrcChain), mustJSON(what))
	}
	names := []common.Hash{name(p.tracePatterns()[0])}
	if p.Nonce != nil {
		names = append(names, name(p.Nonce))
	}
	return names, nil
}

// checkDistinguishable returns errIndistinguishable if an order other than the given one has one of those names.
func checkDistinguishable(tx *bolt.Tx, order string, names []common.Hash) error {
	for _, n := range names {
		if v := tx.Bucket(traceBucket).Get(n[:]); v != nil && string(v) != order {
			return errIndistinguishable
		}
	}
	return nil
}

// checkDistinguishable returns errIndistinguishable if the fill of another open order has one of those names.
func (j *Journal) checkDistinguishable(order string, names []common.Hash) error {
	return j.db.View(func(tx *bolt.Tx) error { return checkDistinguishable(tx, order, names) })
}

// writeTraces indexes o's fill while o is signed and open, or returns errIndistinguishable.
func writeTraces(tx *bolt.Tx, o *Order) error {
	b := tx.Bucket(traceBucket)
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
