package source

import (
	"sync"
	"time"

	"swapkeep/priceapi/price"
)

// results collects what the calls of one request return, which may run in parallel. If several
// calls return a value for a token, the first counts.
type results struct {
	mu         sync.Mutex // held while a reply is read
	readings   []price.Reading
	index      map[price.ID]int // of a token's reading in readings
	marketCaps map[price.ID]price.Value
	holders    map[price.ID]uint64
	series     map[price.ID]series

	// Set only by Hosted, which reads another Swapkeep's price API.
	dayAgo      map[price.ID]price.Value
	circulating map[price.ID]bool // the market cap is of the circulating, not the total supply
}

func newResults() *results {
	return &results{
		index: make(map[price.ID]int), marketCaps: make(map[price.ID]price.Value),
		holders: make(map[price.ID]uint64), series: make(map[price.ID]series),
		dayAgo: make(map[price.ID]price.Value), circulating: make(map[price.ID]bool),
	}
}

// addReading adds a reading for each of the given tokens that has none.
func (r *results) addReading(ids []price.ID, reading price.Reading) {
	for _, id := range ids {
		if _, ok := r.index[id]; ok {
			continue
		}
		r.index[id] = len(r.readings)
		reading.ID = id
		r.readings = append(r.readings, reading)
	}
}

// setIfAbsent sets a value in a map for each of the given tokens that has none.
func setIfAbsent[V any](to map[price.ID]V, ids []price.ID, v V) {
	for _, id := range ids {
		if _, ok := to[id]; !ok {
			to[id] = v
		}
	}
}

// A series holds the historical prices that a service returned for one of its coin ids.
type series struct {
	key    string                // the service's id of the coin
	prices map[int64]price.Value // by Unix second
}

// addPast adds a historical price to the given tokens. If a service has several coins for a
// token, only the prices of the first one that it returned count: their prices may differ.
func (r *results) addPast(ids []price.ID, key string, at time.Time, v price.Value) {
	for _, id := range ids {
		if _, ok := r.series[id]; !ok {
			r.series[id] = series{key, make(map[int64]price.Value)}
		}
		if s := r.series[id]; s.key == key {
			s.prices[at.Unix()] = v
		}
	}
}
