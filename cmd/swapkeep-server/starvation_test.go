//go:build unix

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOneInstallationLeavesRoom: more silent connections than are allowed, and one
// installation that sends seventy request bodies that never finish, over HTTP/2 and
// HTTP/1.1, do not starve another installation: its forty calls, each on a new
// connection, are answered.
func TestOneInstallationLeavesRoom(t *testing.T) {
	up, _ := newProvider(t, 0)
	cert, key, pool := certificate(t)
	text := settings(up.URL+"/v1", "dex.example", "", fmt.Sprintf("connections = 200\nbody_time = \"1m\"\n[tls]\ncert = %q\nkey = %q", cert, key))
	text = strings.Replace(text, "running = 256", "running = 64", 1) + entryOf("two", otherToken)
	s := start(t, write(t, "c.toml", text, 0o644), nil, keyVariable+"="+testKey)
	address := s.told(t, "serving")
	for range 300 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	client := func(h2, kept bool) *http.Client {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2, DisableKeepAlives: !kept}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr, Timeout: 2 * time.Minute}
	}
	begun := make(chan struct{}, 70)
	failed := make(chan error, 70)
	for _, slow := range []*http.Client{client(true, true), client(false, true)} {
		for range 35 {
			go func() {
				body := &slowly{begun: begun, ended: t.Context().Done()}
				for !body.sent.Load() && t.Context().Err() == nil { // on a busy machine the handshake may outlast the server's patience
					if err := sendSlowly(t.Context(), slow, address, body); err != nil {
						failed <- err
						return
					}
				}
			}()
		}
	}
	limit := time.After(time.Minute)
	for i := range 70 {
		select {
		case <-begun:
		case err := <-failed:
			t.Fatal(err)
		case <-limit:
			t.Fatalf("%d unfinished bodies begun after a minute, want 70", i)
		}
	}
	time.Sleep(200 * time.Millisecond) // until the last of them reach their handlers
	for i := range 40 {
		c := client(i%2 == 0, false)
		if err := askAs(t.Context(), c, "https://"+address, otherToken); err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

const otherToken = "another-test-token-of-nobody"

// sendSlowly sends a request with this body and waits until it ends.
func sendSlowly(ctx context.Context, slow *http.Client, address string, body io.Reader) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+"/v1/check_approval", body)
	if err != nil {
		return err
	}
	r.Host = "dex.example"
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Content-Type", "application/json")
	if res, err := slow.Do(r); err == nil {
		_ = res.Body.Close()
	} else {
		time.Sleep(10 * time.Millisecond) // before the next try
	}
	return nil
}

// slowly is a body that starts and does not end during the test.
type slowly struct {
	begun chan<- struct{}
	ended <-chan struct{}
	sent  atomic.Bool
}

func (s *slowly) Read(b []byte) (int, error) {
	if s.sent.CompareAndSwap(false, true) {
		s.begun <- struct{}{}
		return copy(b, "{"), nil
	}
	<-s.ended
	return 0, io.ErrUnexpectedEOF
}
