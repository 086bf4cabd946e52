package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

const (
	spawns     = 250
	roundTrips = 4000
)

// measureSpawn times a host from before its process is created until the reply to its
// first message is read: the relay, with the daemon running, and bare echo hosts in Go
// and C.
func measureSpawn(ctx context.Context, l *lab) (all sides, err error) {
	inGo, err := l.build(ctx, "echohost", "swapkeep/bench/echohost")
	if err != nil {
		return nil, err
	}
	inC, err := l.compile(ctx, "echohost")
	if err != nil {
		return nil, err
	}
	d, err := l.swapkeepd(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	hosts := []func() (*port, error){
		func() (*port, error) { return l.relay(d.home) },
		func() (*port, error) { return l.open(inGo, d.home) },
		func() (*port, error) { return l.open(inC, d.home) },
	}
	all = make(sides, len(hosts))
	for range l.sampleCount(spawns) {
		for i, open := range hosts {
			took, body, err := greet(open)
			if err == nil && i == 0 {
				err = greeted(body)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			all[i] = append(all[i], took)
		}
	}
	return all, nil
}

// greet opens a port, says hello once and closes it.
func greet(open func() (*port, error)) (took float64, body []byte, err error) {
	began := time.Now()
	p, err := open()
	if err != nil {
		return 0, nil, err
	}
	body, err = p.hello()
	took = float64(time.Since(began))
	return took, body, errors.Join(err, p.close())
}

// measureRoundTrip times one message and its reply over ports that stay open: relay and
// daemon, the same relay with a daemon that always answers a fixed text, and an echo in
// C.
func measureRoundTrip(ctx context.Context, l *lab) (all sides, err error) {
	hosts, err := l.hosts(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hosts.stop()) }()
	var calls []func() error
	for _, open := range hosts.open {
		p, err := open()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, p.close()) }()
		calls = append(calls, func() error { _, err := p.hello(); return err })
	}
	return timeAlternately(ctx, l.sampleCount(roundTrips), nil, calls...)
}

// hosts are what a message can be sent to while their daemons run.
type hosts struct {
	daemons []*daemon
	open    []func() (*port, error) // the relay, the same with a bare daemon, an echo in C
}

func (l *lab) hosts(ctx context.Context) (h *hosts, err error) {
	bare, err := l.build(ctx, "fakedaemon", "swapkeep/test/fakedaemon")
	if err != nil {
		return nil, err
	}
	inC, err := l.compile(ctx, "echohost")
	if err != nil {
		return nil, err
	}
	h = &hosts{}
	for _, exe := range []string{filepath.Join(l.bin, "swapkeepd"), bare} {
		d, err := l.start(ctx, exe)
		if err != nil {
			return nil, errors.Join(err, h.stop())
		}
		h.daemons = append(h.daemons, d)
		h.open = append(h.open, func() (*port, error) { return l.relay(d.home) })
	}
	h.open = append(h.open, func() (*port, error) { return l.open(inC, l.dir) })
	_, body, err := greet(h.open[0])
	if err == nil {
		err = greeted(body)
	}
	if err != nil {
		return nil, errors.Join(err, h.stop())
	}
	return h, nil
}

func (h *hosts) stop() (err error) {
	for _, d := range h.daemons {
		err = errors.Join(err, d.stop())
	}
	return err
}

// timeAlternately times several functions alternately, so that other load on the machine affects
// all of them alike. before, unless nil, runs untimed before each call. The first tenth
// is warm-up.
func timeAlternately(ctx context.Context, rounds int, before func() error, things ...func() error) (sides, error) {
	all, warm := make(sides, len(things)), rounds/10
	for round := range warm + rounds {
		for i, f := range things {
			took, err := timed(before, f)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			if round >= warm {
				all[i] = append(all[i], took)
			}
		}
	}
	return all, nil
}

// timed returns how long f takes, after calling before.
func timed(before, f func() error) (float64, error) {
	if before != nil {
		if err := before(); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	err := f()
	return float64(time.Since(began)), err
}
