package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
)

const (
	warmMinutes = 26 * 60 // until every minute in the history was appended, not filled
	minuteTurns = 60      // an hour: each kind of row ends in it
	readTurns   = 300
	dayMinutes  = 24 * 60

	// Names of these rows' columns, and of the lower bound for anything on disk.
	keyPerSample = "a key per sample in bbolt"
	inSQLite     = "SQLite"
	fsyncAlone   = "write and fsync alone, same bytes"
	ownBytes     = "the samples' own bytes"
)

// tokens is the number of tokens in the history.
func (l *lab) tokens() int {
	if l.short {
		return 100
	}
	return 1000
}

// historyPeers are the peers of our history, and its limit.
type historyPeers struct {
	count  int
	keyed  *keyed
	sqlite *sqlite
	bare   *os.File
}

func (l *lab) openHistoryPeers(ctx context.Context, name string, count int) (r *historyPeers, err error) {
	r = &historyPeers{count: count}
	at := filepath.Join(l.dir, name)
	if r.keyed, err = openKeyed(at+"-keyed.db", count); err != nil {
		return nil, err
	}
	if r.sqlite, err = l.openSQLite(ctx, at+"-sqlite.db", count); err != nil {
		return nil, errors.Join(err, r.keyed.close())
	}
	if r.bare, err = os.Create(at + "-bare"); err != nil {
		return nil, errors.Join(err, r.keyed.close(), r.sqlite.close())
	}
	return r, nil
}

// close closes them and removes their files, which are large.
func (r *historyPeers) close() error {
	err := errors.Join(r.keyed.close(), r.sqlite.close(), r.bare.Close())
	for _, path := range []string{r.keyed.path, r.sqlite.path, r.bare.Name()} {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// minutes commits that many minutes to ours, the peers and the bare file in turn, and
// returns how long each commit took and how many bytes ours and the peers wrote.
func (r *historyPeers) minutes(ctx context.Context, own *clockedHistory, turns int) (took, written sides, err error) {
	took, written = make(sides, 4), make(sides, 3)
	for range turns {
		t, b := [4]float64{}, [3]float64{}
		if t[0], b[0], err = own.minute(ctx, r.count); err != nil {
			return nil, nil, err
		}
		if t[1], b[1], err = r.keyedMinute(minuteOf(own.now)); err != nil {
			return nil, nil, err
		}
		if t[2], b[2], err = r.sqlite.minute(minuteOf(own.now)); err != nil {
			return nil, nil, err
		}
		if t[3], err = r.sync(int(b[0])); err != nil {
			return nil, nil, err
		}
		for i, v := range t {
			took[i] = append(took[i], v)
		}
		for i, v := range b {
			written[i] = append(written[i], v)
		}
	}
	return took, written, ctx.Err()
}

func (r *historyPeers) keyedMinute(at int64) (took, bytes float64, err error) {
	prices := make([]price.Packed, r.count)
	for n := range prices {
		prices[n] = packedAt(n, at)
	}
	before, err := bytesWritten()
	if err != nil {
		return 0, 0, err
	}
	if took, err = timed(nil, func() error { return r.keyed.minute(prices, at) }); err != nil {
		return 0, 0, err
	}
	after, err := bytesWritten()
	return took, after - before, err
}

// sync overwrites the bare file with count bytes and waits for the disk.
func (r *historyPeers) sync(count int) (took float64, err error) {
	b := bytes.Repeat([]byte{0xa5}, count)
	return timed(nil, func() error {
		if _, err := r.bare.WriteAt(b, 0); err != nil {
			return err
		}
		return r.bare.Sync()
	})
}

// commitOf times a minute's commit to a new history of count tokens.
func commitOf(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		name := fmt.Sprint("commit-", count)
		s, err := series.Open(filepath.Join(l.dir, name+".db"), series.Options{})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		r, err := l.openHistoryPeers(ctx, name, count)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.close()) }()
		turns := l.sampleCount(minuteTurns)
		began := time.Now().UTC().Truncate(time.Minute).Add(-time.Duration(turns) * time.Minute)
		took, _, err := r.minutes(ctx, &clockedHistory{Store: s, now: began}, turns)
		return took, err
	}
}

// A monthHistory is a full history of a month, whose last day was appended, with the measurements
// of ours and of its peers, which have the same content.
type monthHistory struct {
	own                *clockedHistory
	commits, day, file sides
	charts             map[string]sides // read alone, by period
}

// history makes that history, once.
func (l *lab) history(ctx context.Context) (*monthHistory, error) {
	if l.monthHistory != nil {
		return l.monthHistory, nil
	}
	count := l.tokens()
	own, err := openLedger(ctx, filepath.Join(l.dir, "prices.db"), count)
	if err != nil {
		return nil, err
	}
	p := &monthHistory{own: own, charts: map[string]sides{}}
	if err := l.measurePast(ctx, p, count); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	l.monthHistory = p
	return p, nil
}

func (l *lab) measurePast(ctx context.Context, p *monthHistory, count int) error {
	for range warmMinutes {
		if _, _, err := p.own.minute(ctx, count); err != nil {
			return err
		}
	}
	r, err := l.openHistoryPeers(ctx, "history", count)
	if err != nil {
		return err
	}
	return errors.Join(l.measureRivals(ctx, p, r), r.close())
}

