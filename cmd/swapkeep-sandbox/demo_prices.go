package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/network"
)

// How the demo reads the price API while the swaps run, like any program of the machine.
const (
	readEvery   = time.Second
	readTime    = 5 * time.Second
	maxPrices   = 4 << 20
	shownPrices = 12
	sparkWidth  = 24
)

// demoMove is a market move during the demo, small enough that providers that quote the
// old price stay within the price check.
var demoMove = market.Move{Symbol: "ETH", MicroUSD: 3_006_000_000}

// A priceItem is a token in the price API's list.
type priceItem struct {
	ChainID   uint64  `json:"chain_id"`
	Address   string  `json:"token_address"`
	Symbol    string  `json:"symbol"`
	Now       string  `json:"price_now"`
	Ago       string  `json:"price_24h_ago"`
	ChangePct float64 `json:"change_pct"`
	MarketCap string  `json:"market_cap"`
	Holders   uint64  `json:"holders"`
	Has24h    bool    `json:"has_24h_data"`
}

// A priceReader polls the price list and keeps polling while the daemon is killed and
// restarted.
type priceReader struct {
	base  string
	first map[string]priceItem // first read, by chain and address
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu          sync.Mutex
	last        []priceItem
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
	s.prices = &priceReader{base: "http://" + at + "/api/v1", first: map[string]priceItem{}, boards: map[string]bool{}}
	return l.Close()
}

// watchPrices reads the list once, moves the market and starts polling.
func (s *demoRun) watchPrices(ctx context.Context) error {
	s.out.Heading("Prices")
	p := s.prices
	deadline := time.Now().Add(startTime)
	for p.read(ctx); p.total == 0; p.read(ctx) {
		if time.Now().After(deadline) {
			return errors.New("the price API has told no prices")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readEvery / 4):
		}
	}
	for _, item := range p.last {
		p.first[item.key()] = item
	}
	s.out.Fact("API", fmt.Sprintf("%s/tokens/price24h tells %d prices; its documentation is at %s/docs", p.base, p.total, strings.TrimSuffix(p.base, "/api/v1")))
	s.out.Fact("sources", "simulators that speak the formats of DefiLlama, GeckoTerminal, DexScreener, Blockscout and GoPlus, and the chains' own pools and oracles")
	if err := s.box.Market().Move(ctx, demoMove); err != nil {
		return fmt.Errorf("move the market: %w", err)
	}
	s.out.Fact("market", fmt.Sprintf("ETH goes to %d dollars, in the chains' pools too; the list is read every second from now on, while the swaps run", demoMove.MicroUSD/1e6))
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

func (i priceItem) key() string { return strconv.FormatUint(i.ChainID, 10) + i.Address }

// read reads the list once. Failed reads are counted.
func (p *priceReader) read(ctx context.Context) {
	var list struct {
		Data      []priceItem `json:"data"`
		Total     int         `json:"total_count"`
		Timestamp string      `json:"timestamp"`
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
		p.last, p.total, p.boards[list.Timestamp] = list.Data, list.Total, true
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

var demoPriceColumns = []screen.Column{
	{Head: "token"}, {Head: "network"}, {Head: "at first", Right: true}, {Head: "at last", Right: true}, {Head: "24 h", Right: true},
	{Head: "last 24 h"}, {Head: "cap, $M", Right: true}, {Head: "holders", Right: true},
}

// printPrices stops polling and prints the results.
func (s *demoRun) printPrices(ctx context.Context) error {
	s.out.Heading("Prices")
	p := s.prices
	p.stop()
	p.done.Wait()
	if p.total == 0 || len(p.boards) < 2 {
		return fmt.Errorf("of the price list %d versions were read, want two or more", len(p.boards))
	}
	var rows [][]string
	for _, item := range p.last[:min(shownPrices, len(p.last))] {
		drawn, err := p.spark(ctx, item)
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			item.Symbol, networkName(item.ChainID), brief(p.first[item.key()].Now), brief(item.Now), change(item), drawn,
			millions(item.MarketCap), strconv.FormatUint(item.Holders, 10),
		})
	}
	s.out.Table(demoPriceColumns, rows)
	s.out.Fact("read", fmt.Sprintf("%s over HTTP while the swaps ran, from %d fetches; the %d with the largest market cap of %d are shown", times(p.reads), len(p.boards), len(rows), p.total))
	if p.lost > 0 {
		s.out.Fact("", times(p.lost)+" nobody answered: the daemon had been killed, and came back")
	}
	return nil
}

// spark draws a token's last 24 hours.
func (p *priceReader) spark(ctx context.Context, item priceItem) (string, error) {
	var chart struct {
		Data []struct {
			At    time.Time `json:"timestamp"`
			Close string    `json:"close"`
		} `json:"data"`
	}
	if err := p.get(ctx, fmt.Sprintf("/tokens/%s/history?period=24h&chain_id=%d", item.Address, item.ChainID), &chart); err != nil {
		return "", err
	}
	begin := time.Now().Add(-24 * time.Hour)
	var figures []screen.Figure
	for _, c := range chart.Data {
		if v, err := strconv.ParseFloat(c.Close, 64); err == nil {
			figures = append(figures, screen.Figure{At: c.At.Sub(begin).Hours() / 24, Value: v})
		}
	}
	return screen.Spark(figures, sparkWidth), nil
}

func networkName(chain uint64) string {
	if n, ok := network.ByID(chain); ok {
		return n.Name
	}
	return strconv.FormatUint(chain, 10)
}

// brief formats a price with four decimals, truncated.
func brief(decimal string) string {
	whole, part, _ := strings.Cut(decimal, ".")
	return whole + "." + (part + "0000")[:4]
}

// millions truncates a decimal number of dollars to whole millions, to keep the table
// narrow.
func millions(decimal string) string {
	whole, _, _ := strings.Cut(decimal, ".")
	if len(whole) <= 6 {
		return "0"
	}
	return whole[:len(whole)-6]
}

func change(i priceItem) string {
	if !i.Has24h {
		return "-"
	}
	return fmt.Sprintf("%+.2f %%", i.ChangePct)
}
