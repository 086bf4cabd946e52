package installer

import (
	"errors"
	"fmt"

	"swapkeep/manifest"
)

// A Repair is what [RepairLinks] found wrong with a user's installation, and what it repaired.
type Repair struct {
	Entries  int      // number of receipts
	Repaired []string // pointed to nothing and point to the running version now
	Broken   []string // point to nothing
	Changed  []string // changed by somebody
	Gone     []string // removed, perhaps on purpose
}

// RepairLinks compares a user's receipts with the machine. A link or manifest of ours that is
// unchanged and points to nothing is changed to point to the programs in a directory,
// links resolved, if they are an installed copy. The rest is left alone. It may be
// repeated.
func RepairLinks(m Machine, version, programs string) (r Repair, err error) {
	layout, receipts, err := m.installed(manifest.User)
	if err != nil || len(receipts.Entries) == 0 {
		return r, err
	}
	err = r.look(m, receipts)
	own, copied := m.installedCopy(receipts, version, programs)
	for _, kind := range []Kind{Link, Manifest} { // fixing a link also fixes what points through it
		for _, e := range receipts.broken(m, kind) {
			c, known := Change{}, false
			if copied {
				c, known = m.retarget(own, layout, e)
			}
			if !known {
				r.Broken = append(r.Broken, e.Path)
				continue
			}
			if makeErr := receipts.remake(m, layout.Receipts, e, c); makeErr != nil {
				err = errors.Join(err, makeErr)
				continue
			}
			r.Repaired = append(r.Repaired, e.Path)
		}
	}
	return r, err
}

// look compares what was installed with what is there.
func (r *Repair) look(m Machine, receipts *Receipts) (err error) {
	r.Entries = len(receipts.Entries)
	for _, e := range receipts.Entries {
		switch state, stateErr := e.State(m); {
		case stateErr != nil:
			err = errors.Join(err, stateErr)
		case state == Changed:
			r.Changed = append(r.Changed, e.Path)
		case state == Gone:
			r.Gone = append(r.Gone, e.Path)
		}
	}
	return err
}

// installedCopy returns the layout of the programs in a directory if they are an
// installed copy: a package's, or one that the receipts name and that is unchanged.
func (m Machine) installedCopy(r *Receipts, version, programs string) (Layout, bool) {
	own, err := LayoutOf(m, manifest.User, version, programs)
	if err != nil || own.Managed {
		return own, err == nil
	}
	for _, name := range []string{"swapkeep", "swapkeepd"} {
		e, known := r.find(Program, m.join(programs, m.exe(name)), "")
		if !known {
			return own, false
		}
		if state, err := e.State(m); err != nil || state != Same {
			return own, false
		}
	}
	return own, own.Programs == programs
}

// broken returns the unchanged entries of a kind that point to nothing.
func (r *Receipts) broken(m Machine, kind Kind) (out []Receipt) {
	for _, e := range r.Entries {
		if e.Kind != kind {
			continue
		}
		if state, err := e.State(m); err != nil || state != Same { // anything else there is not opened
			continue
		}
		if to, err := targets[kind](m, e); err == nil && m.isMissing(to) {
			out = append(out, e)
		}
	}
	return out
}

// targets return what an entry of a kind points to.
var targets = map[Kind]func(m Machine, e Receipt) (string, error){
	Link: func(m Machine, e Receipt) (string, error) {
		to, err := m.Files.Readlink(e.Path)
		if err == nil && !m.isAbs(to) {
			to = m.join(m.parent(e.Path), to)
		}
		return to, err
	},
	Manifest: func(m Machine, e Receipt) (string, error) {
		file, err := m.readManifest(e.Path)
		return file.program, err
	},
}

// isMissing reports whether nothing is at a path.
func (m Machine) isMissing(path string) bool {
	_, err := m.Files.Stat(path)
	return absent(err)
}

// retarget returns the change that makes an entry point to our programs.
func (m Machine) retarget(own, installed Layout, e Receipt) (c Change, known bool) {
	c = Change{Kind: e.Kind, Path: e.Path}
	switch {
	case e.Path == installed.Current && !own.Managed:
		c.To = m.base(own.Programs)
		return c, true
	case e.Path == installed.Command:
		c.To = own.Launch
		return c, true
	case e.Kind != Manifest:
		return c, false
	}
	file, err := m.readManifest(e.Path)
	if err != nil || !m.same(file.program, e.Owner) || m.isMissing(own.Launch) {
		return c, false
	}
	text, err := manifest.Render(file.family(), m.OS, own.Launch, file.ids())
	c.Content = string(text)
	return c, err == nil
}

// remake makes a change and updates its receipt before and after.
func (r *Receipts) remake(m Machine, path string, e Receipt, c Change) error {
	sum, _, err := kinds[e.Kind].sum(m, e.Path, e.Name) // of a stopped update: that of the older content
	if err != nil {
		return fmt.Errorf("look at %s: %w", e.Path, err)
	}
	e.Pending, e.Before, e.SHA256 = true, sum, Sum([]byte(c.To+c.Content)) // one of them is empty
	r.put(e)
	if err := r.write(m, path); err != nil {
		return fmt.Errorf("write the receipts: %w", err)
	}
	if err := kinds[c.Kind].make(m, c); err != nil {
		return fmt.Errorf("repair %s: %w", c.Path, err)
	}
	e.Pending, e.Before = false, ""
	r.put(e)
	return r.write(m, path)
}
