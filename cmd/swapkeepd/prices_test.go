package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/config"
	"swapkeep/home"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/web"
	"swapkeep/test/await"
	"swapkeep/tokens"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
)

// pricedDaemon returns the parts of a daemon that prices need, in the sandbox and without
// networks, so that nothing is fetched.
func pricedDaemon(t *testing.T) *daemon {
	t.Helper()
	cfg := config.Default()
	cfg.Sandbox, cfg.Prices.Listen = true, "127.0.0.1:0"
	d := &daemon{cfg: cfg, log: zerolog.Nop(), home: &home.Home{Dir: t.TempDir()}}
	var err error
	if d.hub, err = dialNetworks(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.hub.Close)
	return d
}

// TestPortTaken: the problem of a port that is taken names its holder and the setting,
// and the port is used once it is free.
func TestPortTaken(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := pricedDaemon(t)
	d.cfg.Prices.Listen = held.Addr().String()
	d.openPrices()
	d.prices.retryAfter = 20 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	d.prices.start(ctx)
	await.Until(t, 10*time.Second, "the first try to listen", func() bool { return d.prices.port.Load() != nil })
	told := d.prices.problems()
	if len(told) != 1 || told[0].Name != "prices.listen" || !strings.Contains(told[0].Message, "(process "+strconv.Itoa(os.Getpid())+")") || !strings.Contains(told[0].Remedy, "prices.listen") {
		t.Errorf("told %+v", told)
	}
	if at := d.prices.Status().URL; at != "" {
		t.Errorf("served at %s", at)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, 10*time.Second, "prices are served", func() bool { return d.prices.Status().URL != "" })
	if told := d.prices.problems(); len(told) != 0 {
		t.Errorf("once the port is free: %+v", told)
	}
	stop()
	d.prices.wait()
}

func TestServes(t *testing.T) {
	d := pricedDaemon(t)
	d.openPrices()
	ctx, stop := context.WithCancel(t.Context())
	d.prices.start(ctx)
	await.Until(t, 10*time.Second, "prices are served", func() bool { return d.prices.Status().URL != "" })
	if h := d.prices.health(ctx); h.Database != "bbolt: ok" || h.Cache != "in-process: ok" || h.Status != web.Degraded {
		t.Errorf("without a fetch health is %+v", h)
	}
	stop()
	d.prices.wait()
}

// TestHistoryOfANewerVersion: prices are off with a reason, and the wallet's price
// queries are still answered.
func TestHistoryOfANewerVersion(t *testing.T) {
	d := pricedDaemon(t)
	path := filepath.Join(d.home.Dir, "prices.db")
	s, err := series.Open(path, series.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	makeNewer(t, path)
	d.openPrices()
	d.prices.start(t.Context())
	told := d.prices.problems()
	if len(told) != 1 || !strings.Contains(told[0].Message, "newer version") {
		t.Errorf("told %+v", told)
	}
	if _, err := d.prices.Chart(t.Context(), price.ID{}, price.Period{}); err == nil {
		t.Error("a chart without a history")
	}
	if now, _ := d.prices.Next(); now == nil || len(now.Rows) != 0 {
		t.Error("no price table")
	}
	d.prices.wait()
}

func TestPricesSwitchedOff(t *testing.T) {
	d := pricedDaemon(t)
	d.cfg.Prices.Disabled = true
	d.openPrices()
	d.prices.start(t.Context())
	if _, err := os.Stat(filepath.Join(d.home.Dir, "prices.db")); !os.IsNotExist(err) {
		t.Errorf("a history is kept: %v", err)
	}
	if told := d.prices.problems(); len(told) != 0 {
		t.Errorf("told %+v", told)
	}
	d.prices.wait()
}

// TestLongListsLeaveRoom: however long the lists are, the built-in tokens of every
// network and the imported ones are watched.
func TestLongListsLeaveRoom(t *testing.T) {
	cfg := config.Default()
	cfg.Sandbox = true
	cfg.Networks = map[string]config.Network{"1": {RPC: []string{"http://127.0.0.1:1"}}, "8453": {RPC: []string{"http://127.0.0.1:1"}}}
	hub, err := dialNetworks(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	d := &daemon{cfg: cfg, hub: hub}
	var rows []string
	for i := range maxWatched {
		rows = append(rows, fmt.Sprintf(`{"chainId":1,"address":"0x%040x","symbol":"T%d","name":"Token %d","decimals":18}`, 1<<20+i, i, i))
	}
	list, err := tokens.ParseList([]byte(`{"name":"Long","timestamp":"2026-01-01T00:00:00Z","version":{"major":1,"minor":0,"patch":0},"tokens":[` + strings.Join(rows, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if d.tokens, err = tokens.Open(db, nil, tokens.Options{Lists: []*tokens.List{list}}); err != nil {
		t.Fatal(err)
	}
	watched := d.watched()
	if len(watched) != maxWatched {
		t.Errorf("%d are watched", len(watched))
	}
	for _, one := range tokens.Builtin().Tokens() {
		if (one.Chain == 1 || one.Chain == 8453) && !slices.ContainsFunc(watched, func(w poll.Watched) bool { return price.IDOf(w.Token) == price.IDOf(one) }) {
			t.Errorf("%s on %d is not watched", one.Symbol, one.Chain)
		}
	}
}

// TestServesAgain: a lost port is served again.
func TestServesAgain(t *testing.T) {
	d := pricedDaemon(t)
	d.openPrices()
	for range 2 {
		ctx, stop := context.WithCancel(t.Context())
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- d.prices.serveAt(ctx, l) }()
		answer, err := http.Get("http://" + l.Addr().String() + "/api/v1/health")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		stop()
		if err := <-served; err != nil {
			t.Fatal(err)
		}
	}
	d.prices.wait()
	if h := d.prices.health(t.Context()); h.Status == web.Healthy { // a late request
		t.Error("healthy after the end")
	}
}

// makeNewer writes a future schema version into the database (package series, meta).
func makeNewer(t *testing.T, path string) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("version"), []byte("99")) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
