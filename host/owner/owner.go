// Package owner ensures that at most one daemon serves a home, and starts it when needed.
// A file lock decides which process is the daemon, and the transport is bound only while
// the lock is held.
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

// Exit statuses that tell the starter of a daemon why it ended.
const (
	ExitOwned    = 75 // another daemon runs: keep dialing
	ExitLocked   = 76 // another process holds the database
	ExitReadOnly = 77 // the database cannot be written
	ExitFull     = 78 // no space left for the database
	ExitNewer    = 79 // a newer version wrote the database
)

const (
	acquireTimeout = 250 * time.Millisecond
	acquirePause   = 10 * time.Millisecond
	maxPIDText     = 32
)

// ErrOwned means that another process is the daemon of this home.
var ErrOwned = errors.New("another daemon is using this home")

// OwnedError gives the owner's process id. It is an ErrOwned.
type OwnedError struct {
	PID int // 0 if not known yet
}

func (e *OwnedError) Error() string {
	if e.PID == 0 {
		return ErrOwned.Error()
	}
	return fmt.Sprintf("%s: pid %d", ErrOwned, e.PID)
}

// Is makes errors.Is(err, ErrOwned) true.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// An Owner is the right to be the daemon of a home.
type Owner struct {
	place    transport.Instance
	lock     *fileLock
	listener net.Listener
}

// Acquire makes this process the owner of the home until Close or its end. It may be
// repeated. Errors: ErrOwned (an *OwnedError), transport.ErrUnsafeDirectory, otherwise the
// file system's.
func Acquire(p transport.Instance) (*Owner, error) {
	if err := transport.Prepare(p); err != nil {
		return nil, err
	}
	lock, err := acquire(p.LockPath())
	if errors.Is(err, errLocked) {
		return nil, &OwnedError{PID: readPID(p.LockPath())}
	}
	if err != nil {
		return nil, fmt.Errorf("lock the home: %w", err)
	}
	if err := errors.Join(writePID(lock.file), clearStopMark(p)); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock: %w", err), lock.release())
	}
	return &Owner{place: p, lock: lock}, nil
}

// acquire retries for a moment, because a process that only checks the lock also holds it
// briefly.
func acquire(path string) (*fileLock, error) {
	for end := time.Now().Add(acquireTimeout); ; time.Sleep(acquirePause) {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) || time.Now().After(end) {
			return lock, err
		}
	}
}

// Listen binds the transport, once, and replaces the socket of a dead daemon.
func (o *Owner) Listen() (net.Listener, error) {
	if o.listener != nil {
		return nil, errors.New("the transport is already bound")
	}
	l, err := transport.Listen(o.place)
	if err != nil {
		return nil, err
	}
	o.listener = stopMarkingListener{l, o.place}
	return o.listener, nil
}

// stopMarkingListener is a listener that marks the daemon as stopped on purpose before it closes. The
// daemon may take seconds from there to Close, and a client that finds no listener in
// between must see the mark.
type stopMarkingListener struct {
	net.Listener
	place transport.Instance
}

func (m stopMarkingListener) Close() error {
	return errors.Join(markStopped(m.place), m.Listener.Close())
}

// Close closes the transport and then releases the home. It marks the daemon as stopped
// on purpose, so that relays that lose it do not start another.
func (o *Owner) Close() error {
	err := markStopped(o.place)
	if o.listener != nil {
		if closed := o.listener.Close(); !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}
	return errors.Join(err, o.lock.release())
}

func markStopped(p transport.Instance) error { return os.WriteFile(p.StoppedPath(), nil, 0o600) }

func clearStopMark(p transport.Instance) error {
	if err := os.Remove(p.StoppedPath()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Holder reports whether a process holds the home, even if it does not listen because it
// is starting, stopping or has lost its socket. The pid is 0 if unknown.
func Holder(p transport.Instance) (pid int, held bool) {
	if _, err := os.Lstat(p.LockPath()); err != nil {
		return 0, false
	}
	lock, err := tryLock(p.LockPath())
	if err == nil {
		_ = lock.release()
	}
	if !errors.Is(err, errLocked) {
		return 0, false
	}
	return readPID(p.LockPath()), true
}

// WithLock calls f while it keeps every daemon out of the home. If a daemon holds the home,
// it returns ErrOwned and does not call f.
func WithLock(p transport.Instance, f func() error) error {
	lock, err := acquire(p.LockPath())
	if errors.Is(err, errLocked) {
		return &OwnedError{PID: readPID(p.LockPath())}
	}
	if err != nil {
		return fmt.Errorf("lock the home: %w", err)
	}
	return errors.Join(f(), lock.release())
}

// WaitFree waits until no process owns the home. Error: ErrOwned with that of ctx.
func WaitFree(ctx context.Context, p transport.Instance) error {
	for {
		lock, err := tryLock(p.LockPath())
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil {
			return lock.release()
		}
		if !errors.Is(err, errLocked) {
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

// readPID returns the pid for messages only; the lock decides, not its text.
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
