package main

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	idleDaemons = 5
	// idleTime is how long a daemon is left alone before it is looked at.
	idleTime = time.Second
)

// memoryOf reads a field of the kernel's account of a daemon that started, said
// hello to one relay and was then left alone. Each sample is another daemon.
func memoryOf(key string) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, _ []float64, err error) {
		for range idleDaemons {
			size, err := l.idle(ctx, key)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, nil, err
			}
			ours = append(ours, size)
		}
		return ours, nil, nil
	}
}

func (l *lab) idle(ctx context.Context, key string) (size float64, err error) {
	d, err := l.swapkeepd(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	_, body, err := greet(func() (*port, error) { return l.relay(d.home) })
	if err == nil {
		err = greeted(body)
	}
	if err != nil {
		return 0, err
	}
	time.Sleep(idleTime)
	text, ok := field(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid), key)
	kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("this system does not tell %s of a process", key)
	}
	return kilobytes * 1024, nil
}

// sizeOf is a program's size on disk. One that still has its symbols is not
// what is shipped.
func sizeOf(name string) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(_ context.Context, l *lab) (ours, _ []float64, err error) {
		path := filepath.Join(l.bin, name)
		if f, err := elf.Open(path); err == nil {
			symbols := f.Section(".symtab")
			_ = f.Close()
			if symbols != nil {
				return nil, nil, fmt.Errorf("%s is not stripped; make build makes it", name)
			}
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		return []float64{float64(info.Size())}, nil, nil
	}
}

// packageOf is the size of the extension's package for a browser, as a store takes it.
func packageOf(browser string) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(_ context.Context, l *lab) (ours, _ []float64, err error) {
		pattern := filepath.Join(l.packages, "swapkeep-"+browser+"-*.zip")
		found, err := filepath.Glob(pattern)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%s: %d files; make extension makes one", pattern, len(found))
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(found[0])
		if err != nil {
			return nil, nil, err
		}
		return []float64{float64(info.Size())}, nil, nil
	}
}
