//go:build browser

package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/manifest"
	"swapkeep/manifest/manifesttest"
	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// TestBrowsersAgree gives a real browser each case of package manifest's rules for this
// system: it accepts exactly the files that the rules accept.
func TestBrowsersAgree(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		extension := tinyExtension(t)
		d := desk.New(t, desk.Options{Extension: extension})
		p, family := d.BrowserAlone(kind).Open("page.html"), manifest.Family(kind)
		for _, c := range manifesttest.Cases() {
			if c.System != "linux" {
				continue
			}
			file := c.File(family, extensionID(t, kind, extension[kind]), "/bin/true")
			path := filepath.Join(d.Manifests(kind), c.Host+".json")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			var says string
			p.Eval(fmt.Sprintf(connecting, c.Host), &says)
			want := c.Accepted(family) || c.Stricter == family
			if taken := !refusal(says); taken != want {
				t.Errorf("%s: taken %t, want %t: %s\n%s", c.Name, taken, want, says, file)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// connecting returns how a connection to a host of some name ended.
const connecting = `new Promise((resolve) => {
	const { runtime } = globalThis.browser ?? chrome;
	try {
		const port = runtime.connectNative(%q);
		port.onDisconnect.addListener((p) => resolve(String(p.error?.message ?? chrome.runtime.lastError?.message ?? "ended")));
	} catch (e) {
		resolve("refused: " + e.message);
	}
})`

// refusal reports whether a browser says that it found no manifest that it accepts. A
// program that cannot be started or ends at once does not count.
func refusal(says string) bool {
	for _, start := range []string{"refused: ", "Specified native messaging host not found", "Invalid native messaging host name", "No such native application"} {
		if strings.HasPrefix(says, start) {
			return true
		}
	}
	return false
}
