package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"swapkeep/internal/atomicfile"
	"swapkeep/internal/clock"
)

const (
	refusedDir = "refused" // subdirectory of the home: provider responses that the daemon refused
	maxRefused = 64 << 10  // largest file there, in bytes
)

// An attachment is the report of doctor --attach. It says nothing about this machine except
// its operating system and architecture.
type attachment struct {
	Version string            `json:"version"`
	OS      string            `json:"os"`
	Arch    string            `json:"arch"`
	At      string            `json:"at"`
	Unread  []string          `json:"unread"`  // response fields that the provider code ignores
	Answers []json.RawMessage `json:"answers"` // the refused responses, as the daemon stored them
}

// attach writes the report to a new file with mode 0600. It does not overwrite a file.
func (t *terminal) attach(path, home string, output doctorOutput) error {
	a := attachment{Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, At: clock.Now().UTC().Format("2006-01-02T15:04:05Z"), Unread: []string{}}
	for _, f := range output.Findings {
		a.Unread = append(a.Unread, f.Details...)
	}
	var err error
	if a.Answers, err = readRefused(filepath.Join(home, refusedDir)); err != nil {
		return err
	}
	b, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usageError{fmt.Errorf("%s already exists; choose a new file", path)}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err := errors.Join(err, f.Close()); err != nil || t.json {
		return err
	}
	t.result.Line(fmt.Sprintf("%s has %d provider responses, with accounts, signatures and keys removed; read it before you send it", path, len(a.Answers)))
	return nil
}

// readRefused returns the refused responses that the daemon stored in dir. Files that the
// daemon did not write are skipped; without dir there are none.
func readRefused(dir string) ([]json.RawMessage, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	responses := []json.RawMessage{} // not nil: an empty list in JSON
	for _, e := range entries {
		b, err := atomicfile.Read(filepath.Join(dir, e.Name()), maxRefused)
		if err == nil && strings.HasSuffix(e.Name(), ".json") && json.Valid(b) && !slices.ContainsFunc(b, unprintable) {
			responses = append(responses, b)
		}
	}
	return responses, nil
}

// unprintable reports whether c is a byte that the daemon never writes to a stored response.
func unprintable(c byte) bool { return c != '\n' && (c < ' ' || c > '~') }
