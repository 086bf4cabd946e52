package series

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// audited checks the bytes of a file.
func audited(file []byte) *audit {
	a := &audit{from: bytes.NewReader(file), size: int64(len(file))}
	a.check()
	return a
}

// A layout tells where things are in a sound file, according to bbolt.
type layout struct {
	page, free        int64
	meta              int64            // of the newest meta page
	roots             map[string]int64 // root page of each bucket
	secondLeaf        int64            // of the minutes
	branch, rootsLeaf int64
}

func layoutOf(t *testing.T, file []byte) (l layout) {
	t.Helper()
	path := t.TempDir() + "/prices.db"
	ok(t, os.WriteFile(path, file, 0o600))
	db, err := bolt.Open(path, 0o600, nil)
	ok(t, err)
	l.page, l.roots = int64(db.Info().PageSize), map[string]int64{}
	ok(t, db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error { l.roots[string(name)] = int64(b.Root()); return nil })
	}))
	ok(t, db.Close())
	newest := uint64(0)
	for _, at := range []int64{0, l.page} {
		if tx := u64(file[at+pageHeader+48:]); tx >= newest {
			newest, l.meta = tx, at+pageHeader
		}
	}
	l.free, l.rootsLeaf = int64(u64(file[l.meta+32:])), int64(u64(file[l.meta+16:]))
	l.branch = l.roots["minutes.1620"]
	l.secondLeaf = int64(u64(file[l.branch*l.page+pageHeader+elementSize+8:]))
	return l
}

// TestAudit checks that every kind of damage that would mislead bbolt is found.
func TestAudit(t *testing.T) {
	good, _ := validFile(t)
	l := layoutOf(t, good)
	put := func(f []byte, at int64, n uint64) { binary.NativeEndian.PutUint64(f[at:], n) }
	sum := func(f []byte) {
		h := fnv.New64a()
		_, _ = h.Write(f[l.meta : l.meta+56])
		put(f, l.meta+56, h.Sum64())
	}
	// rootOf returns the offset at which a bucket's root page is stored.
	rootOf := func(f []byte, name string) int64 {
		at := l.rootsLeaf * l.page
		return at + int64(bytes.Index(f[at:], binary.NativeEndian.AppendUint64([]byte(name), uint64(l.roots[name])))+len(name))
	}
	for _, c := range []struct {
		name, want string
		spoil      func(f []byte)
	}{
		{"nothing", "", func([]byte) {}},
		{"a page in use is free", "is not free", func(f []byte) { put(f, l.free*l.page+pageHeader, uint64(l.branch)) }},
		{"a page is free twice", "is not free", func(f []byte) {
			put(f, l.free*l.page+pageHeader, u64(f[l.free*l.page+pageHeader+8:]))
		}},
		{"more free pages than pages", "damaged", func(f []byte) { f[l.free*l.page+10], f[l.free*l.page+11] = 0xfe, 0xff }},
		{"two buckets share a page", "is used twice", func(f []byte) { put(f, rootOf(f, "quarters.776"), uint64(l.roots["hours.770"])) }},
		{"a bucket is no page", "not in the file", func(f []byte) { put(f, rootOf(f, "quarters.776"), 1<<63) }},
		{"a bucket is a meta page", "not in the file", func(f []byte) { put(f, rootOf(f, "quarters.776"), 1) }},
		{"a tree is its own branch", "is used twice", func(f []byte) { put(f, l.branch*l.page+pageHeader+8, uint64(l.branch)) }},
		{"a leaf begins elsewhere", "out of order", func(f []byte) {
			leaf := l.secondLeaf * l.page
			f[leaf+pageHeader+u32(f[leaf+pageHeader+4:])+3]++
		}},
		{"a key is longer", "page", func(f []byte) { f[l.secondLeaf*l.page+pageHeader+8]++ }},
		{"more pages than bytes", "the file ends", func(f []byte) { put(f, l.meta+40, u64(f[l.meta+40:])+10_000); sum(f) }},
		{"no list of free pages", "not in the file", func(f []byte) { put(f, l.meta+32, ^uint64(0)); sum(f) }},
		{"no root", "not in the file", func(f []byte) { put(f, l.meta+16, 1<<40); sum(f) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := bytes.Clone(good)
			c.spoil(f)
			switch a := audited(f); {
			case c.want == "" && a.problem != nil:
				t.Error(a.problem)
			case c.want != "" && (a.problem == nil || !strings.Contains(a.problem.Error(), c.want)):
				t.Errorf("problem: %v; want %q", a.problem, c.want)
			case a.version != 1 && c.name != "no root":
				t.Errorf("schema %d", a.version)
			}
		})
	}
}

