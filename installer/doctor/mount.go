package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// mounted checks whether a program's file system is mounted noexec.
func mounted(_ context.Context, p *Env, path string) (Finding, bool) {
	look, remount := p.mountinfo, "mount it without noexec (sudo mount -o remount,exec POINT)"
	if p.Machine.OS == "darwin" {
		look, remount = mountByStatfs, "mount it without noexec"
	}
	if _, err := p.Machine.Files.Stat(path); err != nil {
		return Finding{}, false // reported by another check
	}
	m, err := look(p.resolved(path))
	switch {
	case err != nil:
		return skipped("cannot read the mount options of its disk: " + oneLine(err)), true
	case !slices.Contains(strings.Split(m.options, ","), "noexec"):
		return Finding{}, false
	}
	return fail("is on "+m.point+", which is mounted noexec",
		strings.ReplaceAll(remount, "POINT", p.quoted(m.point))+", or install swapkeep elsewhere with HOME on another disk"), true
}

// mountinfo returns how Linux mounted the file system of a path.
func (p *Env) mountinfo(path string) (mount, error) {
	const table = "/proc/self/mountinfo"
	text, err := p.Machine.Files.ReadFile(table)
	if err != nil {
		return mount{}, err
	}
	m, found := mountOf(string(text), path)
	if !found {
		return m, errors.New("it is not in " + table)
	}
	return m, nil
}

// A mount is a mount point with its options as in mountinfo.
type mount struct{ point, options string }

// mountOf returns the last mount of the longest mount point above a path (proc(5)).
func mountOf(table, path string) (best mount, found bool) {
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), " ") // names may contain other white space
		if len(fields) < 6 || !strings.HasPrefix(fields[4], "/") {
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

// unescaped decodes the octal escapes of mountinfo.
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
