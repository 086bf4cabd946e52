package doctor

import (
	"context"
	"fmt"
	"path"
	"strings"

	"swapkeep/manifest"
)

// On Windows Chromium starts hosts through the command processor.
var windowsChecks = []check{
	{"windows.comspec", "Chromium can start programs by cmd.exe", []string{"windows"}, comspec},
	{"windows.cmd", "no policy disables cmd.exe", []string{"windows"}, commandPrompt},
	{"windows.compatibility", "cmd.exe and the host are started without compatibility settings", []string{"windows"}, compatibility},
	{"windows.views", "both views of the registry agree", []string{"windows"}, views},
}

func comspec(_ context.Context, p *Env) []Finding {
	const remedy = `set COMSPEC to %SystemRoot%\System32\cmd.exe for your user, and sign in again`
	at := p.Machine.Env("COMSPEC")
	switch _, err := p.Machine.Files.Stat(at); {
	case at == "":
		return []Finding{fail("COMSPEC is not set", remedy)}
	case !strings.EqualFold(path.Base(strings.ReplaceAll(at, `\`, "/")), "cmd.exe"):
		return []Finding{warn("COMSPEC is "+at, remedy)}
	case err != nil:
		return []Finding{fail(at+" is not there", remedy)}
	}
	return []Finding{ok(at)}
}

func commandPrompt(_ context.Context, p *Env) []Finding {
	for _, hive := range []string{"HKCU", "HKLM"} {
		key := hive + `\Software\Policies\Microsoft\Windows\System`
		if n, is := p.number(key, "DisableCMD"); is && n != 0 {
			return []Finding{fail(fmt.Sprintf("%s, DisableCMD is %d", key, n), askAdministrator+"the command prompt, or to set NativeHostsExecutablesLaunchDirectly for your browser")}
		}
	}
	return []Finding{ok("none does")}
}

// elevating are compatibility settings of a program with which the programs that a
// browser starts do not get the browser's pipes.
var elevating = []string{"RUNASADMIN", "RUNASHIGHEST", "ELEVATE"}

func compatibility(_ context.Context, p *Env) (out []Finding) {
	if p.Machine.Registry == nil {
		return []Finding{skipped("no registry")}
	}
	for _, program := range append(p.programs(), p.Machine.Env("COMSPEC")) {
		for _, hive := range []string{"HKCU", "HKLM"} {
			key := hive + `\Software\Microsoft\Windows NT\CurrentVersion\AppCompatFlags\Layers`
			text, is, err := p.Machine.Registry.Value(key, program)
			if err != nil || !is {
				continue
			}
			for _, flag := range elevating {
				if strings.Contains(strings.ToUpper(text), flag) {
					out = append(out, fail(fmt.Sprintf("it runs as administrator (%s: %s)", key, text), "open its properties, Compatibility, and clear the check mark").of(program))
					break
				}
			}
		}
	}
	return orOK(out, ok("no such mark"))
}

// views looks for a different manifest in the 32-bit view, which browsers read first.
func views(_ context.Context, p *Env) (out []Finding) {
	if p.Machine.Registry == nil {
		return []Finding{skipped("no registry")}
	}
	for _, b := range p.facts.browsers {
		for _, place := range b.places {
			if place.Scope != manifest.System || place.Key == "" {
				continue
			}
			first, second := keyIn(place, manifest.View32), keyIn(place, manifest.View64)
			old, is32, _ := p.Machine.Registry.Value(first, "")
			now, is64, _ := p.Machine.Registry.Value(second, "")
			if is32 && is64 && old != now {
				out = append(out, warn(fmt.Sprintf("the 32-bit view, which is read first, names %s and the other %s", old, now),
					`reg delete "`+first+`" /f, as an administrator`).of(b.title()))
			}
		}
	}
	return orOK(out, ok("they do"))
}
