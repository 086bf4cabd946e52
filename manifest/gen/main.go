// Command gen writes docs/browsers.md from the tables of package manifest. Run it with go
// generate ./manifest.
package main

import (
	"fmt"
	"os"
)

// path is the output file, relative to manifest, where go generate runs.
const path = "../docs/browsers.md"

func main() {
	if err := os.WriteFile(path, page(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
