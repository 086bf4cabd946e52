package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

var manifestChecks = []check{
	{"manifest.found", "browsers find the host", nil, found},
	{"manifest.order", "no other manifest hides it", nil, order},
	{"manifest.valid", "browsers accept the manifest", nil, valid},
	{"manifest.safe", "only you can change it", nil, safe},
}

// found reports which browsers have a manifest. If several browsers lack the same file,
// one finding names them all, with the worst status.
func found(_ context.Context, p *Env) (out []Finding) {
	if len(p.facts.browsers) == 0 {
		return []Finding{note("no known browser found").withRemedy("swapkeep install --browser NAME, if there is one")}
	}
	var good []string
	reported := map[string]int{} // index in out, by the missing file
	for _, b := range p.facts.browsers {
		if len(b.hits) > 0 {
			good = append(good, b.title())
			continue
		}
		f, report := p.missing(b)
		if !report {
			continue // another check reports what it needs
		}
		file := b.File(p.environment())
		i, known := reported[file]
		if !known || file == "" { // on Windows no file is shared
			reported[file] = len(out)
			out = append(out, f.of(b.title()))
			continue
		}
		titles := out[i].About + ", " + b.title()
		if slices.Index(severities, f.Status) > slices.Index(severities, out[i].Status) {
			out[i] = f
		}
		out[i] = out[i].of(titles)
		out[i].Evidence = "these browsers have no manifest for swapkeep"
	}
	if len(good) > 0 {
		out = append(out, ok(strings.Join(good, ", ")))
	}
	return out
}

// missing is the finding for a browser without a manifest, if no other check reports it.
func (p *Env) missing(b browser) (f Finding, report bool) {
	anywhere := slices.ContainsFunc(p.facts.browsers, func(b browser) bool { return len(b.hits) > 0 })
	needed := len(b.extensions) > 0 || !anywhere
	f = note("this browser has no manifest for swapkeep").withRemedy("swapkeep install --browser " + b.Browser)
	if needed {
		f.Status = Fail
	}
	switch box, _ := b.Packaging(); {
	case b.Box != "" && !needed:
		return f, false
	case b.Box != "" && len(box.Commands) == 0: // no installation would help
		f.Remedy = strings.Join(box.Needs, " ")
	case needed && slices.Contains(p.served(), b.Browser) && b.Box == "":
		_, at := p.registration(b.Place)
		f = p.fixByInstalling(f, p.ownerOf(at))
	}
	if len(p.Allowed[b.Family]) == 0 {
		f.Remedy, f.fix = letIn, nil
	}
	return f, true
}

func (f Finding) withRemedy(text string) Finding {
	f.Remedy = text
	return f
}

// order checks which manifest a browser reads first if it finds several.
func order(_ context.Context, p *Env) (out []Finding) {
	for _, b := range p.facts.browsers {
		first, any := b.first()
		if !any || p.ours(first) {
			continue
		}
		for _, later := range b.hits[1:] {
			if p.ours(later) {
				out = append(out, fail(fmt.Sprintf("reads another program's %s first, which hides %s", first.file, later.file), p.replaceRemedy(first)).of(b.title()))
				break
			}
		}
	}
	return orOK(out, ok("no manifest hides ours"))
}

// installRemedy returns the command that updates a manifest; one that was changed is not
// replaced without --force.
func (p *Env) installRemedy(file string) string {
	for _, r := range p.receipts() {
		if state, err := r.State(p.Machine); r.Path == file && err == nil && state == installer.Changed {
			return p.restoreRemedy(r)
		}
	}
	return "swapkeep install"
}

func (p *Env) replaceRemedy(h foundManifest) string {
	switch {
	case h.place.Scope == manifest.System && h.place.Key != "":
		return `look at it, then remove its key as an administrator: reg delete "` + p.keyOf(h) + `" /f`
	case h.place.Scope == manifest.System:
		return "inspect it, then remove it as the system's administrator: sudo rm " + p.quoted(h.file)
	}
	return "inspect it, then replace it with swapkeep install --force --browser " + h.place.Browser
}

// keyOf returns the registry key that names a manifest.
func (p *Env) keyOf(h foundManifest) string {
	for _, view := range h.place.Views() {
		if file, is, err := p.Machine.Registry.Value(keyIn(h.place, view), ""); err == nil && is && file == h.file {
			return keyIn(h.place, view)
		}
	}
	return keyIn(h.place, manifest.View64)
}

// valid checks each manifest that a browser reads against the rules of its family.
func valid(_ context.Context, p *Env) (out []Finding) {
	count := 0
	for _, h := range p.firsts() {
		count++
		err := p.validate(h)
		switch {
		case err != nil && p.isOurs(h.file) && ownPath(h.path):
			p.facts.dead = append(p.facts.dead, h.file)
			out = append(out, p.fixByInstalling(fail(oneLine(err), "swapkeep install --force"), p.ownerOf(h.file)).of(h.file))
		case err != nil:
			out = append(out, fail(oneLine(err), p.replaceRemedy(h)).of(h.file))
		case strings.HasPrefix(string(h.text), bom):
			out = append(out, note("begins with a byte order mark, which browsers accept").of(h.file))
		}
	}
	return orOK(out, ok(plural(count, "manifest")))
}

// validate checks a manifest against the rules of its browser's family.
func (p *Env) validate(h foundManifest) error {
	if h.err != nil {
		return h.err
	}
	return manifest.Validate(h.place.Family, p.Machine.OS, manifest.HostName, h.text)
}

// firsts returns the manifests that browsers read, each once per family.
func (p *Env) firsts() (out []foundManifest) {
	for _, b := range p.facts.browsers {
		h, any := b.first()
		if any && !slices.ContainsFunc(out, func(o foundManifest) bool { return o.file == h.file && o.place.Family == h.place.Family }) {
			out = append(out, h)
		}
	}
	return out
}

// isOurs reports whether a receipt names the file.
func (p *Env) isOurs(file string) bool {
	for _, r := range p.receipts() {
		if r.Path == file {
			return true
		}
	}
	return false
}

// ownPath reports whether a manifest may belong to a copy of swapkeep, judged by the
// program's name: one that starts something else is foreign wherever it is.
func ownPath(path string) bool {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	return path == "" || name == "swapkeep" || name == "swapkeep.exe"
}

// safe checks who else could change a manifest.
func safe(_ context.Context, p *Env) (out []Finding) {
	if p.Machine.OS == "windows" {
		return []Finding{skipped("Windows: the profile's access list protects them")}
	}
	count := 0
	for _, h := range p.firsts() {
		count++
		for _, f := range p.exposures(h.file) {
			if !slices.ContainsFunc(out, func(o Finding) bool { return o.About == f.About }) {
				out = append(out, p.fixByRestricting(f, f.About))
			}
		}
	}
	return orOK(out, ok(plural(count, "manifest")))
}
