package transport

import "golang.org/x/sys/unix"

// maxSocketPath is the size of sun_path, including the closing NUL, unix(4).
const maxSocketPath = 104

func peerOf(fd int) (Peer, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	pid, err := unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	if err != nil {
		pid = 0 // the uid is enough
	}
	return Peer{UID: int(cred.Uid), PID: pid}, nil
}
