package doctor

import (
	"fmt"
	"strings"
	"testing"

	"swapkeep/installer/installertest"
)

const strangerID = "ponmlkjihgfedcbaponmlkjihgfedcba"

// inPreferences returns Chromium's Preferences with an extension of our name.
func inPreferences(id, more string) string {
	return fmt.Sprintf(`{"extensions":{"settings":{%q:{"path":"1.0","state":1,"manifest":{"name":"Swapkeep"}%s}}}}`, id, more)
}

func TestExtensions(t *testing.T) {
	const profiles, off = "/home/ann/.config/chromium/", `,"disable_reasons":[1]`
	nobody := func(p *Env) { p.Allowed = nil }
	for name, row := range map[string]struct {
		breaks func(*Env)
		files  map[string]string // by path below profiles
		want   Status
		says   string
		never  string
	}{
		"on":  {nil, map[string]string{"Default/Preferences": inPreferences(chromiumID, "")}, OK, "let in", ""},
		"off": {nil, map[string]string{"Default/Preferences": inPreferences(chromiumID, off)}, Note, "switched off in " + profiles + "Default", ""},
		"off in one of two profiles": {nil, map[string]string{
			"Default/Preferences": inPreferences(chromiumID, off), "Profile 1/Preferences": inPreferences(chromiumID, ""),
		}, OK, "let in", ""},
		"off by the second file": {nil, map[string]string{
			"Default/Preferences": inPreferences(chromiumID, ""), "Default/Secure Preferences": inPreferences(chromiumID, off),
		}, Note, "switched off", ""},
		"off in two profiles, by different files": {nil, map[string]string{
			"Default/Preferences": inPreferences(chromiumID, off), "Profile 1/Secure Preferences": inPreferences(chromiumID, off), "Profile 1/Preferences": inPreferences(chromiumID, ""),
		}, Note, "switched off", ""},
		"unknown extension": {nil, map[string]string{"Default/Preferences": inPreferences(strangerID, "")}, Warn, strangerID + " in " + profiles + "Default calls itself Swapkeep", "--extension-id"},
		"unknown extension in another profile": {nil, map[string]string{
			"Default/Preferences": inPreferences(chromiumID, ""), "Profile 1/Preferences": inPreferences(strangerID, ""),
		}, Warn, "remove it", "--extension-id"},
		"no extension is allowed yet": {nobody, map[string]string{"Default/Preferences": inPreferences(strangerID, "")}, Warn, "--extension-id ID", "--extension-id " + strangerID},
		"malformed id":                {nobody, map[string]string{"Default/Preferences": inPreferences("; reboot", "")}, Note, "no profile", "reboot"},
		"unreadable configuration": {func(p *Env) { p.Config, p.Allowed = errTooLarge, nil }, map[string]string{
			"Default/Preferences": inPreferences(strangerID, ""),
		}, OK, "let in", ""},
	} {
		p, files := onLinux(t)
		if row.breaks != nil {
			row.breaks(p)
		}
		for file, text := range row.files {
			files.File(profiles+file, text)
		}
		got, output := runCheck(t, p, "extension.allowed")
		if got != row.want || !strings.Contains(output, row.says) || row.never != "" && strings.Contains(output, row.never) {
			t.Errorf("%s: it is %s, want %s with %q and without %q: %s", name, got, row.want, row.says, row.never, output)
		}
	}
}

// An extension that only has our name is no reason to install for a browser.
func TestStrangerServesNobody(t *testing.T) {
	p, files := onLinux(t)
	files.File("/home/ann/.config/chromium/Default/Preferences", inPreferences(strangerID, ""))
	withManifest(t, files, "/home/ann/.mozilla/native-messaging-hosts/")
	if got, text := runCheck(t, p, "manifest.found"); got != Note || !strings.Contains(text, "chromium this browser has no manifest") {
		t.Errorf("it is %s: %s", got, text)
	}
}

// withManifest gives Firefox a file, so that not every browser lacks a manifest.
func withManifest(t *testing.T, files *installertest.Files, folder string) {
	t.Helper()
	files.File(folder+"app.swapkeep.host.json", `{"path":"`+linuxHost+`"}`)
}
