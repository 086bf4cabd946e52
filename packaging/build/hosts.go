package main

import (
	"path/filepath"

	"swapkeep/manifest"
)

// browsers are those whose system places packages write to. The others of Chromium's
// family read Chrome's, those of Firefox's family read Firefox's.
var browsers = []string{"chrome", "chromium", "edge", "firefox"}

// A host is a manifest in a package and where a browser finds it.
type host struct {
	Source string // in the work directory
	Family manifest.Family
	Path   string // absolute; empty on Windows
	Key    string // registry key; empty on other systems
}

// hosts renders a system's manifests for the program, one per family, and returns the
// places of a scope. A family without ids has none.
func (r *release) hosts(goos, kind, program string, scope manifest.Scope) ([]host, error) {
	var all []host
	for _, browser := range browsers {
		for _, place := range manifest.PlacesOf(goos, browser, scope) {
			if place.Box != "" || len(r.IDs[place.Family]) == 0 {
				continue
			}
			source := filepath.Join(r.work, "hosts", kind, string(place.Family)+".json")
			text, err := manifest.Render(place.Family, goos, program, r.IDs[place.Family])
			if err != nil {
				return nil, err
			}
			if err := r.write(source, text); err != nil {
				return nil, err
			}
			all = append(all, host{source, place.Family, place.File(manifest.Environment{}), place.HostKey()})
		}
	}
	return all, nil
}
