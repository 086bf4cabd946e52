package installer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"swapkeep/manifest"
)

type planner struct {
	m      Machine
	o      Options
	layout Layout
	plan   *Plan
	at     map[string]int  // index of a change by path and name
	dirs   map[string]bool // directories and keys that exist or are planned

	packaged bool // what is in place without a receipt belongs to a package
}

// state plans the directory of the receipts.
func (b *planner) state() error { return b.inside(b.layout.Receipts) }

// programs plans copies of the programs, unless they belong to a package, and links.
func (b *planner) programs() error {
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		from, to := b.m.join(b.o.Programs, b.m.exe(name)), b.m.join(b.layout.Programs, b.m.exe(name))
		sum, there, err := fileSum(b.m, from, "")
		if err != nil || !there || sum == wrongKind {
			return errors.Join(fmt.Errorf("%w: %s is not beside this program; unpack both into one folder and run it there", ErrPrograms, from), err)
		}
		if b.layout.Managed {
			continue
		}
		if err := b.add(Change{Kind: Program, Path: to, From: from, SHA256: sum}); err != nil {
			return err
		}
	}
	if b.layout.Managed || b.layout.Current == "" {
		return nil
	}
	if err := b.add(Change{Kind: Link, Path: b.layout.Current, To: b.o.Version}); err != nil {
		return err
	}
	return b.command()
}

// command plans the link for the user's shell, if its directory exists and has no link of
// another copy.
func (b *planner) command() error {
	if b.layout.Command == "" {
		return nil
	}
	if info, err := b.m.Files.Stat(b.m.parent(b.layout.Command)); err != nil || !info.IsDir() {
		return unlessAbsent(err) // no such directory
	}
	foreign := len(b.plan.Foreign)
	if err := b.add(Change{Kind: Link, Path: b.layout.Command, To: b.layout.Launch}); err != nil || len(b.plan.Foreign) == foreign {
		return err
	}
	b.plan.Foreign = b.plan.Foreign[:foreign]
	b.plan.Changes = b.plan.Changes[:len(b.plan.Changes)-1]
	b.plan.Warnings = append(b.plan.Warnings, fmt.Sprintf("%s is another program's and stays: start swapkeep as %s", b.layout.Command, b.layout.Launch))
	return nil
}

// extensions plans the file next to the configuration that allows the extensions.
func (b *planner) extensions() error {
	if len(b.o.IDs) == 0 {
		return nil
	}
	lists := map[manifest.Family][]string{}
	for f, listed := range b.o.Listed {
		if len(listed) > 0 {
			lists[f] = listed
		}
	}
	for _, id := range b.o.IDs {
		f, _ := familyOf(id)
		lists[f] = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(lists[f]), id))))
	}
	text, err := json.MarshalIndent(lists, "", "  ")
	if err != nil {
		return err
	}
	return b.add(Change{Kind: Extensions, Path: b.o.ExtensionsFile, Content: string(text) + "\n", merges: true})
}

// inside plans the missing parent directories of a path.
func (b *planner) inside(path string) error {
	dirs, err := b.m.missing(b.m.parent(path))
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if !b.dirs[dir] {
			b.dirs[dir] = true
			b.plan.Changes = append(b.plan.Changes, Change{Kind: Directory, Path: dir})
		}
	}
	return nil
}

// insideKey plans the missing parent keys of a value.
func (b *planner) insideKey(c Change) error {
	var missing []string
	for key := c.Path; strings.Contains(key, `\`); key = b.m.parent(key) {
		is, err := b.m.Registry.Exists(key)
		if err != nil {
			return fmt.Errorf("look at %s: %w", key, err)
		}
		if is {
			break
		}
		missing = append(missing, key)
	}
	for _, key := range slices.Backward(missing) {
		if !b.dirs[key] {
			b.dirs[key] = true
			b.plan.Changes = append(b.plan.Changes, Change{Kind: Key, Path: key})
		}
	}
	return nil
}
