package doctor

import (
	"strings"
	"testing"

	"swapkeep/installer/installertest"
	"swapkeep/manifest"
)

const (
	blocksAll = `"NativeMessagingBlocklist":["*"]`
	allowsUs  = `"NativeMessagingAllowlist":["` + manifest.HostName + `"]`
)

func TestPolicies(t *testing.T) {
	const managed, mozilla = "/etc/chromium/policies/managed/", "/etc/firefox/policies/policies.json"
	for name, row := range map[string]struct {
		has   string // path that shows the browser
		files map[string]string
		want  Status
		says  string
	}{
		"none":    {"/home/ann/.config/chromium", nil, OK, "looked at those of 1 browser: chromium"},
		"blocked": {"/home/ann/.config/chromium", map[string]string{managed + "a.json": "{" + blocksAll + "}"}, Fail, managed + "a.json blocks it"},
		"blocked in one, allowed in another": {"/home/ann/.config/chromium", map[string]string{
			managed + "block.json": "{" + blocksAll + "}", managed + "allow.json": "{" + allowsUs + "}",
		}, OK, "1 browser"},
		"the last file's list wins": {"/home/ann/.config/chromium", map[string]string{
			managed + "a.json": "{" + blocksAll + "," + allowsUs + "}", managed + "b.json": `{"NativeMessagingAllowlist":[]}`,
		}, Fail, managed + "a.json blocks it"},
		"lifted later": {"/home/ann/.config/chromium", map[string]string{
			managed + "a.json": "{" + blocksAll + "}", managed + "b.json": `{"NativeMessagingBlocklist":[]}`,
		}, OK, "1 browser"},
		"no JSON":                     {"/home/ann/.config/chromium", map[string]string{managed + "a.json": "{"}, Note, managed + "a.json cannot be read"},
		"Firefox":                     {"/home/ann/.mozilla", map[string]string{mozilla: `{"policies":{` + blocksAll + `}}`}, Fail, mozilla + " blocks it"},
		"file of one copy of Firefox": {"/home/ann/.mozilla", map[string]string{"/usr/lib/firefox/distribution/policies.json": `{"policies":{` + blocksAll + `}}`}, Fail, "/usr/lib/firefox/distribution/policies.json blocks it"},
		"hidden by system's": {"/home/ann/.mozilla", map[string]string{
			mozilla: `{"policies":{}}`, "/usr/lib/firefox/distribution/policies.json": `{"policies":{` + blocksAll + `}}`,
		}, OK, "2 browsers: firefox, firefox-esr"},
		"browser with unknown policy folders": {"/home/ann/.config/vivaldi", nil, Skipped, "vivaldi unknown where their policies are"},
		"in a box":                            {"/home/ann/.var/app/org.chromium.Chromium", map[string]string{managed + "a.json": "{" + blocksAll + "}"}, Skipped, "chromium (flatpak)"},
		"in a snap":                           {"/home/ann/snap/firefox", map[string]string{mozilla: `{"policies":{` + blocksAll + `}}`}, Fail, "firefox (snap)"},
	} {
		p, files := onLinux(t)
		if strings.Contains(row.has, ".var/app") {
			files.Folder("/var/lib/flatpak/app/org.chromium.Chromium")
		}
		files.Folder(row.has)
		for file, text := range row.files {
			files.File(file, text)
		}
		if got, output := runCheck(t, p, "policy"); got != row.want || !strings.Contains(output, row.says) {
			t.Errorf("%s: it is %s, want %s with %q: %s", name, got, row.want, row.says, output)
		}
	}
}

func TestPoliciesOfWindows(t *testing.T) {
	const chrome, firefox = `\Software\Policies\Google\Chrome`, `\Software\Policies\Mozilla\Firefox`
	const policyFile = `C:\Program Files\Mozilla Firefox\distribution\policies.json`
	for name, row := range map[string]struct {
		browser string
		breaks  func(*installertest.Files, *installertest.Registry)
		want    Status
		says    string
	}{
		"numbering with a gap": {"chrome", func(_ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM`+chrome+`\NativeMessagingBlocklist`, "1", "com.example.other")
			r.Put(`HKLM`+chrome+`\NativeMessagingBlocklist`, "3", "*")
		}, Fail, "HKLM" + chrome + " blocks it"},
		"blocked for the user, allowed for the machine": {"chrome", func(_ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU`+chrome+`\NativeMessagingBlocklist`, "1", "*")
			r.Put(`HKLM`+chrome+`\NativeMessagingAllowlist`, "1", manifest.HostName)
		}, OK, "1 browser"},
		"machine policy allows what the user's forbids": {"chrome", func(_ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU`+chrome, "NativeMessagingUserLevelHosts", "0")
			r.Put(`HKLM`+chrome, "NativeMessagingUserLevelHosts", "1")
		}, OK, "1 browser"},
		"machine policy forbids what the user's allows": {"chrome", func(_ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU`+chrome, "NativeMessagingUserLevelHosts", "1")
			r.Put(`HKLM`+chrome, "NativeMessagingUserLevelHosts", "0")
		}, Fail, "HKLM" + chrome + " forbids"},
		"policy file in the program's folder": {"firefox", func(f *installertest.Files, _ *installertest.Registry) {
			f.File(policyFile, `{"policies":{`+blocksAll+`}}`)
		}, Fail, policyFile + " blocks it"},
		"policy file in the program's folder, registry allows": {"firefox", func(f *installertest.Files, r *installertest.Registry) {
			f.File(policyFile, `{"policies":{`+blocksAll+`}}`)
			r.Put(`HKLM`+firefox+`\NativeMessagingAllowlist`, "1", manifest.HostName)
		}, OK, "1 browser"},
	} {
		p, files, registry := onWindows(t)
		p.Browser = row.browser
		row.breaks(files, registry)
		if got, text := runCheck(t, p, "policy"); got != row.want || !strings.Contains(text, row.says) {
			t.Errorf("%s: it is %s, want %s with %q: %s", name, got, row.want, row.says, text)
		}
	}
}

// A copy of Firefox on macOS has its policy file inside its bundle.
func TestPoliciesOfMacOS(t *testing.T) {
	const file = "/Applications/Firefox.app/Contents/Resources/distribution/policies.json"
	p, files := onLinux(t)
	p.Machine.OS, p.Browser = "darwin", "firefox"
	files.File(file, `{"policies":{`+blocksAll+`}}`)
	if got, text := runCheck(t, p, "policy"); got != Fail || !strings.Contains(text, file+" blocks it") {
		t.Errorf("it is %s: %s", got, text)
	}
}
