package doctor

import (
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// A sandboxed browser that has the extension and no manifest cannot find the host, and
// its launch is reported as not tried.
func TestBoxedWithoutAManifest(t *testing.T) {
	for name, row := range map[string]struct{ preferences, browser, remedy string }{
		"flatpak": {"/home/ann/.var/app/org.chromium.Chromium/config/chromium/Default/Preferences", "chromium (flatpak)", "swapkeep install --browser chromium"},
		"snap":    {"/home/ann/snap/chromium/common/chromium/Default/Preferences", "chromium (snap)", "Use the browser's own package or its Flatpak."},
	} {
		p, files := onLinux(t)
		files.Folder("/var/lib/flatpak/app/org.chromium.Chromium")
		files.File(row.preferences, inPreferences(chromiumID, ""))
		withManifest(t, files, "/home/ann/.mozilla/native-messaging-hosts/")
		got, text := runCheck(t, p, "manifest.found")
		if want := row.browser + " this browser has no manifest for swapkeep"; got != Fail || !strings.Contains(text, want) || !strings.Contains(text, row.remedy) {
			t.Errorf("%s: it is %s: %s", name, got, text)
		}
		tried := ""
		for _, f := range launches(t.Context(), p) {
			tried += f.About + ": " + string(f.Status) + "\n"
		}
		if !strings.Contains(tried, row.browser+": skipped\n") {
			t.Errorf("%s: no word of its launch: %s", name, tried)
		}
	}
}

// Data left by an uninstalled Flatpak does not count as a browser.
func TestFlatpakLeftOver(t *testing.T) {
	for there, want := range map[string]int{
		"/home/ann": 0, "/var/lib/flatpak/app/org.chromium.Chromium": 1, "/home/ann/.local/share/flatpak/app/org.chromium.Chromium": 1,
		"/etc/flatpak/installations.d/mine.conf": 1,
	} {
		p, files := onLinux(t)
		files.Folder("/home/ann/.var/app/org.chromium.Chromium")
		files.Folder(there)
		if got := p.installed(); len(got) != want {
			t.Errorf("with %s: %+v", there, got)
		}
	}
}

// What was not examined is not reported as OK.
func TestSandboxedBrowserNotExamined(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without flatpak
	for name, row := range map[string]struct {
		plan installer.Plan
		want Status
		says string
	}{
		"nothing would be written": {installer.Plan{}, Skipped, "not checked"},
		"flatpak cannot be run": {installer.Plan{Sandboxed: []installer.Sandboxed{
			{Browser: "firefox", Box: manifest.Snap, App: "firefox", Needs: []string{"The portal asks."}, Commands: []string{"flatpak permission-set"}},
		}}, Note, "without the flatpak command"},
	} {
		p, files := onLinux(t)
		files.Folder("/home/ann/snap/firefox")
		p.Plan = func(manifest.Scope, []string) (*installer.Plan, error) { return &row.plan, nil }
		if got, text := runCheck(t, p, "boxed"); got != row.want || !strings.Contains(text, row.says) {
			t.Errorf("%s: it is %s: %s", name, got, text)
		}
	}
}

// The portal stores one word for each app.
func TestAnswered(t *testing.T) {
	const table = "webextensions\tapp.swapkeep.host\tsnap.firefox\tno\t0x00\n" +
		"webextensions\tapp.swapkeep.host\tsnap.firefox-nightly\tyes\t0x00\n"
	for app, want := range map[string]string{"firefox": "no", "firefox-nightly": "yes", "fire": "", "chromium": ""} {
		if got := answered(table, app); got != want {
			t.Errorf("%s: %q, want %q", app, got, want)
		}
	}
	if got := answered("webextensions app.swapkeep.host snap.firefox", "firefox"); got != "" {
		t.Errorf("half a line says %q", got)
	}
}

func TestInKeyFile(t *testing.T) {
	const text = "[Context]\nfilesystems=/home/ann;\nSWAPKEEP_HOME=/elsewhere\n\n[Environment]\nX=1\nSWAPKEEP_HOME=/home/ann\\slee/\\\\state\n"
	for key, want := range map[string]string{"SWAPKEEP_HOME": `/home/ann lee/\state`, "X": "1", "filesystems": "", "Y": ""} {
		if got := inKeyFile(text, "Environment", key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}
