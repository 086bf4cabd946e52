package providertest

import (
	"slices"
	"strings"
	"testing"
)

// Harmless says why lies about a part of a reply are allowed.
type Harmless struct {
	// Path is as in [walk], after the name of the exchange's path, with [*] for any
	// index; a last part ** stands for the part itself and everything below it.
	Path, Why string
	// Lies are the kinds that are allowed, as [mutations] names them; nil = any.
	Lies []string
	// Flows are those in which they are; nil = all.
	Flows []string
	// MayChange names the facets of the outcome that the lies may alter: things that
	// are shown or bounded elsewhere. Terms and effects are never among them.
	MayChange []string
}

// Absent are the lies that leave a part out.
var Absent = []string{"removed", "null"}

// covers reports whether a row is about a lie of a kind, at a place in a flow.
func (r Harmless) covers(flow, place, kind string) bool {
	return (r.Flows == nil || slices.Contains(r.Flows, flow)) && (r.Lies == nil || slices.Contains(r.Lies, kind)) && at(r.Path, place)
}

// at reports whether a place is the one, or one of those, that a path names.
func at(path, place string) bool {
	base, below := strings.CutSuffix(path, ".**")
	for base != "" {
		switch {
		case strings.HasPrefix(base, "[*]") && strings.HasPrefix(place, "["):
			base, place = base[len("[*]"):], place[strings.Index(place, "]")+1:]
		case place == "" || base[0] != place[0]:
			return false
		default:
			base, place = base[1:], place[1:]
		}
	}
	return place == "" || below && (place[0] == '.' || place[0] == '[')
}

// readsWhole reports a part in which a member more is refused.
func (s Suite) readsWhole(place string) bool {
	return slices.ContainsFunc(s.Whole, func(path string) bool { return at(path, place) })
}

// excuse is the row that allows a lie which changes so much, or -1.
func (s Suite) excuse(flow, place, kind string, changes []string) int {
	return slices.IndexFunc(s.Harmless, func(r Harmless) bool {
		return r.covers(flow, place, kind) && !slices.ContainsFunc(changes, func(c string) bool { return !slices.Contains(r.MayChange, c) })
	})
}

// whole is the row that excuses everything about a part in which a place lies, or -1.
func (s Suite) whole(flow, place string) int {
	return slices.IndexFunc(s.Harmless, func(r Harmless) bool {
		return r.Lies == nil && strings.HasSuffix(r.Path, "**") && r.covers(flow, place, "")
	})
}

// needed wants every reason, and every lie that one names, to have been needed.
func (s Suite) needed(t *testing.T, used map[int]map[string]bool) {
	for i, r := range s.Harmless {
		switch {
		case r.Why == "":
			t.Errorf("%s is excused without a reason", r.Path)
		case used[i] == nil:
			t.Errorf("the reason for %s is not needed", r.Path)
		}
		for _, kind := range r.Lies {
			if used[i] != nil && !used[i][kind] {
				t.Errorf("the reason for %s is not needed for what is %s", r.Path, kind)
			}
		}
	}
}
