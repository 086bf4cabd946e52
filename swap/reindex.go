package swap

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// ErrIndex means that an index entry of the journal cannot be read.
var ErrIndex = errors.New("an index of the orders is damaged")

// reindex repairs the indexes that repeat what orders say: which orders are open,
// which allowances they granted, and which the open ones need. Index entries may be
// corrupt, also in a way that still decodes, so each is compared with its order when the
// journal is opened. Ended orders only grow in number: of each only the few bytes that
// hold its state are read, unless something is wrong.
func reindex(tx *bolt.Tx) error {
	lines, err := reindexOpen(tx)
	if err != nil {
		return err
	}
	if err := reindexGrants(tx); err != nil {
		return err
	}
	return reindexUses(tx, lines)
}

// reindexOpen makes the index of open orders list exactly those that have not ended: an
// order that it does not list is not resumed. It returns their entries in the index of
// uses, since it reads each of them anyway.
func reindexOpen(tx *bolt.Tx) (lines useLines, err error) {
	open, lines := tx.Bucket(openBucket), useLines{}
	if err := deleteKeys(open, selectKeys(open, func(k, _ []byte) bool { return !isID(k) || staleOpenEntry(tx, string(k), lines) })); err != nil {
		return nil, err
	}
	for _, id := range selectKeys(tx.Bucket(orderBucket), func(k, v []byte) bool {
		return isID(k) && !recordEnded(v) && open.Get(k) == nil && missingOpenEntry(tx, string(k), lines)
	}) {
		if err := open.Put(id, []byte{1}); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// useLines are the entries of [useBucket] that open orders have, by key.
type useLines map[string][]byte

func (l useLines) add(o Order) {
	if u, ok := o.use(); ok {
		l[string(append(o.allowanceKey().bytes(), o.ID...))] = mustJSON(u)
	}
}

// staleOpenEntry reports whether an entry of the open index belongs to no order or to an ended one.
// An entry whose order cannot be read stays. Any other order's use is added to lines.
func staleOpenEntry(tx *bolt.Tx, id string, lines useLines) bool {
	o, err := read(tx, id)
	if err != nil {
		return errors.Is(err, &Refusal{Code: OrderUnknown})
	}
	lines.add(o)
	return o.State.knownFinal()
}

// missingOpenEntry reports whether an order that is missing from the open index is open. If its
// record cannot be read, its history decides. Else its use is added to lines.
func missingOpenEntry(tx *bolt.Tx, id string, lines useLines) bool {
	o, err := read(tx, id)
	if err != nil {
		return !lastState(tx, id).knownFinal()
	}
	lines.add(o)
	return !o.State.Final()
}

// lastState returns the state in an order's newest history entry; "" if unreadable.
func lastState(tx *bolt.Tx, id string) State {
	h := tx.Bucket(historyBucket)
	k := lastBefore(h.Cursor(), id+"0") // the key after every key with prefix id+"/"
	var e Entry
	if !bytes.HasPrefix(k, []byte(id+"/")) || json.Unmarshal(h.Get(k), &e) != nil {
		return ""
	}
	return e.State
}

// knownFinal reports whether s is a final state that this version knows. An order in a state
// of a newer version stays in the open index.
func (s State) knownFinal() bool { r, known := rowOf(s); return known && len(r.Next) == 0 }

// recordEnded reports whether a record has a final state where [Order] encodes it, without
// decoding it. It is false if a provider's text may repeat that pattern.
func recordEnded(record []byte) bool {
	const revision, state = `"revision":`, `,"state":"`
	_, rest, _ := bytes.Cut(record, []byte(revision))
	if bytes.Contains(rest, []byte(revision)) {
		return false
	}
	number, rest, _ := bytes.Cut(rest, []byte(state))
	name, _, closed := bytes.Cut(rest[:min(len(rest), maxStateField)], []byte(`"`))
	return closed && len(number) <= maxStateField && State(name).knownFinal()
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
	if err := deleteKeys(b, none); err != nil {
		return err
	}
	made := map[string]string{} // of two orders that granted the same, the newer
	for _, id := range selectKeys(tx.Bucket(orderBucket), func(k, _ []byte) bool { return isID(k) && (all || doubtful[string(k)]) }) {
		o, err := read(tx, string(id))
		if err != nil {
			continue // lists show it as unreadable
		}
		for _, k := range o.grantKeys(0) {
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
	said.noOrder = errors.Is(err, &Refusal{Code: OrderUnknown})
	if err == nil {
		said.keys = []string{}
		for _, s := range o.Plan.Steps {
			if k, ok := o.grantedBy(s); ok {
				said.keys = append(said.keys, string(k))
			}
		}
	}
	w[id] = said
	return said
}

// reindexUses makes the index of uses hold exactly lines. The entry of an order that cannot
// be read stays, since the order may be between its approval and its pull; if the entry
// cannot be read either, it is replaced by one that locks the allowance.
func reindexUses(tx *bolt.Tx, lines useLines) error {
	b := tx.Bucket(useBucket)
	var none [][]byte
	for _, k := range selectKeys(b, func(k, _ []byte) bool { return lines[string(k)] == nil }) {
		id := string(k[min(allowanceKeyLen, len(k)):])
		if _, err := read(tx, id); !errors.Is(err, ErrUnreadable) {
			none = append(none, k)
			continue
		}
		u, err := decodeUse(b.Get(k))
		if err != nil || u.Order != id || !bytes.Equal(mustJSON(u), b.Get(k)) {
			lines[string(k)] = mustJSON(Use{Order: id, Amount: new(big.Int), AllowanceLocked: true})
		}
	}
	if err := deleteKeys(b, none); err != nil {
		return err
	}
	for k, v := range lines {
		if bytes.Equal(b.Get([]byte(k)), v) {
			continue
		}
		if err := b.Put([]byte(k), v); err != nil {
			return err
		}
	}
	return nil
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

func deleteKeys(b *bolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// readGrant decodes a key of the index of grants, as grantKey encodes it.
func readGrant(k []byte) (g grant, ok bool) {
	const token = common.AddressLength + 8
	const spender, kind = token + common.AddressLength, token + 2*common.AddressLength
	if len(k) < kind {
		return g, false
	}
	g = grant{common.BytesToAddress(k[token:spender]), common.BytesToAddress(k[spender:kind]), AllowanceKind(k[kind:])}
	return g, g.Kind == ByToken || g.Kind == ByPermit2
}
