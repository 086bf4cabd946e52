package doctor

import (
	"context"
	"strings"
	"testing"

	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/installer/installertest"
	"swapkeep/manifest"
)

const (
	chromiumID  = "abcdefghijklmnopabcdefghijklmnop"
	windowsHost = `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeep.exe`
	windowsFile = `C:\Users\ann\AppData\Local\swapkeep\app.swapkeep.host.chromium.json`
	chromeKey   = `Software\Google\Chrome\NativeMessagingHosts\` + manifest.HostName
	layers      = `\Software\Microsoft\Windows NT\CurrentVersion\AppCompatFlags\Layers`
)

// onWindows returns a Env in memory, with Chrome and an installation.
func onWindows(t *testing.T) (*Env, *installertest.Files, *installertest.Registry) {
	t.Helper()
	files, registry := installertest.NewFiles(`C:\Users\ann\AppData\Local\Google\Chrome`), installertest.NewRegistry()
	text, err := manifest.Render(manifest.Chromium, "windows", windowsHost, []string{chromiumID})
	if err != nil {
		t.Fatal(err)
	}
	files.File(windowsFile, string(text))
	files.File(windowsHost, "program")
	files.File(`C:\Windows\System32\cmd.exe`, "shell")
	registry.Put(`HKCU\`+chromeKey, "", windowsFile)
	env := map[string]string{
		"LOCALAPPDATA": `C:\Users\ann\AppData\Local`, "APPDATA": `C:\Users\ann\AppData\Roaming`, "ProgramFiles": `C:\Program Files`,
		"COMSPEC": `C:\Windows\System32\cmd.exe`,
	}
	return &Env{
		Machine: installer.Machine{OS: "windows", Home: `C:\Users\ann`, Env: func(name string) string { return env[name] }, Files: files, Registry: registry},
		UID:     -1, Version: "0.1.0", Program: windowsHost, Place: transport.Instance{Home: t.TempDir()},
		Allowed: map[manifest.Family][]string{manifest.Chromium: {chromiumID}},
	}, files, registry
}

// toldBy runs the doctor and returns one check's worst status and its text.
func toldBy(t *testing.T, p *Env, id string) (worst Status, said string) {
	t.Helper()
	p.look(t.Context())
	defer p.facts.close()
	for _, group := range groups {
		for _, c := range group {
			if c.id != id {
				continue
			}
			found := c.run(context.WithoutCancel(t.Context()), p)
			for _, f := range found {
				said += f.About + " " + f.Evidence + " " + f.Remedy + "\n"
			}
			return Worst(found), said
		}
	}
	t.Fatalf("no check %s", id)
	return
}

func TestWindows(t *testing.T) {
	other := func(f *installertest.Files, path string) string {
		text, err := manifest.Render(manifest.Chromium, "windows", `C:\other\swapkeep.exe`, []string{chromiumID})
		if err != nil {
			t.Fatal(err)
		}
		f.File(path, string(text))
		return path
	}
	for name, row := range map[string]struct {
		id     string
		breaks func(*Env, *installertest.Files, *installertest.Registry)
		want   Status
		says   string
	}{
		"found":         {"manifest.found", nil, OK, "chrome"},
		"valid":         {"manifest.valid", nil, OK, "1 manifest"},
		"program":       {"program.there", nil, OK, windowsHost},
		"same":          {"program.same", nil, OK, windowsHost},
		"comspec":       {"windows.comspec", nil, OK, "cmd.exe"},
		"cmd":           {"windows.cmd", nil, OK, "none does"},
		"compatibility": {"windows.compatibility", nil, OK, "no such mark"},
		"views":         {"windows.views", nil, OK, "they do"},
		"policy":        {"policy", nil, OK, "1 browser"},

		"no key": {"manifest.found", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			if err := r.Unset(`HKCU\`+chromeKey, ""); err != nil {
				t.Fatal(err)
			}
		}, Fail, "swapkeep install --browser chrome"},
		"key to nothing": {"manifest.valid", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\`+chromeKey, "", `C:\gone.json`)
		}, Fail, `C:\gone.json`},
		"relative path": {"program.there", func(_ *Env, f *installertest.Files, _ *installertest.Registry) {
			f.File(windowsFile, `{"name":"app.swapkeep.host","description":"x","type":"stdio","path":"bin\\swapkeep.exe","allowed_origins":[]}`)
		}, OK, windowsHost},
		"hidden by the user's": {"manifest.order", func(_ *Env, f *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\`+chromeKey, "", other(f, `C:\other.json`))
			r.Put(`HKLM\`+chromeKey, "", windowsFile)
		}, Fail, "swapkeep install --force --browser chrome"},
		"hidden by the 32-bit view": {"manifest.order", func(_ *Env, f *installertest.Files, r *installertest.Registry) {
			if err := r.Unset(`HKCU\`+chromeKey, ""); err != nil {
				t.Fatal(err)
			}
			r.Put(`HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\`+manifest.HostName, "", other(f, `C:\other.json`))
			r.Put(`HKLM\`+chromeKey, "", windowsFile)
		}, Fail, `reg delete "HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\` + manifest.HostName + `" /f`},
		"views differ": {"windows.views", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\`+manifest.HostName, "", `C:\old.json`)
			r.Put(`HKLM\`+chromeKey, "", windowsFile)
		}, Warn, `reg delete "HKLM\Software\WOW6432Node\Google`},
		"no comspec": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return "" }
		}, Fail, "COMSPEC is not set"},
		"another shell": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return `C:\tools\clink.exe` }
		}, Warn, "clink.exe"},
		"no such shell": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return `D:\Windows\cmd.exe` }
		}, Fail, "is not there"},
		"cmd disabled": {"windows.cmd", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\Software\Policies\Microsoft\Windows\System`, "DisableCMD", "2")
		}, Fail, "DisableCMD is 2"},
		"cmd as administrator": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU`+layers, `C:\Windows\System32\cmd.exe`, "~ RUNASADMIN")
		}, Fail, "cmd.exe"},
		"host as administrator": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM`+layers, windowsHost, "RUNASHIGHEST")
		}, Fail, "swapkeep.exe"},
		"harmless layer": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM`+layers, windowsHost, "HIGHDPIAWARE")
		}, OK, "no such mark"},
		"blocked": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "1", "com.example.other")
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "2", "*")
		}, Fail, "NativeMessagingAllowlist"},
		"blocked but allowed": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "1", "*")
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingAllowlist`, "1", manifest.HostName)
		}, OK, "1 browser"},
		"no user level": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\Software\Policies\Google\Chrome`, "NativeMessagingUserLevelHosts", "0")
		}, Fail, "NativeMessagingUserLevelHosts"},
	} {
		p, files, registry := onWindows(t)
		if row.breaks != nil {
			row.breaks(p, files, registry)
		}
		if got, said := toldBy(t, p, row.id); got != row.want || !strings.Contains(said, row.says) {
			t.Errorf("%s: %s is %s, want %s with %q: %s", name, row.id, got, row.want, row.says, said)
		}
	}
}

