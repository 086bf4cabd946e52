package main

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/priceapi/board"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
	"swapkeep/tokens"
)

// A history that is full, and what is written to it.
const (
	warmMinutes = 26 * 60 // until every slot of the minutes is an own one
	runMinutes  = 4 * 60  // that are measured
	minuteTurns = 60
	fillRows    = 64 // of one Fill
)

// pricedToken is the nth token of a made-up list.
func pricedToken(n int) tokens.Token {
	return tokens.Token{
		Chain: 1, Address: common.BigToAddress(big.NewInt(int64(n) + 1)), Symbol: fmt.Sprintf("TOK%d", n), Name: fmt.Sprintf("Token number %d", n), Decimals: 18, Verified: true,
	}
}

// priceAt is what it costs: a figure with as many digits as real ones have.
func priceAt(n int, at time.Time) price.Value {
	v, err := price.Parse(fmt.Sprintf("%d.%017d", 1+n%4000, 1+(at.Unix()*7919+int64(n)*104729)%99_999_999_999_999_999))
	if err != nil {
		panic(err) // the form is constant
	}
	return v
}

// samplesAt is a fetch of so many tokens.
func samplesAt(count int, at time.Time) poll.Minute {
	m := poll.Minute{At: at, Took: time.Second, OK: true, Samples: make(map[price.ID]price.Sample, count)}
	for n := range count {
		m.Samples[price.IDOf(pricedToken(n))] = price.Sample{Value: priceAt(n, at), At: at, Source: price.DefiLlama}
	}
	return m
}

// boardAt is a board of so many tokens, all with 24 hours of data.
func boardAt(count int, at time.Time) *board.Board {
	rows := make([]board.Row, count)
	for n := range rows {
		rows[n] = board.Row{
			Token: pricedToken(n), Public: true,
			Now:   price.Sample{Value: priceAt(n, at), At: at, Source: price.DefiLlama},
			Ago:   price.Sample{Value: priceAt(n, at.Add(-24*time.Hour)), At: at.Add(-24 * time.Hour), Source: price.DefiLlama},
			Facts: price.Facts{MarketCap: priceAt(count-n, at), Holders: uint64(n)},
		}
	}
	return board.New(1, at, rows)
}

// A ledger is a history with a clock of its own.
type ledger struct {
	*series.Store
	path string
	now  time.Time
}

// openLedger makes a history that holds all that is kept of so many tokens.
func openLedger(ctx context.Context, path string, count int) (*ledger, error) {
	l := &ledger{path: path, now: time.Now().UTC().Truncate(time.Minute)}
	var err error
	if l.Store, err = series.Open(path, series.Options{Now: func() time.Time { return l.now }}); err != nil {
		return nil, err
	}
	for _, r := range []struct {
		of   price.Resolution
		span time.Duration
	}{{price.Hours, 32 * 24 * time.Hour}, {price.Quarters, 8 * 24 * time.Hour}, {price.Minutes, 25 * time.Hour}} {
		if err := l.fill(ctx, r.of, r.span, count); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *ledger) fill(ctx context.Context, r price.Resolution, span time.Duration, count int) error {
	step := r.Step()
	for at := l.now.Add(-span).Truncate(step).Add(step); at.Before(l.now); at = at.Add(fillRows * step) {
		candles := make(map[price.ID][]price.Candle, count)
		for n := range count {
			id := price.IDOf(pricedToken(n))
			for i := range fillRows {
				if t := at.Add(time.Duration(i) * step); t.Before(l.now) {
					v := priceAt(n, t)
					candles[id] = append(candles[id], price.Candle{At: t, Open: v, High: v, Low: v, Close: v})
				}
			}
		}
		if err := l.Fill(ctx, r, price.DefiLlama, candles); err != nil {
			return err
		}
	}
	return nil
}

// minutes lets so many pass, and returns how long each commit took.
func (l *ledger) minutes(ctx context.Context, count, turns int) (took []float64, err error) {
	m := samplesAt(count, l.now)
	for range turns {
		l.now = l.now.Add(time.Minute)
		m.At = l.now
		t, err := timed(nil, func() error { return l.Append(ctx, m) })
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	return took, ctx.Err()
}

// commitOf times a minute's commit to a history of so many tokens.
func commitOf(count int) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, _ []float64, err error) {
		s, err := series.Open(filepath.Join(l.dir, fmt.Sprintf("commit-%d.db", count)), series.Options{})
		if err != nil {
			return nil, nil, err
		}
		at := &ledger{Store: s, now: time.Now().UTC().Truncate(time.Minute).Add(-minuteTurns * time.Minute)}
		ours, err = at.minutes(ctx, count, minuteTurns)
		return ours, nil, firstOf(err, s.Close())
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// measureDay is what a day of a thousand tokens writes to a full history, by the
// kernel's count of what this process gave to it.
func measureDay(ctx context.Context, l *lab) (ours, _ []float64, err error) {
	s, err := l.fullHistory(ctx)
	if err != nil {
		return nil, nil, err
	}
	before, err := bytesWritten()
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.minutes(ctx, pricedTokens, runMinutes); err != nil {
		return nil, nil, err
	}
	after, err := bytesWritten()
	return []float64{(after - before) * (24 * 60 / runMinutes)}, nil, err
}

// measureFile is the size of that history.
func measureFile(ctx context.Context, l *lab) (ours, _ []float64, err error) {
	s, err := l.fullHistory(ctx)
	if err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, nil, err
	}
	return []float64{float64(info.Size())}, nil, nil
}

// pricedTokens is how many the history of the bench has.
const pricedTokens = 1000

// fullHistory is a month of a thousand tokens, the last day as it was taken. It is
// made once.
func (l *lab) fullHistory(ctx context.Context) (*ledger, error) {
	if l.history != nil {
		return l.history, nil
	}
	s, err := openLedger(ctx, filepath.Join(l.dir, "prices.db"), pricedTokens)
	if err == nil {
		_, err = s.minutes(ctx, pricedTokens, warmMinutes)
	}
	if err != nil {
		return nil, err
	}
	l.history = s
	return s, nil
}

// handOver closes that history, for a server to open it, and returns its file.
func (l *lab) handOver(ctx context.Context) (string, error) {
	if l.charted != "" {
		return l.charted, nil
	}
	s, err := l.fullHistory(ctx)
	if err != nil {
		return "", err
	}
	l.history, l.charted = nil, s.path
	return s.path, s.Close()
}

// bytesWritten is how many bytes this process has given to the system (proc(5), io).
func bytesWritten() (float64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "wchar: "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, fmt.Errorf("this system does not tell what a process wrote")
}
