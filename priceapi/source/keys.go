package source

import (
	"slices"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// An keySet holds the keys to request, on one chain or on all, and the tokens of each. One
// key may stand for several tokens, as ether's does, and one token may have several keys,
// in order of preference.
type keySet struct {
	chain uint64 // 0 = the keys contain it
	slug  string // the service's name of the chain
	keys  []string
	ids   map[string][]price.ID
}

func (a *keySet) add(key string, id price.ID) {
	if a.ids == nil {
		a.ids = make(map[string][]price.ID)
	}
	if _, ok := a.ids[key]; !ok {
		a.keys = append(a.keys, key)
	}
	a.ids[key] = append(a.ids[key], id) // duplicates are harmless
}

// byChain groups the keys of ts by chain, in the given order. It skips chains without a
// slug and tokens without a key.
func byChain(ts []tokens.Token, slug func(chain uint64) string, key func(tokens.Token) string) []*keySet {
	var all []*keySet
	for _, t := range ts {
		s, k := slug(t.Chain), key(t)
		if s == "" || k == "" {
			continue
		}
		i := slices.IndexFunc(all, func(a *keySet) bool { return a.chain == t.Chain })
		if i < 0 {
			i = len(all)
			all = append(all, &keySet{chain: t.Chain, slug: s})
		}
		all[i].add(k, price.IDOf(t))
	}
	return all
}

// maxKeys limits the length of the keys of one call, so that its URL stays below the 8,000
// bytes that every server accepts. Each comma counts as three bytes, in case it is escaped.
const maxKeys = 7000

// batches splits a into calls of at most n keys.
func (a *keySet) batches(n int) []*keySet {
	var all []*keySet
	size := 0
	for _, k := range a.keys {
		size += len(k) + 3
		if len(all) == 0 || len(all[len(all)-1].keys) == n || size > maxKeys {
			all = append(all, &keySet{chain: a.chain, slug: a.slug, ids: a.ids})
			size = len(k) + 3
		}
		last := all[len(all)-1]
		last.keys = append(last.keys, k)
	}
	return all
}
