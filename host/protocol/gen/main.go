// Command gen writes from package protocol the tables of PROTOCOL.md, between
// their markers, and the extension's side of the wire in TypeScript. Run it by
// go generate ./host/protocol.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// files are what is written, as seen from host/protocol, where go generate runs.
// Each is made anew from what stands there.
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
