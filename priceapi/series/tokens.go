package series

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// A table assigns each token its index in the rows, in order of arrival. Tables only grow,
// and a shared one is never changed.
//
// The chain of the first n tokens is a hash over them in order. A row carries the chain of
// its tokens, so a row written for other tokens is ignored, whatever happened to the file.
type table struct {
	ids    []price.ID // chain ID 0: the token of that index is lost
	chains []uint64   // hash chain of the tokens up to and including each
	index  map[price.ID]int
}

const (
	tokenKind = 'T'
	idSize    = 8 + common.AddressLength
	tokenSize = 1 + 4 + 8 + sumSize
)

func idKey(id price.ID) []byte {
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, idSize), id.Chain), id.Address[:]...)
}

func parseID(key []byte) (price.ID, bool) {
	if len(key) != idSize {
		return price.ID{}, false
	}
	return price.ID{Chain: binary.BigEndian.Uint64(key), Address: common.BytesToAddress(key[8:])}, true
}

// sealed appends a CRC32C of the key and the record.
func sealed(key, record []byte) []byte {
	return binary.LittleEndian.AppendUint32(record, crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, record))
}

// unsealed checks the CRC, kind and size, and removes the CRC.
func unsealed(key, b []byte, kind byte, size int) ([]byte, bool) {
	if len(b) != size || b[0] != kind {
		return nil, false
	}
	return b[:size-sumSize], bytes.Equal(sealed(key, b[:size-sumSize:size-sumSize])[size-sumSize:], b[size-sumSize:])
}

// A tokenRecord is a token's record in the file.
type tokenRecord struct {
	id    price.ID
	index int
	chain uint64
}

func (r tokenRecord) encode() (key, value []byte) {
	key = idKey(r.id)
	value = binary.LittleEndian.AppendUint32([]byte{tokenKind}, uint32(r.index))
	return key, sealed(key, binary.LittleEndian.AppendUint64(value, r.chain))
}

func parseToken(key, value []byte) (r tokenRecord, ok bool) {
	b, ok := unsealed(key, value, tokenKind, tokenSize)
	if !ok {
		return r, false
	}
	id, ok := parseID(key)
	r = tokenRecord{id, int(binary.LittleEndian.Uint32(b[1:])), binary.LittleEndian.Uint64(b[5:])}
	return r, ok && r.index < maxTokens
}

// readTable reads the table from both copies.
func readTable(tx *bolt.Tx) *table {
	var all []tokenRecord
	for _, name := range tokenBuckets {
		c := tx.Bucket(name).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if r, ok := parseToken(k, v); ok {
				all = append(all, r)
			}
		}
	}
	return newTable(all)
}

// newTable builds a table from records. The first of contradicting records counts; an index
// without a record is lost.
func newTable(all []tokenRecord) *table {
	t := &table{index: map[price.ID]int{}}
	size := 0
	for _, r := range all {
		size = max(size, r.index+1)
	}
	t.ids, t.chains = make([]price.ID, size), make([]uint64, size)
	for _, r := range all {
		if _, twice := t.index[r.id]; twice || r.id.Chain == 0 || t.ids[r.index].Chain != 0 {
			continue
		}
		t.ids[r.index], t.chains[r.index], t.index[r.id] = r.id, r.chain, r.index
	}
	return t
}

// chainAt returns the hash chain of the first n tokens.
func (t *table) chainAt(n int) uint64 {
	if n == 0 {
		return 0
	}
	return t.chains[n-1]
}

// matches reports whether a row belongs to the tokens of this table.
func (t *table) matches(h header) bool {
	return h.count <= len(t.ids) && h.tokens == t.chainAt(h.count)
}

// extendChain returns the hash chain extended by one token.
func extendChain(before uint64, id price.ID) uint64 {
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, before), idKey(id)...))
	return binary.LittleEndian.Uint64(h[:])
}

// addTokens assigns indices to new tokens. Errors: ErrTokens.
func (e *edit) addTokens(ids []price.ID) error {
	ids = slices.DeleteFunc(ids, func(id price.ID) bool {
		_, known := e.tokens.index[id]
		return known || id.Chain == 0
	})
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	t := &table{ids: slices.Clone(e.tokens.ids), chains: slices.Clone(e.tokens.chains), index: maps.Clone(e.tokens.index)}
	if len(t.ids)+len(ids) > maxTokens {
		return fmt.Errorf("%w, and %d more came", ErrTokens, len(ids))
	}
	for _, id := range ids {
		r := tokenRecord{id, len(t.ids), extendChain(t.chainAt(len(t.ids)), id)}
		t.ids, t.chains, t.index[id] = append(t.ids, id), append(t.chains, r.chain), r.index
		if err := e.putToken(r); err != nil {
			return err
		}
	}
	e.tokens = t
	return nil
}

func (e *edit) putToken(r tokenRecord) error {
	e.changed = true
	key, value := r.encode()
	for _, name := range tokenBuckets {
		if err := e.tx.Bucket(name).Put(key, value); err != nil {
			return err
		}
	}
	return nil
}

func compareIDs(a, b price.ID) int {
	return cmp.Or(cmp.Compare(a.Chain, b.Chain), bytes.Compare(a.Address[:], b.Address[:]))
}
