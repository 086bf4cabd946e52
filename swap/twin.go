package swap

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	bolt "go.etcd.io/bbolt"
)

// twinBucket has a line for everything that a fill of a signed open order would
// leave on its chain: its name -> order id. It changes in the same commit as the
// order.
var twinBucket = []byte("twin")

// errTwin means that the fill of an order would look like that of another open one,
// so that one fill could be taken for both, or for the wrong one.
var errTwin = errors.New("another open order would look alike on the chain")

// signatureLen is the length of an ECDSA signature (r, s, v).
const signatureLen = 65

// leaves names what a fill of o would leave: the log that is searched for, and the
// nonce that it uses up. It is asked before o is signed, of which only the signature
// is missing: an order whose end nothing could prove is not signed.
func (e *Engine) leaves(o Order) ([]common.Hash, error) {
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
	names := []common.Hash{name(p.leaves()[0])}
	if p.Nonce != nil {
		names = append(names, name(p.Nonce))
	}
	return names, nil
}

// alone fails with errTwin if another order than the one given has one of those
// names.
func alone(tx *bolt.Tx, order string, names []common.Hash) error {
	for _, n := range names {
		if v := tx.Bucket(twinBucket).Get(n[:]); v != nil && string(v) != order {
			return errTwin
		}
	}
	return nil
}

// alone reports whether no other open order would look like one with those names.
func (j *Journal) alone(order string, names []common.Hash) error {
	return j.db.View(func(tx *bolt.Tx) error { return alone(tx, order, names) })
}

// writeTwins keeps what a fill of o would leave while o is signed and open.
func writeTwins(tx *bolt.Tx, o *Order) error {
	b := tx.Bucket(twinBucket)
	if !o.State.Final() {
		if err := alone(tx, o.ID, o.Leaves); err != nil {
			return err
		}
	}
	for _, n := range o.Leaves {
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
