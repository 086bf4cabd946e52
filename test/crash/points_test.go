//go:build faults && linux

package crash

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A matrix is a test that kills the daemon at every point whose name matches.
type matrix struct {
	test  string // "": none
	match string
	why   string // if test is "": the reason
}

// matrices says which test kills at each point; the first match counts.
var matrices = []matrix{
	{"TestRefusedKilledAtEveryPoint", `^sender\.\w+_reject$|^journal\.\w+_expired$`, ""},
	{"TestKilledAtEveryPoint", `^(journal|sender|engine|bridge)\.`, ""},
	{"TestRemovalKilledAtEveryPoint", `^keys\.\w+_delete$`, ""},
	{"TestKeptKilledAtEveryPoint", `^(settings|tokens)\.|^keys\.\w+_provider$`, ""},
	{"TestWalletKilledAtEveryPoint", `^keys\.`, ""},
	{"TestPricesKilledAtEveryPoint", `^prices\.`, ""},
	{"TestInstallKilledAtEveryPoint", `^installer\.`, ""},
}

// expected fails a matrix that misses a point which the source names.
func expected(t *testing.T, test string, seen map[string]bool) {
	t.Helper()
	for _, point := range sourcePoints(t) {
		i := slices.IndexFunc(matrices, func(m matrix) bool { return regexp.MustCompile(m.match).MatchString(point) })
		switch {
		case i < 0:
			t.Errorf("no matrix kills the daemon at %s", point)
		case matrices[i].test == test && !seen[point]:
			t.Errorf("nothing passes %s", point)
		}
	}
}

// A pointTable is a table of the source that names points.
type pointTable struct {
	files string
	match string   // its group is the name, or the end of it
	begin []string // beginnings of the name
}

// beforeAfter are the points around a commit.
var beforeAfter = []string{"journal.before_", "journal.after_"}

var (
	pointCall = regexp.MustCompile(`failpoint\.Point\("([a-z_.]+)"\)`)
	whole     = pointTable{"../../chain/*.go", `"(sender\.(?:before|after)_[a-z_]+)"`, []string{""}}
	parts     = []pointTable{
		{"../../swap/state.go", `(?m)^\t\w+ +State = "([a-z]+)"`, beforeAfter},
		{"../../swap/journal/points.go", `\{"([a-z]+)", func\(old, now swap\.Order\)`, beforeAfter},
	}
)

// sourcePoints returns all points of the source, named whole or composed of parts.
func sourcePoints(t *testing.T) []string {
	t.Helper()
	points := wholePoints(t)
	for _, p := range parts {
		points = append(points, p.points(t)...)
	}
	return points
}

// wholePoints returns the points whose full names are in a program built for fault tests.
func wholePoints(t *testing.T) (points []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git"):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		found, err := namesIn(path, pointCall)
		points = append(points, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(points, whole.points(t)...)
}

func (p pointTable) points(t *testing.T) (points []string) {
	t.Helper()
	files, err := filepath.Glob(p.files)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		names, err := namesIn(file, regexp.MustCompile(p.match))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			for _, begin := range p.begin {
				points = append(points, begin+name)
			}
		}
	}
	if len(points) < 9 {
		t.Fatalf("%s names only %v", p.files, points)
	}
	return points
}

// namesIn returns what the pattern's group matches in a file.
func namesIn(file string, pattern *regexp.Regexp) (names []string, err error) {
	source, err := os.ReadFile(file)
	for _, m := range pattern.FindAllSubmatch(source, -1) {
		names = append(names, string(m[1]))
	}
	return names, err
}
