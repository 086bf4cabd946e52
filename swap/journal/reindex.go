package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"

	"swapkeep/swap"

	bolt "go.etcd.io/bbolt"
)

// ErrIndex means that an index entry of the journal cannot be read.
var ErrIndex = errors.New("an index of the orders is damaged")

// reindex makes the indexes that repeat what orders say, since index entries may be
// corrupt, also in a way that still decodes. The indexes of open orders and of their uses
// are rebuilt. That of grants is repaired, since an order's record does not keep every
// grant. Ended orders only grow in number: of each only the few bytes that hold its
// state are decoded.
func reindex(tx *bolt.Tx) error {
	open, uses := map[string][]byte{}, useLines{}
	for _, id := range selectKeys(tx.Bucket(orderBucket), func(k, v []byte) bool { return isID(k) && mustResume(tx, k, v, uses) }) {
		open[string(id)] = []byte{1}
	}
	keepUnreadableUses(tx, uses)
	if err := refill(tx, openBucket, open); err != nil {
		return err
	}
	if err := refill(tx, useBucket, uses); err != nil {
		return err
	}
	return reindexGrants(tx)
}

// refill gives a bucket exactly these entries.
func refill(tx *bolt.Tx, bucket []byte, entries map[string][]byte) error {
	if err := tx.DeleteBucket(bucket); err != nil {
		return err
	}
	b, err := tx.CreateBucket(bucket)
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		if err := b.Put([]byte(k), entries[k]); err != nil {
			return err
		}
	}
	return nil
}

// mustResume reports whether an order belongs into the index of open orders: otherwise it is not
// resumed. If its record cannot be read, that index and its history decide; if it is in a
// state of a newer version, that index. A readable order's use is added to uses.
func mustResume(tx *bolt.Tx, id, record []byte, uses useLines) bool {
	listed := tx.Bucket(openBucket).Get(id) != nil
	if !listed && recordEnded(record) {
		return false
	}
	o, err := read(tx, string(id))
	if err != nil {
		return listed || !lastState(tx, string(id)).KnownFinal()
	}
	uses.add(o)
	return o.Watched() || listed && o.State.Final() && !o.State.KnownFinal()
}

// useLines are the entries of [useBucket] that open orders have, by key.
type useLines map[string][]byte

func (l useLines) add(o swap.Order) {
	if u, ok := needOf(o); ok {
		l[string(append(allowanceKeyOf(o).Bytes(), o.ID...))] = swap.MustJSON(u)
	}
}

// lastState returns the state in an order's newest history entry; "" if unreadable.
func lastState(tx *bolt.Tx, id string) swap.State {
	h := tx.Bucket(historyBucket)
	k := lastBefore(h.Cursor(), id+"0") // the key after every key with prefix id+"/"
	var e Entry
	if !bytes.HasPrefix(k, []byte(id+"/")) || json.Unmarshal(h.Get(k), &e) != nil {
		return ""
	}
	return e.State
}

// recordEnded reports whether a record has a final state where [swap.Order] encodes it, without
// decoding it. It is false if a provider's text may repeat that pattern.
func recordEnded(record []byte) bool {
	const revision, state = `"revision":`, `,"state":"`
	_, rest, _ := bytes.Cut(record, []byte(revision))
	if bytes.Contains(rest, []byte(revision)) {
		return false
	}
	number, rest, _ := bytes.Cut(rest, []byte(state))
	name, _, closed := bytes.Cut(rest[:min(len(rest), maxStateField)], []byte(`"`))
	return closed && len(number) <= maxStateField && swap.State(name).KnownFinal()
}

// maxStateField is more bytes than a revision number or the name of a state has.
const maxStateField = 32

// reindexGrants repairs the index of grants. Where an entry contradicts its order, that
// order's missing entries are added; where its order is unknown, every order's. An
// unreadable key is deleted. A contradicted entry stays: it may be of a step that was
// replaced since, and one grant too many only costs a look-up.
func reindexGrants(tx *bolt.Tx) error {
	b, heard := tx.Bucket(grantBucket), grantsByOrder{}
	var none [][]byte
	doubtful, all := map[string]bool{}, false
	selectKeys(b, func(k, v []byte) bool {
		_, ok := readGrant(k)
		if !ok {
			none = append(none, bytes.Clone(k))
		}
		switch w := heard.load(tx, string(v)); {
		case w.noOrder || !ok && w.keys == nil:
			all = true
		case !ok || w.keys != nil && !slices.Contains(w.keys, string(k)):
			doubtful[string(v)] = true
		}
		return false
	})
	for _, k := range none {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	made := map[string]string{} // of two orders that granted the same, the newer
	for _, id := range selectKeys(tx.Bucket(orderBucket), func(k, _ []byte) bool { return isID(k) && (all || doubtful[string(k)]) }) {
		o, err := read(tx, string(id))
		if err != nil {
			continue // lists show it as unreadable
		}
		for _, k := range grantKeys(o, 0) {
			made[string(k)] = o.ID
		}
	}
	for k, id := range made {
		if was := b.Get([]byte(k)); was != nil && !heard.load(tx, string(was)).noOrder {
			continue // the entry says which of two orders granted last
		}
		if err := b.Put([]byte(k), []byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// grantsByOrder are the grants of the orders that the index names, by id, read once.
type grantsByOrder map[string]orderGrants

// A orderGrants is the grants of one order; empty, it contradicts nothing.
type orderGrants struct {
	keys    []string // keys of all steps' grants, done or not, since a repeated step may have granted before; nil = unreadable
	noOrder bool     // there is no such order
}

func (w grantsByOrder) load(tx *bolt.Tx, id string) orderGrants {
	said, heard := w[id]
	if heard {
		return said
	}
	o, err := read(tx, id)
	said.noOrder = errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown})
	if err == nil {
		said.keys = []string{}
		for _, s := range o.Plan.Steps {
			if k, ok := grantedBy(o, s); ok {
				said.keys = append(said.keys, string(k))
			}
		}
	}
	w[id] = said
	return said
}

// keepUnreadableUses adds to uses the entries of orders that cannot be read, since such an
// order may be between its approval and its pull. An entry that cannot be read either
// becomes one that locks the allowance.
func keepUnreadableUses(tx *bolt.Tx, uses useLines) {
	b := tx.Bucket(useBucket)
	for _, k := range selectKeys(b, func(k, _ []byte) bool { return uses[string(k)] == nil }) {
		id := string(k[min(allowanceKeyLen, len(k)):])
		if _, err := read(tx, id); !errors.Is(err, ErrUnreadable) {
			continue
		}
		v := bytes.Clone(b.Get(k))
		if u, err := decodeUse(v); err != nil || u.Order != id || !bytes.Equal(swap.MustJSON(u), v) {
			v = swap.MustJSON(Use{Order: id, Amount: new(big.Int), AllowanceLocked: true})
		}
		uses[string(k)] = v
	}
}

// selectKeys returns the keys of the bucket's entries that such selects.
func selectKeys(b *bolt.Bucket, such func(k, v []byte) bool) (keys [][]byte) {
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if v != nil && such(k, v) { // nil for a nested bucket
			keys = append(keys, bytes.Clone(k))
		}
	}
	return keys
}
