//go:build faults && linux

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
	"swapkeep/test/programs"
)

// dropTimeout is how soon a client that does not read is disconnected: the buffers in between
// fill up quickly, and no message may take longer than WriteTimeout.
const dropTimeout = protocol.WriteTimeout + 20*time.Second

// maxSlowed returns the highest p95 that others may have next to these clients: three times as
// long as alone, or the cost of sharing a processor if that is more.
func maxSlowed(alone time.Duration) time.Duration { return max(3*alone, alone+10*time.Millisecond) }

// A badClient is a program on the daemon's socket. If asks is set it sends requests without
// end.
type badClient struct {
	name string
	asks bool
	read func(net.Conn) // until it is dropped

	dropped time.Duration // 0: never
}

var badClients = []badClient{
	{name: "asks and never reads", asks: true, read: func(net.Conn) {}},
	{name: "asks and reads a byte a second", asks: true, read: readSlowly},
	{name: "is told and never reads", read: func(net.Conn) {}},
	{name: "is told and reads a byte a second", read: readSlowly},
}

func readSlowly(c net.Conn) {
	one := make([]byte, 1)
	for {
		if _, err := c.Read(one); err != nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// attach opens a connection that the daemon takes for a browser's.
func (h *home) attach(ctx context.Context) (net.Conn, error) {
	c, err := transport.Dial(ctx, h.Instance)
	if err != nil {
		return nil, err
	}
	hello := protocol.AttachParams{Kind: protocol.KindBrowser, Origin: programs.Origin, Version: "0.1.0"}
	if err = (&pipe{frames: frame.NewWriter(c)}).send(0, "host.attach", hello); err == nil {
		var body []byte
		if body, err = frame.NewReader(c).Read(); err == nil && !bytes.Contains(body, []byte(`"result"`)) {
			err = fmt.Errorf("not let in: %s", body)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// run plays a rogue until it is dropped or ctx ends.
func (r *badClient) run(ctx context.Context, c net.Conn) {
	defer c.Close()
	began := time.Now()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	go r.read(c)
	p := &pipe{frames: frame.NewWriter(c)}
	var err error
	for n := 1; err == nil; n++ {
		if r.asks {
			err = p.send(n, "prices.list", protocol.PricesParams{ChainID: mainnet, Limit: 200})
			continue
		}
		time.Sleep(100 * time.Millisecond)
		err = p.send(n, "swap.watch", protocol.WatchParams{}) // a small request, so that the client counts as alive
	}
	if ctx.Err() == nil {
		r.dropped = time.Since(began)
	}
}

// TestLoadSlow checks that clients that do not read, read a byte a second or open
// connections without end are dropped or refused, and that others are not slowed down.
func TestLoadSlow(t *testing.T) {
	h := startUnderLoad(t)
	users := func() durations {
		all := loadsOf(10, scaled(20_000))
		for _, l := range all {
			l.inFlight = 5
		}
		took, _ := runLoads(t, h, all)
		checkServed(t, all)
		return took
	}
	users()
	before := h.idleFigures()
	alone := users()

	ctx, cancel := context.WithTimeout(t.Context(), dropTimeout)
	defer cancel()
	var all sync.WaitGroup
	gang := append([]badClient{}, badClients...)
	for i := range gang {
		c, err := h.attach(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { gang[i].run(ctx, c) })
	}
	var flood floodCount
	var told atomic.Int64
	ended, end := context.WithCancel(ctx)
	all.Go(func() { flood.dial(ended, h) })
	for range 4 {
		all.Go(func() { h.notifyWindows(ended, &told) })
	}
	var beside durations
	for range 3 {
		beside = append(beside, users()...)
	}
	for ctx.Err() == nil && !allDropped(gang) {
		time.Sleep(50 * time.Millisecond)
	}
	end()
	all.Wait()

	text := ""
	for _, r := range gang {
		text += fmt.Sprintf("a client that %s: dropped after %.1f s\n", r.name, r.dropped.Seconds())
		if r.dropped == 0 {
			t.Errorf("who %s is still there after %s", r.name, dropTimeout)
		}
	}
	if flood.refused.Load() < 100 {
		t.Errorf("%d connections of a flood were refused", flood.refused.Load())
	}
	ratio := float64(beside.percentile(0.95)) / float64(alone.percentile(0.95))
	if most := maxSlowed(alone.percentile(0.95)); beside.percentile(0.95) > most {
		t.Errorf("others' p95 went from %s to %s, want at most %s", ms(alone.percentile(0.95)), ms(beside.percentile(0.95)), ms(most))
	}
	after := h.awaitRelease(before)
	logTable(t, fmt.Sprintf("%severy window was told %d things; of a flood of %d connections %d were refused as busy\nten relays alone: %s; beside all these: %s; ratio of p95 %.2f\nbefore: %s\nafter: %s\n",
		text, told.Load(), flood.dialled.Load(), flood.refused.Load(), alone, beside, ratio, formatFigures(before), formatFigures(after)))
}

func allDropped(gang []badClient) bool {
	for i := range gang {
		if gang[i].dropped == 0 {
			return false
		}
	}
	return true
}

// A floodCount counts connections of a client that opens them without end and sends nothing.
type floodCount struct{ dialled, refused atomic.Int64 }

func (f *floodCount) dial(ctx context.Context, h *home) {
	var silent []net.Conn
	for ctx.Err() == nil {
		c, err := transport.Dial(ctx, h.Instance)
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		f.dialled.Add(1)
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		body, err := frame.NewReader(c).Read()
		var m struct{ Error *protocol.Error }
		if err == nil && json.Unmarshal(body, &m) == nil && m.Error != nil && m.Error.Name == "busy" {
			f.refused.Add(1)
			_ = c.Close()
			continue
		}
		silent = append(silent, c)
	}
	for _, c := range silent {
		_ = c.Close()
	}
}

// notifyWindows makes the daemon notify every window, again and again.
func (h *home) notifyWindows(ctx context.Context, told *atomic.Int64) {
	w := h.window()
	defer w.closeWindow()
	for n := 0; ctx.Err() == nil; n++ {
		if err := w.ask("networks.select", protocol.SelectParams{ChainID: []uint64{mainnet, base}[n%2]}, nil); err != nil {
			h.t.Errorf("%v", err)
			return
		}
		told.Add(1)
	}
}
