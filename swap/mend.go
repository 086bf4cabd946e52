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

// ErrIndex: an index of the journal has an entry that cannot be read.
var ErrIndex = errors.New("an index of the orders is damaged")

// mendIndexes sees to those that say what orders say too: which are open, who was granted
// what, and what open orders need of an allowance. One letter that changed in an entry
// makes it none, or another that is as good to read: when the journal is opened each is
// held against its order. Those that ended are ever more: of them no more is read than
// the few bytes that say so, but where something is found.
func mendIndexes(tx *bolt.Tx) error {
	lines, err := mendOpen(tx)
	if err != nil {
		return err
	}
	if err := mendGrants(tx); err != nil {
		return err
	}
	return mendUses(tx, lines)
}

// mendOpen leaves in the index of open orders every one that has not ended, and nothing
// else: what is not in it is not resumed. Each is read, for the line of what it uses.
func mendOpen(tx *bolt.Tx) (lines useLines, err error) {
	open, lines := tx.Bucket(openBucket), useLines{}
	if err := drop(open, entries(open, func(k, _ []byte) bool { return !isID(k) || over(tx, string(k), lines) })); err != nil {
		return nil, err
	}
	for _, id := range entries(tx.Bucket(orderBucket), func(k, v []byte) bool {
		return isID(k) && !saysEnded(v) && open.Get(k) == nil && goesOn(tx, string(k), lines)
	}) {
		if err := open.Put(id, []byte{1}); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// useLines are what open orders use, as [useBucket] has it.
type useLines map[string][]byte

func (l useLines) add(o Order) {
	if u, ok := o.use(); ok {
		l[string(append(o.allowanceKey().bytes(), o.ID...))] = mustJSON(u)
	}
}

// over reports whether an order is none, or has ended, that is among the open ones. What
// cannot be read stays there.
func over(tx *bolt.Tx, id string, lines useLines) bool {
	o, err := read(tx, id)
	if err != nil {
		return errors.Is(err, &Refusal{Code: OrderUnknown})
	}
	lines.add(o)
	return o.State.ended()
}

// goesOn reports whether an order is open that is not among them. What the record of one
// that cannot be read said, its history says too.
func goesOn(tx *bolt.Tx, id string, lines useLines) bool {
	o, err := read(tx, id)
	if err != nil {
		return !lastState(tx, id).ended()
	}
	lines.add(o)
	return !o.State.Final()
}

// lastState is how an order stood by its newest line of history; "" if that says nothing.
func lastState(tx *bolt.Tx, id string) State {
	h := tx.Bucket(historyBucket)
	k := lastBefore(h.Cursor(), id+"0") // which follows id+"/"
	var e Entry
	if !bytes.HasPrefix(k, []byte(id+"/")) || json.Unmarshal(h.Get(k), &e) != nil {
		return ""
	}
	return e.State
}

// ended reports whether s is an end that this version knows: what a newer one keeps
// among the open orders stays there.
func (s State) ended() bool { r, known := rowOf(s); return known && len(r.Next) == 0 }

// saysEnded reports whether a record says, where [Order] has its state, that it ended. Of
// one that does not, or in which a provider's own words may be meant, it says nothing.
func saysEnded(record []byte) bool {
	const revision, state = `"revision":`, `,"state":"`
	_, rest, _ := bytes.Cut(record, []byte(revision))
	if bytes.Contains(rest, []byte(revision)) {
		return false
	}
	number, rest, _ := bytes.Cut(rest, []byte(state))
	name, _, closed := bytes.Cut(rest[:min(len(rest), wordRoom)], []byte(`"`))
	return closed && len(number) <= wordRoom && State(name).ended()
}

// wordRoom is more than a revision and the name of a state are long.
const wordRoom = 32

// mendGrants puts back into the index of grants what is missing of it, wherever an entry
// is not what an order says that it granted. Such an entry stays if it can be read: it may
// be of a step that was replaced since, and a grant too many is only looked at.
func mendGrants(tx *bolt.Tx) error {
	b, heard := tx.Bucket(grantBucket), witnesses{}
	var none [][]byte
	doubtful, all := map[string]bool{}, false
	entries(b, func(k, v []byte) bool {
		_, ok := readGrant(k)
		if !ok {
			none = append(none, bytes.Clone(k))
		}
		switch w := heard.ask(tx, string(v)); {
		case w.unknown || !ok && w.all == nil:
			all = true
		case !ok || w.all != nil && !slices.Contains(w.all, string(k)):
			doubtful[string(v)] = true
		}
		return false
	})
	if err := drop(b, none); err != nil {
		return err
	}
	made := map[string]string{} // of two orders that granted the same, the newer one
	for _, id := range entries(tx.Bucket(orderBucket), func(k, _ []byte) bool { return isID(k) && (all || doubtful[string(k)]) }) {
		o, err := read(tx, string(id))
		if err != nil {
			continue // it is listed as unreadable
		}
		for _, k := range o.grantKeys(0) {
			made[string(k)] = o.ID
		}
	}
	for k, id := range made {
		if was := b.Get([]byte(k)); was != nil && !heard.ask(tx, string(was)).unknown {
			continue // it knows which of two orders granted last
		}
		if err := b.Put([]byte(k), []byte(id)); err != nil {
			return err
		}
	}
	return nil
}

// witnesses are what the orders say that the index of grants names: each is read once.
type witnesses map[string]testimony

// A testimony of one that cannot be read is empty, which contradicts nothing.
type testimony struct {
	all     []string // the keys of what its steps grant, done or not: a step that began again was granted before
	unknown bool     // there is no such order
}

func (w witnesses) ask(tx *bolt.Tx, id string) testimony {
	said, heard := w[id]
	if heard {
		return said
	}
	o, err := read(tx, id)
	said.unknown = errors.Is(err, &Refusal{Code: OrderUnknown})
	if err == nil {
		said.all = []string{}
		for _, s := range o.Plan.Steps {
			if k, ok := o.grantedBy(s); ok {
				said.all = append(said.all, string(k))
			}
		}
	}
	w[id] = said
	return said
}

// mendUses makes the lines of all open orders those that they give. One of an order that
// cannot be read stays, and holds its allowance if it cannot be read either: the order may
// be between its approval and its pull.
func mendUses(tx *bolt.Tx, lines useLines) error {
	b := tx.Bucket(useBucket)
	var none [][]byte
	for _, k := range entries(b, func(k, _ []byte) bool { return lines[string(k)] == nil }) {
		id := string(k[min(allowanceKeyLen, len(k)):])
		if _, err := read(tx, id); !errors.Is(err, ErrUnreadable) {
			none = append(none, k)
			continue
		}
		u, err := decodeUse(b.Get(k))
		if err != nil || u.Order != id || !bytes.Equal(mustJSON(u), b.Get(k)) {
			lines[string(k)] = mustJSON(Use{Order: id, Amount: new(big.Int), Holds: true})
		}
	}
	if err := drop(b, none); err != nil {
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
