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

// A observer is a window that stays open, with a program that follows the price API. It
// sends no requests and receives notifications.
type observer struct {
	*window
	awayPace float64 // of the clock while no user acts

	boards, idle, events atomic.Int64
	fetched              chan struct{} // signalled when boards grew

	detach func() // permanently
}

func (h *home) startObserver(t *testing.T) *observer {
	t.Helper()
	b := &observer{window: h.window(), awayPace: fastPace, fetched: make(chan struct{}, 1)}
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
	b.detach = sync.OnceFunc(func() {
		cancel()
		<-followed
		b.closeWindow()
		close(stop)
		<-done
	})
	t.Cleanup(b.detach)
	return b
}

// listen counts the notifications that every window gets.
func (b *observer) listen(stop chan struct{}) {
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

// follow reads the price API's events and reconnects until ctx ends.
func (b *observer) follow(ctx context.Context) {
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
