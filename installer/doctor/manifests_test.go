package doctor

import (
	"strings"
	"testing"
)

// For browsers that share a file, the worst status is reported with all their names.
func TestReportsTheWorstStatus(t *testing.T) {
	p, files := onLinux(t)
	withManifest(t, files, "/home/ann/.config/chromium/NativeMessagingHosts/")
	files.Folder("/home/ann/.mozilla")
	files.File("/home/ann/snap/firefox/common/.mozilla/firefox/ann.default/extensions.json",
		`{"addons":[{"id":"test@swapkeep.invalid","active":true}]}`)
	got, text := runCheck(t, p, "manifest.found")
	if got != Fail || !strings.Contains(text, "firefox, firefox-esr, firefox (snap) these browsers have no manifest") {
		t.Errorf("it is %s: %s", got, text)
	}
}

// A manifest of a system package is ours, of whatever version.
func TestPackagedIsOurs(t *testing.T) {
	p, files := onLinux(t)
	files.Folder("/home/ann/.config/chromium")
	files.File("/usr/lib/swapkeep/swapkeep", "another version")
	files.File("/etc/chromium/native-messaging-hosts/app.swapkeep.host.json", `{"path":"/usr/lib/swapkeep/swapkeep"}`)
	if got, text := runCheck(t, p, "receipts"); got != OK || !strings.Contains(text, "system package") {
		t.Errorf("it is %s: %s", got, text)
	}
}

// Without a known extension an installation is refused, so every remedy names an id.
func TestInstallingTakesAnExtension(t *testing.T) {
	p, files := onLinux(t)
	files.Folder("/home/ann/.config/chromium")
	if _, text := runCheck(t, p, "receipts"); !strings.Contains(text, "or install a package") {
		t.Errorf("with an extension: %s", text)
	}
	p.Allowed = nil
	for _, id := range []string{"receipts", "manifest.found"} {
		if _, text := runCheck(t, p, id); !strings.Contains(text, letIn) {
			t.Errorf("%s: %s", id, text)
		}
	}
}