// TestMovedBlocks checks that a block moved within a row or from another row counts as
// damaged.
func TestMovedBlocks(t *testing.T) {
	entries := func(n int) []byte {
		b := blank(price.Minutes, 2*perBlock)
		for i := range 2 * perBlock {
			sample{worth(n+i, noon).Pack(), price.DIA, 5}.put(b[i*minuteSize:], 5)
		}
		return b
	}
	one := encode(header{res: price.Minutes, at: 5}, entries(0))
	two := encode(header{res: price.Minutes, at: 6}, entries(100))
	const size = perBlock*minuteSize + sumSize
	swapped := slices.Concat(one[:headerSize], one[headerSize+size:], one[headerSize:headerSize+size])
	mixed := slices.Concat(one[:headerSize+size], two[headerSize+size:])
	for name, c := range map[string]struct {
		b    []byte
		want int
	}{"unchanged file": {one, 32}, "swapped": {swapped, 0}, "mixed": {mixed, 16}} {
		r, ok := readRow(c.b)
		n := 0
		r.each(func(int, []byte) { n++ })
		if !ok || n != c.want {
			t.Errorf("%s: %t, %d entries, want %d", name, ok, n, c.want)
		}
	}
}

// TestLostTokens checks that the index of a lost token is never reused and other tokens
// keep theirs.
func TestLostTokens(t *testing.T) {
	for _, copies := range []int{1, 2} {
		s, h := begin(t)
		run(t, s, h, 20, noon.Add(5*time.Minute))
		lost := s.tokens.Load().ids[7]
		ok(t, s.db.Update(func(tx *bolt.Tx) error {
			for _, name := range tokenBuckets[:copies] {
				if err := tx.Bucket(name).Delete(idKey(lost)); err != nil {
					return err
				}
			}
			return nil
		}))
		ok(t, s.Close())
		s = open(t, s.path, h)
		last, err := s.Last(t.Context())
		ok(t, err)
		if len(last) != 21-copies {
			t.Errorf("%d copies lost: %d tokens", copies, len(last))
		}
		h.move(time.Minute)
		appended(t, s, minute(h.now(), 20))
		ok(t, s.Close())
		s = open(t, s.path, h)
		if got, want := s.tokens.Load().index[lost], map[int]int{1: 7, 2: 20}[copies]; got != want {
			t.Errorf("%d copies lost: index %d, want %d", copies, got, want)
		}
		for n := range 20 {
			if cs := chart(t, s, n, "24h", h.now()); len(cs) == 0 || cs[len(cs)-1].Close != worth(n, h.now()) {
				t.Errorf("%d copies lost: token %d: %v", copies, n, cs)
			}
		}
	}
}

// TestCommitOfUnknownEnd covers a commit that is in the file although the system reported a
// failure: its tokens keep their indices.
func TestCommitOfUnknownEnd(t *testing.T) {
	s, _ := begin(t)
	ok(t, s.db.Update(func(tx *bolt.Tx) error {
		e := &edit{tx: tx, rings: s.rings, tokens: s.tokens.Load(), now: minuteOf(noon)}
		return e.appendMinute(e.now, minute(noon, 3))
	}))
	s.reread = true
	m := minute(noon.Add(time.Minute), 9)
	delete(m.Samples, token(0))
	appended(t, s, m)
	if got := len(s.tokens.Load().ids); got != 9 || s.reread {
		t.Errorf("%d tokens, reread %t", got, s.reread)
	}
	last, err := s.Last(t.Context())
	if err != nil || last[token(0)].Value != worth(0, noon) {
		t.Errorf("Last has %v, %v; want %v", last[token(0)], err, worth(0, noon))
	}
}

// TestChartOfThePast checks that a candle closed later shows only what was known at the
// given time.
func TestChartOfThePast(t *testing.T) {
	s, h := begin(t)
	run(t, s, h, 1, noon.Add(70*time.Minute))
	then := noon.Add(10 * time.Minute)
	for _, period := range []string{"24h", "week", "month"} {
		got := chart(t, s, 0, period, then)
		if len(got) == 0 || got[len(got)-1].Close != worth(0, then) {
			t.Errorf("%s: %v, want %v as the last close", period, got, worth(0, then))
		}
	}
}
