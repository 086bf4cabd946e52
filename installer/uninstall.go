package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"swapkeep/fault"
	"swapkeep/manifest"
)

// A Removal is what an uninstall would do.
type Removal struct {
	Scope    manifest.Scope `json:"scope"`
	Receipts string         `json:"receipts"`
	Remove   []Receipt      `json:"remove"`         // in this order; folders and keys only if they are empty by then
	Kept     []Kept         `json:"kept,omitempty"` // what was changed since, and what other copies installed

	// BeforeFolders is called when no program of the installation is left, and before
	// the folders go. Its error stops the removal.
	BeforeFolders func() error `json:"-"`

	receipts *Receipts
}

// Kept is something that stays.
type Kept struct {
	Path   string `json:"path"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

// PlanRemoval says what an uninstall would remove: exactly what the receipts name and
// nobody changed since. It changes nothing. Errors: ErrSudoUser, ErrNeedsRoot,
// ErrReceipts.
func PlanRemoval(m Machine, scope manifest.Scope) (*Removal, error) {
	if err := m.may(scope); err != nil {
		return nil, err
	}
	path, err := ReceiptsPath(m, scope)
	if err != nil {
		return nil, err
	}
	receipts, err := ReadReceipts(m, scope)
	if err != nil {
		return nil, err
	}
	r := &Removal{Scope: scope, Receipts: path, Remove: []Receipt{}, receipts: receipts}
	for _, e := range receipts.Entries {
		state, err := e.State(m)
		switch {
		case err != nil:
			return nil, fmt.Errorf("look at %s: %w", e.Path, err)
		case state == Changed:
			r.Kept = append(r.Kept, Kept{e.Path, e.Name, "was changed since it was installed; remove it yourself if it is of no use"})
		default: // one that is gone may have left something unfinished
			r.Remove = append(r.Remove, e)
		}
	}
	slices.SortStableFunc(r.Remove, removalOrder)
	others, err := m.others(scope, receipts)
	r.Kept = append(r.Kept, others...)
	return r, err
}

// removalOrder puts what browsers read first, programs after it, and what holds
// others last, the innermost first.
func removalOrder(a, b Receipt) int {
	rank := func(k Kind) int {
		switch {
		case k.holds():
			return 2
		case k == Program || k == Link:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), -cmp.Compare(depth(a), depth(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
}

// depth matters for what holds others.
func depth(r Receipt) int {
	if !r.Kind.holds() {
		return 0
	}
	return strings.Count(strings.ReplaceAll(r.Path, `\`, "/"), "/")
}

// others are manifests under the host's name that are none of this installation's.
func (m Machine) others(scope manifest.Scope, receipts *Receipts) ([]Kept, error) {
	var out []Kept
	seen := map[string]bool{}
	for _, p := range manifest.Looked(m.OS) {
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
		if _, there, err := kinds[kind].sum(m, path, ""); err == nil && there {
			out = append(out, Kept{Path: path, Reason: "is none of this installation's"})
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("look at %s: %w", path, err)
		}
	}
	return out, nil
}

// Empty reports whether nothing is installed.
func (r *Removal) Empty() bool { return len(r.receipts.Entries) == 0 }

// Remove carries a removal out and stops at the first failure: the receipts stay then,
// and it may be repeated. It returns what was removed.
func Remove(ctx context.Context, m Machine, r *Removal) (removed []Receipt, err error) {
	if err := m.clearStages(r.Receipts); err != nil {
		return nil, err
	}
	holders := slices.IndexFunc(r.Remove, func(e Receipt) bool { return e.Kind.holds() })
	if holders < 0 {
		holders = len(r.Remove)
	}
	removed, err = m.removeAll(ctx, r.Remove[:holders])
	if err == nil && r.BeforeFolders != nil {
		err = r.BeforeFolders()
	}
	if err != nil {
		return removed, err
	}
	around := func(e Receipt) bool { return e.Kind == Directory && m.within(r.Receipts, e.Path) }
	more, err := m.removeAll(ctx, slices.DeleteFunc(slices.Clone(r.Remove[holders:]), around))
	removed = append(removed, more...)
	if err != nil {
		return removed, err
	}
	if err := m.forget(r); err != nil {
		return removed, err
	}
	for _, e := range r.Remove[holders:] {
		if there, err := m.exists(e.Path); around(e) && err == nil && !there {
			removed = append(removed, e)
		}
	}
	return removed, nil
}

func (m Machine) removeAll(ctx context.Context, entries []Receipt) (removed []Receipt, err error) {
	for _, e := range entries {
		fault.Point("installer.before_removal")
		gone, err := e.remove(ctx, m)
		if err != nil {
			return removed, fmt.Errorf("remove %s: %w; run uninstall again when that is mended", e.Path, err)
		}
		if gone {
			removed = append(removed, e)
		}
	}
	return removed, nil
}

// forget removes the receipts with the folders that were made for them.
func (m Machine) forget(r *Removal) error {
	if err := m.Files.Remove(r.Receipts + Unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if there, err := m.exists(r.Receipts); err != nil || !there {
		return err
	}
	made := map[string]bool{}
	for _, e := range r.receipts.Entries {
		made[e.Path] = made[e.Path] || e.Kind == Directory
	}
	fault.Point("installer.before_forgetting")
	if err := m.removeWithNew(r.Receipts, made); err != nil {
		return fmt.Errorf("remove %s: %w", r.Receipts, err)
	}
	return nil
}

// remove takes one thing away and reports whether it was there. It looks again: time
// went by since the plan.
func (e Receipt) remove(ctx context.Context, m Machine) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if !e.Kind.inRegistry() && e.Kind != Directory {
		if err := m.Files.Remove(e.Path + Unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// emptied reports whether a folder is gone, or would be, if it held nothing.
func (m Machine) emptied(dir string) bool {
	entries, err := m.Files.ReadDir(dir)
	return err != nil || len(entries) == 0
}
