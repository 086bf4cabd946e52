package installer

import "swapkeep/manifest"

// A Sandboxed browser runs in a Flatpak or Snap and needs more than a manifest.
type Sandboxed struct {
	Browser  string       `json:"browser"`
	Box      manifest.Box `json:"box"`
	App      string       `json:"app"`     // its id as a Flatpak or snap
	Written  bool         `json:"written"` // its manifest is part of the plan
	Needs    []string     `json:"needs"`   // sentences
	Commands []string     `json:"commands,omitempty"`
}

// boxed records what a sandboxed browser needs, and reports whether its manifest is to be
// written: not if nothing would help. The user runs the commands, which open the sandbox.
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
