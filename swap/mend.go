package swap

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// ErrIndex: an index of the journal has an entry that cannot be read.
var ErrIndex = errors.New("an index of the orders is damaged")

// mendIndexes sees to the two that say what orders say too: who was granted what, and what
// open orders need of an allowance. What cannot be read of them stops all that asks about
// its account, for as long as it is there. When the journal is opened it goes, and what
// it said is read of the orders again.
func mendIndexes(tx *bolt.Tx) error {
	if err := mendGrants(tx); err != nil {
		return err
	}
	return mendUses(tx)
}

// mendGrants makes the index of grants anew if something in it is none. What is sound of
// it stays: it knows which of two orders granted last, of others the newer one counts.
func mendGrants(tx *bolt.Tx) error {
	b := tx.Bucket(grantBucket)
	sound := map[string][]byte{}
	damaged := entries(b, func(k, v []byte) bool {
		if _, ok := readGrant(k); !ok {
			return true
		}
		sound[string(k)] = bytes.Clone(v)
		return false
	})
	if len(damaged) == 0 {
		return nil
	}
	if err := drop(b, damaged); err != nil {
		return err
	}
	for _, id := range entries(tx.Bucket(orderBucket), func(k, _ []byte) bool { return isID(k) }) {
		o, err := read(tx, string(id))
		if err != nil {
			continue // it is listed as unreadable
		}
		if err := writeGrants(tx, Order{}, &o); err != nil {
			return err
		}
	}
	for k, v := range sound {
		if err := b.Put([]byte(k), v); err != nil {
			return err
		}
	}
	return nil
}

// mendUses reads of its order what a line that cannot be read said. One that cannot be read
// either holds its allowance: it may be between its approval and its pull.
func mendUses(tx *bolt.Tx) error {
	b := tx.Bucket(useBucket)
	for _, k := range entries(b, func(k, v []byte) bool {
		u, err := decodeUse(v)
		return err != nil || len(k) < allowanceKeyLen || string(k[allowanceKeyLen:]) != u.Order
	}) {
		id := string(k[min(allowanceKeyLen, len(k)):])
		o, err := read(tx, id)
		u, open := o.use()
		switch {
		case errors.Is(err, ErrUnreadable):
			err = b.Put(k, mustJSON(Use{Order: id, Amount: new(big.Int), Holds: true}))
		case err == nil && open && bytes.Equal(k, append(o.allowanceKey().bytes(), id...)):
			err = b.Put(k, mustJSON(u))
		case err == nil || errors.Is(err, &Refusal{Code: OrderUnknown}):
			err = b.Delete(k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries are the keys of a bucket's entries that are such.
func entries(b *bolt.Bucket, such func(k, v []byte) bool) (keys [][]byte) {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v != nil && such(k, v) { // else a bucket within
			keys = append(keys, bytes.Clone(k))
		}
	}
	return keys
}

func drop(b *bolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// readGrant reads a key of the index of grants as grantKey writes it.
func readGrant(k []byte) (g grant, ok bool) {
	const token = common.AddressLength + 8
	const spender, kind = token + common.AddressLength, token + 2*common.AddressLength
	if len(k) < kind {
		return g, false
	}
	g = grant{common.BytesToAddress(k[token:spender]), common.BytesToAddress(k[spender:kind]), AllowanceKind(k[kind:])}
	return g, g.Kind == ByToken || g.Kind == ByPermit2
}
