package series

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

const tornTokens = 150 // the row of a minute takes half a page, that of a candle more than one

// validFile returns a file with some hours of minutes.
func validFile(t testing.TB) (file []byte, end time.Time) {
	t.Helper()
	h := newFakeClock(noon)
	s := open(t, filepath.Join(t.TempDir(), "prices.db"), h)
	s.db.NoSync = true
	run(t, s, h, tornTokens, noon.Add(2*time.Hour))
	ok(t, s.SetFacts(t.Context(), map[price.ID]price.Facts{token(1): {Holders: 7}}))
	ok(t, s.Close())
	file, err := os.ReadFile(s.path)
	ok(t, err)
	return file, h.now()
}

// opened opens a damaged file twice and checks that it is sound the second time.
func opened(t *testing.T, name string, file []byte, end time.Time) *Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prices.db")
	ok(t, os.WriteFile(path, file, 0o600))
	h := newFakeClock(end)
	s, err := Open(path, Options{Now: h.now})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	damage := s.Damage()
	if aside, _ := filepath.Glob(path + damagedSuffix + "*"); (len(aside) == 1) != (damage != "") {
		t.Fatalf("%s: %q, and set aside: %v", name, damage, aside)
	}
	ok(t, s.Close())
	s = open(t, path, h)
	if s.Damage() != "" {
		t.Fatalf("%s: damaged again after %q: %s", name, damage, s.Damage())
	}
	return s
}

// countMinutes counts a token's readable minutes and fails if one is wrong.
func countMinutes(t *testing.T, name string, s *Store, n int, end time.Time) int {
	t.Helper()
	p := price.Period{Name: "minutes", Span: 3 * time.Hour, Step: time.Minute, Raw: price.Minutes}
	cs, err := s.Chart(t.Context(), token(n), p, end)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, c := range cs {
		if c != flat(c.At, worth(n, c.At)) {
			t.Fatalf("%s: token %d: %v is not true", name, n, c)
		}
	}
	return len(cs)
}

// TestTruncated cuts a file at every page and checks that work continues.
func TestTruncated(t *testing.T) {
	t.Parallel()
	file, end := validFile(t)
	page := os.Getpagesize()
	for size := 0; size < len(file); size += page {
		name := fmt.Sprint("cut at page ", size/page)
		s := opened(t, name, file[:size], end)
		_ = countMinutes(t, name, s, 3, end)
		appended(t, s, minute(end.Add(-time.Second), tornTokens))
		ok(t, s.Close())
	}
}

// TestOverwrittenFile overwrites parts of a file in many ways and checks that nothing wrong is
// read.
func TestOverwrittenFile(t *testing.T) {
	t.Parallel()
	file, end := validFile(t)
	page := os.Getpagesize()
	random := rand.New(rand.NewPCG(1, 2))
	damaged := 0
	for i := range 150 {
		torn := bytes.Clone(file)
		name := fmt.Sprint("scribble ", i)
		for range 1 + i%4 {
			at, n := random.IntN(len(file)), 1+random.IntN(page)
			switch i % 3 {
			case 0: // a page of noise
				at = at / page * page
				for j := range page {
					torn[at+j] = byte(random.Uint32())
				}
			case 1: // zeros
				clear(torn[at:min(len(file), at+n)])
			case 2: // a page copied over another
				to, from := at/page*page, random.IntN(len(file)/page)*page
				copy(torn[to:to+page], file[from:from+page])
			}
		}
		s := opened(t, name, torn, end)
		if aside, _ := filepath.Glob(s.path + damagedSuffix + "*"); len(aside) > 0 {
			damaged++
		}
		for _, n := range []int{0, 75, 149} {
			_ = countMinutes(t, name, s, n, end)
		}
		ok(t, s.Close())
	}
	if damaged < 30 || damaged > 140 {
		t.Errorf("%d of 150 set aside: the damage is too tame, or too much", damaged)
	}
}

