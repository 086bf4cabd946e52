package series

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// This code reads a bbolt file (format version 2, in native byte order) without bbolt,
// which trusts the content of pages: a damaged page makes it panic, sometimes in a
// goroutine of its own, or write over pages in use. Here every number is checked before
// use. Only the keys of a page are checked; values have their own checksums.
const (
	pageHeader  = 16 // id uint64, kind uint16, elements uint16, overflow pages uint32
	elementSize = 16
	bucketSize  = 16 // root page uint64 (0 = inline in the value), sequence uint64
	metaSize    = 64
	branchPage  = 1
	leafPage    = 2
	freePage    = 16
	bucketLeaf  = 1
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	maxKey      = 64 // ours have at most 28 bytes
	firstPage   = 2  // after the two meta pages
)

// A meta is the content of a meta page, which locates everything else.
type meta struct {
	pageSize, root, freelist, pages, tx int64
}

// An audit is the result of checking a file.
type audit struct {
	from     io.ReaderAt
	size     int64
	empty    bool  // the file is missing or empty
	problem  error // the first problem; nil = sound
	pageSize int64
	reached  []bool // by page: in use
	version  int    // schema version; 0 = not found

	near   []byte // the bytes read last
	nearAt int64
}

// errPage wraps problems in a file.
var errPage = errors.New("damaged page")

// inspect checks a file. It locks the file if lock is set, which must not be if this
// process already holds the lock. Errors: ErrNewer, bbolt's timeout, and the system's.
func inspect(path string, lock bool) (_ *audit, err error) {
	if lock {
		var opened *bolt.DB // stays nil if bbolt cannot open the file
		busy := recoverDamage(func() (err error) {
			opened, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, ReadOnly: true})
			return err
		})
		if errors.Is(busy, berrors.ErrTimeout) {
			return nil, busy
		}
		if opened != nil {
			defer func() { err = errors.Join(err, recoverDamage(opened.Close)) }()
		}
	}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return &audit{empty: true}, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	i, err := file.Stat()
	if err != nil {
		return nil, err
	}
	a := &audit{from: file, size: i.Size(), empty: i.Size() == 0}
	if !a.empty {
		a.check()
	}
	if a.version > len(migrations)+1 {
		return nil, fmt.Errorf("%w (schema %d)", ErrNewer, a.version)
	}
	return a, nil
}

// check finds the first problem and marks every reachable page.
func (a *audit) check() {
	m, err := a.newestMeta()
	if err != nil {
		a.problem = err
		return
	}
	a.pageSize = m.pageSize
	if m.pages > a.size/m.pageSize {
		a.fail(0, "the file ends at page %d of %d", a.size/m.pageSize, m.pages)
	}
	a.reached = make([]bool, min(m.pages, a.size/m.pageSize))
	a.tree(m.root, nil, nil, func(name []byte, e element) {
		b, err := a.bytes(e.at, min(e.size, bucketSize))
		switch {
		case !e.bucket || len(b) < bucketSize || err != nil:
			a.fail(e.at/a.pageSize, "no bucket")
		case u64(b) != 0:
			a.tree(int64(u64(b)), nil, nil, func(key []byte, e element) { a.checkKey(name, key, e) })
		default:
			a.leaf(e.at+bucketSize, e.size-bucketSize, nil, nil, func(key []byte, e element) { a.checkKey(name, key, e) })
		}
	})
	a.free(m.freelist)
}

// keySizes of the buckets; other buckets are rings, with slotSize.
var keySizes = map[string]int{string(tokenBuckets[0]): idSize, string(tokenBuckets[1]): idSize, string(factsBucket): idSize}

const slotSize = 4

// checkKey checks a key of a bucket and reads the schema version.
func (a *audit) checkKey(bucket, key []byte, e element) {
	size, known := keySizes[string(bucket)]
	if !known {
		size = slotSize
	}
	if e.bucket || len(key) != size && !bytes.Equal(bucket, metaBucket) {
		a.fail(e.at/a.pageSize, "a key that is none of ours")
	}
	if bytes.Equal(bucket, metaBucket) && bytes.Equal(key, versionKey) && e.size < 10 {
		b, _ := a.bytes(e.at, e.size)
		a.version, _ = strconv.Atoi(string(b))
	}
}

