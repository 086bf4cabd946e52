package web

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/priceapi/pricetable"
)

// Part of the crowd is enough to show the behaviour; make load uses all of it.
var whole = flag.Bool("whole", false, "as many connections as the API has by itself, and more clients")

// crowded returns the number of connection slots and a larger number of clients that keep
// asking and never read.
func crowded() (places, deaf int) {
	if *whole {
		return DefaultLimits().Connections, 1100
	}
	return 60, 80
}

// pipeline connects clients that keep sending requests, and returns when the server accepts
// no more of them. From then on each dropped client reconnects.
func pipeline(t *testing.T, address string, deaf int) {
	t.Helper()
	ask := strings.Repeat("GET "+pricesPath+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n", 16)
	var sent atomic.Int64
	settled := make(chan struct{})
	for _, c := range dial(t, address, deaf) {
		go func() {
			for t.Context().Err() == nil { // ends before the connections are closed
				_, err := io.WriteString(c, ask)
				for ; err == nil; _, err = io.WriteString(c, ask) {
					sent.Add(1)
				}
				_ = c.Close()
				<-settled
				if c, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err != nil {
					return
				}
				again := c
				defer context.AfterFunc(t.Context(), func() { _ = again.Close() })()
			}
		}()
	}
	for before := int64(-1); before != sent.Load(); {
		before = sent.Load()
		time.Sleep(300 * time.Millisecond)
	}
	close(settled)
}

// TestManyClientsThatDoNotRead checks that clients that occupy every connection, keep asking,
// read nothing and reconnect when dropped do not make another client wait for their write
// timeouts.
func TestManyClientsThatDoNotRead(t *testing.T) {
	places, deaf := crowded()
	c := config()
	c.Feed.Publish(pricetable.New(8, then, many(1000)))
	c.Limits.Connections, c.Limits.Write = places, time.Minute
	c.Limits.Fresh = 30 * time.Second // the crowd is on the same machine, and slow
	s := serve(t, c)
	pipeline(t, s.address, deaf)
	for range 3 {
		began := time.Now()
		if r := s.get(t, healthPath); r.status != http.StatusOK {
			t.Fatalf("GET health: %+v, want status 200", r)
		}
		direct.CloseIdleConnections()
		took := time.Since(began)
		t.Logf("answered after %s behind %d clients that do not read", took, deaf)
		if took > 10*time.Second {
			t.Fatal("it waited for them")
		}
	}
}
