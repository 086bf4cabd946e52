// Command gen generates docs/protocol-reference.md and the extension's TypeScript types
// from package protocol. Run it with go generate
// ./host/protocol.
package main

import (
	"fmt"
	"os"
)

// files are the generated files, relative to host/protocol, where go generate runs.
var files = []struct {
	path string
	text func() []byte
}{
	{"../../docs/protocol-reference.md", markdown},
	{"../../extension/src/wire/protocol.ts", typescript},
}

func main() {
	for _, f := range files {
		if err := os.WriteFile(f.path, f.text(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
