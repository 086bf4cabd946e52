package host

import (
	"maps"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/journal"
)

// TestCausesAreLikeErrors checks that the cause of a refusal has the name and details of
// the refusal's error.
func TestCausesAreLikeErrors(t *testing.T) {
	refused := &swap.Refusal{Code: swap.NotAsAccepted, Field: "minOut", Data: map[string]string{"got": "7", "wanted": "9", "of": "tokenOut"}}
	e := (&Server{}).refusalOf(refused)
	c := causeOf(&swap.Cause{Reason: swap.RefusedUnsigned, Code: refused.Code, Field: refused.Field, Data: refused.Data, QuotedText: "no", QuotedFrom: swap.AuthorNode})
	if c.Reason != "refused_unsigned" || c.Error != e.Name || !maps.Equal(c.Details, e.Data) || c.Details["field"] != "minOut" || c.QuotedText != "no" || c.QuotedFrom != "node" {
		t.Errorf("%+v, of %+v", c, e)
	}
	if _, reported := refused.Data["field"]; reported {
		t.Error("the refusal's own figures were changed")
	}
	if causeOf(nil) != nil {
		t.Error("causeOf(nil) is not nil")
	}
	for name, got := range map[string]*protocol.Cause{
		"an order": orderOf(swap.Order{Outcome: swap.Outcome{Cause: &swap.Cause{Reason: swap.Reverted}}}).Cause, "a line": entryOf(journal.Entry{Cause: &swap.Cause{Reason: swap.Reverted}}).Cause,
		"a proposal": orderOf(swap.Order{Progress: swap.Progress{Proposal: &swap.Proposal{Cause: &swap.Cause{Reason: swap.Reverted}}}}).Proposal.Cause,
	} {
		if got == nil || got.Reason != "reverted" {
			t.Errorf("%s is told without its cause", name)
		}
	}
}
