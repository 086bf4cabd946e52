package doctor

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// resolved returns a path with links resolved, as far as it exists.
func (p *Env) resolved(file string) string {
	for range 40 { // the limit of Linux
		next, changed := p.followed(file)
		if !changed {
			break
		}
		file = next
	}
	return file
}

// followed returns a path with its last link followed.
func (p *Env) followed(file string) (string, bool) {
	rest := ""
	for at := file; at != p.parent(at); at = p.parent(at) {
		if to, err := p.Machine.Files.Readlink(at); err == nil {
			return p.from(p.parent(at), to) + rest, true
		}
		rest = at[len(p.parent(at)):] + rest
	}
	return file, false
}

// resolvedParent resolves all links of a path except its last element: a home may be a link.
func (p *Env) resolvedParent(file string) string {
	dir := p.parent(file)
	return p.resolved(dir) + file[len(dir):]
}

// pathChain returns a file and its parent directories, through every link on the way.
func (p *Env) pathChain(file string) (out []string) {
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

// Mode bits for others. A directory that is not exclusively ours may be group-writable,
// as in host/transport: with a umask of 002 every user has their own group.
const (
	othersWrite    = 0o022
	everybodyWrite = 0o002
)

// exposures returns findings about what others could change on the way to a file.
func (p *Env) exposures(file string) (out []Finding) {
	for _, at := range p.pathChain(file) {
		if f, bad := p.open(at); bad {
			out = append(out, f.of(at))
		}
	}
	return out
}

// exposed returns the first of exposures.
func (p *Env) exposed(file string) (Finding, bool) {
	out := p.exposures(file)
	if len(out) == 0 {
		return Finding{}, false
	}
	return out[0], true
}

// open returns a finding if others can change a file or directory. A thing that was
// changed must be replaced: with fixed permissions it would be started.
func (p *Env) open(at string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(at)
	if err != nil {
		return Finding{}, false // reported by another check
	}
	f, bad := p.openFor(at, info)
	if r, changed := p.changedAt(at, info.IsDir()); bad && changed {
		f.Remedy = p.restoreRemedy(r)
	}
	return f, bad
}

// openFor says who can write something, and the remedy.
func (p *Env) openFor(at string, info fs.FileInfo) (Finding, bool) {
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
		return fail(fmt.Sprintf("anyone can write to it (mode %04o)", info.Mode().Perm()), "check what is in it, then "+sudo+"chmod o-w "+p.quoted(at)), true
	}
	return fail(fmt.Sprintf("others can write to it (mode %04o)", info.Mode().Perm()), "check that nobody changed it, then "+sudo+"chmod go-w "+p.quoted(at)), true
}

// giving returns how something of another user gets the right owner.
func (p *Env) giving(at string, info fs.FileInfo) string {
	owner := `"$USER"`
	switch {
	case info.IsDir() && !p.made(at): // a shared directory
		return "check who that is; if you do not trust them, ask your administrator to fix the owner"
	case p.ofSystem(at):
		owner = "root"
	}
	return "check what is in it, then sudo chown " + owner + " " + p.quoted(at)
}

// ofSystem reports whether a path does not belong to this user.
func (p *Env) ofSystem(at string) bool {
	for _, home := range []string{p.Machine.Home, p.resolved(p.Machine.Home)} {
		if strings.HasPrefix(at, home+"/") {
			return false
		}
	}
	return !slices.ContainsFunc(p.receipts(), func(e entry) bool { return e.scope == manifest.User && p.resolvedParent(e.Path) == at })
}

// changedAt returns the receipt of something changed at a path, or right in that folder.
func (p *Env) changedAt(at string, folder bool) (entry, bool) {
	for _, r := range p.receipts() {
		put := p.resolvedParent(r.Path)
		if r.Kind == installer.Extensions || put != at && (!folder || p.parent(put) != at) {
			continue
		}
		if state, err := r.State(p.Machine); err == nil && state == installer.Changed {
			return r, true
		}
	}
	return entry{}, false
}

// changed reports whether a program differs from the one that was installed there.
func (p *Env) changed(program string) bool {
	_, changed := p.changedAt(p.resolved(program), false)
	return changed
}

// made reports whether an installation created a directory and has something directly in
// it. Others it may have created, such as ~/.local, are shared.
func (p *Env) made(dir string) bool {
	made, used := false, false
	for _, r := range p.receipts() {
		at := p.resolvedParent(r.Path)
		made = made || r.Kind == installer.Directory && at == dir
		used = used || r.Kind != installer.Directory && p.parent(at) == dir
	}
	return made && used
}

// fixByRestricting lets --fix take write permission on our unchanged files from others.
func (p *Env) fixByRestricting(f Finding, at string) Finding {
	info, err := p.Machine.Files.Stat(at)
	if err != nil || info.Mode().Perm()&othersWrite == 0 || info.IsDir() && !p.made(at) || !p.untouched(at) {
		return f
	}
	if uid, known := p.Machine.Files.Owner(info); !known || uid != p.UID {
		return f
	}
	f.Remedy = "chmod go-w " + p.quoted(at)
	return f.withFix(p.restrict(at, 0))
}

// untouched reports whether everything that was installed at a path, or below it, is
// unchanged, according to receipts that nobody else could have written.
func (p *Env) untouched(at string) bool {
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
		put := p.resolvedParent(r.Path)
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
