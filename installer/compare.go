package installer

import (
	"fmt"
	"slices"

	"swapkeep/manifest"
)

// A placeState is what was found at the path of a change.
type placeState struct {
	sum   string
	there bool
	entry Receipt
	known bool // there is a receipt for it
}

func (b *planner) look(c Change) (s placeState, err error) {
	s.sum, s.there, err = kinds[c.Kind].sum(b.m, c.Path, c.Name)
	s.entry, s.known = b.plan.receipts.find(c.Kind, c.Path, c.Name)
	return s, err
}

// add plans a change together with its parent directories or keys, unless it is in place,
// and records what is in its way.
func (b *planner) add(c Change) error {
	c = b.finished(c)
	about := c.Path + "\x00" + c.Name
	if i, planned := b.at[about]; planned {
		if i >= 0 {
			b.plan.Changes[i].Browsers = joined(b.plan.Changes[i].Browsers, c.Browsers)
		}
		return nil
	}
	b.at[about] = -1
	s, err := b.look(c)
	if err != nil {
		return fmt.Errorf("look at %s: %w", c.Path, err)
	}
	if b.done(c, s) {
		b.plan.InPlace = append(b.plan.InPlace, c.Path)
		return nil
	}
	if s.there {
		c.Replaces, c.ours = s.sum, b.ours(c, s)
		if s.sum != c.SHA256 && !c.ours && !c.merges {
			b.plan.Foreign = append(b.plan.Foreign, Foreign{c.Path, c.Name, b.describeForeign(c, s)})
		}
	}
	if err := b.around(c); err != nil {
		return err
	}
	b.at[about] = len(b.plan.Changes)
	b.plan.Changes = append(b.plan.Changes, c)
	return nil
}

// finished returns a change with its path in the form of receipts, and its sum.
func (b *planner) finished(c Change) Change {
	if !c.Kind.inRegistry() {
		c.Path = b.m.join(c.Path)
	}
	if c.SHA256 == "" {
		c.SHA256 = Sum([]byte(c.To + c.Content)) // one of them is empty
	}
	return c
}

// done reports whether nothing is to be done. Something in place without a receipt
// belongs to a package; without packages it still has to get a receipt.
func (b *planner) done(c Change, s placeState) bool {
	switch {
	case !s.there || s.known && s.entry.Pending:
		return false
	case s.sum == c.SHA256:
		return s.known || b.packaged
	}
	whole, ok := b.shipped(c, s)
	return ok && !s.known && whole == c.Content
}

// ours reports whether an installation or a package made what is there.
func (b *planner) ours(c Change, s placeState) bool {
	if s.known && (s.sum == s.entry.SHA256 || s.entry.Pending && s.sum == s.entry.Before) {
		return true
	}
	_, shipped := b.shipped(c, s)
	return shipped || s.sum == c.SHA256
}

// shipped reports whether there is a manifest of our Windows packages, which has the
// program's path relative to its own directory. whole is the same manifest with the
// absolute path.
func (b *planner) shipped(c Change, s placeState) (whole string, ok bool) {
	if c.Kind != Manifest || !b.packaged || s.sum == wrongKind {
		return "", false
	}
	file, err := b.m.readManifest(c.Path)
	if err != nil || !b.m.same(file.program, b.layout.Launch) {
		return "", false
	}
	same, err := manifest.Render(file.family(), b.m.OS, file.Path, file.ids())
	if err != nil || string(same) != file.text { // modified by somebody
		return "", false
	}
	text, err := manifest.Render(file.family(), b.m.OS, b.layout.Launch, file.ids())
	return string(text), err == nil
}

// around plans the parent directories or keys of a change.
func (b *planner) around(c Change) error {
	if c.Kind.inRegistry() {
		return b.insideKey(c)
	}
	return b.inside(c.Path)
}

// joined appends the names of b that are not in a.
func joined(a, b []string) []string {
	for _, name := range b {
		if !slices.Contains(a, name) {
			a = append(a, name)
		}
	}
	return a
}

// describeForeign describes what is in the way of a change.
func (b *planner) describeForeign(c Change, s placeState) string {
	const strange = "is none of this installation's"
	switch {
	case s.known:
		return "was changed since it was installed"
	case c.Kind == Value:
		text, _, _ := b.m.Registry.Value(c.Path, c.Name)
		return "names " + text
	case c.Kind != Manifest || s.sum == wrongKind:
		return strange
	}
	file, err := b.m.readManifest(c.Path)
	switch {
	case err != nil || file.program == "":
		return strange
	case b.m.same(file.program, b.layout.Launch):
		return "was changed since it was installed"
	}
	return "starts another copy, " + file.program
}
