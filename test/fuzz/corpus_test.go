package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Limits of the committed corpora in bytes, as go test runs every entry.
const (
	largestEntry = 64 << 10
	largestAll   = 2 << 20
)

// TestCorpora checks that every target has a corpus, every corpus has a target, and each
// entry has the format of Go's fuzzer.
func TestCorpora(t *testing.T) {
	all, err := targets(t.Context(), "../..")
	if err != nil || len(all) < 100 {
		t.Fatalf("%d targets: %v", len(all), err)
	}
	known, total := map[string]bool{}, 0
	for _, target := range all {
		known[target.corpus()] = true
		entries, err := filepath.Glob(filepath.Join(target.corpus(), "*"))
		if err != nil || len(entries) == 0 {
			t.Errorf("%s of %s has no corpus: put inputs that mean something into its testdata/fuzz/%s", target.name, target.pkg, target.name)
		}
		for _, entry := range entries {
			b, err := os.ReadFile(entry)
			if err != nil || len(b) > largestEntry || !strings.HasPrefix(string(b), "go test fuzz v1\n") {
				t.Errorf("%s is no entry, or too large a one: %d bytes, %v", entry, len(b), err)
			}
			total += len(b)
		}
	}
	for _, target := range all {
		folders, err := filepath.Glob(filepath.Join(target.dir, "testdata", "fuzz", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			if !known[folder] {
				t.Errorf("%s is a corpus without a target", folder)
			}
		}
	}
	if total > largestAll {
		t.Errorf("all corpora are %d bytes, want %d at most", total, largestAll)
	}
}