// Links on Windows may lead to other disks and use backslashes.
func TestResolved(t *testing.T) {
	p, files, _ := onWindows(t)
	for link, to := range map[string]string{
		`C:\Users\bob`: `D:\Users\bob`, `C:\Users\eve`: `..\Home\eve`, `C:\Users\joe`: `\Home\joe`,
	} {
		files.Link(link, to)
	}
	for path, want := range map[string]string{
		`C:\Users\bob\x.exe`: `D:\Users\bob\x.exe`, `C:\Users\eve\x.exe`: `C:\Home\eve\x.exe`, `C:\Users\joe`: `C:\Home\joe`, windowsHost: windowsHost,
	} {
		if got := p.resolved(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	linux, _ := onLinux(t)
	if got := linux.from("/home/ann", "../bob"); got != "/home/bob" {
		t.Error(got)
	}
}

// Windows starts the daemon from a value of its Run key.
func TestAutostartOfWindows(t *testing.T) {
	const key = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`
	const receipts = `{"format":1,"scope":"user","entries":[{"kind":"value","path":"HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run","name":"Swapkeep","time":"2026-01-01T00:00:00Z","version":"0.1.0","owner":""}]}`
	for text, want := range map[string]string{
		"": "no autostart", `"C:\Users\ann\AppData\Local\swapkeep\bin\swapkeepd.exe"`: "swapkeepd.exe", `"C:\old\swapkeepd.exe"`: "starts another program",
	} {
		p, files, registry := onWindows(t)
		p.Daemon = `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeepd.exe`
		files.File(`C:\Users\ann\AppData\Local\swapkeep\receipts.json`, receipts)
		if text != "" {
			registry.Put(key, "Swapkeep", text)
		}
		_, said := toldBy(t, p, "autostart")
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s", text, said)
		}
		if got, said := toldBy(t, p, "receipts"); text == "" && (got != Note || !strings.Contains(said, "--autostart")) {
			t.Errorf("%s: it is %s: %s", text, got, said)
		}
	}
}
