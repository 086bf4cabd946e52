package relay

import "golang.org/x/sys/unix"

// hangupEvents: a socket's peer that only writes no more counts as gone.
const hangupEvents = unix.POLLRDHUP

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
