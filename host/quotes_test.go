package host

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/await"
)

// TestQuoteWatch checks that a watched quote is refreshed until it is stopped, and that
// every notification names the original call.
func TestQuoteWatch(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	ask := map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc, "watch": true}
	pushed := func() (q protocol.Quoted) {
		t.Helper()
		if m := p.note(); m.Method != "swap.quoted" || json.Unmarshal(m.Params, &q) != nil {
			t.Fatalf("pushed %s", m.raw)
		}
		return q
	}
	p.must("swap.quote", ask)
	first := pushed()
	if !first.Done || len(first.Order) != 1 || first.Order[0] != first.Offers[0].ID {
		t.Errorf("pushed %+v", first)
	}
	pushed() // from the provider without an offer
	for range 2 {
		if again := pushed(); string(again.Call) != string(first.Call) || len(again.Offers) != 1 {
			t.Errorf("again %+v", again)
		}
	}
	var w protocol.WatchResult
	if err := json.Unmarshal(p.must("swap.watch", nil).Result, &w); err != nil || !w.Watching || time.Until(*w.Until) > protocol.WatchTimeout {
		t.Errorf("watching: %+v, %v", w, err)
	}
	p.must("swap.watch", map[string]any{"stop": true})
	if err := json.Unmarshal(p.must("swap.watch", nil).Result, &w); err != nil || w.Watching {
		t.Errorf("after the stop: %+v, %v", w, err)
	}
}

// TestQuoteWatchPauses checks that refreshes pause while nobody looks, and that the next
// look resumes those of every provider at once.
func TestQuoteWatchPauses(t *testing.T) {
	w := &quoteWatch{extended: make(chan struct{}), done: make(chan struct{})}
	w.extend(time.Now().Add(-2 * protocol.WatchTimeout))
	back := make(chan error, 4)
	for range cap(back) {
		go func() { back <- w.waitActive(t.Context()) }()
	}
	select {
	case <-back:
		t.Fatal("goes on although nobody looks")
	case <-time.After(20 * time.Millisecond):
	}
	w.extend(time.Now())
	for range cap(back) {
		if err := <-back; err != nil {
			t.Error(err)
		}
	}
}

// TestLastQuoteIsWatched checks that the last quote requested with watch is watched, even
// if an earlier one answers later. The earlier one is cancelled.
func TestLastQuoteIsWatched(t *testing.T) {
	ask := map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc, "watch": true}
	r := newRig(t)
	begun, slow := make(chan struct{}), make(chan struct{})
	var quotes atomic.Int32
	r.swaps.quoting = func(context.Context) {
		if quotes.Add(1) == 1 {
			close(begun)
			<-slow // answers last and ignores its cancellation
		}
	}
	p := r.attach("extension")
	older := p.send("swap.quote", ask)
	<-begun
	p.must("swap.quote", ask)
	newer := r.watched()
	close(slow)
	m := p.reply()
	for string(m.ID) != older {
		m = p.reply()
	}
	if m.Error == nil || m.Error.Name != "quote_unknown" {
		t.Errorf("the older quote: %s", m.raw)
	}
	if w := r.watched(); w != newer || w == nil || w.ended() {
		t.Errorf("watched is %+v, not the newer quote %+v", w, newer)
	}
}

// TestQuotesInOrder checks that a stop or a newer quote ends exactly the quotes requested
// before it, in whatever order their handlers start.
func TestQuotesInOrder(t *testing.T) {
	const quote, stop = 5, 6
	for name, c := range map[string]struct {
		number uint64
		watch  bool
		ended  bool
	}{
		"before a stop":                       {quote, false, true},
		"after a stop":                        {stop + 1, false, false},
		"before a newer watch":                {quote, true, true},
		"before the newer watch, not watched": {stop + 1, false, false},
		"the newest":                          {stop + 4, true, false},
		"between stop and new watch":          {stop + 1, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			begin := func(conn *conn) context.Context {
				ctx, _ := conn.beginQuote(t.Context(), c.number, c.watch)
				return ctx
			}
			then := func(conn *conn) {
				conn.stopQuotes(stop)
				_, end := conn.beginQuote(t.Context(), stop+2, true)
				end()
			}
			var first, last conn
			ctx := begin(&first)
			then(&first)
			then(&last)
			if late := begin(&last); (ctx.Err() != nil) != c.ended || (late.Err() != nil) != c.ended {
				t.Errorf("ended %v when it began first, %v when last, want %t", ctx.Err(), late.Err(), c.ended)
			}
		})
	}
}

