package web

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/pricetable"

	"github.com/ethereum/go-ethereum/common"
)

// A snapshot is a table with cached encodings. Its views contain only public rows.
type snapshot struct {
	table *pricetable.Table
	// Indices ("places") of table rows by chain: those with a price, and all. Chain 0 means
	// every chain.
	priced, monitored map[uint64][]int32
	at                map[common.Address][]int32 // lowest chain id first

	items      []atomic.Pointer[[]byte] // of price lists, by place
	singles    []atomic.Pointer[answer] // single-token prices, by place
	lists      listCache
	cacheQuota cacheQuota

	symbols func() map[string][]int32 // by lower-case symbol
	covered atomic.Pointer[[]poll.Coverage]
}

func newSnapshot(b *pricetable.Table) *snapshot {
	s := &snapshot{
		table: b, priced: map[uint64][]int32{}, monitored: map[uint64][]int32{}, at: make(map[common.Address][]int32, len(b.Rows)),
		items: make([]atomic.Pointer[[]byte], len(b.Rows)), singles: make([]atomic.Pointer[answer], len(b.Rows)),
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		if !r.Public {
			continue
		}
		place, chain := int32(i), r.Token.Chain
		s.monitored[0] = append(s.monitored[0], place)
		s.monitored[chain] = append(s.monitored[chain], place)
		if r.Now.Known() {
			s.priced[0] = append(s.priced[0], place)
			s.priced[chain] = append(s.priced[chain], place)
		}
		s.at[r.Token.Address] = append(s.at[r.Token.Address], place)
	}
	for _, places := range s.at {
		slices.SortFunc(places, func(x, y int32) int { return cmp.Compare(b.Rows[x].Token.Chain, b.Rows[y].Token.Chain) })
	}
	s.symbols = sync.OnceValue(s.bySymbol)
	return s
}

func (s *snapshot) bySymbol() map[string][]int32 {
	m := map[string][]int32{}
	for _, i := range s.priced[0] {
		symbol := strings.ToLower(s.table.Rows[i].Token.Symbol)
		m[symbol] = append(m[symbol], i)
	}
	return m
}

func (s *snapshot) item(place int32) []byte {
	if b := s.items[place].Load(); b != nil {
		return *b
	}
	b := encode(priceItem(s.table.Rows[place]))
	s.items[place].Store(&b)
	return b
}

// place finds a token; chain 0 means the lowest chain id.
func (s *snapshot) place(a common.Address, chain uint64) (int32, bool) {
	for _, i := range s.at[a] {
		if chain == 0 || s.table.Rows[i].Token.Chain == chain {
			return i, true
		}
	}
	return 0, false
}

// single returns the encoded price of a row that has one.
func (s *snapshot) single(place int32) *answer {
	if a := s.singles[place].Load(); a != nil {
		return a
	}
	r := s.table.Rows[place]
	stale := 0
	if r.Stale {
		stale = 1
	}
	a := encoded(tokenPrice(r), stale)
	s.singles[place].Store(a)
	return a
}

// paginate applies offset and limit to a view; limit 0 = all.
func paginate(view []int32, offset, limit int) []int32 {
	view = view[min(offset, len(view)):]
	if limit == 0 {
		return view
	}
	return view[:min(limit, len(view))]
}

// priceList encodes a price list of the given rows; total is the number of matches.
func (s *snapshot) priceList(places []int32, total int) []byte {
	size, with24h := 160, 0
	for _, i := range places {
		size += len(s.item(i)) + 1
		if s.table.Rows[i].Has24h() {
			with24h++
		}
	}
	b := append(make([]byte, 0, size), `{"data":[`...)
	for n, i := range places {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, s.item(i)...)
	}
	b = strconv.AppendInt(append(b, `],"total_count":`...), int64(total), 10)
	b = strconv.AppendInt(append(b, `,"has_24h_data_count":`...), int64(with24h), 10)
	b = append(append(b, `,"timestamp":"`...), formatNoZone(s.table.Fetched)...)
	return append(b, `"}`...)
}

// stale counts the rows with a stale price.
func (s *snapshot) stale(places []int32) (n int) {
	for _, i := range places {
		if s.table.Rows[i].Stale {
			n++
		}
	}
	return n
}

func (s *snapshot) tokenList(places []int32, total int) []byte {
	list := TokenList{Data: make([]Token, 0, len(places)), TotalCount: total, Timestamp: formatNoZone(s.table.Fetched)}
	for _, i := range places {
		list.Data = append(list.Data, token(s.table.Rows[i]))
	}
	return encode(list)
}

// A listKey identifies a cacheable list.
type listKey struct {
	of            listOf
	chain         uint64 // 0 = every chain
	limit, offset int
}

// A listOf is the kind of a list.
type listOf uint8

const (
	pricesList listOf = iota
	tokensList
	chartsList
)

// Limits on the pages of one table that are cached, and separately on those that this
// process puts into the service's cache.
const (
	maxPages     = 128
	maxPageBytes = 16 << 20
)

// listCache caches the encoded lists of one table. Reads take no lock.
type listCache struct {
	all   atomic.Pointer[map[listKey]*answer]
	mu    sync.Mutex // for writers
	bytes int
}

func (p *listCache) get(k listKey) *answer {
	if m := p.all.Load(); m != nil {
		return (*m)[k]
	}
	return nil
}

// put caches a page, and evicts others if there is no room.
func (p *listCache) put(k listKey, a *answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := map[listKey]*answer{}
	if old := p.all.Load(); old != nil {
		m = maps.Clone(*old)
	}
	if m[k] != nil || len(a.body) > maxPageBytes {
		return
	}
	for other, evicted := range m {
		if len(m) < maxPages && p.bytes+len(a.body) <= maxPageBytes {
			break
		}
		p.bytes -= len(evicted.body)
		delete(m, other)
	}
	m[k] = a
	p.bytes += len(a.body)
	p.all.Store(&m)
}

// A cacheQuota counts what was put into the service's cache for one table, so that requests for
// ever new offsets cannot fill it.
type cacheQuota struct {
	mu           sync.Mutex
	pages, bytes int
}

// take reports whether one more page may be put there, and counts it.
func (g *cacheQuota) take(size int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pages >= maxPages || g.bytes+size > maxPageBytes {
		return false
	}
	g.pages, g.bytes = g.pages+1, g.bytes+size
	return true
}
