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
	{"receipts", "what was installed is as it was", nil, receipts},
	{"versions", "no old version is left", nil, versions},
	{"autostart", "what starts the daemon at login names this one", nil, autostart},
	{"disk", "there is space for the databases", nil, space},
}

// receipts hold what was installed against what is there.
func receipts(_ context.Context, p *Patient) (out []Finding) {
	count := 0
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		r, err := installer.ReadReceipts(p.Machine, scope)
		if err != nil {
			path, _ := installer.ReceiptsPath(p.Machine, scope)
			out = append(out, fail(oneLine(err), p.moveAside(path, "swapkeep install")).of(string(scope)))
			continue
		}
		for _, e := range r.Entries {
			count++
			if f, bad := p.receipt(e); bad {
				out = append(out, f)
			}
		}
	}
	switch {
	case count == 0 && len(out) == 0 && p.packaged():
		return []Finding{ok("browsers are served by a package of the system, which has its own list")}
	case count == 0 && len(out) == 0:
		return []Finding{note("nothing was installed by swapkeep install").withRemedy("swapkeep install, or a package for your system")}
	}
	return unless(out, ok(plural(count, "receipt")))
}

// packaged reports whether a package serves a browser. An installation of the user's own
// beside it would be left behind, and lead nowhere, when the package is removed.
func (p *Patient) packaged() bool {
	return slices.ContainsFunc(p.seen.browsers, p.hasOfSystem)
}

// hasOfSystem reports whether a browser has the host from what was installed for all users.
func (p *Patient) hasOfSystem(b browser) bool {
	first, any := b.first()
	return any && first.place.Scope == manifest.System && p.ours(first)
}

// chosen are what an installation makes only when it is asked to, and how it is asked.
var chosen = map[installer.Kind]string{
	installer.Autostart:  "swapkeep install --autostart, if the daemon is to start at login",
	installer.Extensions: "swapkeep install --extension-id ID, with the id that the extension's popup shows",
}

func (p *Patient) receipt(e installer.Receipt) (Finding, bool) {
	state, err := e.State(p.Machine)
	about := strings.TrimSpace(e.Path + " " + e.Name)
	switch {
	case err != nil:
		return warn("cannot be looked at: "+oneLine(err), "").of(about), true
	case state == installer.Gone && chosen[e.Kind] != "":
		return warn(string(e.Kind)+" was removed since it was installed", chosen[e.Kind]).of(about), true
	case state == installer.Gone:
		return p.mendedByInstalling(warn(string(e.Kind)+" was removed since it was installed", "swapkeep install").of(about)), true
	case state == installer.Changed && e.Kind != installer.Extensions:
		return warn(string(e.Kind)+" was changed since it was installed", "look at it, then swapkeep install --force").of(about), true
	case e.Pending:
		return p.mendedByInstalling(warn("an installation was interrupted", "swapkeep install").of(about)), true
	}
	return Finding{}, false
}

// receipts are all that can be read.
func (p *Patient) receipts() (out []installer.Receipt) {
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		if r, err := installer.ReadReceipts(p.Machine, scope); err == nil {
			out = append(out, r.Entries...)
		}
	}
	return out
}

// versions looks for folders of versions that nothing leads to any more.
func versions(_ context.Context, p *Patient) []Finding {
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
		if runs, err := installer.RunningFrom(old); runs || err != nil {
			running = append(running, old)
			continue
		}
		left = append(left, old)
	}
	var out []Finding
	if len(running) > 0 {
		slices.Sort(running)
		out = append(out, note(at+" is in use; still running: "+strings.Join(running, ", ")).withRemedy("swapkeep stop; the next use starts "+at+", and what nothing runs from can go then"))
	}
	if len(left) > 0 {
		slices.Sort(left)
		out = append(out, note(at+" is in use; left over: "+strings.Join(left, ", ")).withRemedy("rm -r "+p.quotedAll(left)))
	}
	return unless(out, ok(at))
}

func (p *Patient) quotedAll(paths []string) string {
	words := make([]string, len(paths))
	for i, path := range paths {
		words[i] = p.quoted(path)
	}
	return strings.Join(words, " ")
}

// autostart looks whether the system would start a daemon that is there.
func autostart(_ context.Context, p *Patient) (out []Finding) {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, "")
	if err != nil {
		return []Finding{skipped(oneLine(err))}
	}
	count := 0
	for _, r := range p.receipts() {
		if r.Kind != installer.Autostart {
			continue
		}
		count++
		text, err := p.Machine.Files.ReadFile(r.Path)
		switch {
		case err != nil:
			continue // the receipts' check tells
		case !strings.Contains(string(text), layout.Daemon) && !strings.Contains(string(text), p.Daemon):
			out = append(out, warn("starts another program than "+layout.Daemon, "swapkeep install --autostart").of(r.Path))
		}
	}
	if count == 0 {
		return []Finding{ok("nothing does; the daemon starts when it is needed")}
	}
	return unless(out, ok(layout.Daemon))
}

// Bounds of free space, in bytes.
const (
	leastSpace = 16 << 20
	fewSpace   = 256 << 20
)

func space(_ context.Context, p *Patient) []Finding {
	dir := p.Place.Home
	for range 16 { // the state directory may be still to be made
		free, err := freeSpace(dir)
		if err != nil && dir != p.parent(dir) {
			dir = p.parent(dir)
			continue
		}
		evidence := fmt.Sprintf("%d MiB are free for %s", free>>20, p.Place.Home)
		switch {
		case err != nil:
			return []Finding{skipped(oneLine(err))}
		case free < leastSpace:
			return []Finding{fail(evidence, "free some: nothing is signed that cannot be written down")}
		case free < fewSpace:
			return []Finding{warn(evidence, "free some: nothing is signed that cannot be written down")}
		}
		return []Finding{ok("enough is free for " + p.Place.Home)}
	}
	return []Finding{skipped("no folder of " + p.Place.Home + " is there")}
}
