package doctor

import (
	"context"
	"strings"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// TestHostFinding checks that what a host lacks is in the words of the messages, with a remedy
// for its network, and a newer daemon's code as it is.
func TestHostFinding(t *testing.T) {
	for _, code := range []string{protocol.HostSilent, protocol.HostWrongChain, protocol.HostOldBlock, protocol.HostNoLogs, protocol.HostFewLogs, protocol.HostNotFinal, protocol.HostNoSimulate} {
		f := hostFinding("networks.hosts", protocol.HostFinding{ChainID: 56, Network: "BNB Smart Chain", Host: "bsc.example", Problem: code, Status: protocol.CheckFail})
		if f.Status != Fail || f.About != "BNB Smart Chain, bsc.example" || f.Evidence == code || !strings.Contains(f.Remedy, "networks.56.rpc") {
			t.Errorf("%s: %+v", code, f)
		}
	}
	if f := hostFinding("networks.hosts", protocol.HostFinding{Problem: "of_a_newer_daemon", Status: protocol.CheckWarn}); f.Evidence != "of_a_newer_daemon" || f.Remedy != "" {
		t.Errorf("%+v", f)
	}
}

// A kill command is suggested only for a known id: kill 0 ends the caller's own group.
func TestUnanswered(t *testing.T) {
	for name, row := range map[string]struct {
		system string
		seen   facts
		want   string
		never  string
	}{
		"known":            {"linux", facts{pid: 4711, locked: true, dialed: transport.ErrNoDaemon}, "kill 4711", ""},
		"known on Windows": {"windows", facts{pid: 4711, locked: true, dialed: context.DeadlineExceeded}, "taskkill /F /PID 4711", "kill 4711"},
		"not known":        {"linux", facts{locked: true, dialed: transport.ErrNoDaemon}, "find the swapkeepd process", "kill "},
		"nobody's":         {"linux", facts{dialed: context.DeadlineExceeded}, "does not hold the state directory", "kill "},
		"somebody's":       {"linux", facts{pid: 4711, dialed: context.DeadlineExceeded}, "find the swapkeepd process", "kill "},
	} {
		p, _ := onLinux(t)
		p.Machine.OS, p.facts = row.system, &row.seen
		f := running(t.Context(), p)[0]
		text := f.Evidence + "; " + f.Remedy
		if f.Status != Fail || !strings.Contains(text, row.want) || row.never != "" && strings.Contains(text, row.never) {
			t.Errorf("%s: %s, %s", name, f.Status, text)
		}
	}
}
