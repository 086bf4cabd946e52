package providertest

import (
	"slices"
	"testing"
)

func TestUnlike(t *testing.T) {
	recorded := `{"a":"1","b":{"c":[{"d":1}],"gone":true},"n":null,"t":{"8453":{"x":1}},"e":[]}`
	for name, c := range map[string]struct {
		simulated string
		want      []string
	}{
		"the same":         {recorded, nil},
		"more":             {`{"a":"2","b":{"c":[{"d":2,"f":0}],"gone":false},"n":7,"t":{"1":{"x":1}},"e":["z"],"z":1}`, nil},
		"null":             {`{"a":null,"b":{"c":[{"d":2}],"gone":false},"n":7,"t":{"1":{"x":1}},"e":null}`, nil},
		"a missing member": {`{"a":"2","b":{"c":[{"d":2}]},"n":7,"t":{"1":{"x":1}},"e":[]}`, []string{".b.gone: lacks it"}},
		"another type":     {`{"a":2,"b":{"c":[{"d":2}],"gone":true},"n":7,"t":{"1":{"x":1}},"e":[]}`, []string{".a: [number], recorded as [string]"}},
		"an empty array":   {`{"a":"2","b":{"c":[],"gone":true},"n":7,"t":{"1":{"x":1}},"e":[]}`, []string{".b.c[*]: lacks it", ".b.c[*].d: lacks it"}},
	} {
		if got := MissingMembers(t, []byte(recorded), []byte(c.simulated)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
