package host

import (
	"errors"
	"slices"
	"testing"

	"swapkeep/host/protocol"
)

// FuzzPage checks that any cursor and limit gives a part of the list or bad_params, and
// that following the cursors gives the rest, each entry once.
func FuzzPage(f *testing.F) {
	for _, s := range []string{"", "0", "1", "449", "450", "451", "-1", "+1", "007", "1e2", " 1", "9223372036854775807", "99999999999999999999", "\u0661"} {
		f.Add(s, 0)
		f.Add(s, 200)
	}
	f.Add("", -1)
	f.Add("0", 201)
	all := make([]int, 450)
	for i := range all {
		all[i] = i
	}
	f.Fuzz(func(t *testing.T, cursor string, limit int) {
		var got []int
		for from, pages := cursor, 0; ; pages++ {
			page, next, err := cutPage(all, from, limit)
			var wrong *protocol.Error
			if err != nil && from == cursor && errors.As(err, &wrong) && wrong.Name == "bad_params" {
				return
			}
			if err != nil || pages > len(all) || next != "" && len(page) == 0 || cap(page) != len(page) {
				t.Fatalf("%q, %d: page %d has %d entries, next %q, %v", cursor, limit, pages, len(page), next, err)
			}
			got = append(got, page...)
			if from = next; next == "" {
				break
			}
		}
		if !slices.Equal(got, all[len(all)-len(got):]) || cursor == "" && len(got) != len(all) {
			t.Fatalf("%q, %d: %d entries: %v", cursor, limit, len(got), got)
		}
	})
}
