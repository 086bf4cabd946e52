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

// hostFile is where a browser of a desk has the host's manifest, from its home.
var hostFile = map[ui.Kind]string{
	ui.Chromium: "chromium/NativeMessagingHosts/app.swapkeep.host.json",
	ui.Firefox:  ".mozilla/native-messaging-hosts/app.swapkeep.host.json",
}

// letIn does what the page says of the configuration: the very lines that it shows go
// into the file.
func letIn(p *ui.Page, d *desk.Desk) {
	p.Click("button", "Copy the lines")
	lines := p.Clipboard()
	p.See("[extensions]", lines)
	d.Shell("cat >> $SWAPKEEP_CONFIG <<'end'\n" + lines + "\nend")
}

// TestHostMissing follows the page's own instructions: the very lines and the command
// that it shows let the extension in and the browser find the host.
func TestHostMissing(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Unlisted: true})
		if kind == ui.Chromium { // it looks in its profile, which is not where it is by default
			d.Shell("mkdir -p chromium .config && ln -s ../chromium .config/chromium")
		}
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", "Install swapkeep")
		p.See("Your browser did not find it.")
		letIn(p, d)
		p.Click("button", "Copy the command for the browser")
		command := p.Clipboard()
		p.See(command)
		if !strings.HasPrefix(command, "mkdir -p ~/") || !strings.Contains(command, "swapkeep manifest "+string(kind)+" --dir ~/") {
			t.Fatalf("the command is %q", command)
		}
		p.Click("button", "Try again")
		p.Find("heading", "Install swapkeep") // nothing was done yet
		d.Shell(command)
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
		p.See("SANDBOX")
	})
}

// TestHostForbidden: the host is there, for another extension. Chromium says so;
// Firefox says that there is none.
func TestHostForbidden(t *testing.T) {
	wanted := map[ui.Kind]string{ui.Chromium: "Let this extension in", ui.Firefox: "Install swapkeep"}
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{})
		d.InstallHost(kind)
		d.Shell(`sed -i -E 's|//[a-p]{32}/|//` + strings.Repeat("a", 32) + `/|; s|swapkeep-development@|another@|' ` + hostFile[kind])
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", wanted[kind])
		if kind == ui.Chromium {
			p.See("This extension's id:", strings.Trim(strings.TrimPrefix(p.Browser().Origin(), "chrome-extension:"), "/"))
		}
		p.See("[extensions]")
		d.InstallHost(kind)
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
	})
}

// TestHostRefuses: the browser finds the host, whose configuration names other
// extensions. What the page shows lets this one in, with no more than another try.
func TestHostRefuses(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Look: still})
		d.InstallHost(kind)
		d.Shell(`sed -i '/^\[extensions\]/,/^firefox/d' $SWAPKEEP_CONFIG`)
		p := d.BrowserAlone(kind).Open("popup.html")
		p.Find("heading", "Let this extension in")
		p.See("This extension's id:", "swapkeep says:")
		inspect(t, p, "host-refuses")
		letIn(p, d)
		p.Click("button", "Try again")
		p.Find("heading", "Welcome to Swapkeep")
	})
}

// TestVersionTooOld: a daemon that speaks other versions of the protocol. It is said
// which side has to be updated, and nothing tries again by itself.
func TestVersionTooOld(t *testing.T) {
	each(t, func(t *testing.T, kind ui.Kind) {
		d := desk.New(t, desk.Options{Daemon: "./test/fakedaemon", Look: still})
		d.Shell("mkdir -m 700 $SWAPKEEP_HOME && echo client daemon > $SWAPKEEP_HOME/update")
		p := d.Browser(kind).Open("popup.html")
		p.Find("heading", "Update the extension")
		p.See("This extension", "Its protocol versions", "swapkeep says:")
		inspect(t, p, "update-extension")
		wantRefused(t, d, "client")
		p.Click("button", "Try again")
		p.Find("heading", "Update swapkeep")
		p.See("swapkeep stop")
		inspect(t, p, "update-swapkeep")
		wantRefused(t, d, "client", "daemon")
	})
}

// wantRefused wants the daemon to have told these sides to be updated, and nobody to
// ask again when a reconnect would have come.
func wantRefused(t *testing.T, d *desk.Desk, sides ...string) {
	t.Helper()
	time.Sleep(1200 * time.Millisecond) // the first reconnect comes after 0.75 s
	if told := strings.Fields(d.Shell("cat $SWAPKEEP_HOME/refused")); !slices.Equal(told, sides) {
		t.Errorf("refused were %q, not %q", told, sides)
	}
}
