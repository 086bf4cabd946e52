package tokens

import (
	"cmp"
	"slices"
	"strings"
)

// Search returns a chain's tokens whose symbol, name or address contains the query,
// ignoring case; for an empty query every token. Tokens whose symbol or address is the
// query come first, then recognized ones before others, and among these those that begin
// with the query before the rest; else the order is that of On.
func (r *Registry) Search(chain uint64, query string) []Token {
	q := strings.ToLower(clean(query, maxQuery))
	all := r.On(chain)
	if q == "" {
		return all
	}
	type hit struct {
		Token
		rank int
	}
	var hits []hit
	for _, t := range all {
		if rank, ok := rankOf(t, q); ok {
			hits = append(hits, hit{t, rank})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rank, b.rank) })
	found := make([]Token, len(hits))
	for i, h := range hits {
		found[i] = h.Token
	}
	return found
}

// maxQuery is how many characters of a query are used.
const maxQuery = 100

// rankOf returns how well t matches a query in lower case; lower is better.
func rankOf(t Token, q string) (rank int, ok bool) {
	symbol, name := strings.ToLower(t.Symbol), strings.ToLower(t.Name)
	if !t.Recognized {
		rank += 2
	}
	begins := strings.HasPrefix(symbol, q) || strings.HasPrefix(name, q)
	switch {
	case symbol == q || strings.ToLower(t.Address.Hex()) == q:
		return rank - 4, true
	case begins:
		return rank, true
	case strings.Contains(symbol, q) || strings.Contains(name, q) || strings.Contains(strings.ToLower(t.Address.Hex()), q):
		return rank + 1, true
	}
	return 0, false
}
