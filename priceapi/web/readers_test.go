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

// A part of the crowd is enough to show what happens; make load brings the whole.
var whole = flag.Bool("whole", false, "as many connections as the API has by itself, and more clients")

// crowded is how many places there are, and how many clients that ask on and on and read
// nothing: more.
func crowded() (places, deaf int) {
	if *whole {
		return DefaultLimits().Connections, 1100
	}
	return 60, 80
}

// pipeline lets them in, and comes back when the server takes no more of them. From then
// on each comes back that is dropped.
func pipeline(t *testing.T, address string, deaf int) {
	t.Helper()
	ask := strings.Repeat("GET "+pricesPath+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n", 16)
	var sent atomic.Int64
	settled := make(chan struct{})
	for _, c := range dial(t, address, deaf) {
		go func() {
			for t.Context().Err() == nil { // which ends before the connections are closed
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

// TestCrowdThatDoesNotRead: clients on every connection there is, which ask on and on,
// read nothing and come back when they are dropped, do not keep another one waiting until
// their answers' time is over.
func TestCrowdThatDoesNotRead(t *testing.T) {
	places, deaf := crowded()
	c := config()
	c.Feed.Publish(pricetable.New(8, then, many(1000)))
	c.Limits.Connections, c.Limits.Write = places, time.Minute
	c.Limits.Fresh = 30 * time.Second // the crowd is on this machine, and slow
	s := serve(t, c)
	pipeline(t, s.address, deaf)
	for range 3 {
		began := time.Now()
		if r := s.get(t, healthPath); r.status != http.StatusOK {
			t.Fatal(r)
		}
		direct.CloseIdleConnections()
		took := time.Since(began)
		t.Logf("answered after %s behind %d clients that do not read", took, deaf)
		if took > 10*time.Second {
			t.Fatal("it waited for them")
		}
	}
}
