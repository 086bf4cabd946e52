package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

const (
	callsAtOnce = 200 // per relay
	listings    = 20
	pageOrders  = 50
)

// withOrders starts a daemon whose journal has count open orders.
func (l *lab) withOrders(ctx context.Context, count int) (*daemon, error) {
	home := l.newHome()
	if err := fillJournal(home, count); err != nil {
		return nil, err
	}
	return l.startAt(ctx, filepath.Join(l.bin, "swapkeepd"), home)
}

// memoryWith measures the resident memory of a daemon with count open orders, idleTime
// after its first hello, and of a bare daemon.
func memoryWith(count int) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		bare, err := l.build(ctx, "fakedaemon", "swapkeep/test/fakedaemon")
		if err != nil {
			return nil, err
		}
		home := l.newHome()
		if err := fillJournal(home, count); err != nil {
			return nil, err
		}
		with, err := l.idle(ctx, filepath.Join(l.bin, "swapkeepd"), home, "VmRSS")
		if err != nil {
			return nil, err
		}
		without, err := l.idle(ctx, bare, l.newHome(), "VmRSS")
		return sides{{with}, {without}}, err
	}
}

// listOrders times swap.orders over a relay with count open orders: all pages, the newest
// page, and for comparison a message without work.
func listOrders(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		d, err := l.withOrders(ctx, count)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, d.stop()) }()
		cmd := exec.Command(filepath.Join(l.bin, "swapkeep"), origin)
		cmd.Env, cmd.Stderr = l.environ(d.home), os.Stderr
		p, err := client.Start(cmd)
		if err != nil {
			return nil, err
		}
		defer func() { _, e := p.Stop(); err = errors.Join(err, e) }()
		return timeAlternately(ctx, l.sampleCount(listings), nil,
			func() error {
				n, err := listed(ctx, p, count)
				if err == nil && n != count {
					err = fmt.Errorf("%d orders are listed", n)
				}
				return err
			},
			func() error { _, err := listed(ctx, p, 1); return err },
			func() error {
				return p.Call(ctx, "host.hello", protocol.HelloParams{}, nil)
			})
	}
}

// listed requests pages until it has enough orders, or there are no more.
func listed(ctx context.Context, p *client.Process, enough int) (count int, err error) {
	for cursor := ""; ; {
		var page protocol.OrdersResult
		if err := p.Call(ctx, "swap.orders", protocol.OrdersParams{Open: true, Cursor: cursor, Limit: pageOrders}, &page); err != nil {
			return 0, err
		}
		count, cursor = count+len(page.Orders), page.Cursor
		if cursor == "" || count >= enough {
			return count, nil
		}
	}
}

// withPorts opens count ports, says hello over each, and passes them to use.
func withPorts(open func() (*port, error), count int, use func([]*port) error) (err error) {
	var ports []*port
	defer func() {
		for _, p := range ports {
			err = errors.Join(err, p.close())
		}
	}()
	for range count {
		p, err := open()
		if err != nil {
			return err
		}
		ports = append(ports, p)
		if _, err := p.hello(); err != nil {
			return err
		}
	}
	return use(ports)
}

// callAtOnce times messages over count relays, each of which calls again as soon as it is
// answered; then the same with a bare daemon, and with as many C echo hosts.
func callAtOnce(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		h, err := l.hosts(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, h.stop()) }()
		var all sides
		for _, open := range h.open {
			var took []float64
			err := withPorts(open, count, func(ports []*port) (err error) {
				took, err = callAll(ports, l.sampleCount(callsAtOnce))
				return errors.Join(err, ctx.Err())
			})
			if err != nil {
				return nil, err
			}
			all = append(all, took)
		}
		return sides{all[0], {figureOf(all[0]).P95}, all[1], all[2]}, nil
	}
}

// callAll makes all ports call that often, in parallel.
func callAll(ports []*port, calls int) (all []float64, err error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	for _, p := range ports {
		group.Go(func() {
			took, e := each(func() error { _, err := p.hello(); return err })(calls)
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, took...), errors.Join(err, e)
		})
	}
	group.Wait()
	return all, err
}

// memoryAtOnce measures the resident memory of a daemon with count relays, of a bare
// daemon with as many, and of one relay.
func memoryAtOnce(count int) measurement {
	return func(ctx context.Context, l *lab) (_ sides, err error) {
		h, err := l.hosts(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, h.stop()) }()
		all := make(sides, 3)
		for i, d := range h.daemons {
			err := withPorts(h.open[i], count, func(ports []*port) error {
				time.Sleep(idleTime)
				size, err := memory(d.cmd.Process.Pid, "VmRSS")
				all[i] = append(all[i], size)
				for _, p := range ports {
					each, e := memory(p.cmd.Process.Pid, "VmRSS")
					all[2], err = append(all[2], each), errors.Join(err, e)
				}
				return err
			})
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}
