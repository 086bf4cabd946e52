package installer

import (
	"cmp"
	"errors"
	"os"
	"slices"

	"swapkeep/manifest"
)

// DaemonBeside returns the daemon that a program of ours, at a path without links, has to
// start: the one next to it or, if both are versions of one installation, that of the
// current version. A relay may have been started before an update.
func DaemonBeside(program string) string { return This().daemonBeside(program) }

func (m Machine) daemonBeside(program string) string {
	dir, name := m.parent(program), m.exe("swapkeepd")
	path := m.join(dir, name)
	current := m.join(m.parent(dir), "current")
	if to, err := m.Files.Readlink(current); err != nil || m.base(to) != to || !m.installsInto(m.parent(dir)) {
		return path // no link to a sibling directory, or one that anybody could make
	}
	if _, err := m.Files.Stat(m.join(current, name)); err != nil {
		return path
	}
	return m.join(current, name)
}

// installsInto reports whether a directory is the one with the programs of all versions:
// elsewhere, whoever can create a link would decide what is started.
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

// ReplacesPrograms reports whether a plan replaces our programs, so that a running daemon
// is an older one afterwards.
func (p *Plan) ReplacesPrograms() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Kind == Program || c.Kind == Link && c.Replaces != "" })
}

// A Running function reports whether a process runs a program from a directory.
type Running func(dir string) (bool, error)

// Sweep removes the programs of a scope's earlier versions that no process runs from any
// more, and files that Windows could not remove while they were in use. It returns the
// directories. A version of which anything was changed stays complete.
func Sweep(m Machine, scope manifest.Scope, running Running) (swept []string, err error) {
	layout, receipts, err := m.installed(scope)
	if err != nil {
		return nil, err
	}
	m.removeAside(layout)
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

// installed returns a scope's receipts and layout.
func (m Machine) installed(scope manifest.Scope) (Layout, *Receipts, error) {
	if err := m.checkRights(scope); err != nil {
		return Layout{}, nil, err
	}
	layout, err := LayoutOf(m, scope, "0", "")
	if err != nil {
		return Layout{}, nil, err
	}
	receipts, err := ReadReceipts(m, scope)
	return layout, receipts, err
}

// versions returns the directories with programs next to the link to the current version.
func (r *Receipts) versions(m Machine, l Layout) (dirs []string) {
	for _, e := range r.Entries {
		if dir := m.parent(e.Path); e.Kind == Program && m.parent(dir) == l.folder(m) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// removeVersion removes what was installed into a directory and is unchanged, then the
// directory unless it contains something else, and updates the receipts at path.
func (r *Receipts) removeVersion(m Machine, path, dir string) error {
	mine := r.in(m, dir)
	slices.SortFunc(mine, func(a, b Receipt) int { return -cmp.Compare(a.Path, b.Path) }) // the directory last
	for _, e := range mine {
		if _, err := e.remove(m); unlessAbsent(err) != nil {
			return err
		}
		if left, err := m.exists(e.Path); err != nil || left { // a directory with other content
			return err
		}
		r.drop(e)
		if err := r.write(m, path); err != nil {
			return err
		}
	}
	return nil
}
