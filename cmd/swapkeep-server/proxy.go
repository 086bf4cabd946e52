package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"swapkeep/listen"
	"swapkeep/providers/keyproxy"

	"github.com/rs/zerolog"
)

// Limits of one connection. After SIGTERM idle connections are still served for linger,
// so that a request already on its way is answered.
const (
	headerTime = 5 * time.Second
	answerTime = 10 * time.Second // for the client to read an answer
	idleTime   = 60 * time.Second
	maxHeader  = 16 << 10
	maxStreams = 64 // concurrent HTTP/2 streams
	idleGrace  = time.Second
	fresh      = 500 * time.Millisecond // for a first request, and for each part of an answer, while other connections wait
)

// proxy serves until ctx ends, then finishes running requests.
func proxy(ctx context.Context, path string, sandbox bool, log zerolog.Logger) error {
	f, err := readConfig(path)
	if err != nil {
		return err
	}
	key, err := readKey(f.KeyFile)
	if err != nil {
		return err
	}
	c, err := f.proxyConfig(sandbox, key)
	if err != nil {
		return err
	}
	c.Log = log
	who := tokenSource{path, f.TokensFile}
	seen := who.stamp() // before reading, so that a change during the read is noticed
	if c.Tokens, err = who.read(); err != nil {
		return err
	}
	p, err := keyproxy.New(c)
	if err != nil {
		return err
	}
	defer p.Close()
	door, ln, err := openWallets(f)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	side, err := serveMetrics(f.Metrics, p, failed, log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	go who.follow(ctx, p.SetTokens, seen, hangup, log)
	s := newServer(p, p.MaxCallTime()+answerTime, log)
	s.ConnState = door.ConnState
	log.Info().Stringer("address", ln.Addr()).Bool("sandbox", sandbox).Msg("serving")
	go func() { failed <- s.Serve(ln) }()
	select {
	case err = <-failed:
		return errors.Join(err, s.Close(), side.Close())
	case <-ctx.Done():
	}
	p.Drain()
	log.Info().Msg("stopping")
	return errors.Join(drain(s, ln, time.Duration(f.Limits.Drain)), side.Close())
}

// openWallets opens the listener for wallets. ln wraps door in TLS if that is configured;
// otherwise both are the same.
func openWallets(f proxyFile) (door *listen.Listener, ln net.Listener, err error) {
	secured, err := f.TLS.config("h2", "http/1.1")
	if err != nil {
		return nil, nil, err
	}
	ln, err = open(f.Listen, secured, func(ln net.Listener) net.Listener {
		door = listen.Bound(ln, listen.Limits{Open: f.Limits.Connections, Address: f.Limits.Address, Fresh: fresh, Stalled: fresh})
		return door
	})
	return door, ln, err
}

// newServer returns a server that must answer within longest of a request's start.
func newServer(h http.Handler, longest time.Duration, log zerolog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: longest, WriteTimeout: longest, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: answerTime},
		ErrorLog: stdlog.New(debugLog{log}, "", 0),
	}
}

// debugLog logs the server's messages at debug level: clients can cause them at will.
type debugLog struct{ log zerolog.Logger }

func (d debugLog) Write(b []byte) (int, error) {
	d.log.Debug().Int("bytes", len(b)).Msg("connection failed")
	return len(b), nil
}

// serveMetrics opens the metrics listener, on loopback only.
func serveMetrics(address string, p *keyproxy.Proxy, failed chan<- error, log zerolog.Logger) (io.Closer, error) {
	s := newServer(p.Metrics(), answerTime, log)
	if address == "" {
		return s, nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	if !onLoopback(ln.Addr()) {
		return nil, errors.Join(fmt.Errorf("metrics: %s is not loopback", ln.Addr()), ln.Close())
	}
	log.Info().Stringer("address", ln.Addr()).Msg("metrics")
	go func() { failed <- s.Serve(ln) }()
	return s, nil
}

// drain stops accepting, serves open connections for linger, and waits up to limit for
// running requests.
func drain(s *http.Server, ln io.Closer, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := ln.Close()
	select {
	case <-time.After(idleGrace):
	case <-ctx.Done():
	}
	if late := s.Shutdown(ctx); late != nil && !errors.Is(late, net.ErrClosed) {
		return errors.Join(err, fmt.Errorf("requests were still running after %s: %w", limit, late), s.Close())
	}
	return err
}
