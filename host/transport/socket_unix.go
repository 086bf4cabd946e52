//go:build linux || darwin

package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

const socketName = "swapkeep.sock"

// SocketPath returns the path of the daemon's socket or, if that is too long for a socket
// address, of a link to the socket.
func (p Instance) SocketPath() string { return filepath.Join(p.RunDir(), socketName) }

func fitsSocketAddress(path string) bool { return len(path) < maxSocketPath }

// Listen binds the place's socket in a directory that only this user can enter, and
// replaces the socket of a dead daemon. The caller holds the lock at LockPath. Accept
// returns only connections of this user and closes others.
func Listen(p Instance) (net.Listener, error) {
	if err := Prepare(p); err != nil {
		return nil, err
	}
	path, err := p.bindPath()
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("bind the daemon's socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{UnixListener: l, uid: os.Getuid()}, nil
}

// bindPath returns SocketPath if it fits, otherwise a short path in a private directory
// of its own, and links SocketPath to it. The link tells others where the socket is; the
// environment cannot, because a browser and a terminal may have different values of
// XDG_RUNTIME_DIR and TMPDIR.
func (p Instance) bindPath() (string, error) {
	if fitsSocketAddress(p.SocketPath()) {
		return p.SocketPath(), nil
	}
	for _, dir := range p.shortDirs() {
		path := filepath.Join(dir, socketName)
		if !fitsSocketAddress(path) || makePrivate(dir) != nil {
			continue
		}
		if err := os.Remove(p.SocketPath()); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("replace the link to the socket: %w", err)
		}
		if err := os.Symlink(path, p.SocketPath()); err != nil {
			return "", fmt.Errorf("link to the socket: %w", err)
		}
		return path, nil
	}
	return "", &UnsafeDirectoryError{p.Home, "has a path too long for a socket and no other private directory was found",
		"set " + HomeVariable + " to a shorter path"}
}

func (p Instance) shortDirs() []string {
	var dirs []string
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		dirs = append(dirs, filepath.Join(run, "swapkeep-"+p.shortHash()))
	}
	// makePrivate refuses the directory if someone else created it first.
	return append(dirs, filepath.Join("/tmp", fmt.Sprintf("swapkeep-%d-%s", os.Getuid(), p.shortHash())))
}

// Dial connects to the place's daemon. It may be repeated. Errors: ErrNoDaemon if nobody
// listens, ErrForeignPeer, ErrUnsafeDirectory.
func Dial(ctx context.Context, p Instance) (net.Conn, error) {
	path, err := p.dialPath()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, noDaemon(err)
	}
	if err := sameUser(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (p Instance) dialPath() (string, error) {
	path := p.SocketPath()
	if !fitsSocketAddress(path) {
		target, err := os.Readlink(path)
		if err != nil {
			return "", noDaemon(err)
		}
		path = target
	}
	if err := checkPrivate(filepath.Dir(path)); err != nil {
		return "", noDaemon(err)
	}
	return path, nil
}

func noDaemon(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	return err
}

type listener struct {
	*net.UnixListener
	uid int
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.UnixListener.Accept()
		if err != nil {
			return nil, err
		}
		if sameUserAs(conn, l.uid) == nil {
			return conn, nil
		}
		_ = conn.Close()
	}
}

func sameUser(conn net.Conn) error { return sameUserAs(conn, os.Getuid()) }

func sameUserAs(conn net.Conn, uid int) error {
	peer, err := PeerOf(conn)
	if err != nil {
		return err
	}
	if peer.UID != uid {
		return fmt.Errorf("%w: uid %d, not %d", ErrForeignPeer, peer.UID, uid)
	}
	return nil
}

// A Peer is the process at the other end of a connection, as the kernel reports it.
type Peer struct {
	UID int
	PID int // 0 if the system does not report it
}

// ClientOf returns the process that opened a connection of Listen.
func ClientOf(conn net.Conn) (Peer, error) { return PeerOf(conn) }

// PeerOf returns the process at the other end of a connection of Dial or Listen.
func PeerOf(conn net.Conn) (Peer, error) {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return Peer{}, fmt.Errorf("%w: not a local socket", ErrForeignPeer)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("query the peer's user: %w", err)
	}
	var peer Peer
	var asked error
	if err := raw.Control(func(fd uintptr) { peer, asked = peerOf(int(fd)) }); err != nil {
		asked = err
	}
	if asked != nil {
		return Peer{}, fmt.Errorf("query the peer's user: %w", asked)
	}
	return peer, nil
}
