package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"swapkeep/installer/doctor"
	"swapkeep/internal/atomicfile"
	"swapkeep/providers/refused"
)

// TestAttach: the report contains the answers that the daemon stored and the unread
// members that it counted, and nothing else of the findings, in a new file that only its
// user can read.
func TestAttach(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, refusedDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"dex-1.json": `{"provider":"dex","code":"undecodable"}`, "bridge-1.json": "{\n\"provider\":\"bridge\"}",
		"broken.json": `{"provider":`, "steers.json": `{"a":"` + "\u202e" + `"}`, "long.json": `"` + strings.Repeat("x", maxRefused) + `"`,
		atomicfile.TempPrefix + "1": `{}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said := doctorOutput{Findings: []doctor.Finding{
		{ID: "home.directory", Evidence: home + ", accessible only to this user"},
		{ID: "providers", Evidence: "kept", Details: []string{"dex quote: lie (2)"}},
	}}
	term, out := onPaper()
	path := filepath.Join(t.TempDir(), "report.json")
	if err := term.attach(path, home, said); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got attachment
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Answers) != 2 || !strings.Contains(string(got.Answers[0]), "bridge") || !strings.Contains(string(got.Answers[1]), "undecodable") {
		t.Errorf("has the answers %s", got.Answers)
	}
	if got.Version != version || got.OS != runtime.GOOS || len(got.Unread) != 1 || strings.Contains(string(raw), home) {
		t.Errorf("is %s", raw)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("has the mode %v, %v", info.Mode(), err)
	}
	if !strings.Contains(out.String(), "has 2 provider responses") {
		t.Errorf("said %q", out)
	}
	if err := term.attach(path, home, said); !errors.As(err, new(usageError)) {
		t.Errorf("over a file that is there: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none.json")
	if err := term.attach(none, t.TempDir(), doctorOutput{}); err != nil {
		t.Errorf("of a home without answers: %v", err)
	}
}

// TestAttachLooksWhereAnswersAre: the directory name and the size limit are the daemon's.
func TestAttachLooksWhereAnswersAre(t *testing.T) {
	if refusedDir != refused.Dir || maxRefused != refused.MaxFile {
		t.Errorf("%s, %d", refusedDir, maxRefused)
	}
}
