package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstPassed is where systemd's socket activation puts the first socket
// (sd_listen_fds(3)).
const firstPassed = 3

// socket is the one that the service manager passed, else one of our own. A
// passed socket outlives this process: what arrives during a restart waits in
// its queue for the next one, so that no request is dropped.
func socket(address string) (net.Listener, error) {
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return net.Listen("tcp", address)
	}
	if n := os.Getenv("LISTEN_FDS"); n != "1" {
		return nil, fmt.Errorf("the service manager passed %q sockets: exactly 1 is served", n)
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

// tlsFiles are the certificate that a listener off loopback needs: requests carry secrets.
type tlsFiles struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
}

// check refuses the half of one.
func (c tlsFiles) check() error {
	if (c.Cert == "") != (c.Key == "") {
		return errors.New("tls needs both cert and key")
	}
	return nil
}

// config is for a listener that speaks these protocols; nil = no TLS.
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

// open listens. Off loopback it speaks TLS or nothing. within, unless nil, is put
// between the socket and TLS.
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

// onLoopback reports an address that only this machine reaches.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
