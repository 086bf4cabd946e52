//go:build browser

// Package browser runs the extension in real browsers, which start the real host. Run it
// with
//
//	scripts/with-keyring.sh go test -tags browser ./test/browser/... [-args -bin=DIR]
package browser

import (
	"os"
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

func TestMain(m *testing.M) { os.Exit(desk.Main(m)) }

// each runs a test in both browsers.
func each(t *testing.T, test func(*testing.T, ui.Kind)) {
	t.Helper()
	for _, kind := range ui.Kinds() {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}
