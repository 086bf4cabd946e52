package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/config"
	"swapkeep/home"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/web"

	"github.com/rs/zerolog"
	bolt "go.etcd.io/bbolt"
)

// pricedDaemon is as much of a daemon as prices need, in the sandbox and without a
// network, so that nobody is asked.
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

// TestPortTaken: a port that somebody holds is told with its holder and the setting, and
// taken once it is free.
func TestPortTaken(t *testing.T) {
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	d := pricedDaemon(t)
	d.cfg.Prices.Listen = held.Addr().String()
	d.openPrices()
	ctx, stop := context.WithCancel(t.Context())
	d.prices.start(ctx)
	for d.prices.port.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	told := d.prices.problems()
	if len(told) != 1 || told[0].Name != "prices.listen" || !strings.Contains(told[0].Message, "(process "+strconv.Itoa(os.Getpid())+")") || !strings.Contains(told[0].Remedy, "prices.listen") {
		t.Errorf("told %+v", told)
	}
	if at := d.prices.Status().URL; at != "" {
		t.Errorf("served at %s", at)
	}
	stop()
	d.prices.wait()
}

func TestServes(t *testing.T) {
	d := pricedDaemon(t)
	d.openPrices()
	ctx, stop := context.WithCancel(t.Context())
	d.prices.start(ctx)
	for d.prices.Status().URL == "" {
		time.Sleep(time.Millisecond)
	}
	if h := d.prices.health(ctx); h.Database != "bbolt: ok" || h.Cache != "in-process: ok" || h.Status != web.Degraded {
		t.Errorf("without a fetch health is %+v", h)
	}
	stop()
	d.prices.wait()
}

// TestHistoryOfANewerVersion: prices are off and say why, and what the wallet asks of
// them is answered.
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
		t.Error("no board")
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

// makeNewer writes the schema version of a program to come (package series, meta).
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
