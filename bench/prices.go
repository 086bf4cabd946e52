package main

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	"swapkeep/tokens"
)

// fillRows is the number of rows per Fill.
const fillRows = 64

// pricedToken returns the nth token of a made-up list.
func pricedToken(n int) tokens.Token {
	return tokens.Token{
		Chain: 1, Address: common.BigToAddress(big.NewInt(int64(n) + 1)), Symbol: fmt.Sprintf("TOK%d", n), Name: fmt.Sprintf("Token number %d", n), Decimals: 18, Verified: true,
	}
}

// priceAt returns its price, with as many digits as real ones have.
func priceAt(n int, at time.Time) price.Value {
	v, err := price.Parse(fmt.Sprintf("%d.%017d", 1+n%4000, 1+(at.Unix()*7919+int64(n)*104729)%99_999_999_999_999_999))
	if err != nil {
		panic(err) // the format is constant
	}
	return v
}

// packedAt returns the same price in packed form, without parsing: a month has millions
// of them. at is in minutes.
func packedAt(n int, at int64) price.Packed {
	whole, fraction := uint64(1+n%4000), uint64(1+(at*60*7919+int64(n)*104729)%99_999_999_999_999_999)
	shift, digits := uint64(10), uint64(1)
	for ; shift <= whole; shift *= 10 {
		digits++
	}
	const seventeen = 100_000_000_000_000_000
	return price.Packed((whole*(seventeen/shift)+fraction/shift)<<6 | (digits + 1))
}

// samplesAt returns a fetch of count tokens.
func samplesAt(count int, at time.Time) poll.Minute {
	m := poll.Minute{At: at, Took: time.Second, OK: true, Samples: make(map[price.ID]price.Sample, count)}
	for n := range count {
		m.Samples[price.IDOf(pricedToken(n))] = price.Sample{Value: priceAt(n, at), At: at, Source: price.DefiLlama}
	}
	return m
}

// boardAt returns a price table of count tokens, all with 24 hours of data.
func boardAt(count int, at time.Time) *pricetable.Table {
	rows := make([]pricetable.Row, count)
	for n := range rows {
		rows[n] = pricetable.Row{
			Token: pricedToken(n), Public: true,
			Now:    price.Sample{Value: priceAt(n, at), At: at, Source: price.DefiLlama},
			DayAgo: price.Sample{Value: priceAt(n, at.Add(-24*time.Hour)), At: at.Add(-24 * time.Hour), Source: price.DefiLlama},
			Facts:  price.Facts{MarketCap: priceAt(count-n, at), Holders: uint64(n)},
		}
	}
	return pricetable.New(1, at, rows)
}

// A clockedHistory is a history with its own clock.
type clockedHistory struct {
	*series.Store
	path string
	now  time.Time
}

// openLedger creates a full history of count tokens.
func openLedger(ctx context.Context, path string, count int) (*clockedHistory, error) {
	l := &clockedHistory{path: path, now: time.Now().UTC().Truncate(time.Minute)}
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

func (l *clockedHistory) fill(ctx context.Context, r price.Resolution, span time.Duration, count int) error {
	step := r.Step()
	for at := l.now.Add(-span).Truncate(step).Add(step); at.Before(l.now); at = at.Add(fillRows * step) {
		candles := make(map[price.ID][]price.Candle, count)
		for n := range count {
			id := price.IDOf(pricedToken(n))
			for i := range fillRows {
				if t := at.Add(time.Duration(i) * step); t.Before(l.now) {
					v, _ := packedAt(n, minuteOf(t)).Unpack()
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

// minute commits the next minute and returns how long it took and the bytes written.
func (l *clockedHistory) minute(ctx context.Context, count int) (took, bytes float64, err error) {
	l.now = l.now.Add(time.Minute)
	m := samplesAt(count, l.now)
	before, err := bytesWritten()
	if err != nil {
		return 0, 0, err
	}
	if took, err = timed(nil, func() error { return l.Append(ctx, m) }); err != nil {
		return 0, 0, err
	}
	after, err := bytesWritten()
	return took, after - before, err
}

// bytesWritten is how many bytes this process passed to the system (proc(5), io).
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
