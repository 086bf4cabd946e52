package journal

import (
	"encoding/binary"
	"errors"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// isolatedBucket has every isolated account that an order used or a restore found, by which
// the wallet knows its own payments, locked or not.
var isolatedBucket = []byte("isolated")

// foundBucket has chain ‖ account of the isolated accounts that a restore of a wallet found
// used, and of which no order here knows, until they were looked at for what is left.
var foundBucket = []byte("found")

// A Found account is an isolated account on one chain.
type Found struct {
	Chain   uint64
	Account common.Address
}

func (f Found) key() []byte {
	return append(binary.BigEndian.AppendUint64(nil, f.Chain), f.Account[:]...)
}

// AddFound records accounts to be looked at.
func (j *Journal) AddFound(all []Found) error {
	return j.update(func(tx *bolt.Tx) error {
		for _, f := range all {
			if err := errors.Join(tx.Bucket(foundBucket).Put(f.key(), []byte{1}), tx.Bucket(isolatedBucket).Put(f.Account[:], []byte{1})); err != nil {
				return err
			}
		}
		return nil
	})
}

// Found returns the accounts that are still to be looked at.
func (j *Journal) Found() (all []Found, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		for _, k := range selectKeys(tx.Bucket(foundBucket), func(k, _ []byte) bool { return len(k) == 8+common.AddressLength }) {
			all = append(all, Found{binary.BigEndian.Uint64(k), common.BytesToAddress(k[8:])})
		}
		return nil
	})
	return all, err
}

// DropFound removes an account in which nothing is left that can be moved.
func (j *Journal) DropFound(f Found) error {
	return j.update(func(tx *bolt.Tx) error { return tx.Bucket(foundBucket).Delete(f.key()) })
}

// putIsolated records the isolated account of a new order.
func putIsolated(tx *bolt.Tx, t swap.Terms) error {
	if !t.IsIsolated() {
		return nil
	}
	return tx.Bucket(isolatedBucket).Put(t.Isolated[:], []byte{1})
}

// IsIsolated reports whether an account is an isolated one of the wallet. One whose record
// cannot be read counts as one.
func (j *Journal) IsIsolated(a common.Address) bool {
	is := false
	err := j.db.View(func(tx *bolt.Tx) error {
		is = tx.Bucket(isolatedBucket).Get(a[:]) != nil
		return nil
	})
	return is || err != nil
}
