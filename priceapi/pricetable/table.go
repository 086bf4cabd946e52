// Package pricetable holds the table of prices as of one fetch. The pollers write it; the
// REST API, the wallet and the swaps read it.
package pricetable

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"slices"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Row is one token's entry.
type Row struct {
	Token  tokens.Token
	Public bool // shown by the REST API
	// Now is the last accepted price; unknown if there never was one.
	Now price.Sample
	// AcceptedAt is when Now was last accepted, by the wall clock. If zero, staleness is read
	// from Stale alone.
	AcceptedAt time.Time
	// Stale says that Now was already too old when the table was made.
	Stale bool
	// Ended: the token's chain was shut down. Nothing is valued by its price.
	Ended bool
	// Oracle is the last oracle price that agreed with the price accepted at that time
	// (Firmly); unknown if there never was one. Swaps are judged by it alone, whichever
	// list the token is on, because trading in a pool cannot move it.
	Oracle   price.Sample
	OracleAt time.Time
	// Market is the last price that two hands, such as two services of different operators, gave
	// alike: the lower one; unknown if there never was one. Only what gas is weighed against
	// rests on it ([Row.GasPrice]).
	Market   price.Sample
	MarketAt time.Time
	// DayAgo is the price closest to 24 hours before the table was made; unknown if none is
	// close enough or if Now is stale.
	DayAgo price.Sample
	Facts  price.Facts
}

// StaleAfter is how long an accepted price counts as current. A clock that was set back by
// more than Ahead makes it stale too.
const (
	StaleAfter = 15 * time.Minute
	Ahead      = 2 * time.Minute
)

// StaleAt reports whether Now is too old at the given time. The table itself may be old,
// for instance after the machine slept.
func (r Row) StaleAt(now time.Time) bool {
	if r.Stale || r.AcceptedAt.IsZero() {
		return r.Stale
	}
	return r.Now.Known() && !isFresh(r.AcceptedAt, now)
}

func isFresh(taken, now time.Time) bool {
	age := now.Round(0).Sub(taken)
	return age <= StaleAfter && age >= -Ahead
}

// Current reports whether amounts may be valued by Now at the given time.
func (r Row) Current(now time.Time) bool { return r.Now.Known() && !r.StaleAt(now) }

// GuardPrice returns the price that swaps may be judged by at the given time; false if there is
// none.
func (r Row) GuardPrice(now time.Time) (price.Value, bool) {
	return r.Oracle.Value, r.Oracle.Known() && isFresh(r.OracleAt, now)
}

// GasPrice returns the price by which gas is weighed against the token at the given time:
// what guards accept, and otherwise, of a stable coin, the market's price, but no more than its
// currency is worth, so that a pumped pool hides no gas.
func (r Row) GasPrice(now time.Time) (price.Value, bool) {
	if v, ok := r.GuardPrice(now); ok {
		return v, true
	}
	if r.Token.Par == 0 || r.Ended || !r.Market.Known() || !isFresh(r.MarketAt, now) {
		return price.Value{}, false
	}
	most, err := price.FromRatio(new(big.Int).SetUint64(r.Token.Par), big.NewInt(1_000_000))
	if err != nil {
		return price.Value{}, false
	}
	if most.Cmp(r.Market.Value) < 0 {
		return most, true
	}
	return r.Market.Value, true
}

// ID returns the token's ID.
func (r Row) ID() price.ID { return price.IDOf(r.Token) }

// Has24h reports whether there is a current price and one from 24 hours ago.
func (r Row) Has24h() bool { return r.Now.Known() && r.DayAgo.Known() && !r.Stale }

// Change returns the change over 24 hours: its absolute amount, whether it is a fall, and
// its signed percentage. All are zero without 24 hours of data.
func (r Row) Change() (by price.Value, fell bool, percent float64) {
	if !r.Has24h() {
		return price.Value{}, false, 0
	}
	a, b := r.Now.Value, r.DayAgo.Value
	if a.Cmp(b) < 0 {
		a, b, fell = b, a, true
	}
	by = a.Sub(b)
	percent = 100 * by.Float() / r.DayAgo.Value.Float()
	if by.Float() == 0 || math.IsInf(percent, 0) || math.IsNaN(percent) {
		percent = 0
	}
	if fell {
		percent = -percent
	}
	return by, fell, percent
}

// A Table is the table of all rows after one fetch. It is immutable.
type Table struct {
	Seq     uint64    // increases with every table
	Fetched time.Time // when the last fetch that brought prices ended; zero = none yet
	Rows    []Row     // by market cap, largest first, then by chain and address

	byID map[price.ID]int
}

// New sorts rows and keeps the slice.
func New(seq uint64, fetched time.Time, rows []Row) *Table {
	slices.SortFunc(rows, compare)
	b := &Table{Seq: seq, Fetched: fetched, Rows: rows, byID: make(map[price.ID]int, len(rows))}
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

// Row finds a token's row.
func (b *Table) Row(id price.ID) (Row, bool) {
	i, ok := b.byID[id]
	if !ok {
		return Row{}, false
	}
	return b.Rows[i], true
}

// Served reports whether any current price is from a service outside the networks. If not,
// the tokens that only services know have none, and nobody confirms the oracles.
func (b *Table) Served(now time.Time) bool {
	return slices.ContainsFunc(b.Rows, func(r Row) bool { return r.Now.Source.Service() && r.Current(now) })
}

// At lists the rows of tokens with that address, lowest chain id first.
func (b *Table) At(a common.Address) []Row {
	var all []Row
	for _, r := range b.Rows {
		if r.Token.Address == a {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(x, y Row) int { return cmp.Compare(x.Token.Chain, y.Token.Chain) })
	return all
}
