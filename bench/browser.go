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
	// browserTests have the browsers, a keychain and a sandbox at hand: TestMeasure
	// finds the figures.
	browserTests = "test/browser"
	// browserTime bounds one measurement in a browser.
	browserTime = 4 * time.Minute
)

// seen is what a measurement in a browser found: rows by name.
type seen struct {
	rows map[string]struct{ Ours, Reference []float64 }
	err  error
}

// inBrowser is a row of one of TestMeasure's measurements, in a real browser with the
// real host. Each is made once, for the first of its rows.
func inBrowser(browser, measurement, row string) func(context.Context, *lab) (ours, reference []float64, err error) {
	return func(ctx context.Context, l *lab) (ours, reference []float64, err error) {
		name := measurement + "-" + browser
		s, ok := l.seen[name]
		if !ok {
			s.err = l.look(ctx, browser, measurement, filepath.Join(l.dir, name+".json"), &s.rows)
			l.seen[name] = s
		}
		return s.rows[row].Ours, s.rows[row].Reference, s.err
	}
}

// look has TestMeasure make one measurement, whose rows are then in a file.
func (l *lab) look(ctx context.Context, browser, measurement, file string, rows any) error {
	tests, err := l.buildTests(ctx)
	if err != nil {
		return err
	}
	keyring, err := filepath.Abs("scripts/with-keyring.sh")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, keyring, tests, "-bin="+l.bin, "-measure="+l.dir, "-test.timeout="+browserTime.String(),
		fmt.Sprintf("-test.run=^TestMeasure$/^%s$/^%s$", measurement, browser))
	cmd.Dir = browserTests
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the script takes its folder away
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

// reason is the line in which a test, or what starts it, says why it failed.
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

// buildTests makes the program of the browsers' tests, once.
func (l *lab) buildTests(ctx context.Context) (string, error) {
	exe := filepath.Join(l.dir, "browser.test")
	if _, err := os.Stat(exe); err == nil {
		return exe, nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-tags", "browser", "-o", exe, "./"+browserTests)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", browserTests, err, out)
	}
	return exe, nil
}
