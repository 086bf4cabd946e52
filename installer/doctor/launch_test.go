package doctor

import (
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
)

// On Windows Chromium starts a host with the command processor, Firefox directly.
func TestHostCommand(t *testing.T) {
	p, _, _ := onWindows(t)
	h := foundManifest{file: windowsManifest, path: windowsHost}
	cmd, err := p.hostCommand(manifest.Chromium, h, chromiumID)
	if err != nil || cmd.Path != `C:\Windows\System32\cmd.exe` {
		t.Errorf("Chromium: %v, %v", cmd, err)
	}
	const want = `"C:\Windows\System32\cmd.exe" /d /s /c ""` + windowsHost + `" chrome-extension://` + chromiumID + `/ --parent-window=0"`
	if got := shellLine(`C:\Windows\System32\cmd.exe`, h.path, callerArgs("windows", manifest.Chromium, h.file, chromiumID)); got != want {
		t.Errorf("the line is %s\nwant %s", got, want)
	}
	if cmd, err := p.hostCommand(manifest.Firefox, h, "test@swapkeep.invalid"); err != nil || !slices.Equal(cmd.Args, []string{windowsHost, windowsManifest, "test@swapkeep.invalid"}) {
		t.Errorf("Firefox: %v, %v", cmd, err)
	}
	if cmd, err := p.hostCommand(manifest.Chromium, foundManifest{path: `C:\%TEMP%\swapkeep.exe`}, chromiumID); err == nil {
		t.Errorf("of a path that cmd.exe changes: %v", cmd)
	}
	p.Machine.Env = func(string) string { return "" }
	if cmd, err := p.hostCommand(manifest.Chromium, h, chromiumID); err == nil {
		t.Errorf("without COMSPEC: %v", cmd)
	}
}

// Exactly the terminal's variables that a browser may not have are reported.
func TestVariables(t *testing.T) {
	for environ, want := range map[string]string{
		"HOME=/home/ann XDG_RUNTIME_DIR=/run/user/1": "", "SWAPKEEP_HOME=": "",
		"SWAPKEEP_HOME=/x XDG_STATE_HOME=/y":                     ": SWAPKEEP_HOME, XDG_STATE_HOME ",
		"XDG_CONFIG_HOME=/x CHROME_CONFIG_HOME=/y XDG_SEAT=seat": ": CHROME_CONFIG_HOME, XDG_CONFIG_HOME ",
	} {
		p, _ := onLinux(t)
		p.Environ = strings.Fields(environ)
		got, text := runCheck(t, p, "environment")
		if want == "" && got != OK || want != "" && (got != Note || !strings.Contains(text, want)) {
			t.Errorf("%s: it is %s: %s", environ, got, text)
		}
	}
}

// A host is started only for an extension that is allowed.
func TestCaller(t *testing.T) {
	p, _ := onLinux(t)
	b := browser{}
	b.Family = "chromium"
	for want, h := range map[string]foundManifest{
		chromiumID: {lists: []string{"chrome-extension://" + strangerID + "/", "chrome-extension://" + chromiumID + "/"}},
		"":         {lists: []string{"chrome-extension://" + strangerID + "/"}},
	} {
		if got := p.caller(b, h); got != want {
			t.Errorf("%v: for %q", h.lists, got)
		}
	}
	p.Config = errTooLarge // it is unknown which are allowed
	if got := p.caller(b, foundManifest{lists: []string{"chrome-extension://" + strangerID + "/"}}); got != strangerID {
		t.Errorf("for %q", got)
	}
}
