package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"swapkeep/installer"
)

var programChecks = []check{
	{"program.there", "the program exists", nil, eachProgram(programThere)},
	{"program.executable", "and can be started", nil, eachProgram(executable)},
	{"program.mount", "from a disk that lets programs start", []string{"linux", "darwin"}, eachProgram(mounted)},
	{"program.safe", "only you can change it", []string{"linux", "darwin"}, programSafe},
	{"program.place", "it is in a permanent folder", nil, eachProgram(placed)},
	{"program.quarantine", "macOS allows it to start", []string{"darwin"}, eachProgram(quarantined)},
	{"program.signature", "its signature is valid", []string{"darwin", "windows"}, signatures},
	{"program.same", "it is this copy of swapkeep", nil, same},
}

// programs returns the programs that browsers start, by the manifests they read.
func (p *Env) programs() (out []string) {
	for _, h := range p.firsts() {
		if h.path != "" && !slices.Contains(out, h.path) {
			out = append(out, h.path)
		}
	}
	return out
}

// daemonOf returns the daemon that a copy of swapkeep starts.
func (p *Env) daemonOf(program string) string {
	if p.Machine.OS == "windows" { // versions replace each other
		return p.under(p.parent(program), "swapkeepd.exe")
	}
	return installer.DaemonBeside(p.resolved(program))
}

func eachProgram(look func(context.Context, *Env, string) (Finding, bool)) func(context.Context, *Env) []Finding {
	return func(ctx context.Context, p *Env) (out []Finding) {
		programs := p.programs()
		if len(programs) == 0 {
			return []Finding{skipped("no manifest names a program")}
		}
		for _, path := range programs {
			if f, bad := look(ctx, p, path); bad {
				out = append(out, f.of(path))
			}
		}
		return orOK(out, ok(strings.Join(programs, ", ")))
	}
}

func programThere(_ context.Context, p *Env, path string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.linkBroken(path):
		p.recordDead(path)
		return p.fixByInstalling(fail("a link in its path is broken", "swapkeep install"), p.manifestOwner(path)), true
	case errors.Is(err, fs.ErrNotExist):
		p.recordDead(path)
		return p.fixByInstalling(fail("is missing: moved or removed", "swapkeep install"), p.manifestOwner(path)), true
	case err != nil:
		return fail(oneLine(err), "check the permissions of its folder"), true
	case !info.Mode().IsRegular():
		return p.fixByInstalling(fail("is not a program but a "+kindOf(info), "swapkeep install"), p.manifestOwner(path)), true
	}
	return Finding{}, false
}

// manifestOwner returns the owner of a manifest that names a program.
func (p *Env) manifestOwner(program string) string {
	for _, h := range p.firsts() {
		if owner := p.ownerOf(h.file); h.path == program && owner != "" {
			return owner
		}
	}
	return ""
}

// recordDead records our manifests that name a missing program.
func (p *Env) recordDead(path string) {
	for _, h := range p.firsts() {
		if h.path == path && p.isOurs(h.file) && ownPath(path) {
			p.facts.dead = append(p.facts.dead, h.file)
		}
	}
}

func kindOf(info fs.FileInfo) string {
	if info.IsDir() {
		return "folder"
	}
	return "special file"
}

// linkBroken reports whether a link on the way to a path is broken.
func (p *Env) linkBroken(path string) bool {
	for ; path != p.parent(path); path = p.parent(path) {
		_, linked := p.Machine.Files.Lstat(path)
		if _, followed := p.Machine.Files.Stat(path); linked == nil && followed != nil {
			return true
		}
	}
	return false
}

func executable(_ context.Context, p *Env, path string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(path)
	if err != nil || !info.Mode().IsRegular() || p.Machine.OS == "windows" {
		return Finding{}, false
	}
	if info.Mode().Perm()&0o111 == 0 {
		return p.notExecutable(path, info), true
	}
	return Finding{}, false
}

