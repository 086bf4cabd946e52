package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// LiveReply is a reply of a live service: a file of testdata/live, whose README says where
// it was recorded and what was cut from it. The test's package is two folders deep.
func LiveReply(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "live", filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// MissingMembers lists the members of a recorded reply that a simulated one lacks, or has with
// another JSON type, by places such as quote.route[*][*].fee. null matches every type, and
// members that only the simulated one has are ignored. The elements of an array, and the
// members whose names are addresses or numbers, are treated as one.
func MissingMembers(t testing.TB, recorded, simulated []byte) []string {
	t.Helper()
	live, ours := shape(t, recorded), shape(t, simulated)
	var list []string
	for _, place := range slices.Sorted(maps.Keys(live)) {
		switch want, got := live[place], ours[place]; {
		case got == nil:
			list = append(list, fmt.Sprintf("%s: lacks it", place))
		case want["null"] || got["null"]:
		case !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(k string) bool { return got[k] }):
			list = append(list, fmt.Sprintf("%s: %v, recorded as %v", place, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))))
		}
	}
	return list
}

// keyed matches the keys of an object used as a table: addresses or numbers.
var keyed = regexp.MustCompile(`^(0x[0-9a-fA-F]{40}|[0-9]+)$`)

// shape returns the JSON types found at each place.
func shape(t testing.TB, document []byte) map[string]map[string]bool {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]bool{}
	var visit func(place string, v any)
	visit = func(place string, v any) {
		if seen[place] == nil {
			seen[place] = map[string]bool{}
		}
		seen[place][jsonType(v)] = true
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if keyed.MatchString(name) {
					name = "*"
				}
				visit(place+"."+name, member)
			}
		case []any:
			for _, element := range v {
				visit(place+"[*]", element)
			}
		}
	}
	visit("", doc)
	return seen
}

func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
