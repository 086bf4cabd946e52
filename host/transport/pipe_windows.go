package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pipeBuffer is the buffer size per direction in bytes, enough for a typical frame.
const pipeBuffer = 64 << 10

// SocketPath returns the name of the place's pipe, which contains the user's SID.
func (p Instance) SocketPath() string {
	sid, err := currentUser()
	if err != nil {
		return ""
	}
	return `\\.\pipe\swapkeep-` + sid.String() + "-" + p.shortHash()
}

// Prepare creates the place's directories, which inherit the access list of the user's
// profile. It may be repeated.
func Prepare(p Instance) error {
	if !filepath.IsAbs(p.Home) {
		return fmt.Errorf("%w (it is %q)", ErrNoHome, p.Home)
	}
	if err := os.MkdirAll(p.RunDir(), 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	return ownedByUser(p.Home)
}

// Check returns the error that Prepare would return for the state directory, without
// creating or changing anything. Further error: fs.ErrNotExist if there is none.
func Check(p Instance) error {
	if _, err := os.Stat(p.Home); err != nil {
		return err
	}
	return ownedByUser(p.Home)
}

func ownedByUser(dir string) error {
	sid, err := currentUser()
	if err != nil {
		return err
	}
	sd, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	// Directories created by an elevated process belong to the administrators.
	if !owner.Equals(sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return &UnsafeDirectoryError{dir, "belongs to another user", "set " + HomeVariable + " to a directory of your own"}
	}
	return nil
}

// Listen creates the place's pipe for this user's SID only, denied to the network, and
// only if no other process has created one of that name. The caller holds the lock at
// LockPath.
func Listen(p Instance) (net.Listener, error) {
	if err := Prepare(p); err != nil {
		return nil, err
	}
	sid, err := currentUser()
	if err != nil {
		return nil, err
	}
	l, err := winio.ListenPipe(p.SocketPath(), &winio.PipeConfig{
		SecurityDescriptor: fmt.Sprintf("O:%[1]sD:P(D;;GA;;;NU)(A;;GA;;;%[1]s)", sid),
		InputBufferSize:    pipeBuffer,
		OutputBufferSize:   pipeBuffer,
	})
	if err != nil {
		return nil, fmt.Errorf("make the daemon's pipe: %w", err)
	}
	return l, nil
}

// Dial connects to the place's daemon. It may be repeated. Errors: ErrNoDaemon if nobody
// listens, ErrForeignPeer.
func Dial(ctx context.Context, p Instance) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, p.SocketPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoDaemon, err)
	}
	if err != nil {
		return nil, err
	}
	// Another user could have taken the name while no daemon ran.
	if err := serverIsUser(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func serverIsUser(conn net.Conn) error {
	peer, err := PeerOf(conn)
	if err != nil {
		return err
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(peer.PID))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForeignPeer, err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return fmt.Errorf("%w: %w", ErrForeignPeer, err)
	}
	defer func() { _ = token.Close() }()
	server, err := token.GetTokenUser()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForeignPeer, err)
	}
	sid, err := currentUser()
	if err != nil {
		return err
	}
	if !server.User.Sid.Equals(sid) {
		return ErrForeignPeer
	}
	return nil
}

func currentUser() (*windows.SID, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("query the current user: %w", err)
	}
	return user.User.Sid, nil
}

// A Peer is the process at the other end of a connection, as the kernel reports it.
type Peer struct {
	PID int
}

// PeerOf returns the process that serves a connection of Dial.
func PeerOf(conn net.Conn) (Peer, error) { return askPipe(conn, windows.GetNamedPipeServerProcessId) }

// ClientOf returns the process that opened a connection of Listen.
func ClientOf(conn net.Conn) (Peer, error) {
	return askPipe(conn, windows.GetNamedPipeClientProcessId)
}

func askPipe(conn net.Conn, ask func(windows.Handle, *uint32) error) (Peer, error) {
	file, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return Peer{}, fmt.Errorf("%w: not a local pipe", ErrForeignPeer)
	}
	var pid uint32
	if err := ask(windows.Handle(file.Fd()), &pid); err != nil {
		return Peer{}, fmt.Errorf("query the peer's user: %w", err)
	}
	return Peer{PID: int(pid)}, nil
}
