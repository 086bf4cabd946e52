package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/web"
)

// Paths of the price API.
const (
	listPath = web.Base + "/tokens/price24h?chain_id=1"
	askAlike = web.Base + "/tokens/"
)

func singlePath(n int) string {
	return askAlike + pricedToken(n).Address.Hex() + "/price24h?chain_id=1"
}

func chartPath(period string) string {
	return fmt.Sprintf("%s%s/history?chain_id=1&period=%s", askAlike, pricedToken(7).Address.Hex(), period)
}

// A pricePlace says where a price server listens: the API, and the bare servers by path
// that answer with the API's bytes.
type pricePlace struct {
	API  string          `json:"api"`
	Bare map[string]bare `json:"bare"`
}

// A bare server writes the same bytes for any request: over a handler of net/http, and
// over the TCP connection alone.
type bare struct {
	HTTP string `json:"http"`
	TCP  string `json:"tcp"`
}

// runPrices is a separate process: the price API with count tokens, and bare servers that
// only write the same bytes. history, if not "", is a file that charts are served from.
// It ends with stdin.
func runPrices(count int, history string) error {
	feed, now := pricetable.NewFeed(), time.Now().UTC()
	feed.Publish(boardAt(count, now))
	file := history
	if file == "" {
		file = fmt.Sprintf("%s/swapkeep-bench-%d.db", os.TempDir(), os.Getpid())
		defer func() { _ = os.Remove(file) }()
	}
	clock := func() time.Time { return now }
	charts, err := series.Open(file, series.Options{Now: clock})
	if err != nil {
		return err
	}
	defer func() { _ = charts.Close() }()
	if last, err := charts.Last(context.Background()); err == nil {
		for _, s := range last { // its clock was ahead
			if s.At.After(now) {
				now = s.At
			}
		}
	}
	api, err := web.New(web.Config{Feed: feed, Charts: charts, Version: "bench", Now: clock, Health: func(context.Context) web.Health { return web.Health{Status: web.Healthy} }})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	place := pricePlace{Bare: map[string]bare{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, l) }()
	place.API = l.Addr().String()
	paths := []string{listPath, singlePath(7)}
	if history != "" {
		for _, p := range price.Periods() {
			paths = append(paths, chartPath(p.Name))
		}
	}
	for _, path := range paths {
		if place.Bare[path], err = bareLike(place.API, path); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(place); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	stop()
	return errors.Join(err, <-served)
}

// bareLike starts the bare servers for the API's answer to a path.
func bareLike(api, path string) (b bare, err error) {
	answer, err := http.Get("http://" + api + path)
	if err != nil {
		return b, err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		return b, fmt.Errorf("%s: %s: %w", path, answer.Status, err)
	}
	if b.HTTP, err = overHTTP(body); err != nil {
		return b, err
	}
	b.TCP, err = overTCP(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	return b, err
}

func overHTTP(body []byte) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	length := strconv.Itoa(len(body))
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		_, _ = w.Write(body)
	})}
	go func() { _ = server.Serve(l) }()
	return l.Addr().String(), nil
}

// overTCP answers everything that ends with an empty line.
func overTCP(answer []byte) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				for in := bufio.NewReader(conn); ; {
					line, err := in.ReadSlice('\n')
					if err == nil && len(line) == 2 {
						_, err = conn.Write(answer)
					}
					if err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), nil
}

// A priceServer is a process that runs runPrices.
type priceServer struct {
	*child
	pricePlace
}

func (l *lab) priceServer(ctx context.Context, count int, history string) (*priceServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := spawn(exec.CommandContext(ctx, self, "-prices", strconv.Itoa(count), "-history", history))
	if err != nil {
		return nil, err
	}
	s := &priceServer{child: c}
	if err := json.NewDecoder(c.stdout).Decode(&s.pricePlace); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return s, nil
}
