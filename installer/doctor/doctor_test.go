package doctor

import (
	"regexp"
	"slices"
	"testing"
)

// Ids are what scripts go by: each once, lower case with dots.
func TestIDs(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(\.[a-z]+)?$`)
	ids := IDs()
	for i, id := range ids {
		if !form.MatchString(id) || slices.Contains(ids[:i], id) {
			t.Errorf("%q", id)
		}
	}
	for id, title := range titles {
		if title == "" || slices.Contains(ids, id) {
			t.Errorf("the daemon's %q", id)
		}
	}
}

func TestWorst(t *testing.T) {
	for _, row := range []struct {
		of   []Status
		want Status
	}{{nil, OK}, {[]Status{OK, Skipped, OK}, Skipped}, {[]Status{Note, Skipped}, Note}, {[]Status{OK, Fail, Warn}, Fail}} {
		var found []Finding
		for _, s := range row.of {
			found = append(found, Finding{Status: s})
		}
		if got := Worst(found); got != row.want {
			t.Errorf("of %v the worst is %s", row.of, got)
		}
	}
}
