package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"swapkeep/manifest"
)

// browsers plans the manifests of the browsers that were asked for or are installed.
func (b *planner) browsers() error {
	for _, browser := range manifest.Browsers() {
		if len(b.o.Browsers) > 0 && !slices.Contains(b.o.Browsers, browser.Name) {
			continue
		}
		if err := b.browser(browser); err != nil {
			return err
		}
	}
	return nil
}

// browser plans one browser's manifests, or says why there are none.
func (b *planner) browser(browser manifest.Browser) error {
	named := slices.Contains(b.o.Browsers, browser.Name)
	places := manifest.PlacesOf(b.m.OS, browser.Name, b.o.Scope)
	if len(places) == 0 {
		if named || b.o.All {
			b.skip(Skip{Browser: browser.Name, Reason: fmt.Sprintf("has no place for a host on %s in scope %s", b.m.OS, b.o.Scope)})
		}
		return nil
	}
	chosen, written := b.chosen(places, named)
	allowed := len(b.o.Allowed[browser.Family]) > 0
	switch {
	case len(chosen) == 0:
		b.skip(Skip{browser.Name, "was not found", "give it with --browser " + browser.Name, true})
	case !allowed:
		b.skip(Skip{Browser: browser.Name, Reason: "no extension of its family is known", Remedy: "give its id with --extension-id"})
	}
	if !allowed {
		return nil
	}
	for _, p := range chosen {
		if p.Box != "" && !b.boxed(p) {
			continue
		}
		if ok, err := b.write(p, named); err != nil {
			return err
		} else if ok {
			b.plan.served[browser.Name] = true
		}
	}
	for _, p := range written {
		if ok, err := b.write(p, false); err != nil {
			return err
		} else if ok {
			b.plan.served[browser.Name] = true
		}
	}
	return nil
}

// chosen returns the places to write: those where the browser is installed and, for a
// browser that was asked for without being installed, its regular place. written are
// other places that an earlier installation wrote; they are only kept up to date.
func (b *planner) chosen(places []manifest.Place, named bool) (chosen, written []manifest.Place) {
	for _, p := range places {
		switch {
		case p.Box == "" && (b.o.All || named && p.Channel == ""), b.there(p):
			chosen = append(chosen, p)
		case b.written(p):
			written = append(written, p)
		}
	}
	return chosen, written
}

func (b *planner) skip(s Skip) { b.plan.Skipped = append(b.plan.Skipped, s) }

// there reports whether the browser of a place is on the machine, as far as that can be
// read. Directories that were only created for a manifest do not count.
func (b *planner) there(p manifest.Place) bool {
	for _, path := range p.Footprints(b.m.environment()) {
		found, err := b.m.exists(path)
		switch {
		case found && !b.madeByUs(b.m.join(path)):
			return true
		case err != nil && !errors.Is(err, fs.ErrPermission):
			b.warn(fmt.Sprintf("a sign of a browser cannot be read: %v", err))
		}
	}
	return false
}

// warn adds a warning once.
func (b *planner) warn(text string) { b.plan.Warnings = joined(b.plan.Warnings, []string{text}) }

// madeByUs reports whether everything at a path was made by an installation.
func (b *planner) madeByUs(path string) bool {
	e, ours := b.plan.receipts.find(Directory, path, "")
	if !ours || e.Kind != Directory {
		return ours
	}
	inside, err := b.m.Files.ReadDir(path)
	return err == nil && !slices.ContainsFunc(inside, func(d fs.DirEntry) bool { return !b.madeByUs(b.m.join(path, d.Name())) })
}

// written reports whether an earlier installation wrote the manifest of a place.
func (b *planner) written(p manifest.Place) bool {
	kind, path := Manifest, p.File(b.m.environment())
	if p.Key != "" {
		kind, path = Value, hives[b.o.Scope]+p.HostKey()
	}
	_, ours := b.plan.receipts.find(kind, path, "")
	return ours
}

// hives are the registry hives of the scopes.
var hives = map[manifest.Scope]string{manifest.User: `HKCU\`, manifest.System: `HKLM\`}

// write plans the manifest of a place, and the registry key that names it. It skips a
// place that cannot be written, unless its browser was named.
func (b *planner) write(p manifest.Place, named bool) (ok bool, err error) {
	content, err := manifest.Render(p.Family, b.m.OS, b.layout.Launch, b.o.Allowed[p.Family])
	if err != nil {
		return false, err
	}
	file := p.File(b.m.environment())
	if p.Key != "" {
		file = b.m.join(b.layout.Manifests, manifest.WindowsFileName(p.Family))
	}
	c := Change{Kind: Manifest, Path: file, Content: string(content), Browsers: []string{p.Browser}}
	if p.Key == "" && !named {
		if reason, remedy := b.unwritable(b.finished(c)); reason != "" {
			b.skip(Skip{Browser: p.Browser, Reason: reason, Remedy: remedy})
			return false, nil
		}
	}
	if err := b.add(c); err != nil || p.Key == "" {
		return err == nil, err
	}
	err = b.add(Change{Kind: Value, Path: hives[b.o.Scope] + p.HostKey(), To: file, Browsers: c.Browsers})
	return err == nil, err
}
