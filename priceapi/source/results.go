package source

import (
	"sync"
	"time"

	"swapkeep/priceapi/price"
)

// results collects the results of the calls of one request. The first result for a token
// counts.
type results struct {
	mu       sync.Mutex // held while a reply is read
	readings []price.Reading
	at       map[price.ID]int // index in readings
	caps     map[price.ID]price.Value
	holders  map[price.ID]uint64
	series   map[price.ID]series

	// Only from another Swapkeep's lists.
	ago         map[price.ID]price.Value
	circulating map[price.ID]bool // the market cap is not by total supply
}

func newResults() *results {
	return &results{
		at: make(map[price.ID]int), caps: make(map[price.ID]price.Value),
		holders: make(map[price.ID]uint64), series: make(map[price.ID]series),
		ago: make(map[price.ID]price.Value), circulating: make(map[price.ID]bool),
	}
}

// addReading adds one reading for all of the given tokens.
func (a *results) addReading(ids []price.ID, r price.Reading) {
	for _, id := range ids {
		if _, ok := a.at[id]; ok {
			continue
		}
		a.at[id] = len(a.readings)
		r.ID = id
		a.readings = append(a.readings, r)
	}
}

// setIfAbsent sets a value for the tokens that have none.
func setIfAbsent[V any](to map[price.ID]V, ids []price.ID, v V) {
	for _, id := range ids {
		if _, ok := to[id]; !ok {
			to[id] = v
		}
	}
}

// A series holds the prices returned for one key, by Unix second.
type series struct {
	key    string
	prices map[int64]price.Value
}

// addPast adds a historical price. Only the first key of a token counts.
func (a *results) addPast(ids []price.ID, key string, at time.Time, v price.Value) {
	for _, id := range ids {
		if _, ok := a.series[id]; !ok {
			a.series[id] = series{key, make(map[int64]price.Value)}
		}
		if s := a.series[id]; s.key == key {
			s.prices[at.Unix()] = v
		}
	}
}
