package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"swapkeep/manifest"
)

// browsers plans the manifests of those that were asked for, or that are there.
func (b *planner) browsers() error {
	for _, name := range b.o.Browsers {
		if _, err := manifest.FindBrowser(name); err != nil {
			return err
		}
	}
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
	chosen, err := b.chosen(places, named)
	switch {
	case err != nil:
		return err
	case len(places) == 0 && !named && !b.o.All:
		return nil
	case len(places) == 0:
		b.skip(Skip{Browser: browser.Name, Reason: fmt.Sprintf("has no place for a host on %s in scope %s", b.m.OS, b.o.Scope)})
	case len(chosen) == 0:
		b.skip(Skip{browser.Name, "was not found", "name it with --browser " + browser.Name, true})
	case len(b.o.Allowed[browser.Family]) == 0:
		b.skip(Skip{Browser: browser.Name, Reason: "no extension of its family is known", Remedy: "name its id with --extension-id"})
		return nil
	}
	for _, p := range chosen {
		if p.Box != "" && !b.boxed(p) {
			continue
		}
		b.plan.served[browser.Name] = true
		if err := b.write(p); err != nil {
			return err
		}
	}
	return nil
}

// chosen are the places that are to be written: of what is there, and of a browser that
// was asked for without being there, those outside of boxes.
func (b *planner) chosen(places []manifest.Place, named bool) (chosen []manifest.Place, err error) {
	for _, p := range places {
		there, err := b.there(p)
		if err != nil {
			return nil, err
		}
		if there || p.Box == "" && (b.o.All || named && p.Channel == "") {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

func (b *planner) skip(s Skip) { b.plan.Skipped = append(b.plan.Skipped, s) }

// there reports whether the browser of a place is on the machine.
func (b *planner) there(p manifest.Place) (bool, error) {
	for _, path := range p.Footprints(b.m.environment()) {
		if found, err := b.m.exists(path); found {
			return true, nil
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			return false, fmt.Errorf("look for %s: %w", p.Browser, err)
		}
	}
	return false, nil
}

// hives are where a scope's registry keys are.
var hives = map[manifest.Scope]string{manifest.User: `HKCU\`, manifest.System: `HKLM\`}

// write plans the manifest of a place, and the key by which it is found.
func (b *planner) write(p manifest.Place) error {
	content, err := manifest.Render(p.Family, b.m.OS, b.layout.Launch, b.o.Allowed[p.Family])
	if err != nil {
		return err
	}
	file := p.File(b.m.environment())
	if p.Key != "" {
		file = b.m.join(b.layout.Manifests, manifest.WindowsFileName(p.Family))
	}
	c := Change{Kind: Manifest, Path: file, Content: string(content), Browsers: []string{p.Browser}}
	if err := b.add(c); err != nil || p.Key == "" {
		return err
	}
	return b.add(Change{Kind: Value, Path: hives[b.o.Scope] + p.HostKey(), To: file, Browsers: c.Browsers})
}
