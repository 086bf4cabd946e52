package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// ErrStep means that the chart step is not in whole minutes.
var ErrStep = errors.New("the step must be of whole minutes")

// Limits of a chart. The service looks up each point of each coin; how many it allows is
// not documented.
const (
	pointsPerCoin = 500 // per call
	pointsPerCall = 2000
	callsPerCoin  = 20
)

// minConfidence is the confidence below which a coin's history is dropped. Current prices are
// judged by the caller instead.
var minConfidence = must(price.Parse("0.8"))

// Past implements poll.Archive. Its candles are made of the prices nearest to the middle of
// each step; steps without one are absent. If there are about 10,000 steps or more, the
// oldest are left out. Errors: ErrStep.
func (d *DefiLlama) Past(ctx context.Context, ts []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error) {
	if step <= 0 || step%time.Minute != 0 {
		return nil, fmt.Errorf("%s: %w, and is %s", d.Name(), ErrStep, step)
	}
	var qs []query
	if spans := spansOf(since, d.now(), step); len(spans) > 0 {
		longest := spans[len(spans)-1].points
		for _, a := range llamaAsks(ts).batches(min(coinsPerCall, pointsPerCall/longest)) {
			for _, s := range spans {
				qs = append(qs, d.chart(a, s, step))
			}
		}
	}
	all, err := ask(ctx, slowFactor*d.timeout, qs)
	out := make(map[price.ID][]price.Candle, len(all.series))
	for id, s := range all.series {
		if candles := candlesOf(s, since.Truncate(step), step); len(candles) > 0 {
			out[id] = candles
		}
	}
	return out, err
}

// A span is the part of a chart that one call requests.
type span struct {
	start  time.Time
	points int
}

// spansOf splits the time from since until now into at most callsPerCoin spans, newest
// first, so that the oldest are missing if time runs out.
func spansOf(since, now time.Time, step time.Duration) []span {
	var all []span
	if earliest := now.Add(-(callsPerCoin*pointsPerCoin - 1) * step); since.Before(earliest) {
		since = earliest
	}
	for at := since.Truncate(step).Add(step / 2); !at.After(now); {
		n := min(int(now.Sub(at)/step)+1, pointsPerCoin)
		all = append(all, span{at, n})
		at = at.Add(time.Duration(n) * step)
	}
	slices.Reverse(all)
	return all
}

func (d *DefiLlama) chart(a *keySet, s span, step time.Duration) query {
	minutes := func(x time.Duration) string { return fmt.Sprintf("%dm", max(1, int(x/time.Minute))) }
	return query{
		from: d.archive, keySet: a, read: readLlamaChart, path: "/chart/{coins}",
		call: rest.Call{
			Method: http.MethodGet, Path: "/chart/" + strings.Join(a.keys, ","),
			Query: url.Values{
				"start": {strconv.FormatInt(s.start.Unix(), 10)}, "span": {strconv.Itoa(s.points)},
				"period": {minutes(step)}, "searchWidth": {minutes(step / 2)}, // on either side of a point
			},
		},
	}
}

// readLlamaChart reads {"coins":{"<requested key>":{"confidence","prices":[{"timestamp",
// "price"}]}}}. The prices may be unordered and may repeat.
func readLlamaChart(r *rest.Reply, asks *keySet, to *results) error {
	var doc struct {
		Coins map[string]json.RawMessage `json:"coins"`
	}
	if decodeDocument(r.Body, &doc) != nil || doc.Coins == nil {
		return ErrReply
	}
	for _, key := range asks.keys {
		var coin struct {
			Confidence decimal           `json:"confidence"`
			Prices     []json.RawMessage `json:"prices"`
		}
		if !decodeRow(doc.Coins[key], &coin) || !confident(coin.Confidence) {
			continue
		}
		for _, raw := range coin.Prices {
			var point struct {
				Timestamp decimal `json:"timestamp"`
				Price     decimal `json:"price"`
			}
			if !decodeRow(raw, &point) {
				continue
			}
			v, priced := point.Price.value()
			if at, timed := point.Timestamp.time(r.Received); priced && timed {
				to.addPast(asks.ids[key], key, at, v)
			}
		}
	}
	return nil
}

// confident reports whether a confidence is high enough or missing.
func confident(d decimal) bool {
	v, err := price.Parse(string(d))
	return d == "" || err == nil && v.Cmp(minConfidence) >= 0 && v.Cmp(dollar) <= 0
}

// candlesOf builds candles of the prices that are not before from.
func candlesOf(s series, from time.Time, step time.Duration) []price.Candle {
	var all []price.Candle
	for _, second := range slices.Sorted(maps.Keys(s.prices)) {
		at, v := time.Unix(second, 0).UTC().Truncate(step), s.prices[second]
		next := price.Candle{At: at, Open: v, High: v, Low: v, Close: v}
		switch last := len(all) - 1; {
		case at.Before(from):
		case last >= 0 && all[last].At.Equal(at):
			all[last] = all[last].Join(next)
		default:
			all = append(all, next)
		}
	}
	return all
}
