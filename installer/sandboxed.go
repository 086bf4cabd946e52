package installer

import "swapkeep/manifest"

// A Sandboxed browser is shut in a box and needs more than a manifest.
type Sandboxed struct {
	Browser  string       `json:"browser"`
	Box      manifest.Box `json:"box"`
	App      string       `json:"app"`     // its name in the box
	Written  bool         `json:"written"` // its manifest is part of the plan
	Needs    []string     `json:"needs"`   // sentences
	Commands []string     `json:"commands,omitempty"`
}

// boxed notes what a boxed browser needs, and reports whether its manifest is written:
// not where nothing helps. The commands are left to the person: they open the box.
func (b *planner) boxed(p manifest.Place) bool {
	packaging, ok := p.Packaging()
	if !ok {
		return false
	}
	s := Sandboxed{Browser: p.Browser, Box: p.Box, App: p.App, Needs: packaging.Needs}
	s.Commands = packaging.CommandsFor(p.App, b.layout.folder(b.m), b.o.Home)
	s.Written = len(s.Commands) > 0
	b.plan.Sandboxed = append(b.plan.Sandboxed, s)
	return s.Written
}
