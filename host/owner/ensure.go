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
	// respawnPause spaces the attempts of one process when each finds the lock
	// taken by a daemon that does not answer yet, or is on its way out.
	respawnPause = time.Second
)

// Ensure returns a connection to the place's daemon, starting it when nobody
// answers; of many callers one starts it. Errors: a *StartError when it ended
// by itself, transport.ErrForeignPeer, transport.ErrUnsafePlace, ctx's end
// with transport.ErrNoDaemon. It may be repeated.
func Ensure(ctx context.Context, l Launch) (net.Conn, error) {
	return reach(ctx, &starter{launch: l})
}

// ErrStopped: the daemon was stopped on purpose, and nobody has started it again.
var ErrStopped = errors.New("the daemon was stopped")

// Rejoin is Ensure for one who lost the daemon: a daemon that was stopped on
// purpose is waited for and not started again. Errors besides: ErrStopped.
func Rejoin(ctx context.Context, l Launch) (net.Conn, error) {
	return reach(ctx, &starter{launch: l, rejoin: true})
}

func reach(ctx context.Context, s *starter) (net.Conn, error) {
	l := s.launch
	conn, err := transport.Dial(ctx, l.Place)
	if err = late(ctx, err); !errors.Is(err, transport.ErrNoDaemon) {
		return conn, err
	}
	if err := transport.Prepare(l.Place); err != nil {
		return nil, err
	}
	defer s.stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		conn, err = s.step(ctx)
		if err = late(ctx, err); !errors.Is(err, transport.ErrNoDaemon) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			if s.unwanted() {
				err = fmt.Errorf("%w: %w", ErrStopped, err)
			}
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		case <-s.ended():
		case <-time.After(pause):
		}
	}
}

// late names a dial that ctx's end cut off for what it is: no daemon in time. The dial
// knows the time by itself, and may notice before ctx does.
func late(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", transport.ErrNoDaemon, cmp.Or(ctx.Err(), context.DeadlineExceeded))
}

// A starter is one caller's share in starting the daemon.
type starter struct {
	launch Launch
	rejoin bool
	turn   *fileLock // held: it is on us to start the daemon
	child  *Child    // what we started, if it still runs
	last   time.Time // when we started it
}

// step starts the daemon if that is on us, and dials.
func (s *starter) step(ctx context.Context) (net.Conn, error) {
	if s.unwanted() {
		s.stop() // the turn is for someone who wants it
		return transport.Dial(ctx, s.launch.Place)
	}
	if err := s.takeTurn(); err != nil {
		return nil, err
	}
	// Whoever had the turn before us may have just finished.
	conn, err := transport.Dial(ctx, s.launch.Place)
	if !errors.Is(err, transport.ErrNoDaemon) || s.turn == nil {
		return conn, err
	}
	if failed := s.childFailed(); failed != nil {
		return nil, failed
	}
	if s.child == nil && time.Since(s.last) > respawnPause && !s.unwanted() {
		if s.child, err = Spawn(s.launch); err != nil {
			return nil, err
		}
		s.last = time.Now()
		return nil, transport.ErrNoDaemon
	}
	return nil, err
}

// takeTurn leaves the turn nil while another process has it.
func (s *starter) takeTurn() error {
	if s.turn != nil {
		return nil
	}
	turn, err := tryLock(s.launch.Place.SpawnLockPath())
	if err != nil && !errors.Is(err, errHeld) {
		return fmt.Errorf("lock the start: %w", err)
	}
	s.turn = turn
	return nil
}

// unwanted: the daemon we lost was stopped on purpose.
func (s *starter) unwanted() bool {
	_, err := os.Lstat(s.launch.Place.StoppedPath())
	return s.rejoin && err == nil
}

// childFailed is the reason when our daemon ended by its own doing, and not for
// finding another. One that was killed is started again, as a running one is.
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
	if s.turn != nil {
		_ = s.turn.release()
		s.turn = nil
	}
}
