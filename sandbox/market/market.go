// Package market holds the prices of everything in the sandbox, present and past: one
// price per asset for all chains, which is moved by hand or drifts. Pools and oracles on
// the chains follow it, and the simulated price services read it.
package market

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// MaxMicroUSD limits a price to a billion dollars, in millionths of a dollar.
const MaxMicroUSD = 1_000_000_000 * dollar

// ErrMove means that a move is invalid.
var ErrMove = errors.New("bad move")

// A Move is a new price, in millionths of a US dollar. Assets that follow this one keep
// their ratio to it.
type Move struct {
	Symbol   string `json:"symbol"`
	MicroUSD int64  `json:"microUsd"`
}

// rates are asset prices by index in assets: ratios for assets that follow another,
// millionths of a US dollar for the rest.
type rates []float64

func starting() rates {
	r := make(rates, len(assets))
	for i, a := range assets {
		r[i] = float64(a.Rate)
		if a.Follows != "" {
			r[i] /= par
		}
	}
	return r
}

// micro returns the price of asset i in millionths of a US dollar, not rounded.
func (r rates) micro(i int) float64 {
	if of := assets[i].Follows; of != "" {
		return r[i] * r[index[of]]
	}
	return r[i]
}

// afterMoves returns the rates after the moves, applied in order. The error is ErrMove.
func (r rates) afterMoves(moves []Move) (rates, error) {
	r = slices.Clone(r)
	for _, m := range moves {
		i, ok := index[m.Symbol]
		if !ok {
			return nil, fmt.Errorf("%w: no asset %q; GET /market lists them", ErrMove, m.Symbol)
		}
		if m.MicroUSD < 1 || m.MicroUSD > MaxMicroUSD {
			return nil, fmt.Errorf("%w: microUsd of %s: want 1 to %d", ErrMove, m.Symbol, int64(MaxMicroUSD))
		}
		i = movedIndex(i)
		r[i] = float64(m.MicroUSD)
		if of := assets[i].Follows; of != "" {
			r[i] /= r[index[of]]
		}
	}
	for i := range r {
		if p := r.micro(i); p < 0.5 || p > 10*MaxMicroUSD {
			return nil, fmt.Errorf("%w: %s would be worth %g millionths of a dollar", ErrMove, assets[i].Symbol, p)
		}
	}
	return r, nil
}

// prices returns the rounded prices by symbol, in millionths of a US dollar.
func (r rates) prices() map[string]int64 {
	all := make(map[string]int64, len(r))
	for i, a := range assets {
		all[a.Symbol] = int64(math.Round(r.micro(i)))
	}
	return all
}

// A record holds the rates that are valid from a time on.
type record struct {
	since time.Time
	rates rates
}

// maxRecords limits the price history. When it is exceeded, every other record of the
// older half is dropped.
const maxRecords = 4096

// Prices are the market's prices, present and past, independent of the chains. Its
// methods may be called concurrently.
type Prices struct {
	seed  uint64
	began time.Time

	mu  sync.Mutex
	log []record // oldest first; the first is from the beginning and never dropped
}

// NewPrices starts with the starting prices at the given time, rounded down to the
// second. The seed determines the prices before that.
func NewPrices(seed uint64, began time.Time) *Prices {
	began = began.Truncate(time.Second)
	return &Prices{seed: seed, began: began, log: []record{{began, starting()}}}
}

func (p *Prices) now() rates {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log[len(p.log)-1].rates
}

// Current returns all prices by symbol, in millionths of a US dollar.
func (p *Prices) Current() map[string]int64 { return p.now().prices() }

// put records rates that are valid from a time on.
func (p *Prices) put(r rates, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.log[len(p.log)-1].since; since.Before(last) {
		since = last
	}
	p.log = append(p.log, record{since, r})
	if len(p.log) > maxRecords {
		p.thin()
	}
}

func (p *Prices) thin() {
	kept := p.log[:1]
	for i, r := range p.log[1:] {
		if i%2 == 1 || i > maxRecords/2 {
			kept = append(kept, r)
		}
	}
	p.log = kept
}

// At returns the price of an asset at a time, in millionths of a US dollar. Future times
// have the current price. Before the market began, prices derive from the seed and lead
// up to the starting price. ok is false for an unknown symbol.
func (p *Prices) At(symbol string, t time.Time) (micro float64, ok bool) {
	i, ok := index[symbol]
	if !ok {
		return 0, false
	}
	if t.Before(p.began) {
		return float64(assets[i].Start()) * p.shape(i, t) / p.shape(i, p.began), true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	after, _ := slices.BinarySearchFunc(p.log, t, func(r record, t time.Time) int {
		if r.since.After(t) {
			return 1
		}
		return -1
	})
	return math.Round(p.log[max(after-1, 0)].rates.micro(i)), true
}

// waves are the sine waves that make up past prices: their periods, and their amplitudes
// in the logarithm of the price.
var waves = []struct {
	period time.Duration
	height float64
}{
	{53 * time.Minute, 0.002}, {7 * time.Hour, 0.006}, {31 * time.Hour, 0.014},
	{9 * 24 * time.Hour, 0.04}, {47 * 24 * time.Hour, 0.09}, {400 * 24 * time.Hour, 0.3},
}

// calmFactor is the factor by which calm assets move less.
const calmFactor = 0.01

// shape returns an asset's price before the market began, in an arbitrary unit. An asset
// that follows another has the other's shape.
func (p *Prices) shape(i int, t time.Time) float64 {
	a := assets[i]
	if a.Follows != "" {
		a = assets[index[a.Follows]]
	}
	sum := 0.0
	for n, w := range waves {
		phase := float64(pseudoRandom(p.seed, a.Symbol, n)%1_000_000) / 1_000_000
		turns := math.Mod(float64(t.Unix())/w.period.Seconds(), 1)
		sum += w.height * math.Sin(2*math.Pi*(turns+phase))
	}
	if a.Calm {
		sum *= calmFactor
	}
	return math.Exp(sum)
}
