package messages

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// TestEveryCodeHasWords checks that each code of the wire has words, and that each entry is
// for a code: variants of a state, such as state_filled_short, begin with one.
func TestEveryCodeHasWords(t *testing.T) {
	known := map[string]bool{}
	for name, prefix := range map[string]string{"OrderState": "state_", "Condition": "condition_", "VerdictSource": "source_", "Trusted": "trusted_"} {
		for _, v := range protocol.Vocabularies {
			if v.Name != name {
				continue
			}
			for _, code := range v.Words {
				known[prefix+code] = true
				if states[prefix+code] == "" {
					t.Errorf("no words for %s%s", prefix, code)
				}
			}
		}
	}
	if len(known) < 20 {
		t.Fatalf("only %d codes", len(known))
	}
	variants := []string{"state_revoking", "state_revoked", "state_filled_short", "state_refunded_short"}
	for key := range states {
		if !known[key] && !strings.Contains(strings.Join(variants, " "), key) {
			t.Errorf("%s is for no code", key)
		}
	}
	if Condition("of_a_newer_daemon") != "of_a_newer_daemon" {
		t.Error("an unknown code is not returned as it is")
	}
}
