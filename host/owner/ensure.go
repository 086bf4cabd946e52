package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"swapkeep/host/transport"
)

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 100 * time.Millisecond
	// respawnPause is the minimum time between two starts by one process, for when each
	// start finds the lock taken by a daemon that does not answer yet or is stopping.
	respawnPause = time.Second
)

// Ensure returns a connection to the place's daemon and starts the daemon if none
// answers. Of many concurrent callers one starts it. It may be repeated. Errors: a
// *StartError if the daemon ended by itself, transport.ErrForeignPeer,
// transport.ErrUnsafeDirectory, and after ctx's end its error with transport.ErrNoDaemon.
func Ensure(ctx context.Context, l Launch) (net.Conn, error) {
	return reach(ctx, &starter{launch: l})
}

// ErrStopped means that the daemon was stopped on purpose and nobody has started it
// again.
var ErrStopped = errors.New("the daemon was stopped")

// EnsureUnlessStopped is Ensure for a client that lost its daemon: a daemon that was stopped on
// purpose is waited for and not started again. Errors as for Ensure, and ErrStopped.
func EnsureUnlessStopped(ctx context.Context, l Launch) (net.Conn, error) {
	return reach(ctx, &starter{launch: l, rejoin: true})
}

func reach(ctx context.Context, s *starter) (net.Conn, error) {
	l := s.launch
	conn, err := transport.Dial(ctx, l.Place)
	if err = asNoDaemon(ctx, err); !errors.Is(err, transport.ErrNoDaemon) {
		return conn, err
	}
	if err := transport.Prepare(l.Place); err != nil {
		return nil, err
	}
	defer s.stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, err = s.step(ctx)
		if err = asNoDaemon(ctx, err); !errors.Is(err, transport.ErrNoDaemon) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			if s.stoppedOnPurpose() {
				err = fmt.Errorf("%w: %w", ErrStopped, err)
			}
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-s.ended():
		case <-time.After(pause):
		}
	}
}

// asNoDaemon converts the error of a dial cut off by ctx's end to ErrNoDaemon. The dial has its
// own deadline timer, which may fire before ctx reports its end.
func asNoDaemon(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", transport.ErrNoDaemon, cmp.Or(ctx.Err(), context.DeadlineExceeded))
}

// A starter is one caller's attempt to start the daemon.
type starter struct {
	launch    Launch
	rejoin    bool
	spawnLock *fileLock // if held, this caller may start the daemon
	child     *Child    // the process it started, if still running
	last      time.Time // when it was started
}

// step starts the daemon if this caller holds the spawn lock, and dials.
func (s *starter) step(ctx context.Context) (net.Conn, error) {
	if s.stoppedOnPurpose() {
		s.stop() // leaves the spawn lock to callers that may start the daemon
		return transport.Dial(ctx, s.launch.Place)
	}
	if err := s.takeSpawnLock(); err != nil {
		return nil, err
	}
	// The previous holder of the lock may have just started a daemon.
	conn, err := transport.Dial(ctx, s.launch.Place)
	if !errors.Is(err, transport.ErrNoDaemon) || s.spawnLock == nil {
		return conn, err
	}
	if failed := s.childFailed(); failed != nil {
		return nil, failed
	}
	if s.child == nil && time.Since(s.last) > respawnPause && !s.stoppedOnPurpose() {
		if s.child, err = Spawn(s.launch); err != nil {
			return nil, err
		}
		s.last = time.Now()
		return nil, transport.ErrNoDaemon
	}
	return nil, err
}

// takeSpawnLock tries to take the spawn lock. turn stays nil while another process holds it.
func (s *starter) takeSpawnLock() error {
	if s.spawnLock != nil {
		return nil
	}
	turn, err := tryLock(s.launch.Place.SpawnLockPath())
	if err != nil && !errors.Is(err, errLocked) {
		return fmt.Errorf("lock the start: %w", err)
	}
	s.spawnLock = turn
	return nil
}

// stoppedOnPurpose reports whether the lost daemon was stopped on purpose and must not be
// started.
func (s *starter) stoppedOnPurpose() bool {
	_, err := os.Lstat(s.launch.Place.StoppedPath())
	return s.rejoin && err == nil
}

// childFailed returns the error of our daemon if it ended by itself and not because
// another one runs. A killed one is started again, as a running one would be.
func (s *starter) childFailed() error {
	if s.child == nil {
		return nil
	}
	select {
	case <-s.child.done:
		ended := s.child.err
		s.child = nil
		if ended.Exit != ExitOwned && ended.Exit != killed {
			return ended
		}
	default:
	}
	return nil
}

func (s *starter) ended() <-chan struct{} {
	if s.child == nil {
		return nil
	}
	return s.child.done
}

func (s *starter) stop() {
	if s.spawnLock != nil {
		_ = s.spawnLock.release()
		s.spawnLock = nil
	}
}
