package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/test/await"
)

// crowd is the number of connections open at once.
const crowd = 5000

// dial opens n connections, or fails the test.
func dial(t *testing.T, address string, n int) (all []net.Conn) {
	t.Helper()
	t.Cleanup(func() {
		for _, c := range all {
			_ = c.Close()
		}
	})
	for range n {
		c, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// descriptors returns the number of open file descriptors, -1 if unknown.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1 // no such directory on this system
	}
	return len(all)
}

// TestManySilentConnections checks that thousands of silent connections neither lock others out nor
// use up the process's descriptors.
func TestManySilentConnections(t *testing.T) {
	s := serve(t, config())
	before := descriptors(t)
	dial(t, s.address, crowd)
	began := time.Now()
	if r := s.get(t, pricesPath); r.status != http.StatusOK {
		t.Fatalf("GET prices: %+v, want status 200", r)
	}
	took := time.Since(began)
	ours := descriptors(t) - before - crowd
	if before >= 0 && ours > DefaultLimits().Connections+10 {
		t.Errorf("the server holds %d descriptors", ours)
	}
	t.Logf("answered in %s behind %d silent connections, %d descriptors taken", took, crowd, ours)
	if took > 10*time.Second {
		t.Errorf("answered after %s", took)
	}
}

// TestManyClients checks that thousands of clients that ask at once, each on its own persistent
// connection, are all answered.
func TestManyClients(t *testing.T) {
	settings := config()
	settings.Limits.Fresh = 30 * time.Second // the crowd is on the same machine, and slow
	s := serve(t, settings)
	var all sync.WaitGroup
	var answered atomic.Int32
	done := make(chan struct{})
	request := "GET " + pricesPath + " HTTP/1.1\r\nHost: " + s.address + "\r\n\r\n"
	for range crowd {
		all.Go(func() {
			c, err := (&net.Dialer{Timeout: 60 * time.Second}).DialContext(t.Context(), "tcp", s.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(60 * time.Second)) // a lost connection fails below
			if _, err := io.WriteString(c, request); err != nil {
				t.Error(err)
				return
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%v: %v", res, err)
				return
			}
			if answered.Add(1) == crowd {
				close(done)
			}
			select {
			case <-done:
			case <-time.After(60 * time.Second):
			}
		})
	}
	all.Wait()
	if n := answered.Load(); n != crowd {
		t.Errorf("%d of %d are answered", n, crowd)
	}
}

// TestStop checks that streams are ended with an event, answers in flight finish, remaining
// connections are closed, and no goroutine is left.
func TestStop(t *testing.T) {
	direct.CloseIdleConnections()
	before := runtime.NumGoroutine()
	c := config()
	c.Limits.Drain = 300 * time.Millisecond
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	c.Health = func(ctx context.Context) Health {
		entered <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done(): // the stop does not wait for handlers that do not end
		}
		return Health{Healthy, "bbolt: ok", "in-process: ok"}
	}
	s := serve(t, c)
	stream, _ := s.follow(t)
	next(t, stream)
	dial(t, s.address, 5) // silent ones
	answer := make(chan error, 1)
	go func() {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			answer <- err
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "GET "+healthPath+" HTTP/1.1\r\nHost: "+s.address+"\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && res.StatusCode != 200 {
			err = fmt.Errorf("status %d", res.StatusCode)
		}
		answer <- err
	}()
	<-entered
	began := time.Now()
	s.stop()
	if m := next(t, stream); m.name != "end" || !strings.Contains(m.raw, "stopping") {
		t.Errorf("the last event is %+v, want end with \"stopping\"", m)
	}
	if _, open := <-stream; open {
		t.Error("the stream goes on")
	}
	close(leave)
	if err := <-answer; err != nil {
		t.Errorf("an answer in flight: %v", err)
	}
	err := <-s.ended
	s.ended <- err
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := net.Dial("tcp", s.address); err == nil {
		t.Error("it still listens")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), l); !errors.Is(err, ErrServed) {
		t.Errorf("served twice: %v", err)
	}
	noneLeft(t, before)
}

// TestStopWithoutEnd checks that a handler that never ends is cut off in time.
func TestStopWithoutEnd(t *testing.T) {
	direct.CloseIdleConnections()
	before := runtime.NumGoroutine()
	c := config()
	c.Limits.Drain = 50 * time.Millisecond
	entered := make(chan struct{})
	c.Health = func(ctx context.Context) Health {
		close(entered)
		<-ctx.Done()
		return Health{}
	}
	s := serve(t, c)
	go func() { _, _ = http.Get(s.url + healthPath) }() //nolint:bodyclose // it is cut off
	<-entered
	began := time.Now()
	s.stop()
	err := <-s.ended
	s.ended <- err
	if took := time.Since(began); err != nil || took > 2*time.Second {
		t.Errorf("%v after %s", err, took)
	}
	noneLeft(t, before)
}

// noneLeft waits until there are no more goroutines than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	var now int
	if !await.Holds(5*time.Second, func() bool {
		direct.CloseIdleConnections()
		http.DefaultClient.CloseIdleConnections()
		now = runtime.NumGoroutine()
		return now <= before
	}) {
		all := make([]byte, 1<<20)
		t.Fatalf("%d goroutines, %d before:\n%s", now, before, all[:runtime.Stack(all, true)])
	}
}

// TestListenerFails checks that Serve returns the listener's error.
func TestListenerFails(t *testing.T) {
	a, err := New(config())
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := a.Serve(t.Context(), l); err == nil {
		t.Error("a listener that is closed is served well")
	}
}
