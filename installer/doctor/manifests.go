package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

var manifestChecks = []check{
	{"manifest.found", "browsers find the host", nil, found},
	{"manifest.order", "and no other in its place", nil, order},
	{"manifest.valid", "browsers accept the manifest", nil, valid},
	{"manifest.safe", "only you can change it", nil, safe},
}

// found says which browsers have a manifest at all.
func found(_ context.Context, p *Patient) (out []Finding) {
	if len(p.seen.browsers) == 0 {
		return []Finding{note("no browser of the table was found").withRemedy("swapkeep install --browser NAME, if there is one")}
	}
	var good []string
	anywhere := slices.ContainsFunc(p.seen.browsers, func(b browser) bool { return len(b.hits) > 0 })
	told := map[string]bool{} // by the file that is missing: some browsers share theirs
	for _, b := range p.seen.browsers {
		if len(b.hits) > 0 {
			good = append(good, b.title())
			continue
		}
		if file := b.File(p.environment()); file != "" && told[file] {
			continue
		} else {
			told[file] = true
		}
		f := note("nothing tells this browser of swapkeep").withRemedy("swapkeep install --browser " + b.Browser)
		switch {
		case b.Box != "":
			continue // another check's
		case len(b.extensions) > 0 || !anywhere:
			f.Status = Fail
			f = f.mendedBy(p.reinstall)
		}
		if len(p.Allowed[b.Family]) == 0 {
			f.Remedy, f.fix = "swapkeep install --extension-id ID, with the id that the extension's popup shows", nil
		}
		out = append(out, f.of(b.title()))
	}
	if len(good) > 0 {
		out = append(out, ok(strings.Join(good, ", ")))
	}
	return out
}

func (f Finding) withRemedy(text string) Finding {
	f.Remedy = text
	return f
}

// order looks at what a browser reads first, if it finds several.
func order(_ context.Context, p *Patient) (out []Finding) {
	for _, b := range p.seen.browsers {
		first, any := b.first()
		if !any || p.ours(first) {
			continue
		}
		for _, later := range b.hits[1:] {
			if p.ours(later) {
				out = append(out, fail(fmt.Sprintf("reads %s first, which is another program's and hides %s", first.file, later.file), p.replaceRemedy(first)).of(b.title()))
				break
			}
		}
	}
	return unless(out, ok("no manifest hides ours"))
}

// installRemedy brings a manifest up to date; one that was changed is not replaced
// without a word.
func (p *Patient) installRemedy(file string) string {
	for _, r := range p.receipts() {
		if state, err := r.State(p.Machine); r.Path == file && err == nil && state == installer.Changed {
			return "look at it, then swapkeep install --force"
		}
	}
	return "swapkeep install"
}

func (p *Patient) replaceRemedy(h hit) string {
	if h.place.Scope == manifest.System {
		return "look at it, then remove it as the system's administrator: sudo rm " + quoted(h.file)
	}
	return "look at it, then replace it with swapkeep install --force --browser " + h.place.Browser
}

// valid holds each manifest that a browser reads against its family's rules.
func valid(_ context.Context, p *Patient) (out []Finding) {
	count := 0
	for _, h := range p.firsts() {
		count++
		err := h.err
		if err == nil {
			err = manifest.Validate(h.place.Family, p.Machine.OS, manifest.HostName, h.text)
		}
		switch {
		case err != nil && p.isOurs(h.file) && ownPath(h.path):
			p.seen.dead = append(p.seen.dead, h.file)
			out = append(out, fail(oneLine(err), "swapkeep install --force").of(h.file).mendedBy(p.reinstall))
		case err != nil:
			out = append(out, fail(oneLine(err), p.replaceRemedy(h)).of(h.file))
		case strings.HasPrefix(string(h.text), bom):
			out = append(out, note("begins with a byte order mark, which browsers accept").of(h.file))
		}
	}
	return unless(out, ok(plural(count, "manifest")))
}

// firsts are the manifests that browsers read, each once for a family.
func (p *Patient) firsts() (out []hit) {
	for _, b := range p.seen.browsers {
		h, any := b.first()
		if any && !slices.ContainsFunc(out, func(o hit) bool { return o.file == h.file && o.place.Family == h.place.Family }) {
			out = append(out, h)
		}
	}
	return out
}

// isOurs reports whether the receipts name a file.
func (p *Patient) isOurs(file string) bool {
	for _, r := range p.receipts() {
		if r.Path == file {
			return true
		}
	}
	return false
}

// ownPath reports whether a manifest may be of a swapkeep's, by what it starts: one that
// starts something else is another program's wherever it is.
func ownPath(path string) bool {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	return path == "" || name == "swapkeep" || name == "swapkeep.exe"
}

// safe looks who else could change a manifest.
func safe(_ context.Context, p *Patient) (out []Finding) {
	if p.Machine.OS == "windows" {
		return []Finding{skipped("Windows: the profile's access list protects them")}
	}
	count := 0
	for _, h := range p.firsts() {
		count++
		for _, path := range []string{h.file, p.parent(h.file)} {
			if f, bad := p.exposed(path); bad {
				out = append(out, f)
			}
		}
	}
	return unless(out, ok(plural(count, "manifest")))
}

// exposed is a finding about a file or folder that others can change.
func (p *Patient) exposed(path string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(path)
	if err != nil {
		return Finding{}, false // another check's
	}
	uid, known := p.Machine.Files.Owner(info)
	mine := known && uid == p.UID
	open := info.Mode().Perm() & 0o022
	switch {
	case known && uid != 0 && !mine:
		return fail(fmt.Sprintf("belongs to user %d, who can change what browsers start", uid), "sudo chown \"$USER\" "+quoted(path)).of(path), true
	case info.Mode()&fs.ModeSticky != 0 && info.IsDir():
		return Finding{}, false
	case open != 0:
		f := fail(fmt.Sprintf("others can write it (mode %04o)", info.Mode().Perm()), "chmod go-w "+quoted(path)).of(path)
		if mine {
			f = f.mendedBy(p.chmod(path, info.Mode().Perm()&^0o022))
		} else {
			f.Remedy = "sudo " + f.Remedy
		}
		return f, true
	}
	return Finding{}, false
}
