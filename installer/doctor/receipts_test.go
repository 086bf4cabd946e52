package doctor

import (
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// --fix repairs only what a repeated installation for served browsers would create.
func TestGone(t *testing.T) {
	const folder = "/home/ann/.local/lib/swapkeep/"
	for name, row := range map[string]struct {
		receipt installer.Receipt
		browser string
		want    Status
		fixable bool
	}{
		"manifest":                      {installer.Receipt{Kind: installer.Manifest, Path: "/home/ann/.config/chromium/NativeMessagingHosts/app.swapkeep.host.json"}, "", Warn, true},
		"manifest, for one":             {installer.Receipt{Kind: installer.Manifest, Path: "/home/ann/.config/chromium/NativeMessagingHosts/app.swapkeep.host.json"}, "chromium", Warn, false},
		"manifest of a removed browser": {installer.Receipt{Kind: installer.Manifest, Path: "/home/ann/.config/vivaldi/NativeMessagingHosts/app.swapkeep.host.json"}, "", Note, false},
		"program":                       {installer.Receipt{Kind: installer.Program, Path: folder + "0.1.0/swapkeepd"}, "", Warn, true},
		"old program":                   {installer.Receipt{Kind: installer.Program, Path: folder + "0.0.9/swapkeepd"}, "", OK, false},
		"folder":                        {installer.Receipt{Kind: installer.Directory, Path: folder + "0.1.0/x"}, "", OK, false},
		"unit":                          {installer.Receipt{Kind: installer.Autostart, Path: "/home/ann/.config/systemd/user/swapkeepd.service"}, "", Note, false},
		"enabled":                       {installer.Receipt{Kind: installer.Link, Path: "/home/ann/.config/systemd/user/default.target.wants/swapkeepd.service"}, "", Note, false},
		"command":                       {installer.Receipt{Kind: installer.Link, Path: "/home/ann/.local/bin/swapkeep"}, "", Warn, false},
	} {
		p, files := onLinux(t)
		files.File("/home/ann/.config/chromium/Default/Preferences", inPreferences(chromiumID, ""))
		p.Browser = row.browser
		p.look(t.Context())
		f, bad := p.receipt(entry{row.receipt, manifest.User})
		if !bad {
			f.Status = OK
		}
		if f.Status != row.want || (f.fix != nil) != row.fixable {
			t.Errorf("%s: with a fix %v: %+v", name, f.fix != nil, f)
		}
	}
}

// What was changed is restored by a command that starts no changed program, or the remedy
// says what --force does not replace.
func TestReplacing(t *testing.T) {
	const folder = "/home/ann/.local/lib/swapkeep/"
	unit := entry{installer.Receipt{Kind: installer.Autostart, Path: "/home/ann/.config/systemd/user/swapkeepd.service"}, manifest.User}
	command := entry{installer.Receipt{Kind: installer.Link, Path: "/home/ann/.local/bin/swapkeep"}, manifest.User}
	file := entry{installer.Receipt{Kind: installer.Manifest, Path: "/home/ann/.config/chromium/x.json"}, manifest.User}
	everybodys := entry{installer.Receipt{Kind: installer.Manifest, Path: "/etc/chromium/x.json"}, manifest.System}
	p, files := onLinux(t)
	for want, e := range map[string]entry{
		"inspect it, then run swapkeep install --autostart --force": unit,
		"remove it and run " + folder + "current/swapkeep install":  command,
		"inspect it, then swapkeep install --force":                 file,
		"inspect it, then sudo swapkeep install --system --force":   everybodys,
	} {
		if got := p.restoreRemedy(e); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, want %q", e.Path, got, want)
		}
	}
	for kind, path := range map[string]string{"program": folder + "0.1.0/swapkeep", "link": folder + "current"} {
		files.File("/home/ann/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"user","entries":[{"kind":"`+kind+`","path":"`+path+`","sha256":"of another","time":"2026-01-01T00:00:00Z","version":"0.1.0","owner":""}]}`)
		for _, e := range []entry{unit, command, file} {
			if got := p.restoreRemedy(e); !strings.HasPrefix(got, "unpack swapkeep 0.1.0 or later anew") {
				t.Errorf("with another %s, %s: %q", kind, e.Path, got)
			}
		}
		if f := p.fixByInstalling(fail("x", "swapkeep install"), ""); f.fix != nil || !strings.Contains(f.Remedy, "bin/swapkeep install --force") {
			t.Errorf("with another %s: %+v", kind, f)
		}
	}
}

// Browsers that another copy serves are left to it.
func TestServedByAnother(t *testing.T) {
	for owner, want := range map[string]string{"/usr/lib/swapkeep/swapkeep": "", "/gone/swapkeep": "chromium", "/home/ann/.local/lib/swapkeep/current/swapkeep": "chromium"} {
		p, files := onLinux(t)
		files.File("/usr/lib/swapkeep/swapkeep", "another build")
		files.Folder("/home/ann/.config/chromium")
		files.File("/home/ann/.local/state/swapkeep/receipts.json", `{"format":1,"scope":"user","entries":[{"kind":"manifest","path":"/home/ann/.config/chromium/NativeMessagingHosts/app.swapkeep.host.json","time":"2026-01-01T00:00:00Z","version":"0.1.0","owner":"`+owner+`"}]}`)
		p.look(t.Context())
		if got := strings.Join(p.served(), " "); got != want {
			t.Errorf("of %s: %q, want %q", owner, got, want)
		}
	}
}
