package journal

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"
)

// An owner is an order within a transaction. The buckets of its methods, but for append's,
// have the id of the order that owns a key.
type owner struct {
	tx *bolt.Tx
	id string
}

// othersHave reports whether another order owns a key.
func (w owner) othersHave(bucket, key []byte) bool {
	v := w.tx.Bucket(bucket).Get(key)
	return v != nil && string(v) != w.id
}

// othersHaveUnder reports whether another order owns a key that begins with prefix.
func (w owner) othersHaveUnder(bucket, prefix []byte) bool {
	c := w.tx.Bucket(bucket).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if string(v) != w.id {
			return true
		}
	}
	return false
}

// take makes the order the owner of a key.
func (w owner) take(bucket, key []byte) error {
	return w.tx.Bucket(bucket).Put(key, []byte(w.id))
}

// release deletes a key if the order owns it.
func (w owner) release(bucket, key []byte) error {
	b := w.tx.Bucket(bucket)
	if !bytes.Equal(b.Get(key), []byte(w.id)) {
		return nil
	}
	return b.Delete(key)
}

// append puts a value under the order's id and the bucket's next number.
func (w owner) append(bucket, value []byte) error {
	b := w.tx.Bucket(bucket)
	n, err := b.NextSequence()
	if err != nil {
		return err
	}
	return b.Put(binary.BigEndian.AppendUint64([]byte(w.id+"/"), n), value)
}
