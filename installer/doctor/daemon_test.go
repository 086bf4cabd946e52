package doctor

import (
	"context"
	"strings"
	"testing"

	"swapkeep/host/transport"
)

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
