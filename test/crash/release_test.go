//go:build faults && linux

package crash

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faultNames are the variables of fault tests and the names of their points,
// as the source has them.
func faultNames(t *testing.T) []string {
	t.Helper()
	names := []string{"SWAPKEEP_FAULT", "SWAPKEEP_FAULT_TRACE", "SWAPKEEP_CLOCK_SHIFT"}
	point := regexp.MustCompile(`fault\.Point\("([a-z_.]+)"\)`)
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range point.FindAllSubmatch(source, -1) {
			names = append(names, string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(names, senderPoints(t)...)
}

// TestReleaseHasNoFaultPoints: the names are in the programs built for fault
// tests, so the search finds them, and in no program built as a release is.
func TestReleaseHasNoFaultPoints(t *testing.T) {
	names := faultNames(t)
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

// TestReleaseRefusesFaults: a release that is told to die says that it knows no
// such word.
func TestReleaseRefusesFaults(t *testing.T) {
	t.Parallel()
	d := newDesk(t, takeLane(t))
	d.bin = bins.release
	p, err := d.browse("SWAPKEEP_FAULT=journal.before_accepted")
	if !named(err, "internal") {
		t.Errorf("the browser was told %v", err)
	}
	if p != nil {
		_, _ = p.Stop()
	}
	d.open()
	d.shut()
}
