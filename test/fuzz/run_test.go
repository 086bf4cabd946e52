package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerdicts checks the verdict on each of several kinds of targets, and that anything
// but a clean run fails as a whole.
func TestVerdicts(t *testing.T) {
	dir := t.TempDir()
	const target = "package %s\n\nimport \"testing\"\n\nfunc Fuzz%s(f *testing.F) {\n\tf.Add(7)\n\tf.Fuzz(func(t *testing.T, n int) {%s})\n}\n"
	source := func(pkg, name, body string) string {
		return strings.NewReplacer("package %s", "package "+pkg, "Fuzz%s", "Fuzz"+name, "{%s}", "{"+body+"}").Replace(target)
	}
	for name, text := range map[string]string{
		"go.mod":            "module swapkeep\n\ngo 1.26\n",
		"a/fine_test.go":    source("a", "Fine", ""),
		"a/finds_test.go":   source("a", "Finds", ` if n > 7 { t.Error("more") } `),
		"a/leaves_test.go":  "//go:build never\n\n" + source("a", "Leaves", ""),
		"b/broken_test.go":  source("b", "Broken", " this is no Go "),
		"b/broken2_test.go": source("b", "Other", ""),
		"c/none_test.go":    "package c\n",
		"d/late_test.go":    "package d\n\nimport \"testing\"\n\nfunc FuzzLate(f *testing.F) { f.Fatal(\"context deadline exceeded\") }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := targets(t.Context(), dir)
	if err != nil || len(all) != 6 {
		t.Fatalf("%+v, %v", all, err)
	}
	f := fuzzer{time: "200x", cache: t.TempDir(), bin: t.TempDir()}
	told := 0
	done := f.runAll(t.Context(), all, 2, func(outcome) { told++ })
	want := map[string]string{"FuzzFine": fine, "FuzzFinds": finding, "FuzzLeaves": notRun, "FuzzBroken": notBuilt, "FuzzOther": notBuilt, "FuzzLate": notSettled}
	for i, o := range done {
		if o.target != all[i] {
			t.Errorf("%s stands in the place of %s", o.name, all[i].name)
		}
		if o.verdict != want[o.name] || o.verdict == fine && o.executions < 200 || o.verdict == finding && !strings.Contains(o.output, "more") {
			t.Errorf("%s: %s after %d executions, want %s\n%s", o.name, o.verdict, o.executions, want[o.name], o.output)
		}
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "a", "testdata", "fuzz", "FuzzFinds", "*")); err != nil || len(kept) != 1 {
		t.Errorf("the finding is kept as %v, %v", kept, err)
	}
	if left, err := os.ReadDir(f.bin); err != nil || len(left) != 0 {
		t.Errorf("%d programs are left, %v", len(left), err)
	}
	var out bytes.Buffer
	if table(&out, done, "make fuzz", "abc") || told != 6 {
		t.Errorf("all is well, told %d times\n%s", told, &out)
	}
	if !strings.Contains(out.String(), "6 targets") || !strings.Contains(out.String(), "1 findings, 1 not settled, 1 not run, 2 not built") || !strings.Contains(out.String(), "commit abc") {
		t.Error(&out)
	}
	if !table(&out, []outcome{{verdict: fine}}, "", "") {
		t.Error("a clean run fails")
	}
}

func TestShare(t *testing.T) {
	all := make([]target, 10)
	for i := range all {
		all[i].name = string(rune('a' + i))
	}
	got := ""
	for _, share := range []string{"1/3", "2/3", "3/3"} {
		some, err := shareOf(all, share)
		if err != nil || len(some) < 3 {
			t.Errorf("%s: %v, %v", share, some, err)
		}
		for _, t := range some {
			got += t.name
		}
	}
	if got != "abcdefghij" {
		t.Errorf("the shares are %s", got)
	}
	for _, share := range []string{"", "0/3", "4/3", "1", "1/0", "-1/3", "1/3x", "a/b"} {
		if some, err := shareOf(all, share); err == nil {
			t.Errorf("%q is a share: %v", share, some)
		}
	}
}

func TestProgressIsRead(t *testing.T) {
	var o outcome
	o.addProgress("fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\nfuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 1 (total: 4)\nfuzz: elapsed: 5s, execs: 325 (112/sec), new interesting: 2 (total: 5)\nPASS\n")
	o.addProgress("testing: warning: no fuzz tests to fuzz\nPASS\n")
	if o.executions != 325 || o.newInputs != 2 || o.corpus != 5 {
		t.Errorf("%+v", o)
	}
	if !outOfTime("--- FAIL: FuzzA (60.01s)\n    context deadline exceeded\n") || outOfTime("context deadline exceeded\nFailing input written to testdata") || outOfTime("--- FAIL") {
		t.Error("the fuzzer's own failure is not told from a finding")
	}
}

// TestRefused checks that values the fuzzer would refuse for each target are refused before
// anything is built.
func TestRefused(t *testing.T) {
	for _, text := range []string{"abc", "", "0s", "-1s", "0x", "-5x", "x", "1.5x", "10"} {
		if err := checkTime(text); err == nil || !strings.Contains(err.Error(), "FUZZTIME") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"60s", "1m30s", "1000x"} {
		if err := checkTime(text); err != nil {
			t.Error(err)
		}
	}
	if checkJobs(0) == nil || checkJobs(1) != nil {
		t.Error("no job is enough, or one is not")
	}
}
