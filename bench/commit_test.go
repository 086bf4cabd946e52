package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReportNamesItsCommit checks that a report names the commit and any changes.
func TestReportNamesItsCommit(t *testing.T) {
	dir := t.TempDir()
	for _, set := range os.Environ() { // a git hook sets these for another repository
		if name, _, _ := strings.Cut(set, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, "") // restored at the end of the test
			_ = os.Unsetenv(name)
		}
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	git := func(args ...string) string {
		t.Helper()
		who := []string{"-C", dir, "-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"}
		out, err := exec.CommandContext(t.Context(), "git", append(who, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	wants := func(when, words string) {
		t.Helper()
		r := report{Source: sourceOf(t.Context(), dir), Began: time.Now(), Rows: []Row{{What: "a row", unit: inTime}}, Curves: []measuredCurve{sample(100, 120)}}
		var printed bytes.Buffer
		r.print(&printed)
		encoded, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back report
		if err := json.Unmarshal(encoded, &back); err != nil || back.Source != r.Source {
			t.Errorf("%s: %s is %+v (%v)", when, encoded, back.Source, err)
		}
		for name, text := range map[string]string{"the table": printed.String(), "the document's": r.table(), "the pictures'": r.pictures("at")} {
			if !strings.Contains(text, words) {
				t.Errorf("%s: %s says no %q:\n%s", when, name, words, text)
			}
		}
	}
	wants("without git", "commit ?, changes unknown")
	git("init", "--quiet")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "file")
	git("commit", "--quiet", "--message=one")
	id := git("rev-parse", "--short=12", "HEAD")
	wants("a clean tree", "commit "+id+"; ")
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants("a new file", "commit "+id+" with changes")
}
