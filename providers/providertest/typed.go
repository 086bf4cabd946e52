package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// typed changes every leaf of the data that typed steps would have signed. Each change must
// be refused, or have no effect on what was accepted. One that passes and does not mean the
// same needs a stated reason.
func (h *harness) typed(t *testing.T, r *record) {
	free := suiteOf(h.flow)
	used := map[int]map[string]bool{}
	for i, s := range h.order.Plan.Steps {
		if s.TypedData == nil {
			continue
		}
		raw, err := json.Marshal(s.TypedData)
		if err != nil {
			t.Fatal(err)
		}
		doc := decode(raw)
		for _, n := range walk(doc) {
			for _, m := range mutations(n.value) {
				if m.kind == nameTwice || m.kind == caseTwice {
					continue // refused where replies are parsed; a step's data is our own
				}
				var changed apitypes.TypedData
				if json.Unmarshal(n.with(doc, m), &changed) != nil {
					continue // cannot be part of a plan
				}
				r.add(&r.typed, 1)
				if h.tryTyped(t, fmt.Sprintf("%s: %s", n.pattern, m), i, &changed) || m.sameMeaning && m.kind != oneMore || sameJSON(changed, s.TypedData) {
					continue
				}
				row := free.excusingRow(h.flow.Name, n.place, m.kind, nil)
				if row < 0 {
					t.Errorf("%s: %s is accepted, and no reason says why that is harmless", n.place, m)
				}
				markUsed(used, row, m.kind)
			}
		}
	}
	free.checkAllNeeded(t, used)
}

// suiteOf has only the reasons for a flow's typed data.
func suiteOf(f Flow) Suite { return Suite{Harmless: f.FreeFields} }

// tryTyped decodes and checks the plan with one step's typed data changed.
func (h *harness) tryTyped(t *testing.T, name string, i int, data *apitypes.TypedData) (refused bool) {
	steps := slices.Clone(h.order.Plan.Steps)
	steps[i].TypedData = data
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
