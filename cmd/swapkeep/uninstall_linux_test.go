package main

import (
	"encoding/json"
	"testing"
	"time"

	"swapkeep/host/frame"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
)

// slowToStop runs a daemon that needs time to finish what it is signing.
func slowToStop(t *testing.T, m *machine, needs time.Duration) {
	t.Helper()
	own, err := owner.Acquire(m.place)
	if err != nil {
		t.Fatal(err)
	}
	l, err := own.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = own.Close() }) // otherwise stopDaemon would kill this process, which holds the lock
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in, out := frame.NewReader(conn), frame.NewWriter(conn)
			for {
				body, err := in.Read()
				if err != nil {
					break
				}
				var q protocol.Request
				_ = json.Unmarshal(body, &q)
				answer, _ := json.Marshal(map[string]any{"jsonrpc": protocol.Version, "id": q.ID, "result": struct{}{}})
				_ = out.Write(answer)
				if q.Method == "host.stop" {
					time.AfterFunc(needs, func() { _ = own.Close() })
				}
			}
		}
	}()
}

// An uninstall waits as long as a daemon may take to finish what it is signing.
func TestUninstallWaitsForTheDaemon(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env = append(m.env, "HOME="+t.TempDir())
	if out, code := m.do("install", "--browser", "chromium"); code != 0 {
		t.Fatalf("install: exit status %d:\n%s", code, out)
	}
	slowToStop(t, m, answerTime+2*time.Second)
	if out, code := m.do("uninstall"); code != 0 {
		t.Errorf("uninstall: exit status %d:\n%s", code, out)
	}
}
