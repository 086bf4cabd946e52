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

// Older reports whether a version comes before another. Of what is no version in
// numbers, as 1.2.3 or 1.2.3-rc.1, it is not known: false.
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
	before  []string // the parts of what comes before the release itself, as rc.1; of that itself afterAll
}

// afterAll is after every part that a version can have.
const afterAll = "~"

func numbered(version string) (r release, ok bool) {
	version, _, _ = strings.Cut(version, "+") // of the build
	numbers, before, early := strings.Cut(strings.ReplaceAll(version, "~", "-"), "-")
	for part := range strings.SplitSeq(numbers, ".") {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return r, false
		}
		r.numbers = append(r.numbers, int(n))
	}
	for len(r.numbers) > 1 && r.numbers[len(r.numbers)-1] == 0 { // 1.2 is 1.2.0
		r.numbers = r.numbers[:len(r.numbers)-1]
	}
	if early {
		r.before = strings.Split(before, ".")
		return r, true
	}
	r.before = []string{afterAll}
	return r, true
}

// comparePart puts numbers before words, as rc.2 before rc.10 before rc.x.
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

// Newer is the installation of a scope that is of a later version than one that is to be
// installed: it stands in its way. nil: there is none.
func Newer(m Machine, scope manifest.Scope, version string) (*Foreign, error) {
	layout, receipts, err := m.installed(scope)
	if err != nil {
		return nil, err
	}
	where, present := layout.Current, ""
	if where != "" {
		present, _ = m.Files.Readlink(where) // else it is in the way anyhow, or not there
	} else {
		where = m.join(layout.Programs, m.exe("swapkeepd"))
		e, _ := receipts.find(Program, where, "")
		present = e.Version
	}
	if m.lost(where) {
		return nil, nil
	}
	return Later(where, present, version), nil
}

// Later is what stands in the way of a version that is older than one there: the database
// may have gone on to a form that it cannot read. nil: it is not older.
func Later(where, there, version string) *Foreign {
	if !Older(version, there) {
		return nil
	}
	return &Foreign{Path: where, Reason: fmt.Sprintf("is of version %s, and this is %s, which may not be able to read its databases: see \"Going back\" in docs/install.md", there, version)}
}

// Old are the folders of earlier versions that go once a plan is carried out: nothing
// runs from them.
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

// old are the folders of versions other than the present one that nothing runs from, and
// of which nobody changed anything. An error is about others.
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

// unchanged reports whether what was installed into a folder is as it was, or gone.
func (r *Receipts) unchanged(m Machine, dir string) (bool, error) {
	for _, e := range r.in(m, dir) {
		if state, err := e.State(m); err != nil || state == Changed {
			return false, err
		}
	}
	return true, nil
}

// in are the entries for a folder and for what is right in it.
func (r *Receipts) in(m Machine, dir string) (out []Receipt) {
	for _, e := range r.Entries {
		if e.Path == dir || m.parent(e.Path) == dir {
			out = append(out, e)
		}
	}
	return out
}
