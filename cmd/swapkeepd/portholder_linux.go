package main

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// holderOf names the process that listens on a loopback address; "" if nothing is found.
// The files of other users' processes cannot be read.
func holderOf(at string) string {
	a, err := netip.ParseAddrPort(at)
	if err != nil {
		return ""
	}
	inode := listenerOn(a.Port())
	if inode == "" {
		return ""
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != "socket:["+inode+"]" {
			continue
		}
		pid := strings.Split(link, "/")[2]
		name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		if err != nil {
			return "process " + pid
		}
		return fmt.Sprintf("%q (process %s)", strings.TrimSpace(string(name)), pid)
	}
	return "another user's program"
}

// listenState is TCP_LISTEN in /proc/net/tcp (proc(5)).
const listenState = "0A"

// listenerOn returns the inode of the socket that listens on a port.
func listenerOn(port uint16) string {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		inode := listenerIn(f, port)
		_ = f.Close()
		if inode != "" {
			return inode
		}
	}
	return ""
}

// listenerIn finds a listener in one of the kernel's socket tables.
func listenerIn(table io.Reader, port uint16) string {
	for lines := bufio.NewScanner(table); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != listenState {
			continue
		}
		_, hex, _ := strings.Cut(fields[1], ":")
		if n, err := strconv.ParseUint(hex, 16, 16); err == nil && uint16(n) == port {
			return fields[9]
		}
	}
	return ""
}
