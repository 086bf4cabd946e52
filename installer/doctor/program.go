package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"swapkeep/installer"
)

var programChecks = []check{
	{"program.there", "the program that they start is there", nil, eachProgram(programThere)},
	{"program.executable", "and can be started", nil, eachProgram(executable)},
	{"program.mount", "from a disk that lets programs start", []string{"linux", "darwin"}, eachProgram(mounted)},
	{"program.safe", "only you can change it", []string{"linux", "darwin"}, eachProgram(programSafe)},
	{"program.place", "it stays where it is", nil, eachProgram(placed)},
	{"program.quarantine", "macOS lets it start", []string{"darwin"}, eachProgram(quarantined)},
	{"program.signature", "its signature is valid", []string{"darwin", "windows"}, eachProgram(signed)},
	{"program.same", "it is this copy of swapkeep", nil, same},
}

// programs are what browsers start, by the manifests that they read.
func (p *Patient) programs() (out []string) {
	for _, h := range p.firsts() {
		if h.path != "" && !slices.Contains(out, h.path) {
			out = append(out, h.path)
		}
	}
	return out
}

func eachProgram(look func(context.Context, *Patient, string) (Finding, bool)) func(context.Context, *Patient) []Finding {
	return func(ctx context.Context, p *Patient) (out []Finding) {
		programs := p.programs()
		if len(programs) == 0 {
			return []Finding{skipped("no manifest names a program")}
		}
		for _, path := range programs {
			if f, bad := look(ctx, p, path); bad {
				out = append(out, f.of(path))
			}
		}
		return unless(out, ok(strings.Join(programs, ", ")))
	}
}

func programThere(_ context.Context, p *Patient, path string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.linkBroken(path):
		p.leadNowhere(path)
		return fail("a link on its way leads nowhere", "swapkeep install").mendedBy(p.reinstall), true
	case errors.Is(err, fs.ErrNotExist):
		p.leadNowhere(path)
		return fail("is not there: it was moved or removed", "swapkeep install").mendedBy(p.reinstall), true
	case err != nil:
		return fail(oneLine(err), "look at its folder's permissions"), true
	case !info.Mode().IsRegular():
		return fail("is no program but a "+kindOf(info), "swapkeep install").mendedBy(p.reinstall), true
	}
	return Finding{}, false
}

// leadNowhere notes the manifests of ours that lead to a program that is not there.
func (p *Patient) leadNowhere(path string) {
	for _, h := range p.firsts() {
		if h.path == path && p.isOurs(h.file) && ownPath(path) {
			p.seen.dead = append(p.seen.dead, h.file)
		}
	}
}

func kindOf(info fs.FileInfo) string {
	if info.IsDir() {
		return "folder"
	}
	return "special file"
}

// linkBroken reports whether a link on the way to a path has lost its target.
func (p *Patient) linkBroken(path string) bool {
	for ; path != p.parent(path); path = p.parent(path) {
		_, linked := p.Machine.Files.Lstat(path)
		if _, followed := p.Machine.Files.Stat(path); linked == nil && followed != nil {
			return true
		}
	}
	return false
}

func executable(_ context.Context, p *Patient, path string) (Finding, bool) {
	info, err := p.Machine.Files.Stat(path)
	if err != nil || !info.Mode().IsRegular() || p.Machine.OS == "windows" {
		return Finding{}, false
	}
	if info.Mode().Perm()&0o111 == 0 {
		f := fail(fmt.Sprintf("is not executable (mode %04o)", info.Mode().Perm()), "chmod +x "+quoted(path))
		if uid, known := p.Machine.Files.Owner(info); known && uid == p.UID {
			f = f.mendedBy(p.chmod(path, info.Mode().Perm()|0o755&^0o022))
		}
		return f, true
	}
	return Finding{}, false
}

// mounted looks for a file system that lets no program start.
func mounted(_ context.Context, p *Patient, path string) (Finding, bool) {
	table, err := p.Machine.Files.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return Finding{}, false // not Linux: programs there fail at launch
	}
	m, found := mountOf(string(table), p.resolved(path))
	if !found || !slices.Contains(strings.Split(m.options, ","), "noexec") {
		return Finding{}, false
	}
	return fail("is on "+m.point+", which is mounted noexec", "mount it without noexec (sudo mount -o remount,exec "+quoted(m.point)+"), or install swapkeep elsewhere with HOME on another disk"), true
}

// A mount is a line of mountinfo.
type mount struct{ point, options string }

// mountOf is the last of the longest mount points that a path is below (proc(5)).
func mountOf(table, path string) (best mount, found bool) {
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		point := unescaped(fields[4])
		below := point == "/" || path == point || strings.HasPrefix(path, point+"/")
		if below && len(point) >= len(best.point) {
			best, found = mount{point, fields[5]}, true
		}
	}
	return best, found
}

// unescaped reads what mountinfo writes in octal.
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

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
			if !path.IsAbs(to) {
				to = path.Join(p.parent(at), to)
			}
			return to + rest, true
		}
		rest = at[len(p.parent(at)):] + rest
	}
	return file, false
}

// programSafe looks who else could change the program, or put another in its place.
func programSafe(_ context.Context, p *Patient, path string) (Finding, bool) {
	for at := p.resolved(path); at != p.parent(at); at = p.parent(at) {
		if f, bad := p.exposed(at); bad {
			if at != path {
				f.Evidence = at + " " + f.Evidence
			}
			return f, true
		}
	}
	return Finding{}, false
}

// passing are folders that what is in them does not stay in.
var passing = []string{"/tmp/.mount_", "/Cellar/", "/AppTranslocation/", "/Downloads/", `\Downloads\`, `\AppData\Local\Temp\`, "/_npx/"}

func placed(_ context.Context, p *Patient, path string) (Finding, bool) {
	for _, part := range passing {
		if strings.Contains(path, part) {
			return warn("is in a folder that it will not stay in", "swapkeep install").mendedBy(p.reinstall), true
		}
	}
	return Finding{}, false
}

func quarantined(_ context.Context, _ *Patient, path string) (Finding, bool) {
	if !inQuarantine(path) {
		return Finding{}, false
	}
	return fail("is in quarantine, so that macOS does not start it for a browser", "xattr -d com.apple.quarantine "+quoted(path)), true
}

// same tells other copies of swapkeep that browsers start apart from this one.
func same(_ context.Context, p *Patient) (out []Finding) {
	for _, path := range p.programs() {
		if _, err := p.Machine.Files.Stat(path); err != nil || p.sameProgram(path) {
			continue
		}
		var by []string
		for _, b := range p.seen.browsers {
			if first, any := b.first(); any && first.path == path {
				by = append(by, b.title())
			}
		}
		out = append(out, warn(strings.Join(by, ", ")+" starts another copy than this one, "+p.Program,
			"decide for one: run swapkeep install --force from the copy that is to stay").of(path))
	}
	return unless(out, ok(p.Program))
}

// sameProgram reports whether a path leads to this program, or to the same bytes.
func (p *Patient) sameProgram(path string) bool {
	resolved := p.resolved(path)
	if resolved == p.Program {
		return true
	}
	mine, err1 := p.Machine.Files.ReadFile(p.Program)
	other, err2 := p.Machine.Files.ReadFile(resolved)
	return err1 == nil && err2 == nil && installer.Sum(mine) == installer.Sum(other)
}
