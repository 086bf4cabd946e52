package engine

import (
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// likelyPaid checks that a payment that likely fills o fills no other order. If o is likely paid
// by it already, that was checked, and the journal lets no other order have it but by proof.
func (e *Engine) likelyPaid(o swap.Order, x proof.AwaitedPayment, ev chain.Evidence, p proof.Payment) (paymentProof, decision, error) {
	if o.Condition == swap.LikelyPaid && o.Candidate != nil && o.Candidate.Log == p.Ref {
		return paymentProof{seen: x.Candidate(p, ev)}, isLikely, nil
	}
	another, err := e.fillsAnother(o, ev)
	if err == nil && !another {
		another, err = e.Journal.LikelyUsed(o.ID, p.Ref)
	}
	if err == nil && !another {
		another, err = e.namesAnother(o, ev)
	}
	switch {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case another:
		return paymentProof{seen: x.Candidate(p, ev)}, isUnknownSender, nil
	}
	return paymentProof{seen: x.Candidate(p, ev)}, isLikely, nil
}

// namesAnother reports whether a transaction names another open order of ours.
func (e *Engine) namesAnother(o swap.Order, ev chain.Evidence) (bool, error) {
	open, err := e.Journal.Open()
	if err != nil || ev.InputEnd == (common.Hash{}) {
		return false, err
	}
	for _, id := range open {
		other, err := e.Journal.Get(id)
		switch {
		case id == o.ID:
			continue
		case err != nil:
			return true, nil // unknown
		case other.Plan.Settlement != swap.ByProvider:
			continue
		}
		s, err := e.settler(&other)
		if err != nil {
			continue
		}
		p, err := s.Proof(other)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(proof.Awaited(p, nil), func(y proof.AwaitedPayment) bool { return y.Link != nil && y.Link.InputEnd == ev.InputEnd }) {
			return true, nil
		}
	}
	return false, nil
}

// isMine reports whether an account is one of the wallet's, isolated ones included.
func (e *Engine) isMine(a common.Address) bool {
	return e.Mine != nil && e.Mine(a) || e.Journal.IsIsolated(a)
}
