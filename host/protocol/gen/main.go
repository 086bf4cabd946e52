// Command gen generates the tables of PROTOCOL.md, between their markers, and the
// extension's TypeScript types from package protocol. Run it with go generate
// ./host/protocol.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// files are the generated files, relative to host/protocol, where go generate runs. fresh
// returns the new content given the old.
var files = []struct {
	path  string
	fresh func(old []byte) ([]byte, error)
}{
	{"../../PROTOCOL.md", markdown},
	{"../../extension/src/wire/protocol.ts", func([]byte) ([]byte, error) { return typescript(), nil }},
}

func main() {
	for _, f := range files {
		if err := write(f.path, f.fresh); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

func write(path string, fresh func([]byte) ([]byte, error)) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := fresh(old)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, text, 0o644)
}
