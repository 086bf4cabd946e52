package doctor

import (
	"context"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// receipts compares what was installed with what is there.
func receipts(_ context.Context, p *Env) (out []Finding) {
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
			if f, bad := p.receipt(entry{e, scope}); bad {
				out = append(out, f)
			}
		}
	}
	switch {
	case count == 0 && len(out) == 0 && p.packaged():
		return []Finding{ok("browsers use a system package, which has its own list")}
	case count == 0 && len(out) == 0:
		f := note("nothing is installed by swapkeep install").withRemedy("run swapkeep install, or install a package for your system")
		if p.Config == nil && p.noneAllowed() {
			f.Remedy = letIn
		}
		return []Finding{f}
	}
	return orOK(out, ok(plural(count, "receipt")))
}

// packaged reports whether a system package serves a browser. An additional installation
// of the user would be left behind, pointing to nothing, when the package is removed.
func (p *Env) packaged() bool {
	return slices.ContainsFunc(p.facts.browsers, p.hasOfSystem)
}

// hasOfSystem reports whether a browser uses the host that was installed for all users.
func (p *Env) hasOfSystem(b browser) bool {
	first, any := b.first()
	return any && first.place.Scope == manifest.System && p.ours(first)
}

// An entry is a receipt with its scope.
type entry struct {
	installer.Receipt
	scope manifest.Scope
}

// receipt returns a finding about one installed thing.
func (p *Env) receipt(e entry) (f Finding, bad bool) {
	state, err := e.State(p.Machine)
	switch {
	case err != nil:
		f = warn("cannot be read: "+oneLine(err), "")
	case state == installer.Gone:
		f, bad = p.gone(e)
		if !bad {
			return f, false
		}
	case state == installer.Changed && e.Kind != installer.Extensions:
		f = warn(string(e.Kind)+" was changed since it was installed", p.restoreRemedy(e))
	case e.Pending && e.scope == manifest.User && p.reinstalls(e):
		f = p.fixByInstalling(warn("an installation was interrupted", "swapkeep install"), e.Owner)
	case e.Pending:
		f = warn("an installation was interrupted", p.installFor(e.scope, ""))
	default:
		return f, false
	}
	return f.of(strings.TrimSpace(e.Path + " " + e.Name)), true
}

// gone returns a finding about something that was removed. The content of a removed
// directory has receipts of its own, and a version that was replaced is not missed.
func (p *Env) gone(e entry) (Finding, bool) {
	f := warn(string(e.Kind)+" was removed since it was installed", p.installFor(e.scope, ""))
	switch {
	case e.Kind == installer.Directory, e.Kind == installer.Key, p.superseded(e):
		return f, false
	case p.atLogin(e): // as systemctl disable does
		return note(f.Evidence).withRemedy("swapkeep install --autostart, if the daemon is to start at login"), true
	case e.Kind == installer.Extensions:
		return f.withRemedy(letIn), true
	case e.scope == manifest.User && p.ofAbsent(e):
		return note(f.Evidence + ", and so was the browser that it is for"), true
	case e.scope == manifest.User && p.reinstalls(e):
		return p.fixByInstalling(f, e.Owner), true
	case e.scope == manifest.User && p.otherCopyRemedy(e.Owner) != "":
		return f.withRemedy(p.otherCopyRemedy(e.Owner)), true
	}
	return f, true
}

// installFor returns the command that installs for a scope.
func (p *Env) installFor(scope manifest.Scope, more string) string {
	switch {
	case scope == manifest.User:
		return "swapkeep install" + more
	case p.Machine.OS == "windows":
		return "as an administrator, swapkeep install --system" + more
	}
	return "sudo swapkeep install --system" + more
}

// restoreRemedy returns the command that restores something that was changed. A changed
// program must not be used to replace itself.
func (p *Env) restoreRemedy(e entry) string {
	layout, err := installer.LayoutOf(p.Machine, e.scope, p.Version, "")
	switch anew := p.tamperedRemedy(); {
	case anew != "":
		return anew
	case p.atLogin(e):
		return "inspect it, then run swapkeep install --autostart --force"
	case err == nil && e.Kind == installer.Link: // the shell's link; if somebody changed it, they may keep it
		return "inspect it; to restore it, remove it and run " + p.quoted(layout.Launch) + " install"
	}
	return "inspect it, then " + p.installFor(e.scope, " --force")
}

// tamperedRemedy returns the remedy if a program, or the link to it, differs from what was
// installed; "" otherwise.
func (p *Env) tamperedRemedy() string {
	for _, r := range p.receipts() {
		layout, err := installer.LayoutOf(p.Machine, r.scope, p.Version, "")
		leads := err == nil && r.Kind == installer.Link && r.Path == layout.Current
		if !leads && r.Kind != installer.Program || p.superseded(r) {
			continue
		}
		if state, err := r.State(p.Machine); err != nil || state != installer.Changed {
			continue
		}
		command := "bin/swapkeep"
		if p.Machine.OS == "windows" {
			command = `bin\swapkeep`
		}
		how := strings.Replace(p.installFor(r.scope, " --force"), "swapkeep", command, 1)
		return "unpack swapkeep " + r.Version + " or later anew, from a download that you trust, and run there: " + how
	}
	return ""
}

// superseded reports whether something belongs to a version that was replaced by another.
func (p *Env) superseded(e entry) bool {
	layout, err := installer.LayoutOf(p.Machine, e.scope, p.Version, "")
	if err != nil || layout.Current == "" {
		return false
	}
	now, err := p.Machine.Files.Readlink(layout.Current)
	below, in := strings.CutPrefix(e.Path, p.parent(layout.Current)+"/")
	version, _, _ := strings.Cut(below, "/")
	return err == nil && in && version != now && below != "current"
}

// finders returns the browsers that find the host through something.
func (p *Env) finders(e entry) (browsers []browser) {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, "")
	for _, b := range p.facts.browsers {
		if slices.ContainsFunc(b.places, func(place manifest.Place) bool {
			if place.Key != "" && e.Kind == installer.Manifest { // named by registry keys
				return err == nil && e.Path == p.under(layout.Manifests, manifest.WindowsFileName(place.Family))
			}
			kind, path := p.registration(place)
			return place.Scope == manifest.User && e.Kind == kind && e.Path == path
		}) {
			browsers = append(browsers, b)
		}
	}
	return browsers
}

// ofAbsent reports whether something served a browser that is no longer installed.
func (p *Env) ofAbsent(e entry) bool {
	return p.Browser == "" && (e.Kind == installer.Manifest || e.Kind == installer.Value) && len(p.finders(e)) == 0
}

// reinstalls reports whether --fix would create something again: it installs this version
// for the browsers that are served.
func (p *Env) reinstalls(e entry) bool {
	layout, err := installer.LayoutOf(p.Machine, manifest.User, p.Version, p.parent(p.Program))
	served := p.served()
	if err != nil || len(served) == 0 || p.Browser != "" {
		return false
	}
	switch e.Kind {
	case installer.Program:
		return p.parent(e.Path) == layout.Programs
	case installer.Link:
		_, err := p.Machine.Files.Stat(p.parent(e.Path))
		return e.Path == layout.Current || e.Path == layout.Command && err == nil
	}
	return slices.ContainsFunc(p.finders(e), func(b browser) bool { return b.Box == "" && slices.Contains(served, b.Browser) })
}

// receipts returns all receipts that can be read.
func (p *Env) receipts() (out []entry) {
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		r, err := installer.ReadReceipts(p.Machine, scope)
		if err != nil {
			continue
		}
		for _, e := range r.Entries {
			out = append(out, entry{e, scope})
		}
	}
	return out
}
