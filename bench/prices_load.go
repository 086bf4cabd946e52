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
	askers     = 8 // connections at once
	askTurns   = 15
	askTime    = 200 * time.Millisecond // of a turn
	chartTurns = 300
)

// An asker is a connection that is kept, and a client that costs little.
type asker struct {
	conn net.Conn
	in   *bufio.Reader
	ask  []byte
}

func dialAsker(address, host, path string) (*asker, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &asker{conn, bufio.NewReaderSize(conn, 128<<10), []byte("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")}, nil
}

// exchange asks once and drops the answer, which must be a 200 of known length.
func (a *asker) exchange() error {
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

// A crowd asks one path over several connections.
type crowd []*asker

func dialCrowd(address, path string) (crowd, error) {
	var c crowd
	for range askers {
		a, err := dialAsker(address, address, path)
		if err != nil {
			return c, errors.Join(err, c.close())
		}
		c = append(c, a)
	}
	return c, nil
}

func (c crowd) close() (err error) {
	for _, a := range c {
		err = errors.Join(err, a.conn.Close())
	}
	return err
}

// turn asks for a while: the time a request took on the whole, which is what requests
// a second come from, and how long the slowest hundredth waited.
func (c crowd) turn() (each, p99 float64, err error) {
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

// loadOf puts the price API with so many tokens and a bare handler that writes the
// same bytes under the same load, in turns. tail picks the slowest hundredth.
func loadOf(count int, path string, tail bool) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, reference []float64, err error) {
		s, err := l.priceServer(ctx, count, "")
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		own, err := dialCrowd(s.API, path)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, own.close()) }()
		bare, err := dialCrowd(s.Bare[path], path)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, bare.close()) }()
		for turn := range askTurns + 1 {
			a, aTail, err := own.turn()
			b, bTail, otherErr := bare.turn()
			if err := errors.Join(err, otherErr, ctx.Err()); err != nil {
				return nil, nil, err
			}
			if turn == 0 {
				continue // both are warm now
			}
			if tail {
				a, b = aTail, bTail
			}
			ours, reference = append(ours, a), append(reference, b)
		}
		return ours, reference, nil
	}
}

// chartOf times one chart of a thousand tokens' full history, response included.
func chartOf(period string) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, _ []float64, err error) {
		path, err := l.handOver(ctx)
		if err != nil {
			return nil, nil, err
		}
		server, err := l.priceServer(ctx, pricedTokens, path)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, server.close()) }()
		a, err := dialAsker(server.API, server.API, chartPath(period))
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, a.conn.Close()) }()
		for range chartTurns {
			took, err := timed(nil, a.exchange)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, nil, err
			}
			ours = append(ours, took)
		}
		return ours, nil, nil
	}
}

// priceMemoryOf is the resident memory of a price server with so many tokens after
// its hot requests were answered.
func priceMemoryOf(count int) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, _ []float64, err error) {
		s, err := l.priceServer(ctx, count, "")
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		own, err := dialCrowd(s.API, listPath)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, own.close()) }()
		if _, _, err := own.turn(); err != nil {
			return nil, nil, err
		}
		size, err := s.resident()
		return []float64{size}, nil, err
	}
}
