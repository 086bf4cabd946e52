//go:build linux

package ui

// ComputedNames returns the names that Chromium computes for elements of a role.
func (p *Page) ComputedNames(role string) []string {
	p.b.t.Helper()
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value string }
		}
	}
	if err := p.tab.(*chromiumTab).call("Accessibility.getFullAXTree", nil, &tree); err != nil {
		p.fail("read Chromium's tree: %v", err)
	}
	var all []string
	for _, n := range tree.Nodes {
		if !n.Ignored && n.Role.Value == role {
			all = append(all, n.Name.Value)
		}
	}
	return all
}
