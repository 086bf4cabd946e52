package providertest

import (
	"slices"
	"strings"
	"testing"
)

// Harmless says why certain lies about a part of a reply are allowed.
type Harmless struct {
	// Path is a path as in [walk], prefixed by the last part of the endpoint's path and a
	// colon, with [*] for any index. A final ** stands for the part itself and everything
	// below it.
	Path, Why string
	// Lies are the allowed kinds of lie, named as in [mutations]; nil = any.
	Lies []string
	// Flows are the flows in which they are allowed; nil = all.
	Flows []string
	// MayChange names the facets of the outcome that the lies may change: values that are
	// displayed, or bounded elsewhere. Terms and effects are never among them.
	MayChange []string
}

// Absent are the lies that leave a part out.
var Absent = []string{"removed", "null"}

// covers reports whether the row is about a kind of lie at a place in a flow.
func (r Harmless) covers(flow, place, kind string) bool {
	return (r.Flows == nil || slices.Contains(r.Flows, flow)) && (r.Lies == nil || slices.Contains(r.Lies, kind)) && at(r.Path, place)
}

// at reports whether path matches place.
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

// isStrict reports whether an unknown member at place is refused.
func (s Suite) isStrict(place string) bool {
	return slices.ContainsFunc(s.StrictObjects, func(path string) bool { return at(path, place) })
}

// excusingRow returns the index of the row that allows a lie with these changes, or -1.
func (s Suite) excusingRow(flow, place, kind string, changes []string) int {
	return slices.IndexFunc(s.Harmless, func(r Harmless) bool {
		return r.covers(flow, place, kind) && !slices.ContainsFunc(changes, func(c string) bool { return !slices.Contains(r.MayChange, c) })
	})
}

// wholeRow returns the index of a row that excuses everything below a part that contains
// place, or -1.
func (s Suite) wholeRow(flow, place string) int {
	return slices.IndexFunc(s.Harmless, func(r Harmless) bool {
		return r.Lies == nil && strings.HasSuffix(r.Path, "**") && r.covers(flow, place, "")
	})
}

// checkAllNeeded fails for every reason, and every kind of lie named in one, that was not needed.
func (s Suite) checkAllNeeded(t *testing.T, used map[int]map[string]bool) {
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
