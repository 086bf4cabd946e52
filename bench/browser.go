package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// browserTests is the directory of the browser tests, which set up browsers, a
	// keychain and a sandbox. TestMeasure produces the figures.
	browserTests = "test/browser"
	// browserTime limits one measurement in a browser.
	browserTime = 4 * time.Minute
)

// browserResult is the result of a measurement in a browser: rows by name.
type browserResult struct {
	rows map[string]struct{ Ours, Reference []float64 }
	err  error
}

// inBrowser measures a row of TestMeasure in a real browser with the real host. Each
// measurement is made once, for the first of its rows.
func inBrowser(browser, what, row string) measurement {
	return func(ctx context.Context, l *lab) (sides, error) {
		name := what + "-" + browser
		s, ok := l.seen[name]
		if !ok {
			s.err = l.runBrowserTest(ctx, browser, what, filepath.Join(l.dir, name+".json"), &s.rows)
			l.seen[name] = s
		}
		found := sides{s.rows[row].Ours}
		if beside := s.rows[row].Reference; len(beside) > 0 {
			found = append(found, beside)
		}
		return found, s.err
	}
}

// runBrowserTest makes TestMeasure run one measurement and reads its rows from a file.
func (l *lab) runBrowserTest(ctx context.Context, browser, what, file string, rows any) error {
	tests, err := l.buildTests(ctx)
	if err != nil {
		return err
	}
	keyring, err := filepath.Abs("scripts/with-keyring.sh")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, keyring, tests, "-bin="+l.bin, "-measure="+l.dir, "-test.timeout="+browserTime.String(),
		fmt.Sprintf("-test.run=^TestMeasure$/^%s$/^%s$", what, browser))
	cmd.Dir = browserTests
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the script removes its directory
	cmd.WaitDelay = endTime
	if out, err := cmd.CombinedOutput(); err != nil {
		_, _ = os.Stderr.Write(out)
		return fmt.Errorf("%w: %s", err, reason(out))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, rows)
}

// reason returns the line in which a test, or its launcher, says why it failed.
func reason(out []byte) string {
	var first string
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if place, why, ok := strings.Cut(text, ": "); ok && strings.Contains(place, "_test.go:") {
			return why
		}
		if first == "" {
			first = text
		}
	}
	return first
}

// buildTests builds the test binary of the browser tests.
func (l *lab) buildTests(ctx context.Context) (string, error) {
	return l.make(ctx, "browser.test", []string{"CGO_ENABLED=0"}, "go", "test", "-c", "-tags", "browser", "-o", "OUT", "./"+browserTests)
}
