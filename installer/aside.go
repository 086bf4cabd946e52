package installer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/manifest"
)

// asideEnd is the suffix of files that were moved aside while in use.
const asideEnd = ".old"

// asideName returns a new name for a file that is moved aside.
func asideName(name string, now time.Time) string {
	return name + "." + strconv.FormatInt(now.UnixNano(), 36) + asideEnd
}

// wasAside reports whether a name is one that [asideName] gives to one of our files, or
// that the Windows setup program gives with a small number.
func wasAside(name string) bool {
	rest, is := strings.CutSuffix(name, asideEnd)
	dot := strings.LastIndexByte(rest, '.')
	if !is || dot < 0 {
		return false
	}
	number := rest[dot+1:]
	return number != "" && strings.Trim(number, "0123456789abcdefghijklmnopqrstuvwxyz") == "" && slices.Contains(movable(), rest[:dot])
}

// movable returns the names of our files that Windows may refuse to replace.
func movable() []string {
	names := []string{"swapkeep.exe", "swapkeepd.exe", receiptsName}
	for _, f := range manifest.Families() {
		names = append(names, manifest.WindowsFileName(f))
	}
	return names
}

// sweepAside removes files that were moved aside while in use. Files still in use are
// left for a later run.
func (m Machine) sweepAside(l Layout) {
	if m.OS != "windows" {
		return
	}
	beside := m.parent(l.Programs)
	for _, dir := range []string{m.Env("TMP"), m.Env("TEMP"), beside, m.parent(beside)} {
		entries, _ := m.Files.ReadDir(dir) // an unreadable directory has none
		for _, e := range entries {
			if wasAside(e.Name()) {
				_ = m.Files.Remove(m.join(dir, e.Name()))
			}
		}
	}
}
