package series

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"swapkeep/internal/atomicfile"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

const (
	newSuffix     = ".new"
	damagedSuffix = ".damaged-" // followed by seconds since 1970
	keepDamaged   = 2
)

// replace sets a damaged file aside and puts a new one with the readable data in its place.
// After a crash at any point the next open continues: the old file is moved only when the
// new one is complete.
func (s *Store) replace(a *audit, problem error) (err error) {
	defer func() { err = errors.Join(err, a.close()) }()
	found := newRecovered()
	if !a.empty {
		if a.file == nil { // it passed the inspection and was closed
			if err := a.openFile(s.path); err != nil {
				return err
			}
		}
		found.scan(a)
	}
	fresh := s.path + newSuffix
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	kept, err := s.rebuild(fresh, a, found)
	if err != nil {
		_ = os.Remove(fresh)
		return err
	}
	if err := a.close(); err != nil {
		return err
	}
	aside := freeName(s.path, s.clock().Unix())
	if err := os.Rename(s.path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return err
	}
	s.damage = fmt.Sprintf("%s was damaged (%v); it was set aside as %s, and %d minutes, %d quarters of an hour and %d hours were kept",
		filepath.Base(s.path), problem, filepath.Base(aside), kept[price.Minutes], kept[price.Quarters], kept[price.Hours])
	return errors.Join(atomicfile.SyncDir(filepath.Dir(s.path)), pruneDamaged(s.path))
}

// finishReplacing completes a replacement that a crash interrupted, and reports whether it
// moved the new file into place.
func finishReplacing(path string) (replaced bool, err error) {
	_, err = os.Stat(path)
	switch {
	case err == nil:
		err = os.Remove(path + newSuffix)
	case errors.Is(err, os.ErrNotExist):
		err = os.Rename(path+newSuffix, path)
		replaced = err == nil
	}
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return replaced, err
}

// freeName returns an unused name for a file to set aside.
func freeName(path string, now int64) string {
	for ; ; now++ {
		name := path + damagedSuffix + strconv.FormatInt(now, 10)
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
	}
}

// pruneDamaged deletes all but the newest keepDamaged files that were set aside.
func pruneDamaged(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	var times []int64
	for _, e := range entries {
		if text, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+damagedSuffix); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				times = append(times, n)
			}
		}
	}
	slices.Sort(times)
	for _, n := range times[:max(0, len(times)-keepDamaged)] {
		err = errors.Join(err, os.Remove(path+damagedSuffix+strconv.FormatInt(n, 10)))
	}
	return err
}

// A span identifies a row.
type span struct {
	res price.Resolution
	at  int64
}

// A rowLocation locates a row in a file.
type rowLocation struct {
	at, size int64
	tx       uint64
}

// A recovered holds the data recovered from a damaged file. Rows and records are verified by
// their checksums, so it does not matter which page they are in; those of an earlier state
// are equally valid.
type recovered struct {
	rows   map[span]rowLocation
	tokens []tokenRecord // from pages in use
	loose  []tokenRecord // from pages that may never have been in use
	facts  map[price.ID]price.Facts
	totals poll.Totals
}

func newRecovered() *recovered {
	return &recovered{rows: map[span]rowLocation{}, facts: map[price.ID]price.Facts{}}
}

// scan searches every page for leaf elements.
func (r *recovered) scan(a *audit) {
	if a.pageSize == 0 {
		a.pageSize = int64(os.Getpagesize())
	}
	problem := a.problem
	for id := int64(firstPage); id < a.size/a.pageSize; id++ {
		b, err := a.bytes(id*a.pageSize, pageHeader)
		if err != nil || int64(u64(b)) != id || u16(b[8:]) != leafPage {
			continue
		}
		used := id < int64(len(a.reached)) && a.reached[id]
		length := min(1+u32(b[12:]), a.size/a.pageSize-id)
		a.leaf(id*a.pageSize, length*a.pageSize, nil, nil, func(key []byte, e element) {
			if e.bucket && e.size > bucketSize {
				a.leaf(e.at+bucketSize, e.size-bucketSize, nil, nil, func(key []byte, e element) { r.take(a, key, e, used) })
				return
			}
			r.take(a, key, e, used)
		})
	}
	a.problem = problem
}