// TestSmallDamage flips bits in every page's header and first elements.
func TestSmallDamage(t *testing.T) {
	t.Parallel()
	file, end := validFile(t)
	page := os.Getpagesize()
	for at := 0; at < len(file); at += page {
		places := []int{0, 8, 10, 12, 16, 20, 24, 28, 32}
		for i := range 2 {
			byteAt := places[(at/page*2+i)%len(places)]
			torn := bytes.Clone(file)
			torn[at+byteAt] ^= 1 << (at / page % 8)
			name := fmt.Sprintf("page %d, byte %d", at/page, byteAt)
			s := opened(t, name, torn, end)
			_ = countMinutes(t, name, s, 3, end)
			ok(t, s.Close())
			ok(t, os.RemoveAll(filepath.Dir(s.path)))
		}
	}
}

// TestBrokenWhileOpen checks that a file truncated or overwritten while open is replaced
// and work continues.
func TestBrokenWhileOpen(t *testing.T) {
	file, end := validFile(t)
	page := int64(os.Getpagesize())
	for name, spoil := range map[string]func(f *os.File) error{
		"nothing left": func(f *os.File) error { return f.Truncate(0) },
		"metas left":   func(f *os.File) error { return f.Truncate(2 * page) },
		"half left":    func(f *os.File) error { return f.Truncate(int64(len(file)) / 2) },
		"noise": func(f *os.File) error {
			for at := 2 * page; at < int64(len(file)); at += 3 * page {
				if _, err := f.WriteAt(bytes.Repeat([]byte{0x5a}, 40), at); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		for _, first := range []string{"read", "write"} {
			t.Run(name+", then "+first, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "prices.db")
				ok(t, os.WriteFile(path, file, 0o600))
				h := newFakeClock(end)
				s := open(t, path, h)
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				ok(t, err)
				ok(t, errors.Join(spoil(f), f.Close()))
				if first == "write" { // may touch no damaged page; the read below then finds the damage
					h.move(time.Minute)
					appended(t, s, minute(h.now(), tornTokens))
				}
				for n := range 3 {
					_ = countMinutes(t, name, s, n*70, h.now())
				}
				h.move(time.Minute)
				appended(t, s, minute(h.now(), tornTokens))
				if got := countMinutes(t, name, s, 3, h.now()); got < 1 {
					t.Error("what was written is not there")
				}
				if !strings.Contains(s.Damage(), "set aside") {
					t.Errorf("damage: %q", s.Damage())
				}
				ok(t, s.Close())
				if s = open(t, path, h); s.Damage() != "" || countMinutes(t, name, s, 3, h.now()) < 1 {
					t.Errorf("after a restart: %q", s.Damage())
				}
			})
		}
	}
}

// TestRepairsAreBounded checks that repeated damage is reported after maxRepairs repairs.
func TestRepairsAreBounded(t *testing.T) {
	s, h := begin(t)
	for i := range maxRepairs + 2 {
		h.move(time.Minute)
		ok(t, os.Truncate(s.path, 0))
		err := s.Append(t.Context(), minute(h.now(), 1))
		if i < maxRepairs && err != nil || i >= maxRepairs && !errors.Is(err, ErrDamaged) {
			t.Fatalf("time %d: %v", i, err)
		}
	}
	ok(t, s.Close())
	if aside, _ := filepath.Glob(s.path + damagedSuffix + "*"); len(aside) != keepDamaged {
		t.Errorf("set aside: %v", aside)
	}
	file, err := os.ReadFile(s.path) // this process still holds the lock of the other file
	ok(t, err)
	appended(t, opened(t, "copied", file, h.now()), minute(h.now(), 1))
}

// TestNoDatabase checks that files that never were a database are set aside, and only the
// newest of them kept.
func TestNoDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.db")
	h := newFakeClock(noon)
	for i, text := range []string{"", "x", strings.Repeat("prices", 4000), strings.Repeat("\x00", 1<<16), strings.Repeat("\xff", 4096)} {
		ok(t, os.WriteFile(path, []byte(text), 0o600))
		s, err := Open(path, Options{Now: h.now})
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if (s.Damage() == "") != (text == "") {
			t.Errorf("%d: %q", i, s.Damage())
		}
		appended(t, s, minute(noon, 1))
		ok(t, s.Close())
		if aside, _ := filepath.Glob(path + damagedSuffix + "*"); len(aside) != min(i, keepDamaged) {
			t.Errorf("%d: set aside: %v", i, aside)
		}
	}
}

