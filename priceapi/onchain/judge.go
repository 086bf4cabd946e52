package onchain

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// agreement is how far a doubtful oracle's price may be from a pool's.
const agreement = 0.03

var (
	errUnconfirmed = errors.New("no pool of the token says the same")
	errOtherAsset  = errors.New("it measures another asset")
	errChanged     = errors.New("the source behind it has changed since the list was made")
)

// An oracle is an oracle's price of an asset. If it is in doubt, for instance because it
// was not updated for longer than usual, it is used only if a pool agrees.
type oracle struct {
	price.Sample
	doubt     error // nil = none
	quoteOnly bool  // used only to price the coins that pools are quoted in
}

// A evaluation decides on everything that was read.
type evaluation struct {
	s    *Source
	data map[uint64]*chainData
	now  time.Time
}

// judge returns the accepted readings of each token.
func (s *Source) judge(all map[uint64]*chainData, wanted map[uint64]*readPlan) []price.Reading {
	r := evaluation{s, all, s.now()}
	var readings []price.Reading
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		w := wanted[id]
		coinPrices := r.coins(id, w)
		byAsset := map[common.Address][]price.Sample{}
		for _, t := range w.tokens {
			asset := chainConfigs[id].asset(t.Address)
			samples, ok := byAsset[asset]
			if !ok {
				samples = r.asset(price.ID{Chain: id, Address: asset}, w.assets[asset], coinPrices)
				byAsset[asset] = samples
			}
			for _, x := range samples {
				readings = append(readings, price.Reading{ID: price.IDOf(t), Sample: x})
			}
		}
	}
	return readings
}

// asset returns an asset's prices: an oracle's and a pool's.
func (r evaluation) asset(id price.ID, decimals uint8, coinPrices map[common.Address]price.Value) []price.Sample {
	var samples []price.Sample
	traded, hasPool := r.pool(id, decimals, coinPrices)
	all := slices.DeleteFunc(r.oracles(id), func(o oracle) bool { return o.quoteOnly })
	if o, ok := r.choose(id, all, traded, hasPool); ok {
		samples = append(samples, o)
	}
	if hasPool {
		samples = append(samples, traded)
	}
	return samples
}

// choose returns the first oracle without doubt, otherwise the first that agrees with the
// pool.
func (r evaluation) choose(id price.ID, all []oracle, traded price.Sample, hasPool bool) (price.Sample, bool) {
	for _, o := range all {
		if o.doubt == nil {
			return o.Sample, true
		}
	}
	for _, o := range all {
		if hasPool && o.Value.RelativeDiff(traded.Value) <= agreement {
			return o.Sample, true
		}
		r.s.rejected(Rejection{id, o.Source, fmt.Errorf("%w: %w", errUnconfirmed, o.doubt)})
	}
	return price.Sample{}, false
}

// oracles returns the oracles that have a price of the asset, in order of preference.
func (r evaluation) oracles(id price.ID) []oracle {
	var all []oracle
	take := func(source price.Source, x price.Sample, quotes bool, err, doubt error) {
		if err != nil {
			r.s.rejected(Rejection{id, source, err})
			return
		}
		all = append(all, oracle{x, doubt, quotes})
	}
	for _, f := range r.s.table.feeds[id] {
		h, ok := r.data[f.on]
		if !ok {
			continue
		}
		answer, ok := h.feeds[f.address]
		if !ok {
			continue
		}
		x, err := answer.price(f, r.now)
		doubt := doubtOf(f.measures, false)
		if errors.Is(err, errStale) { // some feeds update only once a day in quiet markets
			doubt, f.maxAge = cmp.Or(doubt, err), daily
			x, err = answer.price(f, r.now)
		}
		if h.sequencer != nil {
			err = h.sequencer
		}
		take(f.source, x, f.quoteOnly, err, doubt)
	}
	listed := r.s.table.aave[id]
	if p, ok := r.data[id.Chain].aave[id.Address]; ok {
		x, err := p.sample(listed, r.now)
		doubt := doubtOf(listed.measures, p.source.changed)
		if errors.Is(err, errNoAge) {
			err, doubt = nil, err
		}
		if r.data[id.Chain].sequencer != nil {
			err = r.data[id.Chain].sequencer
		}
		take(price.AaveOracle, x, false, err, doubt)
	}
	return all
}

func doubtOf(of string, changed bool) error {
	switch {
	case of != "":
		return fmt.Errorf("%w: %s", errOtherAsset, of)
	case changed:
		return errChanged
	}
	return nil
}

// coins returns the worth of the coins that the chain's pools are quoted in, by oracles
// only. The wrapped native coin comes first; its pools then confirm those in doubt.
func (r evaluation) coins(id uint64, w *readPlan) map[common.Address]price.Value {
	worth := map[common.Address]price.Value{}
	for _, c := range chainConfigs[id].coins() {
		if _, ok := w.assets[c.address]; !ok {
			continue // asked on behalf of another chain
		}
		asset := price.ID{Chain: id, Address: c.address}
		var traded price.Sample
		var hasPool bool
		if native, ok := worth[chainConfigs[id].wrapped.address]; ok {
			traded, hasPool = r.pool(asset, c.decimals, map[common.Address]price.Value{chainConfigs[id].wrapped.address: native})
		}
		if x, ok := r.choose(asset, r.oracles(asset), traded, hasPool); ok {
			worth[c.address] = x.Value
		}
	}
	return worth
}

// pool returns the depth-weighted median of the asset's pools. If one of them is off its
// time-weighted mean, pools without a known mean are ignored.
func (r evaluation) pool(id price.ID, decimals uint8, worth map[common.Address]price.Value) (price.Sample, bool) {
	var all []poolPrice
	drifts := false
	for _, s := range r.data[id.Chain].pools[id.Address] {
		coin, ok := worth[s.coin.address]
		if !ok {
			r.s.rejected(Rejection{id, s.source, errQuote})
			continue
		}
		q, err := s.quote(decimals, coin)
		if err != nil {
			drifts = drifts || errors.Is(err, errDrift)
			r.s.rejected(Rejection{id, s.source, fmt.Errorf("pool %s: %w", s.at, err)})
			continue
		}
		all = append(all, q)
	}
	if drifts {
		all = slices.DeleteFunc(all, func(q poolPrice) bool { return !q.confirmed })
	}
	return median(all)
}

// median returns the price with at most half of the depth on either side.
func median(all []poolPrice) (price.Sample, bool) {
	slices.SortStableFunc(all, func(a, b poolPrice) int { return a.Value.Cmp(b.Value) })
	total, below := new(big.Int), new(big.Int)
	for _, q := range all {
		total.Add(total, q.depth.Int())
	}
	for _, q := range all {
		below.Add(below, q.depth.Int())
		if new(big.Int).Lsh(below, 1).Cmp(total) >= 0 {
			return q.Sample, true
		}
	}
	return price.Sample{}, false // all is empty
}