// take keeps a value that is a valid row or record.
func (r *recovered) take(a *audit, key []byte, e element, used bool) {
	b, err := a.bytes(e.at, min(e.size, 256))
	if err != nil || len(b) == 0 {
		return
	}
	if h, ok := parseHeader(b); ok && e.size == int64(rowSize(h.res, h.count)) {
		name := span{h.res, h.at}
		if was, twice := r.rows[name]; !twice || h.tx >= was.tx {
			r.rows[name] = rowLocation{e.at, e.size, h.tx}
		}
		return
	}
	if t, ok := parseToken(key, b); ok {
		if used {
			r.tokens = append(r.tokens, t)
		} else {
			r.loose = append(r.loose, t)
		}
	}
	if id, f, ok := parseFacts(key, b); ok {
		if was, twice := r.facts[id]; !twice || used || f.CapAt.After(was.CapAt) || f.HoldersAt.After(was.HoldersAt) {
			r.facts[id] = f
		}
	}
	if t, ok := parseTotals(b); ok && t.Fetches >= r.totals.Fetches {
		r.totals = t
	}
}

// table builds the table from the tokens in use, and from the loose ones that nothing
// contradicts.
func (r *recovered) table() *table {
	byIndex := map[int]tokenRecord{}
	for _, t := range r.loose {
		if other, twice := byIndex[t.index]; twice && other != t {
			t.id = price.ID{} // ambiguous, so the index is lost
		}
		byIndex[t.index] = t
	}
	loose := slices.SortedFunc(maps.Values(byIndex), func(a, b tokenRecord) int { return cmp.Compare(a.index, b.index) })
	return newTable(append(r.tokens, loose...))
}

// rebuild writes the recovered data to a new file and returns the number of rows of each
// resolution.
func (s *Store) rebuild(path string, a *audit, r *recovered) (kept [3]int, err error) {
	db, err := openFile(path)
	if err != nil {
		return kept, err
	}
	db.NoSync, db.NoGrowSync = true, true // one sync at the end is enough
	defer func() { err = errors.Join(err, db.Sync(), db.Close()) }()
	if err := errors.Join(migrate(db, path, migrations), s.rings.create(db)); err != nil {
		return kept, err
	}
	e := &edit{rings: s.rings, tokens: r.table(), now: minuteOf(s.clock())}
	if err := db.Update(func(tx *bolt.Tx) error {
		e.tx = tx
		return e.restore(r)
	}); err != nil {
		return kept, err
	}
	spans := r.order(e.now)
	for len(spans) > 0 {
		if err := db.Update(func(tx *bolt.Tx) (err error) {
			e.tx = tx
			spans, err = e.restoreRows(a, r, spans, &kept)
			return err
		}); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// order lists the rows oldest first, preceded by those ahead of the clock, because the last
// row written to a slot stays.
func (r *recovered) order(now int64) []span {
	return slices.SortedFunc(maps.Keys(r.rows), func(x, y span) int {
		aheadOf := func(s span) int {
			if s.at > now {
				return 0
			}
			return 1
		}
		return cmp.Or(aheadOf(x)-aheadOf(y), cmp.Compare(x.at, y.at), cmp.Compare(x.res, y.res))
	})
}

// restore writes everything except rows.
func (e *edit) restore(r *recovered) error {
	for i, id := range e.tokens.ids {
		if id.Chain == 0 { // reserve the lost index, so that it is never reused
			id = price.ID{}
			copy(id.Address[:], strconv.Itoa(i))
		}
		if err := e.putToken(tokenRecord{id, i, e.tokens.chains[i]}); err != nil {
			return err
		}
	}
	for id, f := range r.facts {
		key := idKey(id)
		if err := e.tx.Bucket(factsBucket).Put(key, encodeFacts(key, f)); err != nil {
			return err
		}
	}
	return e.tx.Bucket(metaBucket).Put(totalsKey, encodeTotals(r.totals))
}

// restoreRows writes as many rows as fit in one commit and returns the rest.
func (e *edit) restoreRows(a *audit, r *recovered, spans []span, kept *[3]int) ([]span, error) {
	for size := 0; len(spans) > 0 && size < maxCommit; spans = spans[1:] {
		f := r.rows[spans[0]]
		b, err := a.bytes(f.at, f.size)
		w, ok := readRow(b)
		if err != nil || !ok || !e.tokens.matches(w.header) {
			continue
		}
		size += len(b)
		if err := e.put(w.header, w.entries(0)); err != nil {
			return spans, err
		}
		kept[w.res]++
	}
	return spans, nil
}
