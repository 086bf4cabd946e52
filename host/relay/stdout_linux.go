package relay

import "golang.org/x/sys/unix"

// hangupEvents makes a socket's peer that has closed its write side count as gone.
const hangupEvents = unix.POLLRDHUP

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }
