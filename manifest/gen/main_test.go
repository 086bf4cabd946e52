package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
)

func TestPageIsFresh(t *testing.T) {
	old, err := os.ReadFile("../" + path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(old, page()) {
		t.Errorf("%s is stale: run go generate ./manifest", path)
	}
}

// The page has every place, and no placeholders.
func TestPageIsWhole(t *testing.T) {
	text := string(page())
	for _, s := range systems {
		for _, p := range manifest.AllPlaces(s.goos) {
			if !strings.Contains(text, "`"+s.short.Replace(p.Dir+p.Key)+"` "+string(p.Evidence)) || !strings.Contains(text, name(p)) {
				t.Errorf("%s has no %s in %s%s", s.title, name(p), p.Dir, p.Key)
			}
		}
	}
	for _, never := range []string{"$CONFIG", "$XDGCONFIG", "STATE", "PROGRAM"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %s", never)
		}
	}
	// The page's Windows table has one column for both hives.
	if user, everybody := keys(manifest.User), keys(manifest.System); !slices.Equal(user, everybody) {
		t.Errorf("keys of users %v, of everybody %v", user, everybody)
	}
	for _, e := range manifest.Evidences() {
		if marks[e] == "" {
			t.Errorf("nothing says what %s means", e)
		}
	}
}

func keys(scope manifest.Scope) (out []string) {
	for _, p := range manifest.AllPlaces("windows") {
		if p.Scope == scope {
			out = append(out, name(p)+p.Key)
		}
	}
	return out
}
