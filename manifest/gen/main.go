// Command gen writes docs/browsers.md from package manifest's tables. Run it by
// go generate ./manifest.
package main

import (
	"fmt"
	"os"
)

// path is what is written, as seen from manifest, where go generate runs.
const path = "../docs/browsers.md"

func main() {
	if err := os.WriteFile(path, page(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
