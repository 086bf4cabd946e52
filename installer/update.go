package installer

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swapkeep/manifest"
)

// DaemonBeside is the daemon that a program of ours, at a path without links, is to
// start: the one beside it, or the present version's where both are versions of one
// installation. A relay may have been started before an update.
func DaemonBeside(program string) string {
	dir, name := filepath.Dir(program), This().exe("swapkeepd")
	current := filepath.Join(filepath.Dir(dir), "current")
	if to, err := os.Readlink(current); err != nil || filepath.Base(to) != to {
		return filepath.Join(dir, name) // no link to a folder beside this one
	}
	if _, err := os.Stat(filepath.Join(current, name)); err != nil {
		return filepath.Join(dir, name)
	}
	return filepath.Join(current, name)
}

// ReplacesPrograms reports whether a plan puts other programs in the place of ours: a
// daemon that runs is an older one then.
func (p *Plan) ReplacesPrograms() bool {
	return slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Kind == Program || c.Kind == Link && c.Replaces != "" })
}

// A Running tells whether a process has its program in a folder.
type Running func(dir string) (bool, error)

// Sweep removes the programs of a user's earlier versions that nothing runs from any
// more, and what Windows could not remove while it ran. It returns the folders; what
// was changed since it was installed stays.
func Sweep(m Machine, running Running) (swept []string, err error) {
	m.sweepAside()
	layout, receipts, err := m.installed(manifest.User)
	if err != nil || layout.Current == "" {
		return nil, err
	}
	present, err := m.Files.Readlink(layout.Current)
	if err != nil {
		return nil, ignore(err, fs.ErrNotExist)
	}
	for _, dir := range receipts.versions(m, layout) {
		if dir == m.join(layout.folder(m), present) {
			continue
		}
		busy, lookErr := running(dir)
		if lookErr != nil || busy {
			err = errors.Join(err, lookErr)
			continue
		}
		if removeErr := receipts.removeVersion(m, dir); removeErr != nil {
			err = errors.Join(err, removeErr)
			continue
		}
		swept = append(swept, dir)
	}
	if len(swept) > 0 {
		err = errors.Join(err, receipts.write(m, layout.Receipts))
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

// removeVersion removes what was installed into a folder, and then the folder.
func (r *Receipts) removeVersion(m Machine, dir string) error {
	var mine []Receipt
	for _, e := range r.Entries {
		if e.Path == dir || m.parent(e.Path) == dir {
			mine = append(mine, e)
		}
	}
	slices.SortFunc(mine, func(a, b Receipt) int { return -cmp.Compare(a.Path, b.Path) }) // the folder last
	for _, e := range mine {
		state, err := e.State(m)
		if err == nil && state == Changed {
			err = errors.New(e.Path + " was changed since it was installed")
		}
		if err == nil && state == Same {
			err = ignore(kinds[e.Kind].remove(m, e.Path, e.Name), fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		r.drop(e)
	}
	return nil
}

func ignore(err, what error) error {
	if errors.Is(err, what) {
		return nil
	}
	return err
}

// sweepAside removes programs that were moved aside while they ran. Those that still
// do are left for another time.
func (m Machine) sweepAside() {
	if m.OS != "windows" {
		return
	}
	for _, variable := range []string{"TMP", "TEMP"} {
		dir := m.Env(variable)
		entries, _ := m.Files.ReadDir(dir) // none
		for _, e := range entries {
			if name := e.Name(); strings.HasPrefix(name, "swapkeep") && strings.HasSuffix(name, ".old") {
				_ = m.Files.Remove(m.join(dir, name))
			}
		}
	}
}