// watched returns the watch of the only connection.
func (r *rig) watched() *quoteWatch {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	for c := range r.server.conns {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.quotes.watch
	}
	return nil
}

// TestLockEndsQuotes checks that a quote in progress and its watch end with a stop, a
// lock or a network switch, because the password for a recipient was given before that.
func TestLockEndsQuotes(t *testing.T) {
	ask := map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc, "watch": true}
	for name, end := range map[string]func(r *rig, p *peer){
		"stop":   func(_ *rig, p *peer) { p.send("swap.watch", map[string]any{"stop": true}) },
		"lock":   func(r *rig, _ *peer) { r.wallet.watch(WalletChange{Cause: protocol.CauseLocked}) },
		"listed": func(r *rig, _ *peer) { r.wallet.watch(WalletChange{Cause: protocol.CauseListed}) },
		"switch": func(r *rig, _ *peer) { r.attach("terminal").must("networks.select", map[string]any{"chainId": 8453}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			begun := make(chan struct{})
			r.swaps.quoting = func(ctx context.Context) { close(begun); <-ctx.Done() }
			p := r.attach("extension")
			id := p.send("swap.quote", ask)
			<-begun
			end(r, p)
			m := p.reply()
			for string(m.ID) != id {
				m = p.reply()
			}
			if m.Error == nil || m.Error.Name != "quote_unknown" {
				t.Errorf("the quote under way: %s", m.raw)
			}
			r.server.mu.Lock()
			defer r.server.mu.Unlock()
			for c := range r.server.conns {
				if w := c.quotes.watch; w != nil && !w.ended() {
					t.Error("it is watched")
				}
			}
		})
	}
}

// TestLockEndsWatch checks that a watched quote is not refreshed after a lock.
func TestLockEndsWatch(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	p.must("swap.quote", map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc, "watch": true})
	r.wallet.watch(WalletChange{Cause: protocol.CauseLocked})
	var w protocol.WatchResult
	if err := json.Unmarshal(p.must("swap.watch", nil).Result, &w); err != nil || w.Watching {
		t.Errorf("after the lock: %+v, %v", w, err)
	}
}

// TestQuotesByOrigin checks that an extension that opens windows and quotes without end
// cannot keep a terminal from quoting, and gets its own slots back.
func TestQuotesByOrigin(t *testing.T) {
	ask := map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc}
	r := newRig(t)
	var begun atomic.Int32
	r.swaps.quoting = func(ctx context.Context) { begun.Add(1); <-ctx.Done() }
	peers := []*peer{r.attach("extension"), r.attach("extension"), r.attach("extension")}
	for _, p := range peers {
		for range protocol.MaxAsking {
			p.send("swap.quote", ask)
		}
	}
	await.Until(t, 10*time.Second, "all places are taken", func() bool { return begun.Load() == protocol.MaxQuoting })
	r.swaps.mu.Lock()
	r.swaps.quoting = nil
	r.swaps.mu.Unlock()
	term := r.attach("terminal")
	term.must("swap.quote", ask)
	if n := begun.Load(); n != protocol.MaxQuoting {
		t.Errorf("%d quotes of one origin are under way", n)
	}
	for _, p := range peers {
		_ = p.nc.Close()
	}
	r.attach("extension").must("swap.quote", ask)
	await.Until(t, 10*time.Second, "nothing is kept of an origin that asks for nothing", func() bool {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		return len(r.server.quoteSlots) == 0
	})
}
