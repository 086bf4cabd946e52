package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Limits on the number of items of a price list.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// firstFetch is how long a client is told to wait for the first prices.
const firstFetch = 5 * time.Second

// A filter narrows a price list. An empty field does not filter.
type filter struct {
	addresses, symbols []string
}

// prices answers a price list. Before the first fetch it answers a problem, because the
// list has no timestamp yet.
func (a *API) prices(w http.ResponseWriter, r *http.Request, k listKey, f filter) {
	s := a.snapshot()
	if s.table.Fetched.IsZero() {
		notFetched.problem("no source has returned a price since the service started").after(firstFetch).write(w, r)
		return
	}
	if len(f.addresses)+len(f.symbols) > 0 {
		view := s.filtered(k.chain, f)
		places := paginate(view, k.offset, k.limit)
		newAnswer(s.priceList(places, len(view)), s.stale(places)).write(w, r)
		return
	}
	a.list(r.Context(), s, k).write(w, r)
}

// list returns a page of the snapshot, cached or newly encoded.
func (a *API) list(ctx context.Context, s *snapshot, k listKey) *answer {
	if kept := s.lists.get(k); kept != nil {
		return kept
	}
	view, write := s.priced[k.chain], s.priceList
	if k.of == tokensList {
		view, write = s.monitored[k.chain], s.tokenList
	}
	places := paginate(view, k.offset, k.limit)
	body := a.shared(ctx, s, a.pageKey(s, k), func() []byte { return write(places, len(view)) })
	made := newAnswer(body, s.stale(places))
	s.lists.put(k, made)
	return made
}

// shared returns the bytes from the service's cache, or builds them and stores them there.
func (a *API) shared(ctx context.Context, s *snapshot, key string, build func() []byte) []byte {
	if a.c.Cache == nil {
		return build()
	}
	ctx, cancel := context.WithTimeout(ctx, a.limits.Backend)
	defer cancel()
	if body, ok := a.c.Cache.Get(ctx, key); ok && json.Valid(body) {
		return body
	}
	body := build()
	if s.cacheQuota.take(len(body)) {
		a.c.Cache.Set(ctx, key, body)
	}
	return body
}

func (a *API) pageKey(s *snapshot, k listKey) string {
	return fmt.Sprintf("%s/%d.%d/%d/%d/%d/%d", a.c.Version, s.table.Seq, s.table.Fetched.UnixNano(), k.of, k.chain, k.limit, k.offset)
}

// filtered returns the places that match all parts of the filter, in the table's order.
func (s *snapshot) filtered(chain uint64, f filter) []int32 {
	var view []int32
	if len(f.addresses) > 0 {
		for _, text := range f.addresses {
			view = append(view, s.at[common.HexToAddress(text)]...)
		}
	} else {
		for _, symbol := range f.symbols {
			view = append(view, s.symbols()[strings.ToLower(symbol)]...)
		}
	}
	slices.Sort(view)
	view = slices.Compact(view)
	return slices.DeleteFunc(view, func(i int32) bool {
		r := &s.table.Rows[i]
		return !r.Now.Known() || chain != 0 && r.Token.Chain != chain ||
			len(f.symbols) > 0 && !slices.ContainsFunc(f.symbols, func(want string) bool { return strings.EqualFold(want, r.Token.Symbol) })
	})
}

func (a *API) price(w http.ResponseWriter, r *http.Request, address common.Address, chain uint64) {
	s := a.snapshot()
	place, ok := s.place(address, chain)
	switch {
	case !ok:
		unknownToken.problem(missing(chain)).write(w, r)
	case !s.table.Rows[place].Now.Known():
		noPrice.problem("the token is monitored, but no source has returned its price yet").write(w, r)
	default:
		s.single(place).write(w, r)
	}
}

func missing(chain uint64) string {
	if chain == 0 {
		return "no monitored token has this address"
	}
	return "no monitored token has this address on this network"
}

func (a *API) tokens(w http.ResponseWriter, r *http.Request, k listKey) {
	a.list(r.Context(), a.snapshot(), k).write(w, r)
}