func (a *audit) fail(page int64, format string, args ...any) {
	if a.problem == nil {
		a.problem = fmt.Errorf("%w %d: %s", errPage, page, fmt.Sprintf(format, args...))
	}
}

func u16(b []byte) int64  { return int64(binary.NativeEndian.Uint16(b)) }
func u32(b []byte) int64  { return int64(binary.NativeEndian.Uint32(b)) }
func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// bytes reads n bytes of the file, through a small buffer.
func (a *audit) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > a.size-n {
		return nil, fmt.Errorf("%w: %d bytes at %d of %d", errPage, n, at, a.size)
	}
	if at < a.nearAt || at+n > a.nearAt+int64(len(a.near)) {
		near := make([]byte, min(max(n, 4096), a.size-at))
		if _, err := a.from.ReadAt(near, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: %w", errPage, err)
		}
		a.near, a.nearAt = near, at
	}
	return a.near[at-a.nearAt:][:n:n], nil
}

// newestMeta returns the meta page that bbolt would use. If page 0 is damaged the page size
// is unknown, so page 1 is searched for at every possible offset.
func (a *audit) newestMeta() (newest meta, err error) {
	places := []int64{0}
	for size := int64(1024); size <= 16<<20; size *= 2 {
		places = append(places, size)
	}
	for i, at := range places {
		b, err := a.bytes(at, pageHeader+metaSize)
		if err != nil {
			continue
		}
		m, ok := parseMeta(b[pageHeader:])
		if !ok || i > 0 && m.pageSize != at {
			continue
		}
		if newest.pageSize == 0 || m.tx > newest.tx {
			newest = m
		}
	}
	if newest.pageSize == 0 {
		return newest, fmt.Errorf("%w: both meta pages", errPage)
	}
	return newest, nil
}

func parseMeta(b []byte) (m meta, ok bool) {
	h := fnv.New64a()
	_, _ = h.Write(b[:56])
	if u32(b) != boltMagic || u32(b[4:]) != boltVersion || u64(b[56:]) != h.Sum64() {
		return m, false
	}
	m = meta{pageSize: u32(b[8:]), root: int64(u64(b[16:])), freelist: int64(u64(b[32:])), pages: int64(u64(b[40:])), tx: int64(u64(b[48:]))}
	valid := m.pageSize >= 1024 && m.pageSize <= 16<<20 && m.pageSize&(m.pageSize-1) == 0 && m.pages > firstPage && m.pages < 1<<40 && m.tx >= 0
	return m, valid
}

// An element locates a key's value in a leaf.
type element struct {
	bucket   bool
	at, size int64 // of the value, in the file
}

// claim marks a page and its overflow pages as used and returns its header; false if they
// are invalid or already used.
func (a *audit) claim(id int64, kinds ...int64) (kind, count, length int64, ok bool) {
	if id < firstPage || id >= int64(len(a.reached)) {
		a.fail(id, "not in the file")
		return 0, 0, 0, false
	}
	b, err := a.bytes(id*a.pageSize, pageHeader)
	if err != nil {
		a.fail(id, "%v", err)
		return 0, 0, 0, false
	}
	kind, count, length = u16(b[8:]), u16(b[10:]), 1+u32(b[12:])
	switch {
	case int64(u64(b)) != id || !slices.Contains(kinds, kind):
		a.fail(id, "says that it is page %d, of kind %d", u64(b), kind)
		return 0, 0, 0, false
	case length > int64(len(a.reached))-id:
		a.fail(id, "ends behind the file")
		length = int64(len(a.reached)) - id // the part that exists
	}
	for i := id; i < id+length; i++ {
		if a.reached[i] {
			a.fail(i, "is used twice")
			return 0, 0, 0, false
		}
		a.reached[i] = true
	}
	return kind, count, length, true
}

