package chain

import (
	"context"
	"errors"
	"sync"
	"time"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum/common"
)

// A network is polled for a new head at most once a second, and at least every three: the
// price of a twelve-second block should not be shown late.
const (
	gasPollMin = time.Second
	gasPollMax = 3 * time.Second
	gasBackoff = 30 * time.Second // longest pause while no endpoint answers
)

// gasWatches holds one poller for each network whose gas price is watched.
type gasWatches struct {
	mu      sync.Mutex
	closed  bool
	running map[uint64]*gasWatch
	pollers sync.WaitGroup
	every   time.Duration // poll interval; 0 = by the network; tests only
}

// A gasWatch is one network's poller and its listeners.
type gasWatch struct {
	cancel    context.CancelFunc
	listeners map[*gasListener]struct{}
	last      *GasPrice
}

// A gasListener holds the newest price that its subscriber has not taken.
type gasListener struct{ box chan GasPrice }

// put replaces a price that was not taken. The caller holds the watches' lock.
func (l *gasListener) put(g GasPrice) {
	select {
	case <-l.box:
	default:
	}
	l.box <- g
}

// WatchGas calls f with the network's gas price at every new head, from a goroutine of
// its own, until ctx ends or the hub is closed; at first with the last known price, if
// others watch already. All watchers of a network share one poller, which starts with the
// first and stops with the last. A slow f misses prices and delays no other watcher.
// Errors: ErrNoNetwork, ErrNetworkEnded, or that the hub is closed.
func (h *MultiClient) WatchGas(ctx context.Context, id uint64, f func(GasPrice)) error {
	p, err := h.runningPool(id)
	if err != nil {
		return err
	}
	l := &gasListener{box: make(chan GasPrice, 1)}
	if err := h.listen(p, l); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { h.watches.leave(id, l) })
	go func() {
		for g := range l.box {
			if ctx.Err() != nil {
				return
			}
			f(g)
		}
	}()
	return nil
}

// listen adds l to the listeners of p, and starts the poller for the first.
func (h *MultiClient) listen(p *pool, l *gasListener) error {
	ws := &h.watches
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		return errors.New("the networks are closed")
	}
	w := ws.running[p.network.ID]
	if w == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w = &gasWatch{cancel: cancel, listeners: make(map[*gasListener]struct{})}
		if ws.running == nil {
			ws.running = make(map[uint64]*gasWatch)
		}
		ws.running[p.network.ID] = w
		ws.pollers.Go(func() { h.pollGas(ctx, p, w) })
	}
	w.listeners[l] = struct{}{}
	if w.last != nil {
		l.put(*w.last)
	}
	return nil
}

// leave removes l, and stops the poller after the last listener.
func (ws *gasWatches) leave(id uint64, l *gasListener) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.running[id]
	if w == nil {
		return
	}
	if _, listens := w.listeners[l]; !listens {
		return
	}
	delete(w.listeners, l)
	close(l.box)
	if len(w.listeners) == 0 {
		w.cancel()
		delete(ws.running, id)
	}
}

func (ws *gasWatches) close() {
	ws.mu.Lock()
	ws.closed = true
	for id, w := range ws.running {
		w.cancel()
		for l := range w.listeners {
			close(l.box)
		}
		delete(ws.running, id)
	}
	ws.mu.Unlock()
	ws.pollers.Wait()
}

// push passes g to all listeners of w.
func (ws *gasWatches) push(w *gasWatch, g GasPrice) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.running[g.Chain] != w { // nobody listens any more
		return
	}
	w.last = &g
	for l := range w.listeners {
		l.put(g)
	}
}

// pollGas polls p for new heads until ctx ends.
func (h *MultiClient) pollGas(ctx context.Context, p *pool, w *gasWatch) {
	var seen common.Hash
	every := h.watches.every
	if every == 0 {
		every = min(max(p.network.BlockTime/4, gasPollMin), gasPollMax)
	}
	pause := every
	for {
		if now, err := h.pool(p.network.ID); err == nil {
			p = now // its endpoints may have been replaced
		}
		g, err := p.gasPrice(ctx, seen)
		switch {
		case err != nil:
			pause = min(2*pause, gasBackoff)
		case g != nil:
			h.addL1(ctx, p, g)
			seen = g.hash
			h.watches.push(w, *g)
			fallthrough
		default:
			pause = every
		}
		t := clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
	}
}
