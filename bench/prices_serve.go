package main

import (
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

	"swapkeep/priceapi/board"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/web"
)

// What is asked of the price API.
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

// A pricePlace says where a price server listens: the API, and bare handlers that
// answer with the bytes which the API gives for a path.
type pricePlace struct {
	API  string            `json:"api"`
	Bare map[string]string `json:"bare"`
}

// runPrices is a process of its own: the price API with so many tokens, and beside it
// handlers of net/http that do nothing but write the same bytes. history, if not "",
// is a file that charts are drawn from. It ends with stdin.
func runPrices(count int, history string) error {
	feed, now := board.NewFeed(), time.Now().UTC()
	feed.Publish(boardAt(count, now))
	if history == "" {
		history = fmt.Sprintf("%s/swapkeep-bench-%d.db", os.TempDir(), os.Getpid())
		defer func() { _ = os.Remove(history) }()
	}
	clock := func() time.Time { return now }
	charts, err := series.Open(history, series.Options{Now: clock})
	if err != nil {
		return err
	}
	defer func() { _ = charts.Close() }()
	if last, err := charts.Last(context.Background()); err == nil {
		for _, s := range last { // its clock ran ahead
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
	place := pricePlace{Bare: map[string]string{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, l) }()
	place.API = l.Addr().String()
	for _, path := range []string{listPath, singlePath(7)} {
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

// bareLike listens with a handler that writes what the API gives for a path.
func bareLike(api, path string) (string, error) {
	answer, err := http.Get("http://" + api + path)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil || answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s: %w", path, answer.Status, err)
	}
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

// A priceServer is such a process.
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

// resident is the process's resident memory, in bytes.
func (s *priceServer) resident() (float64, error) {
	text, ok := field(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid), "VmRSS")
	kilobytes, err := strconv.ParseFloat(text[:max(0, len(text)-len(" kB"))], 64)
	if !ok || err != nil {
		return 0, errors.New("this system does not tell the memory of a process")
	}
	return kilobytes * 1024, nil
}