// TestCrashWhileSetAside checks that damage is told if the program ended after the damaged
// file was renamed, before or while the new one was made.
func TestCrashWhileSetAside(t *testing.T) {
	for name, left := range map[string][]byte{"no file": nil, "an empty file": {}} {
		path := filepath.Join(t.TempDir(), "prices.db")
		ok(t, os.WriteFile(path+damagedSuffix+"1800000000", []byte("x"), 0o600))
		ok(t, os.WriteFile(path+damagedSuffix+"999", []byte("older"), 0o600))
		if left != nil {
			ok(t, os.WriteFile(path, left, 0o600))
		}
		h := newFakeClock(noon)
		s := open(t, path, h)
		if got, want := s.Damage(), "prices.db"+damagedSuffix+"1800000000"; !strings.Contains(got, want) {
			t.Errorf("%s: damage %q, want %s in it", name, got, want)
		}
		appended(t, s, minute(noon, 1))
		ok(t, s.Close())
		if s = open(t, path, h); s.Damage() != "" {
			t.Errorf("%s: damage %q of a sound file, want none", name, s.Damage())
		}
	}
}

// TestForeignRows checks that a row written for other tokens is ignored even if its
// checksums are right.
func TestForeignRows(t *testing.T) {
	s, h := begin(t)
	appended(t, s, minute(noon, 20))
	ok(t, s.db.Update(func(tx *bolt.Tx) error {
		e := &edit{tx: tx, rings: s.rings, tokens: s.tokens.Load(), now: minuteOf(noon)}
		hd, entries := e.rowForAll(price.Minutes, e.now)
		hd.tokens++
		hd.at--
		g := s.rings[price.Minutes]
		return tx.Bucket(g.bucket).Put(g.key(hd.at), encode(hd, entries))
	}))
	if got := countMinutes(t, "", s, 1, h.now()); got != 1 {
		t.Errorf("%d minutes", got)
	}
}

// TestBadBlock checks that damage in a row loses only the tokens of its block.
func TestBadBlock(t *testing.T) {
	file, end := validFile(t)
	v := binary.LittleEndian.AppendUint64(nil, uint64(worth(20, noon.Add(time.Hour)).Pack()))
	for at := 0; ; { // everywhere it occurs
		n := bytes.Index(file[at:], v)
		if n < 0 {
			break
		}
		at += n
		file[at] ^= 1
	}
	s := opened(t, "", file, end)
	index := s.tokens.Load().index
	for n := range tornTokens {
		want := 121
		if index[token(n)]/perBlock == index[token(20)]/perBlock {
			want--
		}
		if got := countMinutes(t, "", s, n, end); got != want {
			t.Errorf("token %d: %d minutes, want %d", n, got, want)
		}
	}
}

// FuzzFile checks that any file can be opened, and that bbolt can walk a file that passes
// the inspection.
func FuzzFile(f *testing.F) {
	h := newFakeClock(noon)
	s := open(f, filepath.Join(f.TempDir(), "prices.db"), h)
	run(f, s, h, 5, noon.Add(20*time.Minute))
	ok(f, s.Close())
	file, err := os.ReadFile(s.path)
	ok(f, err)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(16), []byte{1})
	f.Add(uint32(3*4096+10), []byte{0xff, 0xff})
	f.Add(uint32(4096*2+16), []byte{3})
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		torn := bytes.Clone(file)
		for i, b := range patch {
			torn[(int(at)+i)%len(torn)] ^= b
		}
		s := opened(t, "fuzzed", torn, h.now())
		_ = s.db.View(func(tx *bolt.Tx) error { _, err := tx.WriteTo(io.Discard); return err })
		for n := range 5 {
			_ = countMinutes(t, "fuzzed", s, n, h.now())
		}
		ok(t, s.Close())
		ok(t, os.RemoveAll(filepath.Dir(s.path)))
	})
}
