package messages

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// TestEveryKindHasABrand checks that each kind of provider has a brand, that there are no
// others, and that no brand belongs to two kinds or is a kind.
func TestEveryKindHasABrand(t *testing.T) {
	var kinds []string
	for _, v := range protocol.Vocabularies {
		if v.Name == "ProviderKind" {
			kinds = v.Words
		}
	}
	if len(kinds) == 0 || len(kinds) != len(brands()) {
		t.Fatalf("brands of %d kinds, and the protocol has %q", len(brands()), kinds)
	}
	taken := map[string]bool{}
	for _, kind := range kinds {
		taken[kind] = true
	}
	for _, kind := range kinds {
		if Brand(kind) == kind {
			t.Errorf("%s has no brand", kind)
		}
		for _, name := range brands()[kind] {
			if name == "" || taken[strings.ToLower(name)] {
				t.Errorf("the brand %q of %s is empty, a kind or another's", name, kind)
			}
			taken[strings.ToLower(name)] = true
			if KindOf(strings.ToUpper(name)) != kind {
				t.Errorf("%s is not found as %s", name, kind)
			}
		}
	}
	if KindOf("sushi") != "" || Brand("wallet") != "wallet" {
		t.Error("an unknown name has a kind, or an unknown kind a brand")
	}
}
