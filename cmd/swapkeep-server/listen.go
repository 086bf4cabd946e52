package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstPassed is the file descriptor of the first socket that systemd's socket activation
// passes (sd_listen_fds(3)).
const firstPassed = 3

// socket returns the socket that systemd passed, otherwise it listens on address. A
// passed socket outlives this process: connections that arrive during a restart wait in
// its queue for the next process, so that no request is dropped.
func socket(address string) (net.Listener, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return net.Listen("tcp", address)
	}
	if n := os.Getenv("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("the service manager passed %q sockets, want exactly 1", n)
	}
	f := os.NewFile(firstPassed, "passed socket")
	ln, err := net.FileListener(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("the passed socket: %w", err)
	}
	if _, ok := ln.Addr().(*net.TCPAddr); !ok {
		return nil, errors.Join(errors.New("the passed socket is not tcp"), ln.Close())
	}
	return ln, nil
}

// tlsFiles name the certificate of a listener off loopback: requests carry secrets.
type tlsFiles struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
}

// check refuses a certificate without a key and the reverse.
func (c tlsFiles) check() error {
	if (c.Cert == "") != (c.Key == "") {
		return errors.New("tls needs both cert and key")
	}
	return nil
}

// config returns the TLS configuration of a listener for these protocols; nil = no TLS.
func (c tlsFiles) config(protocols ...string) (*tls.Config, error) {
	if c.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: protocols}, nil
}

// open listens on address. It refuses an address that is not on loopback without TLS.
// within, unless nil, wraps the listener below TLS.
func open(address string, secured *tls.Config, within func(net.Listener) net.Listener) (net.Listener, error) {
	ln, err := socket(address)
	if err != nil {
		return nil, err
	}
	if secured == nil && !onLoopback(ln.Addr()) {
		return nil, errors.Join(fmt.Errorf("%s is not loopback: set tls.cert and tls.key", ln.Addr()), ln.Close())
	}
	if within != nil {
		ln = within(ln)
	}
	if secured != nil {
		ln = tls.NewListener(ln, secured)
	}
	return ln, nil
}

// onLoopback reports whether an address can be reached from this machine only.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
