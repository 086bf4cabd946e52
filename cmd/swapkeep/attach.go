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

// Directory below the home for the answers that the daemon keeps, and their size limit.
const (
	refusedDir = "refused"
	maxRefused = 64 << 10 // bytes
)

// An attachment is the report of doctor --attach. Of this machine it has the system only.
type attachment struct {
	Version string            `json:"version"`
	OS      string            `json:"os"`
	Arch    string            `json:"arch"`
	At      string            `json:"at"`
	Unread  []string          `json:"unread"`  // members of answers that the providers' code does not read
	Answers []json.RawMessage `json:"answers"` // as the daemon stored them
}

// attach writes the report to a new file with mode 0600.
func (t *terminal) attach(path, home string, said doctorOutput) error {
	a := attachment{Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, At: clock.Now().UTC().Format("2006-01-02T15:04:05Z"), Unread: []string{}}
	for _, f := range said.Findings {
		a.Unread = append(a.Unread, f.Details...)
	}
	var err error
	if a.Answers, err = keptAnswers(filepath.Join(home, refusedDir)); err != nil {
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
	t.result.Line(fmt.Sprintf("%s has %d provider responses, without accounts, signatures and keys; read it before you send it", path, len(a.Answers)))
	return nil
}

// keptAnswers returns the answers that the daemon stored, and skips other files.
func keptAnswers(dir string) ([]json.RawMessage, error) {
	all, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := []json.RawMessage{}
	for _, e := range all {
		b, err := atomicfile.Read(filepath.Join(dir, e.Name()), maxRefused)
		if err == nil && strings.HasSuffix(e.Name(), ".json") && json.Valid(b) && !slices.ContainsFunc(b, unprintable) {
			out = append(out, b)
		}
	}
	return out, nil
}

// unprintable reports a byte that the daemon never writes into an answer.
func unprintable(c byte) bool { return c != '\n' && (c < ' ' || c > '~') }
