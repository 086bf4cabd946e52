package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

var installationChecks = []check{
	{"receipts", "the installed files are unchanged", nil, receipts},
	{"versions", "no old version remains", nil, versions},
	{"autostart", "autostart starts this version", nil, autostart},
	{"disk", "enough disk space for the databases", nil, space},
}

// versions looks for directories of versions that nothing points to any more.
func versions(_ context.Context, p *Env) []Finding {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, "")
	if err != nil || layout.Current == "" {
		return []Finding{ok("versions replace each other here")}
	}
	at, err := p.Machine.Files.Readlink(layout.Current)
	if err != nil {
		return []Finding{ok("none is installed for this user")}
	}
	dir := p.parent(layout.Current)
	entries, _ := p.Machine.Files.ReadDir(dir)
	var left, running []string
	for _, e := range entries {
		if !e.IsDir() || e.Name() == at || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		old := dir + "/" + e.Name()
		if p.runs(old) {
			running = append(running, old)
			continue
		}
		left = append(left, old)
	}
	var out []Finding
	if len(running) > 0 {
		slices.Sort(running)
		out = append(out, note(at+" is in use; still running: "+strings.Join(running, ", ")).withRemedy("close the browsers that use it, then swapkeep stop; the next use starts "+at+"; unused versions are then removed"))
	}
	if len(left) > 0 {
		slices.Sort(left)
		out = append(out, note(at+" is in use; left over: "+strings.Join(left, ", ")).withRemedy("rm -r "+p.quotedAll(left)))
	}
	return orOK(out, ok(at))
}

// runs reports whether a process may run from a directory. The system reports its path
// with links resolved, its command line perhaps without.
func (p *Env) runs(dir string) bool {
	for _, name := range slices.Compact([]string{dir, p.resolved(dir)}) {
		if runs, err := installer.RunningFrom(name); runs || err != nil {
			return true
		}
	}
	return false
}

func (p *Env) quotedAll(paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = p.quoted(path)
	}
	return strings.Join(words, " ")
}

// loginKey is the end of the registry key with the programs that Windows starts at login.
const loginKey = `\CurrentVersion\Run`

// atLogin reports whether a receipt is for something that starts the daemon at login: a
// file, on Linux with a link to it, on Windows a registry value.
func (p *Env) atLogin(e entry) bool {
	switch e.Kind {
	case installer.Autostart:
		return true
	case installer.Link:
		return strings.HasSuffix(p.parent(e.Path), ".target.wants")
	case installer.Value:
		return strings.HasSuffix(e.Path, loginKey)
	}
	return false
}

// autostart checks whether what starts at login is a daemon of this installation.
func autostart(_ context.Context, p *Env) (out []Finding) {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, "")
	if err != nil {
		return []Finding{skipped(oneLine(err))}
	}
	starts := false
	for _, r := range p.receipts() {
		if !p.atLogin(r) {
			continue
		}
		text, there := p.atLoginText(r)
		if !there { // reported by the check of receipts
			return []Finding{ok("no autostart; the daemon starts when needed")}
		}
		starts = true
		if r.Kind != installer.Link && !strings.Contains(text, layout.Daemon) && !strings.Contains(text, p.Daemon) {
			out = append(out, warn("starts another program than "+layout.Daemon, p.restoreRemedy(r)).of(strings.TrimSpace(r.Path+" "+r.Name)))
		}
	}
	if !starts {
		return []Finding{ok("no autostart; the daemon starts when needed")}
	}
	return orOK(out, ok(layout.Daemon))
}

// atLoginText returns the text that names the program; for a link that of its target.
func (p *Env) atLoginText(r entry) (text string, there bool) {
	if r.Kind == installer.Value {
		text, there, err := p.Machine.Registry.Value(r.Path, r.Name)
		return text, there && err == nil
	}
	content, err := p.Machine.Files.ReadFile(p.resolved(r.Path))
	return string(content), err == nil
}

// Limits of free space, in bytes.
const (
	minSpace = 16 << 20
	fewSpace = 256 << 20
)

func space(_ context.Context, p *Env) []Finding {
	dir := p.Place.Home
	for range 16 { // the state directory may not exist yet
		free, err := freeSpace(dir)
		if err != nil && dir != p.parent(dir) {
			dir = p.parent(dir)
			continue
		}
		evidence := fmt.Sprintf("%d MiB are free for %s", free>>20, p.Place.Home)
		switch {
		case err != nil:
			return []Finding{skipped(oneLine(err))}
		case free < minSpace:
			return []Finding{fail(evidence, "free disk space: nothing is signed unless it can be recorded")}
		case free < fewSpace:
			return []Finding{warn(evidence, "free disk space: nothing is signed unless it can be recorded")}
		}
		return []Finding{ok("enough free space for " + p.Place.Home)}
	}
	return []Finding{skipped("no folder of " + p.Place.Home + " is there")}
}
