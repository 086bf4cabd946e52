package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"swapkeep/internal/failpoint"
	"swapkeep/manifest"
)

// A Removal lists what an uninstall would do.
type Removal struct {
	Scope    manifest.Scope `json:"scope"`
	Receipts string         `json:"receipts"`
	Remove   []Receipt      `json:"remove"`         // in this order; directories and keys only if they are empty by then
	Kept     []Kept         `json:"kept,omitempty"` // changed since, or installed by other copies

	// BeforeFolders is called when nothing is left that starts a daemon, before the
	// directories and the user's program are removed. Its error stops the removal.
	BeforeFolders func() error `json:"-"`

	receipts *Receipts
	last     []string // the user's program, of every version, and the links to it
}

// Kept is something that stays.
type Kept struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

// PlanRemoval returns what an uninstall would remove: exactly what the receipts name and
// nobody has changed since. It changes nothing. Errors: ErrSudoUser, ErrNeedsRoot,
// ErrReceipts.
func PlanRemoval(m Machine, scope manifest.Scope) (*Removal, error) {
	layout, receipts, err := m.installed(scope)
	if err != nil {
		return nil, err
	}
	r := &Removal{Scope: scope, Receipts: layout.Receipts, Remove: []Receipt{}, receipts: receipts, last: receipts.last(m, layout)}
	for _, e := range receipts.Entries {
		state, err := e.State(m)
		switch {
		case err != nil:
			return nil, fmt.Errorf("look at %s: %w", e.Path, err)
		case state == Changed:
			r.Kept = append(r.Kept, Kept{e.Path, e.Name, "was changed since it was installed; remove it yourself if you do not need it"})
		default: // something that is gone may have left an unfinished file
			r.Remove = append(r.Remove, e)
		}
	}
	slices.SortStableFunc(r.Remove, func(a, b Receipt) int {
		return cmp.Or(cmp.Compare(r.order(m, a), r.order(m, b)), -cmp.Compare(depth(a), depth(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	r.Kept = append(r.Kept, m.others(scope, receipts)...)
	return r, nil
}

// last returns the program that the user calls, of every version, and the links to it.
func (r *Receipts) last(m Machine, l Layout) (paths []string) {
	for _, e := range r.Entries {
		if e.Kind == Program && m.base(e.Path) == m.exe("swapkeep") || e.Kind == Link && (e.Path == l.Current || e.Path == l.Command) {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

// The order of a removal. Whatever fails, the user can run the program again until
// everything else is gone.
const (
	starters    = iota // what browsers and the system read to start the programs
	daemons            // programs that could start a daemon
	folders            // directories without either, and keys; innermost first
	links              // links to the user's program
	lastProgram        // the user's program
	lastFolders        // the directories around it
)

func (r *Removal) order(m Machine, e Receipt) int {
	last := slices.Contains(r.last, e.Path)
	switch {
	case e.Kind == Directory && slices.ContainsFunc(r.last, func(p string) bool { return m.within(p, e.Path) }):
		return lastFolders
	case e.Kind.isContainer():
		return folders
	case last && e.Kind == Link:
		return links
	case last:
		return lastProgram
	case e.Kind == Program:
		return daemons
	}
	return starters
}

// depth is the nesting depth of a directory or key, 0 for anything else.
func depth(r Receipt) int {
	if !r.Kind.isContainer() {
		return 0
	}
	return strings.Count(strings.ReplaceAll(r.Path, `\`, "/"), "/")
}

// others returns manifests under the host's name that do not belong to this installation,
// and those that cannot be examined.
func (m Machine) others(scope manifest.Scope, receipts *Receipts) (out []Kept) {
	seen := map[string]bool{}
	for _, p := range manifest.AllPlaces(m.OS) {
		path, kind := p.File(m.environment()), Manifest
		if p.Key != "" {
			path, kind = hives[scope]+p.HostKey(), Value
		}
		if p.Scope != scope || seen[path] {
			continue
		}
		seen[path] = true
		if _, ours := receipts.find(kind, path, ""); ours {
			continue
		}
		switch _, there, err := kinds[kind].sum(m, path, ""); {
		case err != nil:
			out = append(out, Kept{Path: path, Reason: "cannot be read: " + err.Error()})
		case there:
			out = append(out, Kept{Path: path, Reason: "is none of this installation's"})
		}
	}
	return out
}

// Empty reports whether nothing is installed.
func (r *Removal) Empty() bool { return len(r.receipts.Entries) == 0 }

// Remove carries out a removal and stops at the first failure; the receipts are then
// kept, and it may be repeated. It returns what was removed.
func Remove(ctx context.Context, m Machine, r *Removal) (removed []Receipt, err error) {
	if err := m.clearStages(r.Receipts); err != nil {
		return nil, err
	}
	rest := slices.IndexFunc(r.Remove, func(e Receipt) bool { return r.order(m, e) >= folders })
	if rest < 0 {
		rest = len(r.Remove)
	}
	removed, err = m.removeAll(ctx, r.Remove[:rest])
	if err == nil && r.BeforeFolders != nil {
		err = r.BeforeFolders()
	}
	if err != nil {
		return removed, err
	}
	around := func(e Receipt) bool { return e.Kind == Directory && m.within(r.Receipts, e.Path) }
	more, err := m.removeAll(ctx, slices.DeleteFunc(slices.Clone(r.Remove[rest:]), around))
	removed = append(removed, more...)
	if err != nil {
		return removed, err
	}
	if err := m.forget(r); err != nil {
		return removed, err
	}
	for _, e := range r.Remove[rest:] {
		if there, err := m.exists(e.Path); around(e) && err == nil && !there {
			removed = append(removed, e)
		}
	}
	return removed, nil
}

func (m Machine) removeAll(ctx context.Context, entries []Receipt) (removed []Receipt, err error) {
	for _, e := range entries {
		failpoint.Point("installer.before_removal")
		err := ctx.Err()
		anyRemoved := false
		if err == nil {
			anyRemoved, err = e.remove(m)
		}
		if err != nil {
			return removed, fmt.Errorf("remove %s: %w; fix that, then run uninstall again with any copy of swapkeep", e.Path, err)
		}
		if anyRemoved {
			removed = append(removed, e)
		}
	}
	return removed, nil
}

// forget removes the receipts and the directories that were made for them.
func (m Machine) forget(r *Removal) error {
	if err := unlessAbsent(m.Files.Remove(r.Receipts + Unfinished)); err != nil {
		return err
	}
	if there, err := m.exists(r.Receipts); err != nil || !there {
		return err
	}
	made := map[string]bool{}
	for _, e := range r.receipts.Entries {
		if state, err := e.State(m); e.Kind == Directory && err == nil && state == Same { // not a link in its place
			made[e.Path] = true
		}
	}
	failpoint.Point("installer.before_forgetting")
	if err := m.removeWithNew(r.Receipts, made); err != nil {
		return fmt.Errorf("remove %s: %w; fix that, then run uninstall again with any copy of swapkeep", r.Receipts, err)
	}
	return nil
}

// remove removes one thing and reports whether it was there. It checks its state again,
// because time has passed since the plan.
func (e Receipt) remove(m Machine) (bool, error) {
	if !e.Kind.inRegistry() && e.Kind != Directory {
		if err := unlessAbsent(m.Files.Remove(e.Path + Unfinished)); err != nil {
			return false, err
		}
	}
	state, err := e.State(m)
	if err != nil || state != Same {
		return false, err
	}
	err = kinds[e.Kind].remove(m, e.Path, e.Name)
	if errors.Is(err, errNotEmpty) || e.Kind == Directory && !m.emptied(e.Path) {
		return false, nil
	}
	return err == nil, err
}

// emptied reports whether a directory is gone or empty.
func (m Machine) emptied(dir string) bool {
	entries, err := m.Files.ReadDir(dir)
	return err != nil || len(entries) == 0
}