// tree walks the pages below id. Their keys must be at least low and less than high, where
// these are given. It continues past damage.
func (a *audit) tree(id int64, low, high []byte, visit func(key []byte, e element)) {
	kind, count, length, ok := a.claim(id, branchPage, leafPage)
	if !ok {
		return
	}
	at, size := id*a.pageSize, length*a.pageSize
	if kind == leafPage {
		a.leaf(at, size, low, high, visit)
		return
	}
	keys, children := make([][]byte, 0, count), make([]int64, 0, count)
	for i := range count {
		e := at + pageHeader + i*elementSize
		b, err := a.within(at, size, e, elementSize)
		if err != nil {
			break
		}
		pos, n, child := u32(b), u32(b[4:]), int64(u64(b[8:]))
		key, err := a.key(at, size, e+pos, n)
		if err != nil {
			break
		}
		keys, children = append(keys, key), append(children, child)
	}
	if count == 0 || len(keys) < int(count) {
		a.fail(id, "branches are damaged")
	}
	for i, child := range children {
		end := high
		if i+1 < len(keys) {
			end = keys[i+1]
			if bytes.Compare(keys[i], end) >= 0 {
				a.fail(id, "keys are out of order")
			}
		}
		a.ordered(id, i == 0, keys[i], low, high)
		a.tree(child, keys[i], end, visit)
	}
}

// ordered checks a key's position. The first key of a page must equal its branch's key;
// otherwise bbolt would add a branch when writing the page.
func (a *audit) ordered(page int64, first bool, key, low, high []byte) {
	if low != nil && (bytes.Compare(key, low) < 0 || first && !bytes.Equal(key, low)) || high != nil && bytes.Compare(key, high) >= 0 {
		a.fail(page, "keys are out of order")
	}
}

// leaf visits the elements of a leaf of the given size at the given file offset.
func (a *audit) leaf(at, size int64, low, high []byte, visit func(key []byte, e element)) {
	page := at / a.pageSize
	b, err := a.within(at, size, at, pageHeader)
	if err != nil || u16(b[8:]) != leafPage {
		a.fail(page, "no leaf")
		return
	}
	var before []byte
	for i, count := int64(0), u16(b[10:]); i < count; i++ {
		e := at + pageHeader + i*elementSize
		b, err := a.within(at, size, e, elementSize)
		if err != nil {
			a.fail(page, "elements are damaged")
			return
		}
		kind, pos, keySize, valueSize := u32(b), u32(b[4:]), u32(b[8:]), u32(b[12:])
		key, err := a.key(at, size, e+pos, keySize)
		value := e + pos + keySize
		if err != nil || kind > bucketLeaf || value+valueSize > at+size || pos < (count-i)*elementSize {
			a.fail(page, "element %d is damaged", i)
			continue
		}
		a.ordered(page, i == 0, key, low, high)
		if before != nil && bytes.Compare(before, key) >= 0 {
			a.fail(page, "keys are out of order")
		}
		before = key
		visit(key, element{kind == bucketLeaf, value, valueSize})
	}
}

// key copies a key from a page.
func (a *audit) key(page, size, at, n int64) ([]byte, error) {
	if n == 0 || n > maxKey {
		return nil, fmt.Errorf("%w: a key of %d bytes", errPage, n)
	}
	b, err := a.within(page, size, at, n)
	return bytes.Clone(b), err
}

// within reads bytes that must lie inside the page.
func (a *audit) within(page, size, at, n int64) ([]byte, error) {
	if at < page || at+n > page+size {
		return nil, fmt.Errorf("%w: outside of the page", errPage)
	}
	return a.bytes(at, n)
}

// free checks that the pages on the freelist are not in use.
func (a *audit) free(id int64) {
	_, count, length, ok := a.claim(id, freePage)
	if !ok {
		return
	}
	at, size := id*a.pageSize, length*a.pageSize
	list := at + pageHeader
	if count == 0xffff { // the count does not fit: it is the first list entry
		b, err := a.within(at, size, list, 8)
		if err != nil || u64(b) > uint64(len(a.reached)) {
			a.fail(id, "the list of free pages is damaged")
			return
		}
		count, list = int64(u64(b)), list+8
	}
	seen := make(map[int64]bool, count)
	for i := range count {
		b, err := a.within(at, size, list+8*i, 8)
		if err != nil {
			a.fail(id, "the list of free pages is damaged")
			return
		}
		n := int64(u64(b))
		if n < firstPage || n >= int64(len(a.reached)) || a.reached[n] || seen[n] {
			a.fail(id, "page %d is not free", n)
			return
		}
		seen[n] = true
	}
}
