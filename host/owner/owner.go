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

// Exit statuses of a daemon that could not run, for the process that started it.
const (
	ExitOwned    = 75 // another daemon runs: keep trying to connect
	ExitLocked   = 76 // another process holds the database
	ExitReadOnly = 77 // the database cannot be written
	ExitFull     = 78 // no space left for the database
	ExitNewer    = 79 // a newer version wrote the database
)

const (
	acquireTimeout = 250 * time.Millisecond // for a lock that is held only briefly
	acquirePause   = 10 * time.Millisecond  // between attempts
	maxPIDText     = 32                     // bytes read of the lock file
)

// ErrOwned means that another process is the daemon of this home.
var ErrOwned = errors.New("another daemon is using this home")

// OwnedError is an ErrOwned with the process id of the owner.
type OwnedError struct {
	PID int // 0 if unknown
}

func (e *OwnedError) Error() string {
	if e.PID == 0 {
		return ErrOwned.Error()
	}
	return fmt.Sprintf("%s: pid %d", ErrOwned, e.PID)
}

// Is makes errors.Is(err, ErrOwned) true.
func (e *OwnedError) Is(target error) bool { return target == ErrOwned }

// An Owner holds the lock of a home: its process is the daemon of that home.
type Owner struct {
	instance transport.Instance
	lock     *fileLock
	listener net.Listener
}

// Acquire makes this process the owner of the home until Close or until the process exits.
// After a failure it may be called again. It fails with an *OwnedError (ErrOwned), with
// transport.ErrUnsafeDirectory, or with an error of the file system.
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
	return &Owner{instance: p, lock: lock}, nil
}

// acquire takes the lock. It retries for acquireTimeout, because a process that only checks
// the lock holds it briefly.
func acquire(path string) (*fileLock, error) {
	for end := time.Now().Add(acquireTimeout); ; time.Sleep(acquirePause) {
		lock, err := tryLock(path)
		if !errors.Is(err, errLocked) || time.Now().After(end) {
			return lock, err
		}
	}
}

// Listen binds the transport and replaces the socket of a daemon that died. It can be called
// once.
func (o *Owner) Listen() (net.Listener, error) {
	if o.listener != nil {
		return nil, errors.New("the transport is already bound")
	}
	l, err := transport.Listen(o.instance)
	if err != nil {
		return nil, err
	}
	o.listener = stopMarkingListener{l, o.instance}
	return o.listener, nil
}

// stopMarkingListener writes the stop mark (see markStopped) before it closes. The daemon may
// take seconds between closing its listener and Owner.Close, and a client that finds no
// listener in that time must see the mark.
type stopMarkingListener struct {
	net.Listener
	instance transport.Instance
}

func (m stopMarkingListener) Close() error {
	return errors.Join(markStopped(m.instance), m.Listener.Close())
}

// Close closes the transport and then releases the home. It writes the stop mark.
func (o *Owner) Close() error {
	err := markStopped(o.instance)
	if o.listener != nil {
		if closeErr := o.listener.Close(); !errors.Is(closeErr, net.ErrClosed) {
			err = errors.Join(err, closeErr)
		}
	}
	return errors.Join(err, o.lock.release())
}

// markStopped writes the stop mark, a file that says that the daemon was stopped on purpose:
// a relay that loses its daemon does not start another while the mark exists.
func markStopped(p transport.Instance) error { return os.WriteFile(p.StoppedPath(), nil, 0o600) }

// clearStopMark removes the stop mark if there is one.
func clearStopMark(p transport.Instance) error {
	if err := os.Remove(p.StoppedPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Holder reports whether a process holds the lock of the home, even if it does not listen
// because it is starting, is stopping or has lost its socket. The pid is 0 if unknown.
func Holder(p transport.Instance) (pid int, locked bool) {
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

// WithLock calls f while it holds the lock of the home, so that no daemon can start. If
// another process holds the lock, it returns an *OwnedError and does not call f.
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

// WaitFree waits until no process holds the lock of the home. When ctx ends first, it returns
// an error that is both an *OwnedError and ctx.Err().
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

// writePID replaces the content of the lock file with the pid of this process.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns the pid in the lock file, 0 if there is none. It is for messages only:
// whether a home is owned depends on the lock, not on the pid.
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
