package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	askers     = 8 // parallel connections
	askTurns   = 15
	askTime    = 200 * time.Millisecond // per round
	chartTurns = 300
)

// An loadConn is a keep-alive connection with a client that costs little.
type loadConn struct {
	conn net.Conn
	in   *bufio.Reader
	ask  []byte
}

func dialLoadConn(address, host, path string) (*loadConn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &loadConn{conn, bufio.NewReaderSize(conn, 128<<10), []byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")}, nil
}

// exchange sends the request and discards the answer, a 200 of known length.
func (a *loadConn) exchange() error {
	if _, err := a.conn.Write(a.ask); err != nil {
		return err
	}
	length := -1
	for first := true; ; first = false {
		line, err := a.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !strings.HasPrefix(string(line), "HTTP/1.1 200 ") {
			return fmt.Errorf("answered %q", line)
		}
		if len(line) <= 2 {
			break
		}
		if text, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(text)); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("an answer without its length")
	}
	_, err := a.in.Discard(length)
	return err
}

// A loadClients requests one path over several connections.
type loadClients []*loadConn

func dialLoadClients(address, path string) (loadClients, error) {
	var c loadClients
	for range askers {
		a, err := dialLoadConn(address, address, path)
		if err != nil {
			return c, errors.Join(err, c.close())
		}
		c = append(c, a)
	}
	return c, nil
}

func (c loadClients) close() (err error) {
	for _, a := range c {
		err = errors.Join(err, a.conn.Close())
	}
	return err
}

// run sends requests for askTime. each is the elapsed time per request over all
// connections, the inverse of the rate; p99 is the latency of the slowest hundredth.
func (c loadClients) run() (each, p99 float64, err error) {
	waits, errs := make([][]float64, len(c)), make([]error, len(c))
	began := time.Now()
	var all sync.WaitGroup
	for i, a := range c {
		all.Go(func() {
			for errs[i] == nil && time.Since(began) < askTime {
				var took float64
				took, errs[i] = timed(nil, a.exchange)
				waits[i] = append(waits[i], took)
			}
		})
	}
	all.Wait()
	elapsed := time.Since(began)
	every := slices.Concat(waits...)
	slices.Sort(every)
	if err := errors.Join(errs...); err != nil || len(every) == 0 {
		return 0, 0, fmt.Errorf("nothing was answered: %w", err)
	}
	return float64(elapsed) / float64(len(every)), every[len(every)*99/100], nil
}

// What the price API is compared with.
const (
	bareHandler = "bare net/http handler, same bytes"
	bareTCP     = "same bytes over bare TCP"
)

// loadOf puts the same load alternately on the price API with count tokens, a bare
// handler that writes the same bytes, and a bare TCP connection that does. tail selects
// the slowest hundredth.
func loadOf(count int, path string, tail bool) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		s, err := l.priceServer(ctx, count, "")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		var crowds []loadClients
		for _, address := range []string{s.API, s.Bare[path].HTTP, s.Bare[path].TCP} {
			c, err := dialLoadClients(address, path)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, c.close()) }()
			crowds = append(crowds, c)
		}
		all := make(sides, len(crowds))
		for turn := range l.sampleCount(askTurns) + 1 {
			for i, c := range crowds {
				took, p99, err := c.run()
				if err := errors.Join(err, ctx.Err()); err != nil {
					return nil, err
				}
				if tail {
					took = p99
				}
				if turn > 0 { // all are warm by then
					all[i] = append(all[i], took)
				}
			}
		}
		return all, nil
	}
}

// chartOf times one chart of the full history, response included, and for comparison a
// bare handler with the same bytes.
func chartOf(period string) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		history, err := l.closeHistory(ctx)
		if err != nil {
			return nil, err
		}
		server, err := l.priceServer(ctx, l.tokens(), history)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, server.close()) }()
		path := chartPath(period)
		var asks []func() error
		for _, address := range []string{server.API, server.Bare[path].HTTP} {
			a, err := dialLoadConn(address, address, path)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, a.conn.Close()) }()
			asks = append(asks, a.exchange)
		}
		return timeAlternately(ctx, l.sampleCount(chartTurns), nil, asks...)
	}
}

// priceMemoryOf measures the resident memory of a price server with count tokens after
// its list was requested under load, idleTime after the last answer, and of the same program
// with only a bare handler after the same load.
func priceMemoryOf(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		s, err := l.priceServer(ctx, count, "")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		bare, err := openOutside()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, bare.close()) }()
		var all sides
		for _, of := range []struct {
			address, path string
			pid           int
		}{{s.API, listPath, s.cmd.Process.Pid}, {strings.TrimPrefix(bare.base, "http://"), askedPath, bare.cmd.Process.Pid}} {
			c, err := dialLoadClients(of.address, of.path)
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, c.close()) }()
			if _, _, err := c.run(); err != nil {
				return nil, err
			}
			time.Sleep(idleTime)
			size, err := memory(of.pid, "VmRSS")
			if err != nil {
				return nil, err
			}
			all = append(all, []float64{size})
		}
		return all, nil
	}
}
