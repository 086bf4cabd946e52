package installer

import (
	"fmt"
	"strings"

	"swapkeep/manifest"
)

// A Layout says where the installation of a scope keeps its files. Browsers are given a
// path that stays the same for all versions.
type Layout struct {
	Programs  string // directory of this version's programs
	Current   string // link to it; "" if versions replace each other
	Launch    string // the program that browsers start
	Daemon    string // the daemon next to it
	Command   string // link through which the user's shell finds the program; "" = none
	Manifests string // Windows: directory of the manifests that registry keys name
	Receipts  string // path of receipts.json
	Managed   bool   // the programs belong to a package or another scope and stay as they are
}

// A systemLayout says where an operating system keeps the files of one scope.
type systemLayout struct {
	programs  func(Machine) string // with links it has a directory for every version; without, it is the only one
	links     bool
	command   func(Machine) string // directory for links to commands; used only if it exists
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

// inState returns the daemon's home on Linux.
func inState(m Machine) string {
	if dir := m.Env("XDG_STATE_HOME"); m.isAbs(dir) {
		return m.join(dir, "swapkeep")
	}
	return m.join(m.Home, ".local", "state", "swapkeep")
}

var systemLayouts = map[string]map[manifest.Scope]systemLayout{
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

// packaged is the directory where an operating system's packages install the programs.
var packaged = map[string]func(Machine) string{
	"linux":   at("/usr/lib/swapkeep"),
	"darwin":  at("/Library/Application Support/swapkeep/lib"),
	"windows": inVariable("ProgramFiles", "swapkeep", "bin"),
}

// PackagedProgram returns the program that browsers start if a system package installed
// it; "" on a system without such packages.
func PackagedProgram(m Machine) string {
	folder, ok := packaged[m.OS]
	if !ok {
		return ""
	}
	return m.join(folder(m), m.exe("swapkeep"))
}

// managed returns the directory of the programs that browsers start, if the programs
// belong to a package or to an installation for all users: a copy would become outdated.
func (m Machine) managed(scope manifest.Scope, programs string) (run string, ok bool) {
	if m.same(programs, packaged[m.OS](m)) {
		return programs, true
	}
	all := systemLayouts[m.OS][manifest.System]
	return m.join(all.programs(m), "current"), scope == manifest.User && all.links && m.parent(programs) == all.programs(m)
}

// LayoutOf returns where the files of a scope are on a machine, for programs of a version
// that are now in the directory programs, links resolved; "" for none.
func LayoutOf(m Machine, scope manifest.Scope, version, programs string) (Layout, error) {
	s, ok := systemLayouts[m.OS][scope]
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
		case !encodable(base):
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

// folder returns the directory that contains the programs of every version.
func (l Layout) folder(m Machine) string {
	if l.Current == "" {
		return l.Programs
	}
	return m.parent(l.Current)
}

// isVersion reports whether a version can be the name of a directory.
func isVersion(v string) bool {
	const allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_~"
	return v != "" && len(v) <= 64 && v[0] != '.' && v != "current" && strings.Trim(v, allowed) == ""
}

// ReceiptsPath returns the path of a scope's receipts on a machine.
func ReceiptsPath(m Machine, scope manifest.Scope) (string, error) {
	l, err := LayoutOf(m, scope, "0", "")
	return l.Receipts, err
}
