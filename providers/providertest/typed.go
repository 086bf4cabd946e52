package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// typed changes every leaf of the data that typed steps would have signed and
// wants each change refused, or without effect on what was accepted. A leaf of
// which every value passes needs a reason.
func (h *harness) typed(t *testing.T) {
	tried, free := 0, map[string]bool{}
	for i, s := range h.order.Plan.Steps {
		if s.Typed == nil {
			continue
		}
		raw, err := json.Marshal(s.Typed)
		if err != nil {
			t.Fatal(err)
		}
		doc := decode(raw)
		leaves := map[string]*tally{}
		for _, n := range walk(doc) {
			for _, m := range mutations(n.value) {
				var changed apitypes.TypedData
				if json.Unmarshal(n.with(doc, m), &changed) != nil {
					continue // cannot stand in a plan
				}
				tried++
				refused := h.tryTyped(t, fmt.Sprintf("%s: %s", n.pattern, m.name), i, &changed)
				if n.leaf && m.sameForm {
					count(leaves, n.pattern, refused)
				}
			}
		}
		for name, l := range leaves {
			why, excused := h.flow.FreeFields[name]
			switch {
			case l.refused > 0:
			case why == "":
				t.Errorf("%s may have any value, and no reason says why that is harmless", name)
			case excused:
				free[name] = true
			}
		}
	}
	for name := range h.flow.FreeFields {
		if !free[name] {
			t.Errorf("the reason for %s is not needed", name)
		}
	}
	t.Logf("%d changes of what would be signed", tried)
}

// tryTyped decodes and checks the plan with one step's data changed.
func (h *harness) tryTyped(t *testing.T, name string, i int, data *apitypes.TypedData) (refused bool) {
	steps := slices.Clone(h.order.Plan.Steps)
	steps[i].Typed = data
	facets := map[string]string{}
	if err := h.judge(h.p, steps, made, facets); err != nil {
		if code(err) == "" {
			t.Errorf("%s: an error without a code: %v", name, err)
		}
		return true
	}
	if facets["digest"] != h.good.facets["digest"] {
		t.Errorf("%s: accepted, and is not what was accepted", name)
	}
	return false
}
