//go:build browser

package browser

import (
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/test/browser/desk"
	"swapkeep/test/browser/ui"
)

// linkProfile puts a browser's profile where installers look for it by default.
func linkProfile(d *desk.Desk, kind ui.Kind) {
	if kind == ui.Chromium {
		d.Shell("mkdir -p chromium .config && ln -s ../chromium .config/chromium")
	}
}

// installAsShown runs the command that the page shows.
func installAsShown(t *testing.T, p *ui.Page, d *desk.Desk, kind ui.Kind) {
	t.Helper()
	p.Click("button", "Copy the install command")
	command := p.Clipboard()
	p.AwaitText(command)
	if !strings.HasPrefix(command, "swapkeep install --browser "+string(kind)+" --extension-id ") || strings.Contains(command, "\n") {
		t.Fatalf("the command is %q", command)
	}
	d.Shell(command)
}

// TestHostForbidden covers a host that allows only another extension. Chromium says so;
// Firefox says that there is no host.
func TestHostForbidden(t *testing.T) {
	wanted := map[ui.Kind]string{ui.Chromium: "Allow this extension", ui.Firefox: "Install swapkeep"}
	others := map[ui.Kind]string{ui.Chromium: strings.Repeat("a", 32), ui.Firefox: "another@swapkeep.invalid"}
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{NoExtensionAllowed: true})
		linkProfile(d, kind)
		d.Shell("swapkeep install --browser " + string(kind) + " --extension-id " + others[kind])
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", wanted[kind])
		if kind == ui.Chromium {
			p.AwaitText("This extension's ID:", strings.Trim(strings.TrimPrefix(p.Browser().Origin(), "chrome-extension:"), "/"))
		}
		installAsShown(t, p, d, kind)
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
	})
}

// TestHostRefuses covers a host whose configuration names only other extensions. The
// command on the page allows this one, and a retry suffices.
func TestHostRefuses(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Look: noAnimation})
		linkProfile(d, kind)
		d.Shell("swapkeep install --browser " + string(kind))
		d.Shell(`sed -i '/^\[extensions\]/,/^firefox/d' $SWAPKEEP_CONFIG`)
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", "Allow this extension")
		p.AwaitText("This extension's ID:", "Message from swapkeep:")
		inspect(t, p, "host-refuses")
		installAsShown(t, p, d, kind)
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
	})
}

// TestVersionTooOld covers a daemon with other protocol versions. The page says which side
// has to be updated, and nothing retries by itself.
func TestVersionTooOld(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Daemon: "./test/fakedaemon", Look: noAnimation})
		d.Shell("mkdir -m 700 $SWAPKEEP_HOME && echo client daemon > $SWAPKEEP_HOME/update")
		p := d.Browser(kind).Open("popup.html")
		p.Find("heading", "Update the extension")
		p.AwaitText("This extension", "Its protocol versions", "Message from swapkeep:")
		inspect(t, p, "update-extension")
		wantRefused(t, d, "client")
		p.Click("button", "Try again")
		p.Find("heading", "Update swapkeep")
		p.AwaitText("swapkeep install")
		inspect(t, p, "update-swapkeep")
		wantRefused(t, d, "client", "daemon")
	})
}

// wantRefused checks that the daemon told these sides to update, and that none reconnected.
func wantRefused(t *testing.T, d *desk.Desk, sides ...string) {
	t.Helper()
	time.Sleep(1200 * time.Millisecond) // the first reconnect would come after 0.75 s
	if told := strings.Fields(d.Shell("cat $SWAPKEEP_HOME/refused")); !slices.Equal(told, sides) {
		t.Errorf("refused were %q, not %q", told, sides)
	}
}
