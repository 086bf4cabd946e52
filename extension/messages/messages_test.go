package messages

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// codePrefixes has the keys' prefix for each vocabulary that has words.
var codePrefixes = map[string]string{
	"OrderState": "state_", "Condition": "condition_", "VerdictSource": "source_", "VerdictReceipt": "receipt_", "Trusted": "trusted_", "ReasonCode": "cause_", "ProvenBy": "order_by_", "FindingCode": "finding_", "HostProblem": "host_",
}

// variants are the keys that have a code's prefix and are for no code of their own.
var variants = []string{
	"state_revoking", "state_revoked", "state_filled_short", "state_refunded_short", "cause_outside_terms_field", "order_by_refused", "order_by_across", "trusted_to",
}

// TestEveryCodeHasWords checks, in each language, that each code of the wire and each error
// has words, that each entry is for a code or is a known variant, and that values.json has as
// many values for the words of causes and findings as these have placeholders.
func TestEveryCodeHasWords(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		words := map[string]string{}
		for _, name := range []string{"states", "order", "errors", "review"} {
			raw, err := os.ReadFile(language + "/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &words); err != nil {
				t.Fatal(err)
			}
		}
		known := map[string]bool{}
		for _, v := range protocol.Vocabularies {
			if prefix, ok := codePrefixes[v.Name]; ok {
				for _, code := range v.Words {
					known[prefix+code] = true
				}
			}
		}
		for key := range values() {
			if words[key] == "" {
				t.Errorf("%s: values.json has %s, which is no message", language, key)
			}
		}
		if len(known) < 120 {
			t.Fatalf("only %d codes", len(known))
		}
		for _, key := range slices.Sorted(maps.Keys(known)) {
			if words[key] == "" {
				t.Errorf("%s: no words for %s", language, key)
			}
		}
		for _, e := range protocol.Errors {
			if words["err_"+e.Name] == "" {
				t.Errorf("%s: no words for the error %s", language, e.Name)
			}
		}
		for key := range words {
			ofCode := slices.ContainsFunc(slices.Collect(maps.Values(codePrefixes)), func(prefix string) bool { return strings.HasPrefix(key, prefix) })
			if ofCode && !known[key] && !slices.Contains(variants, key) {
				t.Errorf("%s: %s is for no code", language, key)
			}
			if _, filled := values()[key]; !filled && !strings.HasPrefix(key, "cause_") && !strings.HasPrefix(key, "finding_") {
				continue
			}
			used := slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(words[key], -1))))
			if len(used) != len(values()[key]) || len(used) > 0 && used[len(used)-1] != fmt.Sprintf("$%d", len(used)) {
				t.Errorf("%s: %s has the placeholders %q and the values %q", language, key, used, values()[key])
			}
		}
	}
	if Condition("of_a_newer_daemon") != "of_a_newer_daemon" {
		t.Error("an unknown code is not returned as it is")
	}
}

func TestFilled(t *testing.T) {
	format := func(form, value, _ string) string { return map[string]string{"coin": value + " wei"}[form] }
	data := map[string]string{"max": "7", "ceiling": "5", "trustedTo": "x"}
	if got, ok := Filled("finding_gas_ceiling", data, format); !ok || got != "The network fee could reach 7 wei, above the limit of 5 wei on this network. Wait for a lower fee." {
		t.Error(got, ok)
	}
	for _, key := range []string{"finding_gas_insufficient", "finding_settlement_trusted", "finding_of_a_newer_daemon"} { // a value is missing, cannot be formatted; no message
		if got, ok := Filled(key, data, format); ok {
			t.Errorf("%s: %q", key, got)
		}
	}
}

func TestText(t *testing.T) {
	if got, ok := Text("cause_allowance_spent", "Permit2", "1 USDC", "2 USDC"); !ok || got != "Permit2 spent 1 USDC of the approved 2 USDC without a transaction of yours. Check your balance." {
		t.Error(got, ok)
	}
	if got, ok := Text("cause_of_a_newer_daemon"); ok || got != "" {
		t.Error(got)
	}
	for _, c := range []struct {
		code      string
		cancelled bool
		want      string
	}{
		{"refund", false, "A payment for this order refunded you after your deposit to Relay."},
		{"withdrawn", true, "You cancelled it before anything that spends funds was signed."},
		{"withdrawn", false, "Swapkeep ended it before anything that spends funds was signed, because something differed from what you accepted."},
		{"of_a_newer_daemon", false, ""},
	} {
		if got, ok := ProvenBy(c.code, c.cancelled, "bridge"); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %t", c.code, got, ok)
		}
	}
}
