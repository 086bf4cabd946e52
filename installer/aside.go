package installer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/manifest"
)

// asideSuffix ends the names of files that were moved aside. Windows does not let a program replace
// a file in use, but lets it rename one: the installer renames it and puts the new file in its
// place.
const asideSuffix = ".old"

// asideName returns a new name for a file that is moved aside.
func asideName(name string, now time.Time) string {
	return name + "." + strconv.FormatInt(now.UnixNano(), 36) + asideSuffix
}

// isAsideName reports whether a name is one that [asideName] returns for one of our files. The
// Windows setup program makes such names too, with a small number.
func isAsideName(name string) bool {
	rest, ok := strings.CutSuffix(name, asideSuffix)
	dot := strings.LastIndexByte(rest, '.')
	if !ok || dot < 0 {
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

// removeAside removes files that were moved aside and are no longer in use. Those still in use are
// left for a later run.
func (m Machine) removeAside(l Layout) {
	if m.OS != "windows" {
		return
	}
	programsParent := m.parent(l.Programs)
	for _, dir := range []string{m.Env("TMP"), m.Env("TEMP"), programsParent, m.parent(programsParent)} {
		entries, _ := m.Files.ReadDir(dir) // one that cannot be read is skipped
		for _, e := range entries {
			if isAsideName(e.Name()) {
				_ = m.Files.Remove(m.join(dir, e.Name()))
			}
		}
	}
}
