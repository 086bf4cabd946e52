package installer

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"swapkeep/manifest"
)

// DaemonBeside is the daemon that a program of ours, at a path without links, is to
// start: the one beside it, or the present version's where both are versions of one
// installation. A relay may have been started before an update.
func DaemonBeside(program string) string { return This().daemonBeside(program) }

func (m Machine) daemonBeside(program string) string {
	dir, name := m.parent(program), m.exe("swapkeepd")
	beside := m.join(dir, name)
	current := m.join(m.parent(dir), "current")
	if to, err := m.Files.Readlink(current); err != nil || m.base(to) != to || !m.installsInto(m.parent(dir)) {
		return beside // no link to a folder beside this one, or anybody's
	}
	if _, err := m.Files.Stat(m.join(current, name)); err != nil {
		return beside
	}
	return m.join(current, name)
}

// installsInto reports whether a folder is the one that holds every version's programs:
// whoever can make a link in another would decide what is started.
func (m Machine) installsInto(dir string) bool {
	it, err := m.Files.Stat(dir)
	if err != nil {
		return false
	}
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		l, err := LayoutOf(m, scope, "0", "")
		if err != nil || l.Current == "" {
			continue
		}
		if ours, err := m.Files.Stat(l.folder(m)); err == nil && os.SameFile(it, ours) {
			return true
		}
	}
	return false
}

// ReplacesPrograms reports whether a plan puts other programs in the place of ours: a
// daemon that runs is an older one then.
func (p *Plan) ReplacesPrograms() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Kind == Program || c.Kind == Link && c.Replaces != "" })
}

// A Running tells whether a process has its program in a folder.
type Running func(dir string) (bool, error)

// Sweep removes the programs of a scope's earlier versions that nothing runs from any
// more, and what Windows could not remove while it ran. It returns the folders; a version
// of which anything was changed since it was installed stays whole.
func Sweep(m Machine, scope manifest.Scope, running Running) (swept []string, err error) {
	layout, receipts, err := m.installed(scope)
	if err != nil {
		return nil, err
	}
	m.sweepAside(layout)
	if layout.Current == "" {
		return nil, nil
	}
	present, err := m.Files.Readlink(layout.Current)
	if err != nil {
		return nil, unlessAbsent(err)
	}
	dirs, err := receipts.old(m, layout, present, running)
	for _, dir := range dirs {
		if removeErr := receipts.removeVersion(m, layout.Receipts, dir); removeErr != nil {
			err = errors.Join(err, removeErr)
			continue
		}
		swept = append(swept, dir)
	}
	return swept, err
}

// installed is what a scope's receipts know, and where its things are.
func (m Machine) installed(scope manifest.Scope) (Layout, *Receipts, error) {
	if err := m.may(scope); err != nil {
		return Layout{}, nil, err
	}
	layout, err := LayoutOf(m, scope, "0", "")
	if err != nil {
		return Layout{}, nil, err
	}
	receipts, err := ReadReceipts(m, scope)
	return layout, receipts, err
}

// versions are the folders beside the link to the present version that hold programs.
func (r *Receipts) versions(m Machine, l Layout) (dirs []string) {
	for _, e := range r.Entries {
		if dir := m.parent(e.Path); e.Kind == Program && m.parent(dir) == l.folder(m) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// removeVersion removes what was installed into a folder and that nobody changed, and then
// the folder, unless it holds something else. The receipts at a path follow.
func (r *Receipts) removeVersion(m Machine, path, dir string) error {
	mine := r.in(m, dir)
	slices.SortFunc(mine, func(a, b Receipt) int { return -cmp.Compare(a.Path, b.Path) }) // the folder last
	for _, e := range mine {
		if _, err := e.remove(m); unlessAbsent(err) != nil {
			return err
		}
		if left, err := m.exists(e.Path); err != nil || left { // a folder with something else in it
			return err
		}
		r.drop(e)
		if err := r.write(m, path); err != nil {
			return err
		}
	}
	return nil
}
