//go:build linux || darwin

package relay

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// hangupDelay keeps the poll, which needs a thread of its own, out of short starts.
const hangupDelay = 10 * time.Millisecond

// Hangup returns a channel that is closed when no process can write to the descriptor any
// more, even if it has unread bytes.
func Hangup(fd int) <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		time.Sleep(hangupDelay)
		watch := []unix.PollFd{{Fd: int32(fd), Events: hangupEvents}}
		for {
			_, err := unix.Poll(watch, -1)
			if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
				return
			}
		}
	}()
	return closed
}
