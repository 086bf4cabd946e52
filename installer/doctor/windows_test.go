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
	chromiumID      = "abcdefghijklmnopabcdefghijklmnop"
	windowsHost     = `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeep.exe`
	windowsManifest = `C:\Users\ann\AppData\Local\swapkeep\app.swapkeep.host.chromium.json`
	chromeKey       = `Software\Google\Chrome\NativeMessagingHosts\` + manifest.HostName
	layersKey       = `\Software\Microsoft\Windows NT\CurrentVersion\AppCompatFlags\Layers`
)

// onWindows returns an Env in memory: Windows with Chrome, where Swapkeep is installed correctly.
func onWindows(t *testing.T) (*Env, *installertest.Files, *installertest.Registry) {
	t.Helper()
	files, registry := installertest.NewFiles(`C:\Users\ann\AppData\Local\Google\Chrome`), installertest.NewRegistry()
	text, err := manifest.Render(manifest.Chromium, "windows", windowsHost, []string{chromiumID})
	if err != nil {
		t.Fatal(err)
	}
	files.File(windowsManifest, string(text))
	files.File(windowsHost, "program")
	files.File(`C:\Windows\System32\cmd.exe`, "shell")
	registry.Put(`HKCU\`+chromeKey, "", windowsManifest)
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

// runCheck runs one check of the doctor. It returns the worst status of its findings, and their
// text.
func runCheck(t *testing.T, p *Env, id string) (worst Status, text string) {
	t.Helper()
	p.look(t.Context())
	defer p.facts.close()
	for _, group := range groups {
		for _, c := range group {
			if c.id != id {
				continue
			}
			findings := c.run(context.WithoutCancel(t.Context()), p)
			for _, f := range findings {
				text += f.About + " " + f.Evidence + " " + f.Remedy + "\n"
			}
			return Worst(findings), text
		}
	}
	t.Fatalf("no check %s", id)
	return
}

// TestWindows checks what each check finds on Windows when all is well, and after a change that
// breaks something or only looks as if it did.
func TestWindows(t *testing.T) {
	addOther := func(f *installertest.Files, path string) string {
		text, err := manifest.Render(manifest.Chromium, "windows", `C:\other\swapkeep.exe`, []string{chromiumID})
		if err != nil {
			t.Fatal(err)
		}
		f.File(path, string(text))
		return path
	}
	for name, row := range map[string]struct {
		id     string // of the check
		change func(*Env, *installertest.Files, *installertest.Registry)
		want   Status
		text   string // contained in the text of the findings
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

		"no registry value": {"manifest.found", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			if err := r.Unset(`HKCU\`+chromeKey, ""); err != nil {
				t.Fatal(err)
			}
		}, Fail, "swapkeep install --browser chrome"},
		"missing manifest file": {"manifest.valid", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\`+chromeKey, "", `C:\gone.json`)
		}, Fail, `C:\gone.json`},
		"relative path": {"program.there", func(_ *Env, f *installertest.Files, _ *installertest.Registry) {
			f.File(windowsManifest, `{"name":"app.swapkeep.host","description":"x","type":"stdio","path":"bin\\swapkeep.exe","allowed_origins":[]}`)
		}, OK, windowsHost},
		"other manifest for the user": {"manifest.order", func(_ *Env, f *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\`+chromeKey, "", addOther(f, `C:\other.json`))
			r.Put(`HKLM\`+chromeKey, "", windowsManifest)
		}, Fail, "swapkeep install --force --browser chrome"},
		"other manifest in 32-bit view": {"manifest.order", func(_ *Env, f *installertest.Files, r *installertest.Registry) {
			if err := r.Unset(`HKCU\`+chromeKey, ""); err != nil {
				t.Fatal(err)
			}
			r.Put(`HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\`+manifest.HostName, "", addOther(f, `C:\other.json`))
			r.Put(`HKLM\`+chromeKey, "", windowsManifest)
		}, Fail, `reg delete "HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\` + manifest.HostName + `" /f`},
		"views differ": {"windows.views", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\WOW6432Node\Google\Chrome\NativeMessagingHosts\`+manifest.HostName, "", `C:\old.json`)
			r.Put(`HKLM\`+chromeKey, "", windowsManifest)
		}, Warn, `reg delete "HKLM\Software\WOW6432Node\Google`},
		"no comspec": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return "" }
		}, Fail, "COMSPEC is not set"},
		"other shell": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return `C:\tools\clink.exe` }
		}, Warn, "clink.exe"},
		"missing shell": {"windows.comspec", func(p *Env, _ *installertest.Files, _ *installertest.Registry) {
			p.Machine.Env = func(string) string { return `D:\Windows\cmd.exe` }
		}, Fail, "is not there"},
		"cmd disabled": {"windows.cmd", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\Software\Policies\Microsoft\Windows\System`, "DisableCMD", "2")
		}, Fail, "DisableCMD is 2"},
		"cmd runs as administrator": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU`+layersKey, `C:\Windows\System32\cmd.exe`, "~ RUNASADMIN")
		}, Fail, "cmd.exe"},
		"host runs as administrator": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM`+layersKey, windowsHost, "RUNASHIGHEST")
		}, Fail, "swapkeep.exe"},
		"harmless layer": {"windows.compatibility", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM`+layersKey, windowsHost, "HIGHDPIAWARE")
		}, OK, "no such mark"},
		"all hosts blocked": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "1", "com.example.other")
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "2", "*")
		}, Fail, "NativeMessagingAllowlist"},
		"all blocked, ours allowed": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingBlocklist`, "1", "*")
			r.Put(`HKLM\Software\Policies\Google\Chrome\NativeMessagingAllowlist`, "1", manifest.HostName)
		}, OK, "1 browser"},
		"hosts of the user ignored": {"policy", func(_ *Env, _ *installertest.Files, r *installertest.Registry) {
			r.Put(`HKCU\Software\Policies\Google\Chrome`, "NativeMessagingUserLevelHosts", "0")
		}, Fail, "NativeMessagingUserLevelHosts"},
	} {
		p, files, registry := onWindows(t)
		if row.change != nil {
			row.change(p, files, registry)
		}
		if got, text := runCheck(t, p, row.id); got != row.want || !strings.Contains(text, row.text) {
			t.Errorf("%s: check %s is %s, want %s with %q in: %s", name, row.id, got, row.want, row.text, text)
		}
	}
}

// TestResolved checks that symbolic links of Windows are followed, which may lead to other drives
// and use backslashes.
func TestResolved(t *testing.T) {
	p, files, _ := onWindows(t)
	for link, target := range map[string]string{
		`C:\Users\bob`: `D:\Users\bob`, `C:\Users\eve`: `..\Home\eve`, `C:\Users\joe`: `\Home\joe`,
	} {
		files.Link(link, target)
	}
	for path, want := range map[string]string{
		`C:\Users\bob\x.exe`: `D:\Users\bob\x.exe`, `C:\Users\eve\x.exe`: `C:\Home\eve\x.exe`, `C:\Users\joe`: `C:\Home\joe`, windowsHost: windowsHost,
	} {
		if got := p.resolved(path); got != want {
			t.Errorf("%s resolves to %s, want %s", path, got, want)
		}
	}
	linux, _ := onLinux(t)
	if got := linux.from("/home/ann", "../bob"); got != "/home/bob" {
		t.Errorf("from(/home/ann, ../bob) = %q, want /home/bob", got)
	}
}

// TestWindowsAutostart checks what is found about the value of the Run key with which Windows
// starts the daemon: absent, correct, and of another program.
func TestWindowsAutostart(t *testing.T) {
	const key = `HKCU\Software\Microsoft\Windows\CurrentVersion\Run`
	const receipts = `{"format":1,"scope":"user","entries":[{"kind":"value","path":"HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run","name":"Swapkeep","time":"2026-01-01T00:00:00Z","version":"0.1.0","owner":""}]}`
	for command, want := range map[string]string{
		"": "no autostart", `"C:\Users\ann\AppData\Local\swapkeep\bin\swapkeepd.exe"`: "swapkeepd.exe", `"C:\old\swapkeepd.exe"`: "starts another program",
	} {
		p, files, registry := onWindows(t)
		p.Daemon = `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeepd.exe`
		files.File(`C:\Users\ann\AppData\Local\swapkeep\receipts.json`, receipts)
		if command != "" {
			registry.Put(key, "Swapkeep", command)
		}
		if _, text := runCheck(t, p, "autostart"); !strings.Contains(text, want) {
			t.Errorf("command %q: got %s, want %q in it", command, text, want)
		}
		if got, text := runCheck(t, p, "receipts"); command == "" && (got != Note || !strings.Contains(text, "--autostart")) {
			t.Errorf("receipts without autostart: got %s, %s", got, text)
		}
	}
}
