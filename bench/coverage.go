package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	services "swapkeep/priceapi/source"
	"swapkeep/rest"
	"swapkeep/tokens"

	"golang.org/x/time/rate"
)

// coverageFetches is how many fetches, a minute apart, a daemon needs at most until every token
// of the built-in list has had its turn: those at the start, and a turn of the slow ones.
const coverageFetches = 12

// coverageSubjects are the rows of the share of built-in tokens with a current price, one for each
// network that runs.
func coverageSubjects() (all []subject) {
	for _, n := range chain.Networks() {
		if !n.HasEnded() {
			all = append(all, subject{"built-in tokens with a current price, " + n.Name, nil, "", inShare, atLeast(1), coverageOf(n.ID)})
		}
	}
	return all
}

func coverageOf(chainID uint64) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		table, now, err := l.coveredTable(ctx)
		if err != nil {
			return nil, err
		}
		known, current := 0.0, 0.0
		for _, r := range table.Rows {
			if r.Token.Chain == chainID {
				known++
				if r.Current(now) {
					current++
				}
			}
		}
		if known == 0 {
			return nil, errors.New("no token of it is built in")
		}
		return sides{{current / known}}, nil
	}
}

// coveredTable returns the prices after the first fetches of the whole built-in list, of
// DefiLlama alone, which knows every token on the networks whose names it is asked by. The
// clock moves by a minute with each fetch. It is made once.
func (l *lab) coveredTable(ctx context.Context) (*pricetable.Table, time.Time, error) {
	var minutes atomic.Int64
	began := time.Now().Truncate(time.Second)
	now := func() time.Time { return began.Add(time.Duration(minutes.Load()) * time.Minute) }
	if l.covered != nil {
		return l.covered, l.coveredAt, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, began, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		var coins []string
		for key := range strings.SplitSeq(strings.TrimPrefix(r.URL.Path, "/prices/current/"), ",") {
			coins = append(coins, fmt.Sprintf(`%q:{"price":2,"timestamp":%d,"confidence":0.99}`, key, now().Unix()))
		}
		_, _ = fmt.Fprintf(w, `{"coins":{%s}}`, strings.Join(coins, ","))
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	llama, err := services.NewDefiLlama(services.Config{Base: "http://" + listener.Addr().String(), Reach: rest.LoopbackOnly, Now: now, Limits: rest.Limits{Rate: rate.Inf, Burst: 1}})
	if err != nil {
		return nil, began, err
	}
	defer llama.Close()
	history, err := series.Open(filepath.Join(l.dir, "coverage.db"), series.Options{Now: now})
	if err != nil {
		return nil, began, err
	}
	defer func() { _ = history.Close() }()
	var watched []poll.Watched
	for _, t := range tokens.Builtin().Tokens() {
		watched = append(watched, poll.Watched{Token: t, Slow: !t.Verified})
	}
	feed := pricetable.NewFeed()
	poller := poll.New(poll.Options{Tokens: func() []poll.Watched { return watched }, Leading: []poll.Paced{{Source: llama}}, History: history, Feed: feed, Now: now})
	for range coverageFetches {
		minutes.Add(1)
		poller.Fetch(ctx)
	}
	l.covered, l.coveredAt = feed.Now(), now()
	return l.covered, l.coveredAt, ctx.Err()
}
