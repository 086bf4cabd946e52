//go:build browser

package browser

import (
	"slices"
	"strings"
	"testing"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// ownFiles lists the home without the daemon's state and the browsers' own files. The
// directories of the manifests are included.
const ownFiles = `find . -path ./state -prune -o -path ./run -prune -o -path ./tmp -prune -o -path ./.cache -prune -o -path ./.pki -prune \
	-o \( -path './chromium/*' -o -path './firefox/*' \) ! -ipath '*messaging*' -prune -o -print | sort`

// TestInstall starts with an empty profile, in which the browser does not find the host.
// The command that the page shows installs it, and the browser finds it. After swapkeep
// uninstall it does not, and no file or directory is left.
func TestInstall(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{NoExtensionAllowed: true})
		linkProfile(d, kind)
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", "Install swapkeep")
		p.AwaitText("Your browser did not find it.", "If swapkeep is not on this computer yet", "swapkeep doctor")
		before := d.Shell(ownFiles)
		installAsShown(t, p, d, kind)
		if now := d.Shell(ownFiles); !strings.Contains(now, "/app.swapkeep.host.json") || !strings.Contains(now, "/current\n") {
			t.Errorf("installed is\n%s", now)
		}
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
		p.AwaitText("SANDBOX")

		d.Shell("swapkeep uninstall")
		p.Find("heading", "swapkeep was stopped")
		p.Click("button", "Try again")
		p.Find("heading", "Install swapkeep")
		if after := d.Shell(ownFiles); after != before {
			t.Errorf("left: %q; missing: %q", linesOnlyIn(after, before), linesOnlyIn(before, after))
		}
	})
}

// linesOnlyIn returns the lines of one text that the other does not have.
func linesOnlyIn(text, than string) (out []string) {
	lines := strings.Split(than, "\n")
	for _, line := range strings.Split(text, "\n") {
		if !slices.Contains(lines, line) {
			out = append(out, line)
		}
	}
	return out
}
