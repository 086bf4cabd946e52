package main

import (
	"context"
	"errors"
	"time"
)

const (
	spawns     = 250
	roundTrips = 4000
)

// measureSpawn times a host from before its process is made until the reply to
// its first message is read: the relay, with the daemon up, and an echo that
// does nothing else.
func measureSpawn(ctx context.Context, l *lab) (ours, reference []float64, err error) {
	echo, err := l.build(ctx, "echohost", "swapkeep/bench/echohost")
	if err != nil {
		return nil, nil, err
	}
	d, err := l.swapkeepd(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	relayed := func() (*port, error) { return l.relay(d.home) }
	echoed := func() (*port, error) { return l.open(echo, d.home) }
	for range spawns {
		took, body, err := greet(relayed)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if err := greeted(body); err != nil {
			return nil, nil, err
		}
		bare, _, err := greet(echoed)
		if err != nil {
			return nil, nil, err
		}
		ours, reference = append(ours, took), append(reference, bare)
	}
	return ours, reference, nil
}

// greet opens a port, says hello once and closes it again.
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

// measureRoundTrip times one message and its reply over ports that stay open:
// relay and daemon, and the same relay with a daemon that answers anything with
// a few fixed words.
func measureRoundTrip(ctx context.Context, l *lab) (ours, reference []float64, err error) {
	bare, err := l.build(ctx, "fakedaemon", "swapkeep/test/fakedaemon")
	if err != nil {
		return nil, nil, err
	}
	var ports [2]*port
	for i, start := range []func(context.Context) (*daemon, error){
		l.swapkeepd,
		func(ctx context.Context) (*daemon, error) { return l.start(ctx, bare) },
	} {
		d, err := start(ctx)
		if err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, d.stop()) }()
		if ports[i], err = l.relay(d.home); err != nil {
			return nil, nil, err
		}
		defer func() { err = errors.Join(err, ports[i].close()) }()
	}
	body, err := ports[0].hello()
	if err == nil {
		err = greeted(body)
	}
	if err != nil {
		return nil, nil, err
	}
	return inTurn(ctx, roundTrips, nil,
		func() error { _, err := ports[0].hello(); return err },
		func() error { _, err := ports[1].hello(); return err })
}

// inTurn times two things, one after the other, over and over, so that what
// else the machine does meets both alike. What before does, unless it is nil,
// comes before each and is not timed. The first tenth is warm-up.
func inTurn(ctx context.Context, rounds int, before, first, second func() error) (a, b []float64, err error) {
	warm := rounds / 10
	for i := range warm + rounds {
		one, err := timed(before, first)
		if err != nil {
			return nil, nil, err
		}
		two, err := timed(before, second)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if i >= warm {
			a, b = append(a, one), append(b, two)
		}
	}
	return a, b, nil
}

// timed is how long f takes after before.
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
