package audit

import (
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestJudgeStored checks the comparison of the daemon's answers with the disk.
func TestJudgeStored(t *testing.T) {
	o := endedAs(testOrder("dex", native), verdict{State: "failed", ProvenBy: "order_nonce_used"})
	lines := []string{"accepted", "settling", "failed"}
	kept := func() storedOrder {
		d := storedOrder{ID: "a", Request: "r", Digest: other, State: "failed", OrderByRequest: "a", History: slices.Clone(lines)}
		d.Verdict = &storedVerdict{State: "failed", ProvenBy: "order_nonce_used"}
		return d
	}
	for name, x := range map[string]struct {
		change func(all map[string]storedOrder, d *storedOrder)
		want   string
	}{
		"the same":                     {func(map[string]storedOrder, *storedOrder) {}, ""},
		"an order only in the journal": {func(all map[string]storedOrder, d *storedOrder) { all["b"] = *d }, "which the daemon does not list"},
		"an order only reported":       {nil, "the journal does not have it"},
		"another request":              {func(_ map[string]storedOrder, d *storedOrder) { d.Request = "s" }, "reported was"},
		"another digest":               {func(_ map[string]storedOrder, d *storedOrder) { d.Digest = pays }, "reported was"},
		"another's request":            {func(_ map[string]storedOrder, d *storedOrder) { d.OrderByRequest = "b" }, "its request"},
		"another final state":          {func(_ map[string]storedOrder, d *storedOrder) { d.State = "filled" }, "says that it is filled"},
		"no final state":               {func(_ map[string]storedOrder, d *storedOrder) { d.State = "settling" }, "says that it is settling"},
		"listed as open":               {func(_ map[string]storedOrder, d *storedOrder) { d.Open = true }, "index of what is open"},
		"another proof":                {func(_ map[string]storedOrder, d *storedOrder) { d.Verdict.ProvenBy = "absence" }, "verdict"},
		"no proof":                     {func(_ map[string]storedOrder, d *storedOrder) { d.Verdict = nil }, "verdict"},
		"evidence not reported": {func(_ map[string]storedOrder, d *storedOrder) {
			d.Verdict.Evidence = &struct{ Tx common.Hash }{pays}
		}, "evidence"},
		"a history line not reported": {func(_ map[string]storedOrder, d *storedOrder) {
			d.History = append(d.History, "failed")
		}, "4 lines"},
		"a line changed":     {func(_ map[string]storedOrder, d *storedOrder) { d.History[1] = "executing" }, "line 1"},
		"a history backward": {func(_ map[string]storedOrder, d *storedOrder) { d.History[0] = "executing" }, "begins with"},
	} {
		r := newTestAudit(o)
		reported := r.orders["a"]
		for _, state := range lines {
			reported.History = append(reported.History, struct{ State string }{state})
		}
		r.orders["a"] = reported
		all, d := map[string]storedOrder{}, kept()
		if x.change != nil {
			x.change(all, &d)
			all["a"] = d
		}
		r.checkStored(all)
		wantFound(t, name, r, x.want)
	}
}
