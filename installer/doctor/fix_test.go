package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// A remedy that changed nothing is not done, unless an earlier one did the same.
func TestFixReportsWhatItFixed(t *testing.T) {
	says := func(did string, err error) fixFunc {
		return func(context.Context) (string, error) { return did, err }
	}
	nothing, install := fail("1", "").withFix(says("", errInPlace)), fail("2", "").withFix(says(didInstall+" (1 change)", nil))
	for name, row := range map[string]struct {
		found []Finding
		want  int // for the last finding
	}{
		"nothing to do":             {[]Finding{nothing}, 0},
		"after another remedy":      {[]Finding{fail("0", "").withFix(says("chmod 0755 /x", nil)), nothing}, 0},
		"after an installation":     {[]Finding{install, nothing}, 1},
		"after one that was futile": {[]Finding{nothing, nothing}, 0},
		"failed":                    {[]Finding{install, fail("3", "").withFix(says("", errors.New("no")))}, 0},
	} {
		out := Fix(t.Context(), row.found)
		last := out[len(out)-1]
		if (last.Fixed != "") != (row.want == 1) || (last.Unfixed != "") == (row.want == 1) {
			t.Errorf("%s: done %q, not done %q", name, last.Fixed, last.Unfixed)
		}
	}
}

// Which remedy is suggested for each owner. Copies do not refer the user to each other in
// a circle.
func TestElsewhere(t *testing.T) {
	const other, link = "/usr/lib/swapkeep/swapkeep", "/home/ann/.local/lib/swapkeep/current/swapkeep"
	const alone = `{"format":1,"scope":"user","entries":[{"kind":"manifest","path":"/x","time":"2026-01-01T00:00:00Z","version":"0.1.0","owner":"` + link + `"}]}`
	p, files := onLinux(t)
	files.File(other, "another build")
	files.File("/home/ann/.local/state/swapkeep/receipts.json", alone)
	for program, want := range map[string]map[string]string{
		linuxHost: {link: "", linuxHost: "", "": "", "/gone/swapkeep": "", other: other + " doctor --fix"},
		other:     {other: "", "": link + " doctor --fix", link: link + " doctor --fix"},
	} {
		p.Program = program
		for owner, want := range want {
			if got := p.otherCopyRemedy(owner); got != want {
				t.Errorf("from %s, of %q: %q, want %q", program, owner, got, want)
			}
		}
	}
}

// No remedy suggests replacing a newer version by an older one.
func TestBetween(t *testing.T) {
	p, _ := onLinux(t)
	for version, want := range map[string]string{"0.2.0": "use /other/swapkeep", "0.0.9": "keep one", "": "keep one"} {
		if got := p.chooseCopyRemedy("/other/swapkeep", version); !strings.HasPrefix(got, want) || strings.Contains(got, "--force") {
			t.Errorf("%s: %s", version, got)
		}
	}
}

// What a restart would interrupt.
func TestInUse(t *testing.T) {
	for want, status := range map[string]struct {
		orders, connections int
		keys                string
	}{
		"":                   {0, 1, "locked"},
		"2 open orders":      {2, 1, "none"},
		"1 other connection": {0, 2, "none"},
		"an unlocked wallet": {0, 1, "unlocked"},
		"1 open order, 2 other connections, an unlocked wallet": {1, 3, "unlocked"},
	} {
		if got := inUse(protocol.StatusResult{OpenOrders: status.orders, Connections: make([]protocol.Connection, status.connections), Keys: status.keys}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
