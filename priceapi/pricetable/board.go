// Package pricetable is the table of prices as of one fetch: what the pollers write,
// and every reader (REST API, wallet, swaps) reads.
package pricetable

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Row is one token's.
type Row struct {
	Token  tokens.Token
	Public bool // shown by the REST API
	// Now is the last price that was believed; unknown where none ever was.
	Now price.Sample
	// Taken is when Now was last believed, by the wall clock; zero = only Stale tells.
	Taken time.Time
	// Stale says that Now was too old to be called current when the board was made.
	Stale bool
	// Firm is the last price of a source that no trade in a pool moves, an oracle, where
	// it was in keeping with the price believed then, and Firmly when that was. What a
	// swap is judged by is this alone, whatever list the token is on; unknown where there
	// never was one.
	Firm   price.Sample
	Firmly time.Time
	// Ago is the price closest to 24 hours before Now was taken; unknown where none
	// is near enough, and where Now is stale.
	Ago   price.Sample
	Facts price.Facts
}

// StaleAfter is how long a price that was believed is called current; a clock that was
// set back by more than Ahead makes it stale too.
const (
	StaleAfter = 15 * time.Minute
	Ahead      = 2 * time.Minute
)

// StaleAt reports whether Now is too old at a time: the board may be old, as after a
// sleep of the machine.
func (r Row) StaleAt(now time.Time) bool {
	if r.Stale || r.Taken.IsZero() {
		return r.Stale
	}
	return r.Now.Known() && !lasts(r.Taken, now)
}

func lasts(taken, now time.Time) bool {
	age := now.Round(0).Sub(taken)
	return age <= StaleAfter && age >= -Ahead
}

// Current reports whether there is a price at a time that something may be valued by.
func (r Row) Current(now time.Time) bool { return r.Now.Known() && !r.StaleAt(now) }

// FirmAt is the price at a time that a swap may be judged by; false = there is none.
func (r Row) FirmAt(now time.Time) (price.Value, bool) {
	return r.Firm.Value, r.Firm.Known() && lasts(r.Firmly, now)
}

// ID is the token's identity.
func (r Row) ID() price.ID { return price.IDOf(r.Token) }

// Has24h reports whether there is a current price and one to compare it with.
func (r Row) Has24h() bool { return r.Now.Known() && r.Ago.Known() && !r.Stale }

// Change is by how much the price changed in 24 hours: without its sign, whether it
// fell, and in percent. All zero without 24 hours of data.
func (r Row) Change() (by price.Value, fell bool, percent float64) {
	if !r.Has24h() {
		return price.Value{}, false, 0
	}
	a, b := r.Now.Value, r.Ago.Value
	if a.Cmp(b) < 0 {
		a, b, fell = b, a, true
	}
	by = a.Less(b)
	percent = 100 * by.Float() / r.Ago.Value.Float()
	if by.Float() == 0 || math.IsInf(percent, 0) || math.IsNaN(percent) {
		percent = 0
	}
	if fell {
		percent = -percent
	}
	return by, fell, percent
}

// A Board is all rows after one fetch. It never changes.
type Board struct {
	Seq     uint64    // grows with every board
	Fetched time.Time // when the last fetch that brought prices ended; zero = none yet
	Rows    []Row     // by market cap, the largest first, then by chain and address

	byID map[price.ID]int
}

// New orders the rows, which it keeps.
func New(seq uint64, fetched time.Time, rows []Row) *Board {
	slices.SortFunc(rows, compare)
	b := &Board{Seq: seq, Fetched: fetched, Rows: rows, byID: make(map[price.ID]int, len(rows))}
	for i, r := range rows {
		b.byID[r.ID()] = i
	}
	return b
}

func compare(a, b Row) int {
	return cmp.Or(
		-a.Facts.MarketCap.Cmp(b.Facts.MarketCap),
		cmp.Compare(a.Token.Chain, b.Token.Chain),
		bytes.Compare(a.Token.Address[:], b.Token.Address[:]),
	)
}

// Row finds a token.
func (b *Board) Row(id price.ID) (Row, bool) {
	i, ok := b.byID[id]
	if !ok {
		return Row{}, false
	}
	return b.Rows[i], true
}

// At lists the tokens of that address, the lowest chain id first.
func (b *Board) At(a common.Address) []Row {
	var all []Row
	for _, r := range b.Rows {
		if r.Token.Address == a {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(x, y Row) int { return cmp.Compare(x.Token.Chain, y.Token.Chain) })
	return all
}
