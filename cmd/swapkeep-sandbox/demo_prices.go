package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"swapkeep/sandbox/market"
)

// How the demo reads the price API while the swaps run, like any program of the machine.
const (
	readEvery = time.Second
	readTime  = 5 * time.Second
	maxPrices = 4 << 20
)

// demoMove is a market move during the demo, small enough that providers that quote the
// old price stay within the price check.
var demoMove = market.Move{Symbol: "ETH", MicroUSD: 3_006_000_000}

// A priceReader polls the price list and keeps polling while the daemon is killed and
// restarted.
type priceReader struct {
	base string
	stop context.CancelFunc
	done sync.WaitGroup

	mu          sync.Mutex
	total       int
	reads, lost int
	boards      map[string]bool // timestamps of the lists read
}

// reservePrices chooses the port of the price API, so that a restarted daemon listens on
// the same one.
func (s *demoRun) reservePrices() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	at := l.Addr().String()
	s.env = append(s.env, "SWAPKEEP_PRICES_LISTEN="+at)
	s.prices = &priceReader{base: "http://" + at + "/api/v1", boards: map[string]bool{}}
	return l.Close()
}

// watchPrices reads the list once, moves the market and starts polling.
func (s *demoRun) watchPrices(ctx context.Context) error {
	s.out.Heading("Prices")
	p := s.prices
	deadline := time.Now().Add(startTime)
	for p.read(ctx); p.total == 0; p.read(ctx) {
		if time.Now().After(deadline) {
			return errors.New("the price API has no prices")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readEvery / 4):
		}
	}
	s.out.Fact("API", fmt.Sprintf("%s/tokens/price24h has %d prices; its documentation is at %s/docs", p.base, p.total, strings.TrimSuffix(p.base, "/api/v1")))
	s.out.Fact("sources", "simulators of DefiLlama, GeckoTerminal, DexScreener, Blockscout and GoPlus, and the chains' own pools and oracles")
	if err := s.box.Market().Move(ctx, demoMove); err != nil {
		return fmt.Errorf("move the market: %w", err)
	}
	s.out.Fact("market", fmt.Sprintf("ETH moves to %d US dollars, also in the chains' pools; from now on the list is read every second", demoMove.MicroUSD/1e6))
	reading, stop := context.WithCancel(ctx)
	p.stop = stop
	p.done.Go(func() { p.watch(reading) })
	return nil
}

func (p *priceReader) watch(ctx context.Context) {
	tick := time.NewTicker(readEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.read(ctx)
		}
	}
}

// read reads the list once. Failed reads are counted.
func (p *priceReader) read(ctx context.Context) {
	var list struct {
		Total     int    `json:"total_count"`
		Timestamp string `json:"timestamp"`
	}
	err := p.get(ctx, "/tokens/price24h?limit=1000", &list)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		p.lost++
	default:
		p.reads++
		p.total, p.boards[list.Timestamp] = list.Total, true
	}
}

func (p *priceReader) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxPrices))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return json.Unmarshal(body, into)
}

// printPrices stops polling and prints the results.
func (s *demoRun) printPrices(ctx context.Context) error {
	s.out.Heading("Prices")
	p := s.prices
	p.stop()
	p.done.Wait()
	if p.total == 0 || len(p.boards) < 2 {
		return fmt.Errorf("%d versions of the price list were read, expected two or more", len(p.boards))
	}
	price := fmt.Sprintf(`(?m)^ +ETH +%d,%03d\.`, demoMove.MicroUSD/1e9, demoMove.MicroUSD/1e6%1000)
	if _, err := s.typed(ctx, step{line: "swapkeep prices --network ethereum --limit 12", want: price}); err != nil {
		return err
	}
	s.out.Fact("read", fmt.Sprintf("%s over HTTP during the swaps, in %d versions, with %d prices", times(p.reads), len(p.boards), p.total))
	if p.lost > 0 {
		s.out.Fact("", times(p.lost)+" without an answer, because the daemon had been killed")
	}
	return nil
}
