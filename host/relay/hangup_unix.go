//go:build linux || darwin

package relay

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// hangupDelay keeps the watch, which takes a thread of its own, off a start.
const hangupDelay = 10 * time.Millisecond

// Hangup is closed when nobody can write to the descriptor any more, even
// while unread bytes are in it.
func Hangup(fd int) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		time.Sleep(hangupDelay)
		watch := []unix.PollFd{{Fd: int32(fd), Events: hangupEvents}}
		for {
			_, err := unix.Poll(watch, -1)
			if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
				return
			}
		}
	}()
	return gone
}