// notExecutable is the finding for a program without execute permission. --fix gives it
// only to what was installed, because a manifest may name any file.
func (p *Env) notExecutable(path string, info fs.FileInfo) Finding {
	file := p.resolved(path)
	f := fail(fmt.Sprintf("is not executable (mode %04o)", info.Mode().Perm()), "check that it is swapkeep, then chmod +x "+p.quoted(file))
	if r, changed := p.changedAt(file, false); changed {
		return f.withRemedy(p.restoreRemedy(r))
	}
	if uid, known := p.Machine.Files.Owner(info); !known || uid != p.UID || !p.untouched(file) {
		return f
	}
	return f.withRemedy("chmod 755 " + p.quoted(file)).withFix(p.restrict(file, 0o755))
}

// programSafe checks who else could change or replace a program or the daemon that it
// starts.
func programSafe(_ context.Context, p *Env) (out []Finding) {
	programs := p.programs()
	if len(programs) == 0 {
		return []Finding{skipped("no manifest names a program")}
	}
	reported := map[string]bool{}
	for _, program := range programs {
		for _, f := range slices.Concat(p.exposures(program), p.exposures(p.daemonOf(program))) {
			at := f.About
			if reported[at] {
				continue
			}
			reported[at] = true
			if at != program {
				f.Evidence = at + ": " + f.Evidence
			}
			out = append(out, p.fixByRestricting(f, at).of(program))
		}
	}
	return orOK(out, ok(strings.Join(programs, ", ")))
}

// temporaryFolders are parts of directories whose content does not stay there.
var temporaryFolders = []string{"/tmp/.mount_", "/Cellar/", "/AppTranslocation/", "/Downloads/", `\Downloads\`, `\AppData\Local\Temp\`, "/_npx/"}

func placed(_ context.Context, p *Env, path string) (Finding, bool) {
	for _, part := range temporaryFolders {
		if strings.Contains(path, part) {
			return p.fixByInstalling(warn("is in a temporary folder", "swapkeep install"), p.manifestOwner(path)), true
		}
	}
	return Finding{}, false
}

func quarantined(_ context.Context, p *Env, path string) (Finding, bool) {
	if !inQuarantine(path) {
		return Finding{}, false
	}
	return fail("is in quarantine, so macOS does not start it for a browser", "xattr -d com.apple.quarantine "+p.quoted(path)), true
}

// same reports other copies of swapkeep that browsers start.
func same(_ context.Context, p *Env) (out []Finding) {
	for _, path := range p.programs() {
		if _, err := p.Machine.Files.Stat(path); err != nil || p.sameProgram(path) {
			continue
		}
		var by []string
		for _, b := range p.facts.browsers {
			if first, any := b.first(); any && first.path == path {
				by = append(by, b.title())
			}
		}
		remedy := p.chooseCopyRemedy(path, p.versionOf(path))
		if r, changed := p.changedAt(p.resolved(path), false); changed {
			remedy = p.restoreRemedy(r)
		}
		out = append(out, warn(strings.Join(by, ", ")+" starts another copy than this one, "+p.Program, remedy).of(path))
	}
	return orOK(out, ok(p.Program))
}

// versionOf returns the version of an installed program; "" if unknown.
func (p *Env) versionOf(program string) string {
	file := p.resolved(program)
	for _, r := range p.receipts() {
		if r.Kind == installer.Program && p.resolvedParent(r.Path) == file {
			return r.Version
		}
	}
	return ""
}

// sameProgram reports whether a path leads to this program or to an identical one.
func (p *Env) sameProgram(path string) bool {
	resolved := p.resolved(path)
	if resolved == p.Program {
		return true
	}
	mine, err1 := p.Machine.Files.ReadFile(p.Program)
	other, err2 := p.Machine.Files.ReadFile(resolved)
	return err1 == nil && err2 == nil && installer.Sum(mine) == installer.Sum(other)
}
