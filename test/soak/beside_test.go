//go:build faults && linux

package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/priceapi/web"
)

// A bystander is a window that stays open and a program that follows the price API: it
// asks for nothing and is told.
type bystander struct {
	*window
	pace float64 // of time, while nobody but it is there

	boards, idle, events atomic.Int64
	fetched              chan struct{} // has one when boards grew

	leave func() // for good
}

func (h *home) bystander(t *testing.T) *bystander {
	t.Helper()
	b := &bystander{window: h.window(), pace: fast, fetched: make(chan struct{}, 1)}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		b.listen(stop)
	}()
	ctx, cancel := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		b.follow(ctx)
	}()
	b.leave = sync.OnceFunc(func() {
		cancel()
		<-followed
		b.shut()
		close(stop)
		<-done
	})
	t.Cleanup(b.leave)
	return b
}

// listen takes what is told to every window.
func (b *bystander) listen(stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case n := <-b.Notifications():
			switch n.Method {
			case "prices.changed":
				b.boards.Add(1)
				select {
				case b.fetched <- struct{}{}:
				default:
				}
			case "keys.changed":
				var k protocol.KeysChanged
				if json.Unmarshal(n.Params, &k) == nil && k.Idle {
					b.idle.Add(1)
				}
			}
		}
	}
}

// follow reads the price API's events for as long as it is there.
func (b *bystander) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if s := b.status(); s.Prices.URL != "" {
			countEvents(ctx, s.Prices.URL+web.Base+"/events", &b.events)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func countEvents(ctx context.Context, url string, count *atomic.Int64) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "event:") {
			count.Add(1)
		}
	}
}
