package doctor

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// resolved is a path without links, as far as it is there.
func (p *Patient) resolved(file string) string {
	for range 40 { // as many as Linux follows
		next, changed := p.followed(file)
		if !changed {
			break
		}
		file = next
	}
	return file
}

// followed is a path with its last link followed.
func (p *Patient) followed(file string) (string, bool) {
	rest := ""
	for at := file; at != p.parent(at); at = p.parent(at) {
		if to, err := p.Machine.Files.Readlink(at); err == nil {
			return p.from(p.parent(at), to) + rest, true
		}
		rest = at[len(p.parent(at)):] + rest
	}
	return file, false
}

// itself is a path without links but for its last: a home may be reached by one.
func (p *Patient) itself(file string) string {
	dir := p.parent(file)
	return p.resolved(dir) + file[len(dir):]
}

// way is all that leads to a file: it and the folders around it, by every link.
func (p *Patient) way(file string) (out []string) {
	for range 40 {
		for at := file; at != p.parent(at); at = p.parent(at) {
			if real := p.resolved(at); !slices.Contains(out, real) {
				out = append(out, real)
			}
		}
		next, changed := p.followed(file)
		if !changed {
			break
		}
		file = next
	}
	return out
}

// The rights of others. A folder that is not ours alone may be its group's, as host/transport
// has it: with a umask of 002 every user is a group.
const (
	othersWrite    = 0o022
	everybodyWrite = 0o002
)

// exposures are findings about what others could change on the way to a file.
func (p *Patient) exposures(file string) (out []Finding) {
	for _, at := range p.way(file) {
		if f, bad := p.open(at); bad {
			out = append(out, f.of(at))
		}
	}
	return out
}

// exposed is the first of exposures.
func (p *Patient) exposed(file string) (Finding, bool) {
	out := p.exposures(file)
	if len(out) == 0 {
		return Finding{}, false
	}
	return out[0], true
}

// open is a finding about a file or folder that others can change. What was changed is
// not to be closed but to be replaced: with its rights put right it would be started.
func (p *Patient) open(at string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(at)
	if err != nil {
		return Finding{}, false // another check's
	}
	f, bad := p.openFor(at, info)
	if r, changed := p.changedAt(at, info.IsDir()); bad && changed {
		f.Remedy = p.replacing(r)
	}
	return f, bad
}

// openFor says for whom something is open, and how it is closed.
func (p *Patient) openFor(at string, info fs.FileInfo) (Finding, bool) {
	open := info.Mode().Perm() & othersWrite
	shared := info.IsDir() && open != 0 && !p.made(at)
	if shared {
		open &= everybodyWrite
	}
	uid, known := p.Machine.Files.Owner(info)
	sudo := ""
	if known && uid != p.UID {
		sudo = "sudo "
	}
	switch {
	case known && uid != 0 && uid != p.UID:
		return fail(fmt.Sprintf("belongs to user %d, who can change what browsers start", uid), p.giving(at, info)), true
	case info.Mode()&fs.ModeSticky != 0 && info.IsDir(), open == 0:
		return Finding{}, false
	case shared:
		return fail(fmt.Sprintf("everybody can write in it (mode %04o)", info.Mode().Perm()), "look what is in it, then "+sudo+"chmod o-w "+p.quoted(at)), true
	}
	return fail(fmt.Sprintf("others can write it (mode %04o)", info.Mode().Perm()), "look whether it still is what you put there, then "+sudo+"chmod go-w "+p.quoted(at)), true
}

// giving is how something of another user's becomes the right one's.
func (p *Patient) giving(at string, info fs.FileInfo) string {
	owner := `"$USER"`
	switch {
	case info.IsDir() && !p.made(at): // of many things, or of many users
		return "look who that is; if it is none whom you trust, have the system's administrator put it right"
	case p.ofSystem(at):
		owner = "root"
	}
	return "look what is in it, then sudo chown " + owner + " " + p.quoted(at)
}

// ofSystem reports whether a path is none of this user's.
func (p *Patient) ofSystem(at string) bool {
	for _, home := range []string{p.Machine.Home, p.resolved(p.Machine.Home)} {
		if strings.HasPrefix(at, home+"/") {
			return false
		}
	}
	return !slices.ContainsFunc(p.receipts(), func(e entry) bool { return e.scope == manifest.User && p.itself(e.Path) == at })
}

// changedAt is a receipt of what somebody changed: at a path, or right in that folder.
func (p *Patient) changedAt(at string, folder bool) (entry, bool) {
	for _, r := range p.receipts() {
		put := p.itself(r.Path)
		if r.Kind == installer.Extensions || put != at && (!folder || p.parent(put) != at) {
			continue
		}
		if state, err := r.State(p.Machine); err == nil && state == installer.Changed {
			return r, true
		}
	}
	return entry{}, false
}

// changed reports whether a program is another than was installed in its place.
func (p *Patient) changed(program string) bool {
	_, changed := p.changedAt(p.resolved(program), false)
	return changed
}

// made reports whether an installation made a folder and has something right in it: of
// other folders it may have made, such as ~/.local, it is one of many users.
func (p *Patient) made(dir string) bool {
	made, used := false, false
	for _, r := range p.receipts() {
		at := p.itself(r.Path)
		made = made || r.Kind == installer.Directory && at == dir
		used = used || r.Kind != installer.Directory && p.parent(at) == dir
	}
	return made && used
}

// mendedByNarrowing lets --fix take the rights of others from what is ours and untouched.
func (p *Patient) mendedByNarrowing(f Finding, at string) Finding {
	info, err := p.Machine.Files.Stat(at)
	if err != nil || info.Mode().Perm()&othersWrite == 0 || info.IsDir() && !p.made(at) || !p.untouched(at) {
		return f
	}
	if uid, known := p.Machine.Files.Owner(info); !known || uid != p.UID {
		return f
	}
	f.Remedy = "chmod go-w " + p.quoted(at)
	return f.mendedBy(p.narrow(at, 0))
}

// untouched reports whether what an installation put at a path, or in that folder, is
// what it put there, by receipts that nobody else could have written.
func (p *Patient) untouched(at string) bool {
	for _, scope := range []manifest.Scope{manifest.User, manifest.System} {
		file, err := installer.ReceiptsPath(p.Machine, scope)
		if err != nil || len(p.exposures(file)) > 0 {
			return false
		}
		if dir, err := p.Machine.Files.Stat(p.parent(file)); err == nil && dir.Mode().Perm()&othersWrite != 0 {
			return false
		}
	}
	known := false
	for _, r := range p.receipts() {
		put := p.itself(r.Path)
		if r.Kind == installer.Directory || r.Kind == installer.Extensions || put != at && !strings.HasPrefix(put, at+"/") {
			continue
		}
		if state, err := r.State(p.Machine); err != nil || state != installer.Same {
			return false
		}
		known = true
	}
	return known
}
