//go:build faults && linux

package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"swapkeep/config"
)

// TestReleaseHasNoFaultPoints checks that the names of fault points are in the programs
// built for fault tests, so that the search is known to work, and not in those built as a
// release.
func TestReleaseHasNoFaultPoints(t *testing.T) {
	names := append(wholePoints(t), config.FaultVariables...)
	in := func(dir string) []byte {
		var all []byte
		for _, program := range []string{"swapkeep", "swapkeepd"} {
			b, err := os.ReadFile(filepath.Join(dir, program))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	faulty, release := in(bins.faults), in(bins.release)
	for _, name := range names {
		if !bytes.Contains(faulty, []byte(name)) {
			t.Errorf("%s is not found where it must be", name)
		}
		if bytes.Contains(release, []byte(name)) {
			t.Errorf("a release holds %s", name)
		}
	}
	t.Logf("%d names", len(names))
}

// TestReleaseRefusesFaults checks that a release does not know the fault variable and
// refuses to start with it.
func TestReleaseRefusesFaults(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.install(bins.release)
	p, err := d.browse("SWAPKEEP_FAILPOINT=journal.before_accepted")
	if !named(err, "internal") {
		t.Errorf("the browser was told %v", err)
	}
	if p != nil {
		_, _ = p.Stop()
	}
	d.open()
	d.shut()
}