func (l *lab) measureRivals(ctx context.Context, p *monthHistory, r *historyPeers) (err error) {
	if err := r.fill(ctx, p.own.now); err != nil {
		return err
	}
	var written sides
	if p.commits, written, err = r.minutes(ctx, p.own, l.sampleCount(minuteTurns)); err != nil {
		return err
	}
	for _, w := range written {
		p.day = append(p.day, []float64{sum(w) / float64(len(w)) * dayMinutes})
	}
	perDay, inAll := bytesOf(r.count)
	p.day = append(p.day, []float64{perDay})
	if p.file, err = r.files(p.own); err != nil {
		return err
	}
	p.file = append(p.file, []float64{inAll})
	for _, of := range price.Periods() {
		if p.charts[of.Name], err = r.read(ctx, p.own, of, l.sampleCount(readTurns)); err != nil {
			return err
		}
	}
	return nil
}

func (r *historyPeers) fill(ctx context.Context, now time.Time) error {
	return errors.Join(r.keyed.fill(ctx, now), r.sqlite.fill(now))
}

// files returns the file sizes of ours and the peers'.
func (r *historyPeers) files(own *clockedHistory) (all sides, err error) {
	for _, size := range []func() (float64, error){func() (float64, error) { return sizeOfFiles(own.path) }, r.keyed.size, r.sqlite.size} {
		v, err := size()
		if err != nil {
			return nil, err
		}
		all = append(all, []float64{v})
	}
	return all, nil
}

// bytesOf returns the size of the samples of count tokens themselves: per day, and of the
// whole history.
func bytesOf(count int) (perDay, inAll float64) {
	for r, of := range kept {
		each := len(encoded(price.Resolution(r), candle{})) * count
		step := price.Resolution(r).Step()
		perDay += float64(each) * float64(24*time.Hour/step)
		inAll += float64(each) * float64(of.span/step)
	}
	return perDay, inAll
}

// read times a chart of ours and of the peers for one token after another, and checks
// that they have the same length and, if made of samples, the same prices.
func (r *historyPeers) read(ctx context.Context, own *clockedHistory, p price.Period, turns int) (sides, error) {
	took := make(sides, 3)
	for turn := range turns {
		n := turn * 37 % r.count
		began := time.Now()
		mine, err := own.Chart(ctx, price.IDOf(pricedToken(n)), p, own.now)
		t := [3]float64{float64(time.Since(began))}
		if err != nil {
			return nil, err
		}
		began = time.Now()
		theirs, err := r.keyed.chart(n, p, own.now)
		t[1] = float64(time.Since(began))
		if err != nil {
			return nil, err
		}
		var count int
		var last uint64
		if t[2], count, last, err = r.sqlite.chart(n, p, own.now); err != nil {
			return nil, err
		}
		mine = mine[:len(mine)-1] // theirs lack the current candle
		if len(mine) == 0 || len(theirs) != len(mine) || count != len(mine) {
			return nil, fmt.Errorf("a chart of %s has %d candles, in bbolt %d, in SQLite %d", p.Name, len(mine), len(theirs), count)
		}
		if p.Raw == price.Minutes && (lasts(mine) != lasts(theirs) || lasts(mine) != last) {
			return nil, fmt.Errorf("charts of %s are not the same", p.Name)
		}
		for i, v := range t {
			took[i] = append(took[i], v)
		}
	}
	return took, ctx.Err()
}

// lasts adds up the packed closing prices, to compare charts.
func lasts(candles []price.Candle) (sum uint64) {
	for _, c := range candles {
		sum += uint64(c.Close.Pack())
	}
	return sum
}

func sum(values []float64) (all float64) {
	for _, v := range values {
		all += v
	}
	return all
}

// ofPast returns a row of that history.
func ofPast(row func(*monthHistory) sides) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		p, err := l.history(ctx)
		if err != nil {
			return nil, err
		}
		return row(p), nil
	}
}

func chartAlone(period string) measurement {
	return ofPast(func(p *monthHistory) sides { return p.charts[period] })
}

// closeHistory closes that history, so that a server can open it, and returns its file.
func (l *lab) closeHistory(ctx context.Context) (string, error) {
	if l.charted != "" {
		return l.charted, nil
	}
	p, err := l.history(ctx)
	if err != nil {
		return "", err
	}
	own := p.own
	p.own, l.charted = nil, own.path
	return own.path, own.Close()
}

// fileOf measures the size of a full history of count tokens. The peers' are made for up
// to a thousand: more would take minutes.
func fileOf(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		name := fmt.Sprint("file-", count)
		own, err := openLedger(ctx, filepath.Join(l.dir, name+".db"), count)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, own.Close(), os.Remove(own.path)) }()
		_, inAll := bytesOf(count)
		if count > 1000 {
			size, err := sizeOfFiles(own.path)
			return sides{{size}, nil, nil, {inAll}}, err
		}
		r, err := l.openHistoryPeers(ctx, name, count)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.close()) }()
		if err := r.fill(ctx, own.now); err != nil {
			return nil, err
		}
		all, err := r.files(own)
		return append(all, []float64{inAll}), err
	}
}
