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
	// idleTime is how long a daemon is left idle before it is measured.
	idleTime = time.Second
)

// What memory and sizes are compared with.
const (
	bareDaemon  = "bare echo daemon"
	bareProgram = "bare Go echo host"
	bareServer  = "bare net/http in the same program"
)

// memoryOf reads a field of /proc/pid/status of a daemon that said hello to one relay and
// was then left idle. Each sample is a new daemon. The limit is a daemon that answers
// with a fixed text.
func memoryOf(key string) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		bare, err := l.build(ctx, "fakedaemon", "swapkeep/test/fakedaemon")
		if err != nil {
			return nil, err
		}
		all := make(sides, 2)
		for range l.sampleCount(idleDaemons) {
			for i, exe := range []string{filepath.Join(l.bin, "swapkeepd"), bare} {
				size, err := l.idle(ctx, exe, l.newHome(), key)
				if err = errors.Join(err, ctx.Err()); err != nil {
					return nil, err
				}
				all[i] = append(all[i], size)
			}
		}
		return all, nil
	}
}

func (l *lab) idle(ctx context.Context, exe, home, key string) (size float64, err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return 0, err
	}
	d, err := l.startAt(ctx, exe, home)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	_, body, err := greet(func() (*port, error) { return l.relay(d.home) })
	if err == nil && filepath.Base(exe) == "swapkeepd" {
		err = greeted(body)
	}
	if err != nil {
		return 0, err
	}
	time.Sleep(idleTime)
	return memory(d.cmd.Process.Pid, key)
}

// memory returns a field of /proc/pid/status in bytes.
func memory(pid int, key string) (float64, error) {
	text, ok := field(fmt.Sprintf("/proc/%d/status", pid), key)
	kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("this system does not tell %s of a process", key)
	}
	return kilobytes * 1024, nil
}

// sizeOf returns a program's size on disk, and that of a minimal Go program. A program
// that has its symbols is refused, as it is not what is shipped.
func sizeOf(name string) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		bare, err := l.build(ctx, "echohost", "swapkeep/bench/echohost")
		if err != nil {
			return nil, err
		}
		var all sides
		for _, path := range []string{filepath.Join(l.bin, name), bare} {
			if f, err := elf.Open(path); err == nil {
				symbols := f.Section(".symtab")
				_ = f.Close()
				if symbols != nil {
					return nil, fmt.Errorf("%s is not stripped; make build makes it", name)
				}
			}
			info, err := os.Stat(path)
			if err != nil {
				return nil, err
			}
			all = append(all, []float64{float64(info.Size())})
		}
		return all, nil
	}
}

// packageOf is the size of the extension's package for a browser, as a store takes it.
func packageOf(browser string) measurement {
	return func(_ context.Context, l *lab) (sides, error) {
		pattern := filepath.Join(l.packages, "swapkeep-"+browser+"-*.zip")
		found, err := filepath.Glob(pattern)
		if err == nil && len(found) != 1 {
			err = fmt.Errorf("%s: %d files; make extension makes one", pattern, len(found))
		}
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(found[0])
		if err != nil {
			return nil, err
		}
		return sides{{float64(info.Size())}}, nil
	}
}
