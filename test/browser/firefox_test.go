//go:build browser

package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/manifest"
)

// firefoxUUID is the host part of the test extension's own pages, set by a
// preference so that the test can open one.
const firefoxUUID = "11111111-2222-4333-8444-555555555555"

// firefoxPrefs keep a fresh profile quiet and off the network.
var firefoxPrefs = map[string]any{
	"marionette.port":                            0,
	"extensions.webextensions.uuids":             `{"` + firefoxID + `":"` + firefoxUUID + `"}`,
	"datareporting.policy.dataSubmissionEnabled": false,
	"toolkit.telemetry.reportingpolicy.firstRun": false,
	"app.update.enabled":                         false,
	"app.normandy.enabled":                       false,
	"browser.shell.checkDefaultBrowser":          false,
	"browser.startup.homepage_override.mstone":   "ignore",
	"startup.homepage_welcome_url":               "about:blank",
	"browser.aboutwelcome.enabled":               false,
	"network.captive-portal-service.enabled":     false,
	"network.connectivity-service.enabled":       false,
	"extensions.getAddons.cache.enabled":         false,
	"extensions.update.enabled":                  false,
	"extensions.systemAddon.update.enabled":      false,
	"services.settings.server":                   "data:,#remote-settings-dummy/v1",
	"browser.safebrowsing.update.enabled":        false,
	"media.gmp-manager.updateEnabled":            false,
}

const openTab = `
	const window = Services.wm.getMostRecentWindow("navigator:browser");
	const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
	window.gBrowser.selectedTab = window.gBrowser.addTab(arguments[0], { triggeringPrincipal });`

func TestFirefox(t *testing.T) {
	d := newDesk(t, "SWAPKEEP_EXTENSIONS_FIREFOX="+firefoxID)
	d.run("manifest", "firefox", "--dir", d.folder(".mozilla/native-messaging-hosts"))
	f := d.startFirefox(d.folder("profile"))
	f.call("WebDriver:NewSession", nil, nil)
	f.call("Addon:Install", map[string]any{"path": d.extension(manifest.Firefox), "temporary": true}, nil)
	f.open("moz-extension://" + firefoxUUID + "/page.html")
	f.heard().check(t, firefoxID)
	f.call("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}}, nil)
}

// firefox speaks Marionette: "length:json", calls [0, id, name, params] and
// answers [1, id, error, result].
type firefox struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	last int
}

func (d *desk) startFirefox(profile string) *firefox {
	d.t.Helper()
	var prefs strings.Builder
	for name, value := range firefoxPrefs {
		b, err := json.Marshal(value)
		if err != nil {
			d.t.Fatal(err)
		}
		fmt.Fprintf(&prefs, "user_pref(%q, %s);\n", name, b)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs.String()), 0o600); err != nil {
		d.t.Fatal(err)
	}
	exe := "firefox-esr"
	if _, err := exec.LookPath(exe); err != nil {
		exe = "firefox"
	}
	d.launch(exec.Command(exe, "--headless", "--marionette", "--no-remote", "--remote-allow-system-access", "-profile", profile))
	conn := d.marionette(filepath.Join(profile, "MarionetteActivePort"))
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = conn.Close() })
	f := &firefox{t: d.t, conn: conn, in: bufio.NewReader(conn)}
	if _, err := f.receive(); err != nil { // it introduces itself
		d.t.Fatal(err)
	}
	return f
}

// marionette waits for the file that names the port.
func (d *desk) marionette(portFile string) net.Conn {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		port, err := os.ReadFile(portFile)
		if err != nil || len(port) == 0 {
			continue
		}
		if conn, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port))); err == nil {
			return conn
		}
	}
	d.t.Fatal("Firefox did not open its Marionette port")
	return nil
}

func (f *firefox) receive() ([]byte, error) {
	size, err := f.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	var length int
	if _, err := fmt.Sscanf(size, "%d:", &length); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	_, err = io.ReadFull(f.in, b)
	return b, err
}

// call makes one call and decodes its result.
func (f *firefox) call(name string, params map[string]any, result any) {
	f.t.Helper()
	f.last++
	if params == nil {
		params = map[string]any{}
	}
	b, err := json.Marshal([]any{0, f.last, name, params})
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(b), b); err != nil {
		f.t.Fatal(err)
	}
	if b, err = f.receive(); err != nil {
		f.t.Fatalf("%s: %v", name, err)
	}
	var reply [4]json.RawMessage
	if err := json.Unmarshal(b, &reply); err != nil || string(reply[2]) != "null" {
		f.t.Fatalf("%s: %s, %v", name, b, err)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(reply[3], result); err != nil {
		f.t.Fatalf("%s: %s: %v", name, reply[3], err)
	}
}

func (f *firefox) handles() []string {
	f.t.Helper()
	var handles []string
	f.call("WebDriver:GetWindowHandles", nil, &handles)
	return handles
}

// open opens one of the extension's own pages, which only the browser itself
// may, and turns to it.
func (f *firefox) open(url string) {
	f.t.Helper()
	before := len(f.handles())
	f.call("Marionette:SetContext", map[string]any{"value": "chrome"}, nil)
	f.call("WebDriver:ExecuteScript", map[string]any{"script": openTab, "args": []string{url}}, nil)
	f.call("Marionette:SetContext", map[string]any{"value": "content"}, nil)
	for len(f.handles()) == before {
		time.Sleep(50 * time.Millisecond) // bounded by the connection's deadline
	}
	handles := f.handles()
	f.call("WebDriver:SwitchToWindow", map[string]any{"handle": handles[len(handles)-1], "focus": true}, nil)
}

// heard waits for the page to show what the background heard.
func (f *firefox) heard() heard {
	f.t.Helper()
	for {
		var title struct{ Value string }
		f.call("WebDriver:GetTitle", nil, &title)
		var h heard
		if json.Unmarshal([]byte(title.Value), &h) == nil {
			return h
		}
		time.Sleep(50 * time.Millisecond) // bounded by the connection's deadline
	}
}
