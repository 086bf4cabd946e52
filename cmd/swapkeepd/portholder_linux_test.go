package main

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzListeners: for any table, the inode found is in a line of a socket that listens on
// the port.
func FuzzListeners(f *testing.F) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	line := func(address, state, inode string) string {
		return "   0: " + address + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000  1000        0 " + inode + " 1 0000000000000000 100 0 0 10 0\n"
	}
	f.Add(head+line("0100007F:14D2", "0A", "4242"), uint16(5330))
	f.Add(head+line("0100007F:14D2", "01", "1")+line("00000000000000000000000001000000:14D2", "0A", "7"), uint16(5330))
	f.Add(line("0100007F", "0A", "1")+line(":", "0A", "2")+line(":114D2", "0A", "3"), uint16(0x14d2))
	f.Add("a b c 0A\n", uint16(0))
	f.Add(strings.Repeat("x", 70_000)+"\n"+line("0100007F:14D2", "0A", "1"), uint16(5330))
	f.Fuzz(func(t *testing.T, table string, port uint16) {
		inode := listenerIn(strings.NewReader(table), port)
		if inode == "" {
			return
		}
		for l := range strings.SplitSeq(table, "\n") {
			fields := strings.Fields(l)
			if len(fields) > 9 && fields[9] == inode && fields[3] == listenState && strings.HasSuffix(strings.ToLower("0000"+fields[1]), fmt.Sprintf("%x", port)) {
				return
			}
		}
		t.Fatalf("socket %q listens on %d by no line", inode, port)
	})
}
