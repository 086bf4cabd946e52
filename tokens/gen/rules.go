package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// most is how many tokens a network gets at most, with those chosen by hand. A network that
// is not here gets none.
var most = map[uint64]int{1: 430, 10: 220, 56: 250, 143: 150, 8453: 250, 42161: 250, 43114: 200}

// An id is what tells tokens apart.
type id struct {
	chain   uint64
	address common.Address
}

func (t token) id() id { return id{t.Chain, t.Address} }

// A left is a token that was not taken up.
type left struct {
	token
	why string
}

func (l left) String() string {
	return fmt.Sprintf("%d %s %s (%s): %s", l.Chain, l.Address, l.Symbol, l.Lists, l.why)
}

// choose merges what the sources say, leaves out what is not worth showing or could be
// mistaken for another token of its network, and sorts the rest. The sources' rows come in
// the order of sources; the first to have a token names it. Applied to its own result it
// changes nothing.
func choose(found, seed []token) (kept []token, out []left) {
	taken := map[id]bool{}
	looks := map[uint64]map[string]bool{}
	count := map[uint64]int{}
	for chain := range most {
		looks[chain] = map[string]bool{}
	}
	for _, t := range seed {
		if taken[t.id()] = true; looks[t.Chain] != nil {
			looks[t.Chain][tokens.Skeleton(t.Symbol)] = true
			count[t.Chain]++
		}
	}
	all, out := merge(found, taken)
	measure(all, found)
	slices.SortFunc(all, compare)
	for _, t := range all {
		look := tokens.Skeleton(t.Symbol)
		why := unfit(t)
		switch {
		case why != "":
		case look == "" || looks[t.Chain][look]:
			why = "another token looks like it"
		case count[t.Chain] == most[t.Chain]:
			why = "enough"
		}
		if why != "" {
			out = append(out, left{t, why})
			continue
		}
		looks[t.Chain][look] = true
		count[t.Chain]++
		kept = append(kept, t)
	}
	return kept, out
}

// merge makes one row of each token, with the letters of all its lists.
func merge(found []token, taken map[id]bool) (all []token, out []left) {
	at := map[id]int{}
	wrong := map[id]bool{}
	for _, t := range found {
		if most[t.Chain] == 0 || taken[t.id()] {
			continue
		}
		t.Symbol, t.Name = strings.TrimSpace(t.Symbol), strings.TrimSpace(t.Name)
		i, known := at[t.id()]
		if !known {
			at[t.id()] = len(all)
			all = append(all, t)
			continue
		}
		wrong[t.id()] = wrong[t.id()] || all[i].Decimals != t.Decimals
		if !strings.Contains(all[i].Lists, t.Lists) {
			all[i].Lists += t.Lists
		}
	}
	all = slices.DeleteFunc(all, func(t token) bool {
		if wrong[t.id()] {
			out = append(out, left{t, "lists disagree on its decimals"})
		}
		return wrong[t.id()]
	})
	return all, out
}

// measure sets the reach of tokens that have none yet.
func measure(all, found []token) {
	networks := map[string]map[uint64]bool{}
	for _, t := range found {
		look := tokens.Skeleton(t.Symbol)
		if networks[look] == nil {
			networks[look] = map[uint64]bool{}
		}
		if chosen(t) > 0 {
			networks[look][t.Chain] = true
		}
	}
	for i, t := range all {
		if t.Reach == 0 {
			all[i].Reach = max(len(networks[tokens.Skeleton(t.Symbol)]), min(1, chosen(t)))
		}
	}
}

// counts reports whether a source that counts has the token.
func counts(t token) bool {
	return slices.ContainsFunc(sources, func(s source) bool { return s.counts && strings.Contains(t.Lists, s.Letter) })
}

// chosen returns how many sources that somebody answers for have the token.
func chosen(t token) (n int) {
	for _, s := range sources {
		if s.counts && !s.open && strings.Contains(t.Lists, s.Letter) {
			n++
		}
	}
	return n
}

// rank returns the place of the best source that has the token. A project's own deployment
// is on the lists of lenders and exchanges, what a bridge would deploy on the wide ones.
func rank(t token) int {
	const best = "mapxuoks"
	return strings.IndexAny(best, t.Lists)
}

// unfit says why a token is not worth showing; "" if it is.
func unfit(t token) string {
	shown, ok := tokens.Unverified(t.Chain, t.Address, t.Symbol, t.Name, t.Decimals, "")
	switch {
	case t.Address == tokens.Native || !ok:
		return "no token"
	case shown.Symbol != t.Symbol || shown.Name != t.Name:
		return "its name is not fit for a screen"
	case !counts(t):
		return "only on old or wide lists"
	case matured.MatchString(t.Symbol) || matured.MatchString(t.Name):
		return "it matures"
	case dead.MatchString(t.Name):
		return "its name says that it is over"
	case share.MatchString(t.Name):
		return "a share of a pool"
	case ren.MatchString(t.Symbol):
		return "its bridge closed in 2022"
	}
	return cmp.Or(over[t.Symbol], spoiled[t.id()])
}

// compare sorts tokens by network, then by what people hold: by kind, those of open lists
// last, by reach, by how many lists have it and which, by symbol.
func compare(a, b token) int {
	return cmp.Or(
		cmp.Compare(a.Chain, b.Chain),
		cmp.Compare(kindOf(a), kindOf(b)),
		cmp.Compare(min(1, chosen(b)), min(1, chosen(a))),
		cmp.Compare(b.Reach, a.Reach),
		cmp.Compare(chosen(b), chosen(a)),
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(len(b.Lists), len(a.Lists)),
		cmp.Compare(strings.ToLower(a.Symbol), strings.ToLower(b.Symbol)),
		a.Address.Cmp(b.Address),
	)
}

var (
	// matured matches principal and yield tokens, which end at a date.
	matured = regexp.MustCompile(`^(PT|YT|SY|LP|LPT)[ -]|(?i)\b(principal|yield) token\b|-\d{1,2}(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)20\d\d`)
	// share matches shares of a liquidity pool, of which there are many of one name.
	share = regexp.MustCompile(`(?i)\b(LP|pool tokens?|Uniswap V2|Balancer \d+)\b`)
	// ren matches what Ren's bridge issued.
	ren = regexp.MustCompile(`^ren[A-Z]`)
	// dead matches names of tokens that their issuer has replaced or given up, or whose bridge is gone.
	dead = regexp.MustCompile(`(?i)\b(old|deprecated|legacy|discontinued|migrated|anyswap|multichain|testnet|do not use)\b`)
)
