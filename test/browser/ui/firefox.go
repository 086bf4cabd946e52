//go:build linux

package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// firefoxUUID is the host of the extension's URLs, random unless a preference sets it.
const firefoxUUID = "11111111-2222-4333-8444-555555555555"

// firefoxPrefs keep a fresh profile quiet and offline, and preserve a temporary extension's
// storage across restarts.
var firefoxPrefs = map[string]any{
	"marionette.port": 0,
	"extensions.webextensions.keepStorageOnUninstall": true,
	"extensions.webextensions.keepUuidOnUninstall":    true,
	"network.proxy.type":                              1,
	"network.proxy.http":                              "127.0.0.1",
	"network.proxy.http_port":                         9, // nothing listens there
	"network.proxy.ssl":                               "127.0.0.1",
	"network.proxy.ssl_port":                          9,
	"datareporting.policy.dataSubmissionEnabled":      false,
	"toolkit.telemetry.reportingpolicy.firstRun":      false,
	"app.update.enabled":                              false,
	"messaging-system.rsexperimentloader.enabled":     false,
	"browser.backup.enabled":                          false,
	"app.normandy.enabled":                            false,
	"browser.shell.checkDefaultBrowser":               false,
	"browser.startup.homepage_override.mstone":        "ignore",
	"browser.sessionstore.resume_from_crash":          false,
	"toolkit.startup.max_resumed_crashes":             -1,
	"startup.homepage_welcome_url":                    "about:blank",
	"browser.aboutwelcome.enabled":                    false,
	"network.captive-portal-service.enabled":          false,
	"network.connectivity-service.enabled":            false,
	"extensions.getAddons.cache.enabled":              false,
	"extensions.update.enabled":                       false,
	"extensions.systemAddon.update.enabled":           false,
	"services.settings.server":                        "data:,#remote-settings-dummy/v1",
	"browser.safebrowsing.update.enabled":             false,
	"media.gmp-manager.updateEnabled":                 false,
	"browser.tabs.closeWindowWithLastTab":             true,
	"accessibility.tabfocus":                          7, // Tab reaches everything
}

// FirefoxID returns the id in the manifest of the unpacked extension in a directory.
func FirefoxID(extension string) (string, error) {
	var m struct {
		Settings struct{ Gecko struct{ ID string } } `json:"browser_specific_settings"`
	}
	if err := readManifest(extension, &m); err != nil {
		return "", err
	}
	if m.Settings.Gecko.ID == "" {
		return "", fmt.Errorf("the manifest in %s names no id for Firefox", extension)
	}
	return m.Settings.Gecko.ID, nil
}

// firefox is a driver.
type firefox struct {
	*marionette
	id, origin string
	home       string      // handle of the window that always exists
	at         string      // handle of the window that calls apply to
	told       entryCounts // errors of scripts already returned, by tabs or by heard
}

func startFirefox(b *Browser) (driver, string, error) {
	id, err := FirefoxID(b.setup.Extension)
	if err != nil {
		return nil, "", err
	}
	exe, err := program("firefox-esr", "firefox")
	if err != nil {
		return nil, "", err
	}
	portFile := filepath.Join(b.setup.Profile, "MarionetteActivePort")
	if err := errors.Join(writePrefs(b.setup.Profile, id), os.RemoveAll(portFile)); err != nil {
		return nil, "", err
	}
	b.setup.Env = append(b.setup.Env, "MOZ_HEADLESS_WIDTH=1600", "MOZ_HEADLESS_HEIGHT=1200", "MOZ_CRASHREPORTER_DISABLE=1")
	err = b.launch(exec.Command(exe, "--headless", "--marionette", "--no-remote", "--remote-allow-system-access", "-profile", b.setup.Profile))
	if err != nil {
		return nil, "", err
	}
	f := &firefox{id: id, origin: "moz-extension://" + firefoxUUID + "/", told: entryCounts{}}
	if f.marionette, err = dialMarionette(portFile, b.ended); err != nil {
		return nil, "", err
	}
	return f, f.origin, f.install(b.setup)
}

func writePrefs(profile, id string) error {
	var prefs strings.Builder
	write := func(name string, value any) error {
		b, err := json.Marshal(value)
		fmt.Fprintf(&prefs, "user_pref(%q, %s);\n", name, b)
		return err
	}
	err := write("extensions.webextensions.uuids", fmt.Sprintf(`{%q:%q}`, id, firefoxUUID))
	for name, value := range firefoxPrefs {
		err = errors.Join(err, write(name, value))
	}
	return errors.Join(err, os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs.String()), 0o600))
}

// speak sets a language that is not installed, as far as extensions can tell.
const speak = `
	const [language] = arguments;
	Services.locale.availableLocales = [language, "en-US"];
	Services.locale.requestedLocales = [language];`

