// Package owner makes sure that one daemon, and no more than one, serves a
// home: a file lock decides who it is, the transport is bound only while the
// lock is held, and whoever finds no daemon starts it.
package owner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"swapkeep/host/transport"
)

// Exit statuses that tell whoever started a daemon why it did not stay.
const (
	ExitOwned    = 75 // another one is in its place: keep dialing
	ExitLocked   = 76 // another process holds its database
	ExitReadOnly = 77 // its database cannot be written
	ExitFull     = 78 // no space is left for its database
	ExitNewer    = 79 // a newer version wrote its database
)

const (
	acquirePatience = 250 * time.Millisecond
	acquirePause    = 10 * time.Millisecond
	maxPIDText      = 32
)

// ErrOwned: another process is the daemon of this home.
var ErrOwned = errors.New("another daemon owns this home")

// OwnedError names the owner. It is an ErrOwned.
type OwnedError struct {
	PID int // 0 when it is not known yet
}

func (e *OwnedError) Error() string {
	if e.PID == 0 {
		return ErrOwned.Error()
	}
	return fmt.Sprintf("%s: pid %d", ErrOwned, e.PID)
}

// Is makes errors.Is(err, ErrOwned) true.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// An Owner is the right to be the daemon of one home.
type Owner struct {
	place    transport.Place
	lock     *fileLock
	listener net.Listener
}

// Acquire takes the home for this process until Close or its death. Errors:
// ErrOwned (an *OwnedError), transport.ErrUnsafePlace, else the file system's.
// It may be repeated.
func Acquire(p transport.Place) (*Owner, error) {
	if err := transport.Prepare(p); err != nil {
		return nil, err
	}
	lock, err := acquire(p.LockPath())
	if errors.Is(err, errHeld) {
		return nil, &OwnedError{PID: readPID(p.LockPath())}
	}
	if err != nil {
		return nil, fmt.Errorf("lock the home: %w", err)
	}
	if err := errors.Join(writePID(lock.file), unmark(p)); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock: %w", err), lock.release())
	}
	return &Owner{place: p, lock: lock}, nil
}

// acquire outlasts someone who only looks whether the lock is free.
func acquire(path string) (*fileLock, error) {
	for end := time.Now().Add(acquirePatience); ; time.Sleep(acquirePause) {
		lock, err := tryLock(path)
		if !errors.Is(err, errHeld) || time.Now().After(end) {
			return lock, err
		}
	}
}

// Listen binds the transport, once, replacing what a dead daemon left.
func (o *Owner) Listen() (net.Listener, error) {
	if o.listener != nil {
		return nil, errors.New("the transport is bound already")
	}
	l, err := transport.Listen(o.place)
	if err != nil {
		return nil, err
	}
	o.listener = marking{l, o.place}
	return o.listener, nil
}

// marking is a transport that says, before it goes, that the daemon ends on
// purpose. A daemon may need seconds from there to Close; whoever finds nobody
// listening in between must find the mark.
type marking struct {
	net.Listener
	place transport.Place
}

func (m marking) Close() error { return errors.Join(markStopped(m.place), m.Listener.Close()) }

// Close gives the transport up, and then the home. It says that the daemon
// ends on purpose: relays that lose it do not start another.
func (o *Owner) Close() error {
	err := markStopped(o.place)
	if o.listener != nil {
		if closed := o.listener.Close(); !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}
	return errors.Join(err, o.lock.release())
}

func markStopped(p transport.Place) error { return os.WriteFile(p.StoppedPath(), nil, 0o600) }

func unmark(p transport.Place) error {
	if err := os.Remove(p.StoppedPath()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Holder tells whether a process holds the home, listening or not: one that
// starts, that ends or that lost its socket does not. The pid is 0 when it is
// not known.
func Holder(p transport.Place) (pid int, held bool) {
	if _, err := os.Lstat(p.LockPath()); err != nil {
		return 0, false
	}
	lock, err := tryLock(p.LockPath())
	if err == nil {
		_ = lock.release()
	}
	if !errors.Is(err, errHeld) {
		return 0, false
	}
	return readPID(p.LockPath()), true
}

// Vacant calls f while this process keeps every daemon out of the home. Error: ErrOwned,
// and then f was not called.
func Vacant(p transport.Place, f func() error) error {
	lock, err := acquire(p.LockPath())
	if errors.Is(err, errHeld) {
		return &OwnedError{PID: readPID(p.LockPath())}
	}
	if err != nil {
		return fmt.Errorf("lock the home: %w", err)
	}
	return errors.Join(f(), lock.release())
}

// WaitFree waits until no process owns the home. Error: ErrOwned with ctx's.
func WaitFree(ctx context.Context, p transport.Place) error {
	for {
		lock, err := tryLock(p.LockPath())
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			return lock.release()
		}
		if !errors.Is(err, errHeld) {
			return fmt.Errorf("lock the home: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", &OwnedError{PID: readPID(p.LockPath())}, ctx.Err())
		case <-time.After(acquirePause):
		}
	}
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID is for messages only: the lock, not its text, decides.
func readPID(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, maxPIDText)
	n, _ := f.Read(text)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
