package journal

import (
	"swapkeep/internal/failpoint"
	"swapkeep/swap"
)

// changes names, for fault tests, what a commit may do besides a change of state. The
// first match counts.
var changes = []struct {
	name string
	is   func(old, now swap.Order) bool
}{
	{"search", func(old, now swap.Order) bool { return len(now.SearchFrom) > len(old.SearchFrom) }},
	{"attempt", func(old, now swap.Order) bool {
		return now.Submission != nil && (old.Submission == nil || now.Submission.Tries > old.Submission.Tries)
	}},
	{"closed", func(old, now swap.Order) bool { return now.Submission.Closed() && !old.Submission.Closed() }},
	{"lock", func(old, now swap.Order) bool { return now.AllowanceLocked && !old.AllowanceLocked }},
	{"claim", func(old, now swap.Order) bool { return now.Claim != nil && !swap.SameClaim(old.Claim, now.Claim) }},
	{"propose", func(old, now swap.Order) bool {
		return now.Proposal != nil && !swap.SameProposal(old.Proposal, now.Proposal)
	}},
	{"rewind", func(old, now swap.Order) bool { return now.Step < old.Step }},
	{"refresh", func(old, now swap.Order) bool { return now.Offer.ID != old.Offer.ID }},
	{"adapt", func(old, now swap.Order) bool { return !swap.SamePlan(old.Plan, now.Plan) }},
	{"skip", func(old, now swap.Order) bool { return now.Step > old.Step && now.Results[old.Step].Skipped }},
	{"signature", func(old, now swap.Order) bool { return now.Step > old.Step && len(now.Results[old.Step].Signature) > 0 }},
	{"step", func(old, now swap.Order) bool { return now.Step > old.Step }},
}

func changeOf(old, now swap.Order) string {
	if failpoint.Enabled {
		for _, c := range changes {
			if c.is(old, now) {
				return c.name
			}
		}
	}
	return ""
}

func changePoint(when, change string) {
	if failpoint.Enabled && change != "" {
		failpoint.Point("journal." + when + "_" + change)
	}
}

// point is a place around a commit where a fault test may kill the process.
func point(when string, s swap.State) {
	if failpoint.Enabled {
		failpoint.Point("journal." + when + "_" + string(s))
	}
}
