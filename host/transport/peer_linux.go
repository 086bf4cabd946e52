package transport

import "golang.org/x/sys/unix"

// maxSocketPath is the size of sun_path, including the closing NUL, unix(7).
const maxSocketPath = 108

func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}
