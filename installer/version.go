package installer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"swapkeep/manifest"
)

// Older reports whether version a is older than b. It is false if either does not have a
// form like 1.2.3 or 1.2.3-rc.1.
func Older(a, b string) bool {
	x, known := numbered(a)
	y, too := numbered(b)
	if !known || !too {
		return false
	}
	return cmp.Or(slices.Compare(x.numbers, y.numbers), slices.CompareFunc(x.before, y.before, comparePart)) < 0
}

// A release is a version that can be compared.
type release struct {
	numbers []int
	before  []string // parts of the pre-release, such as rc and 1; afterAll for the release itself
}

// afterAll sorts after every part that a version can have.
const afterAll = "~"

func numbered(version string) (r release, ok bool) {
	version, _, _ = strings.Cut(version, "+") // build metadata
	numbers, before, early := strings.Cut(strings.ReplaceAll(version, "~", "-"), "-")
	for part := range strings.SplitSeq(numbers, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return r, false
		}
		r.numbers = append(r.numbers, int(n))
	}
	for len(r.numbers) > 1 && r.numbers[len(r.numbers)-1] == 0 { // 1.2 equals 1.2.0
		r.numbers = r.numbers[:len(r.numbers)-1]
	}
	if early {
		r.before = strings.Split(before, ".")
		return r, true
	}
	r.before = []string{afterAll}
	return r, true
}

// comparePart orders numbers before words: rc.2, rc.10, rc.x.
func comparePart(a, b string) int {
	n, errA := strconv.ParseUint(a, 10, 31)
	m, errB := strconv.ParseUint(b, 10, 31)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(n, m)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// Newer returns the installation of a scope if it is newer than the version to install;
// otherwise nil.
func Newer(m Machine, scope manifest.Scope, version string) (*Foreign, error) {
	layout, receipts, err := m.installed(scope)
	if err != nil {
		return nil, err
	}
	where, present := layout.Current, ""
	if where != "" {
		present, _ = m.Files.Readlink(where) // otherwise it is in the way anyhow, or missing
	} else {
		where = m.join(layout.Programs, m.exe("swapkeepd"))
		e, _ := receipts.find(Program, where, "")
		present = e.Version
	}
	if m.isMissing(where) {
		return nil, nil
	}
	return Downgrade(where, present, version), nil
}

// Downgrade returns an obstacle if version is older than the one there: it may not be able to
// read the newer one's database. Otherwise nil.
func Downgrade(where, there, version string) *Foreign {
	if !Older(version, there) {
		return nil
	}
	return &Foreign{Path: where, Reason: fmt.Sprintf("has version %s, this is %s and may not be able to read its databases; see \"Going back\" in docs/install.md", there, version)}
}

// Old returns the directories of earlier versions that are removed after a plan is
// applied, because no process runs from them.
func (p *Plan) Old(m Machine, running Running) ([]string, error) {
	layout, receipts, err := m.installed(p.Scope)
	if err != nil || layout.Current == "" {
		return nil, err
	}
	present, err := m.Files.Readlink(layout.Current)
	for _, c := range p.Changes {
		if c.Kind == Link && c.Path == layout.Current {
			present, err = c.To, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return receipts.old(m, layout, present, running)
}

// old returns the directories of versions other than the present one that no process runs
// from and that are unchanged. The error is about other directories.
func (r *Receipts) old(m Machine, l Layout, present string, running Running) (dirs []string, err error) {
	for _, dir := range r.versions(m, l) {
		if dir == m.join(l.folder(m), present) {
			continue
		}
		whole, lookErr := r.unchanged(m, dir)
		busy := false
		if lookErr == nil && whole {
			busy, lookErr = running(dir)
		}
		if err = errors.Join(err, lookErr); lookErr == nil && whole && !busy {
			dirs = append(dirs, dir)
		}
	}
	return dirs, err
}

// unchanged reports whether all that was installed into a directory is unchanged or gone.
func (r *Receipts) unchanged(m Machine, dir string) (bool, error) {
	for _, e := range r.in(m, dir) {
		if state, err := e.State(m); err != nil || state == Changed {
			return false, err
		}
	}
	return true, nil
}

// in returns the entries for a directory and for what is directly in it.
func (r *Receipts) in(m Machine, dir string) (out []Receipt) {
	for _, e := range r.Entries {
		if e.Path == dir || m.parent(e.Path) == dir {
			out = append(out, e)
		}
	}
	return out
}