func (f *firefox) install(s Setup) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var first struct{ Value string }
	if err := errors.Join(f.call("WebDriver:NewSession", nil, nil), f.call("WebDriver:GetWindowHandle", nil, &first)); err != nil {
		return err
	}
	f.home, f.at = first.Value, first.Value
	if s.Language != "en" {
		if err := f.script(true, speak, nil, s.Language); err != nil {
			return err
		}
	}
	return f.call("Addon:Install", params{"path": s.Extension, "temporary": true}, nil)
}

// load navigates the current window to an extension page, which only the browser may do.
const load = `
	const [url] = arguments;
	const browser = Services.wm.getMostRecentWindow("navigator:browser").gBrowser.selectedBrowser;
	browser.loadURI(Services.io.newURI(url), { triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });`

func (f *firefox) open(url string, _ Look) (tab, error) {
	t, err := f.window(url)
	if err != nil {
		return nil, err
	}
	return t, loaded(t, url)
}

func (f *firefox) window(url string) (*firefoxTab, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.switchTo(f.home); err != nil {
		return nil, err
	}
	var made struct{ Handle string }
	if err := f.call("WebDriver:NewWindow", params{"type": "window", "focus": true}, &made); err != nil {
		return nil, err
	}
	if err := f.switchTo(made.Handle); err != nil {
		return nil, err
	}
	return &firefoxTab{f: f, handle: made.Handle}, f.script(true, load, nil, url)
}

// switchTo switches to a window and focuses it.
func (f *firefox) switchTo(handle string) error {
	if f.at == handle {
		return nil
	}
	err := f.call("WebDriver:SwitchToWindow", params{"handle": handle, "focus": true}, nil)
	if err == nil {
		f.at = handle
	}
	return err
}

var errNotHere = errors.New("only Chromium can")

func (f *firefox) popup(string) (tab, error) {
	return nil, fmt.Errorf("open the real popup: %w", errNotHere)
}

func (f *firefox) background(string) (json.RawMessage, error) {
	return nil, fmt.Errorf("evaluate in the background: %w", errNotHere)
}

// badged returns the text on the action's button, in the toolbar or the extensions panel.
const badged = `
	const [id] = arguments;
	const { ExtensionParent } = ChromeUtils.importESModule("resource://gre/modules/ExtensionParent.sys.mjs");
	const { widget } = ExtensionParent.apiManager.global.browserActionFor(WebExtensionPolicy.getByID(id).extension);
	const { node } = widget.forWindow(Services.wm.getMostRecentWindow("navigator:browser"));
	return node.querySelector("[badge]")?.getAttribute("badge") ?? "";`

func (f *firefox) badge() (text string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.switchTo(f.home); err != nil {
		return "", err
	}
	err = f.script(true, badged, &text, f.id)
	return text, err
}

// errorsLogged lists the errors of the extension's scripts in the console of a process:
// either of the whole browser, which does not say which page, or of the extension's own,
// which does.
const errorsLogged = `
	const [origin, whole] = arguments, inner = whole ? undefined : globalThis.windowGlobalChild.innerWindowId;
	const logged = Services.console.getMessageArray()
		.filter((m) => m instanceof Ci.nsIScriptError && !(m.flags & Ci.nsIScriptError.warningFlag) && m.sourceName.startsWith(origin))
		.filter((m) => inner === undefined || m.innerWindowID === inner)
		.map((m) => ({ source: m.category, text: m.errorMessage + " " + m.sourceName + ":" + m.lineNumber }));
	const said = inner === undefined ? [] : Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage).getEvents(inner)
		.filter((e) => e.level === "error" || e.level === "assert")
		.map((e) => ({ source: "console", text: e.arguments.map(String).join(" ") }));
	return { inner: inner ?? 0, entries: [...logged, ...said] };`

type logged struct {
	Inner   uint64
	Entries []Entry
}

// heard returns all errors of the extension that no tab has returned.
func (f *firefox) heard() ([]Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.switchTo(f.home); err != nil {
		return nil, err
	}
	var all logged
	err := f.script(true, errorsLogged, &all, f.origin, true)
	fresh := f.told.without(all.Entries)
	f.told.add(fresh)
	return fresh, err
}

// entryCounts counts entries, as the same one may be logged again.
type entryCounts map[Entry]int

func (t entryCounts) add(entries []Entry) {
	for _, e := range entries {
		t[e]++
	}
}

// without leaves out entries that were counted.
func (t entryCounts) without(entries []Entry) (fresh []Entry) {
	seen := entryCounts{}
	for _, e := range entries {
		if seen[e]++; seen[e] > t[e] {
			fresh = append(fresh, e)
		}
	}
	return fresh
}

func (f *firefox) quit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.call("Marionette:Quit", params{"flags": []string{"eForceQuit"}}, nil)
	return errors.Join(err, f.conn.Close())
}
