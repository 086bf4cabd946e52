package web

import (
	"bytes"
	"context"
	"net/http"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

func (a *API) history(w http.ResponseWriter, r *http.Request, address common.Address, chain uint64, period string) {
	s := a.snapshot()
	place, ok := s.place(address, chain)
	if !ok {
		unknownToken.problem(missing(chain)).write(w, r)
		return
	}
	row := s.table.Rows[place]
	p, _ := price.PeriodNamed(period) // validated already
	ctx, cancel := context.WithTimeout(r.Context(), a.limits.Backend)
	defer cancel()
	candles, err := a.chart(ctx, row.ID(), p)
	if err != nil {
		noHistory.problem("cannot read the chart now").after(a.limits.Backend).write(w, r)
		return
	}
	chart := Chart{
		TokenAddress: addressText(address), ChainID: row.Token.Chain, Symbol: row.Token.Symbol, Period: p.Name, StepSeconds: int(p.Step.Seconds()),
		Data: []Candle{}, Timestamp: formatNoZone(s.table.Fetched),
	}
	newAnswer(appendCandles(encode(chart), candles), s.stale([]int32{place})).write(w, r)
}

// appendCandles inserts candles into an encoded chart without any. It writes the same bytes
// as encoding each [Candle] in a third of the time, which matters because charts are not
// cached.
func appendCandles(chart []byte, candles []price.Candle) []byte {
	head, tail, _ := bytes.Cut(chart, []byte(`"data":[]`))
	const candleSize = 190 // for prices below a million dollars
	b := append(make([]byte, 0, len(chart)+candleSize*len(candles)), head...)
	b = append(b, `"data":[`...)
	for i, c := range candles {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(c.At.UTC().AppendFormat(append(b, `{"timestamp":"`...), zulu), `","open":"`...)
		b = append(c.Open.Append(b, price.Digits), `","high":"`...)
		b = append(c.High.Append(b, price.Digits), `","low":"`...)
		b = append(c.Low.Append(b, price.Digits), `","close":"`...)
		b = append(c.Close.Append(b, price.Digits), `"}`...)
	}
	return append(append(b, ']'), tail...)
}

// chart reads a chart, limited to Limits.Charts at once.
func (a *API) chart(ctx context.Context, id price.ID, p price.Period) ([]price.Candle, error) {
	if err := acquire(ctx, a.reading); err != nil {
		return nil, err
	}
	defer func() { <-a.reading }()
	return a.c.Charts.Chart(ctx, id, p, a.now())
}

// acquire acquires a slot of a semaphore.
func acquire(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *API) available(w http.ResponseWriter, r *http.Request, chain uint64) {
	s, k := a.snapshot(), listKey{of: chartsList, chain: chain}
	if kept := s.lists.get(k); kept != nil {
		kept.write(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.limits.Backend)
	defer cancel()
	covered, err := a.coverages(ctx, s)
	if err != nil {
		noHistory.problem("cannot read the price history now").after(a.limits.Backend).write(w, r)
		return
	}
	made := encoded(s.availableList(covered, chain), 0)
	s.lists.put(k, made)
	made.write(w, r)
}

// coverages reads what the history holds, once per table, because it may have to scan
// everything.
func (a *API) coverages(ctx context.Context, s *snapshot) ([]poll.Coverage, error) {
	if err := acquire(ctx, a.coverage); err != nil {
		return nil, err
	}
	defer func() { <-a.coverage }()
	if read := s.covered.Load(); read != nil {
		return *read, nil
	}
	covered, err := a.c.Charts.Coverages(ctx, a.now())
	if err == nil {
		s.covered.Store(&covered)
	}
	return covered, err
}

// availableList lists the chain's tokens that have charts, in the table's order.
func (s *snapshot) availableList(covered []poll.Coverage, chain uint64) AvailableList {
	of := make(map[price.ID]poll.Coverage, len(covered))
	for _, c := range covered {
		of[c.ID] = c
	}
	list := AvailableList{Data: []Available{}, Timestamp: formatNoZone(s.table.Fetched)}
	for _, i := range s.monitored[chain] {
		row := &s.table.Rows[i]
		c := of[row.ID()]
		var periods []AvailablePeriod
		for _, p := range price.Periods() {
			if n := c.Points[p.Name]; n > 0 {
				periods = append(periods, AvailablePeriod{Period: p.Name, StepSeconds: int(p.Step.Seconds()), Points: n})
			}
		}
		if len(periods) > 0 {
			list.Data = append(list.Data, Available{
				Identity: identity(*row), Symbol: row.Token.Symbol,
				Since: c.Since.UTC().Format(zulu), Periods: periods,
			})
		}
	}
	list.TotalCount = len(list.Data)
	return list
}
