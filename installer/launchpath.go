package installer

import (
	"fmt"
	"strings"

	"swapkeep/manifest"
)

// A Layout says where an installation of one scope keeps its things. Browsers are told
// a path that stays the same from version to version.
type Layout struct {
	Programs  string // the folder of this version's programs
	Current   string // the link to it; "" where the programs of a version replace the last one's
	Launch    string // the program that browsers start
	Daemon    string // the daemon beside it
	Command   string // the link by which a person's shell finds the program; "" = none
	Manifests string // Windows: the folder of the manifests that keys name
	Receipts  string // receipts.json
	Managed   bool   // the programs are a package's or another scope's and stay as they are
}

// A setting is where a system keeps the things of one scope.
type setting struct {
	programs  func(Machine) string // every version has a folder in it, or, without links, the one folder
	links     bool
	command   func(Machine) string // the folder for links to commands; used only if it is there
	manifests func(Machine) string
	state     func(Machine) string
}

func at(elem ...string) func(Machine) string {
	return func(m Machine) string { return m.join(elem...) }
}

func inHome(elem ...string) func(Machine) string {
	return func(m Machine) string { return m.join(append([]string{m.Home}, elem...)...) }
}

func inVariable(name string, elem ...string) func(Machine) string {
	return func(m Machine) string { return m.join(append([]string{m.Env(name)}, elem...)...) }
}

// inState is the home of the daemon on Linux.
func inState(m Machine) string {
	if dir := m.Env("XDG_STATE_HOME"); m.isAbs(dir) {
		return m.join(dir, "swapkeep")
	}
	return m.join(m.Home, ".local", "state", "swapkeep")
}

var settings = map[string]map[manifest.Scope]setting{
	"linux": {
		manifest.User:   {inHome(".local", "lib", "swapkeep"), true, inHome(".local", "bin"), nil, inState},
		manifest.System: {at("/usr/local/lib/swapkeep"), true, at("/usr/local/bin"), nil, at("/var/lib/swapkeep")},
	},
	"darwin": {
		manifest.User:   {inHome("Library", "Application Support", "swapkeep", "lib"), true, nil, nil, inHome("Library", "Application Support", "swapkeep")},
		manifest.System: {at("/Library/Application Support/swapkeep/lib"), true, at("/usr/local/bin"), nil, at("/Library/Application Support/swapkeep")},
	},
	"windows": {
		manifest.User:   {inVariable("LOCALAPPDATA", "swapkeep", "bin"), false, nil, inVariable("LOCALAPPDATA", "swapkeep"), inVariable("LOCALAPPDATA", "swapkeep")},
		manifest.System: {inVariable("ProgramFiles", "swapkeep", "bin"), false, nil, inVariable("ProgramFiles", "swapkeep"), inVariable("ProgramFiles", "swapkeep")},
	},
}

// packaged is where a system's packages keep the programs.
var packaged = map[string]func(Machine) string{
	"linux":   at("/usr/lib/swapkeep"),
	"darwin":  at("/Library/Application Support/swapkeep/lib"),
	"windows": inVariable("ProgramFiles", "swapkeep", "bin"),
}

// PackagedProgram is what browsers start where a package of the system brought the
// programs; "" on a system that has no such packages.
func PackagedProgram(m Machine) string {
	folder, ok := packaged[m.OS]
	if !ok {
		return ""
	}
	return m.join(folder(m), m.exe("swapkeep"))
}

// managed is the folder whose programs browsers start when those in a folder belong to
// a package or to an installation for all users: a copy of them would grow old.
func (m Machine) managed(scope manifest.Scope, programs string) (run string, ok bool) {
	if m.same(programs, packaged[m.OS](m)) {
		return programs, true
	}
	all := settings[m.OS][manifest.System]
	return m.join(all.programs(m), "current"), scope == manifest.User && all.links && m.parent(programs) == all.programs(m)
}

// LayoutOf is where the things of a scope are on a machine, for programs of a version
// that now are in a folder, links resolved. An empty folder is somewhere else.
func LayoutOf(m Machine, scope manifest.Scope, version, programs string) (Layout, error) {
	s, ok := settings[m.OS][scope]
	switch {
	case !ok:
		return Layout{}, fmt.Errorf("swapkeep cannot be installed on %s for %q", m.OS, scope)
	case !isVersion(version):
		return Layout{}, fmt.Errorf("version %q cannot be the name of a folder", version)
	}
	for _, base := range []string{s.state(m), s.programs(m)} {
		switch {
		case !m.isAbs(base):
			return Layout{}, fmt.Errorf("no folder to install to: the system names none for %s", scope)
		case !speakable(base):
			return Layout{}, fmt.Errorf("no folder to install to: %q is not UTF-8 or holds control characters, and cannot be written down; give what it is in another name", base)
		}
	}
	l := Layout{Receipts: m.join(s.state(m), receiptsName), Programs: s.programs(m)}
	if s.manifests != nil {
		l.Manifests = s.manifests(m)
	}
	run := l.Programs
	if s.links {
		l.Current, l.Programs = m.join(l.Programs, "current"), m.join(l.Programs, version)
		run = l.Current
	}
	if s.command != nil {
		l.Command = m.join(s.command(m), "swapkeep")
	}
	if folder, ok := m.managed(scope, programs); ok {
		l.Managed, l.Current, l.Command, l.Programs, run = true, "", "", programs, folder
	}
	l.Launch, l.Daemon = m.join(run, m.exe("swapkeep")), m.join(run, m.exe("swapkeepd"))
	return l, nil
}

// folder is the one folder that the programs of every version are in.
func (l Layout) folder(m Machine) string {
	if l.Current == "" {
		return l.Programs
	}
	return m.parent(l.Current)
}

// isVersion reports whether a version is fit to be a folder's name.
func isVersion(v string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_~"
	return v != "" && len(v) <= 64 && v[0] != '.' && v != "current" && strings.Trim(v, allowed) == ""
}

// ReceiptsPath is where the receipts of a scope are on a machine.
func ReceiptsPath(m Machine, scope manifest.Scope) (string, error) {
	l, err := LayoutOf(m, scope, "0", "")
	return l.Receipts, err
}
