package sandboxtest

import (
	"fmt"
	"testing"
)

// SameShape checks that a decoded JSON body has the same members and JSON types as a
// recorded one, recursively. Where names the body in error messages.
func SameShape(t testing.TB, where string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: got %T, want an object", where, got)
			return
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s.%s: the recorded body has no such member", where, name)
			}
		}
		for name, w := range want {
			g, ok := got[name]
			if !ok {
				t.Errorf("%s.%s is missing", where, name)
				continue
			}
			SameShape(t, where+"."+name, g, w)
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			t.Errorf("%s: got %v, want %d elements", where, got, len(want))
			return
		}
		for i := range want {
			SameShape(t, fmt.Sprintf("%s[%d]", where, i), got[i], want[i])
		}
	default:
		if g, w := fmt.Sprintf("%T", got), fmt.Sprintf("%T", want); g != w {
			t.Errorf("%s: got %s, want %s", where, g, w)
		}
	}
}
