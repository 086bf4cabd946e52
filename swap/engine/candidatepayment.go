package engine

import (
	"swapkeep/swap"
	"swapkeep/swap/proof"
)

// keepCandidate keeps s unless the payment kept before agrees at least as well.
func (w watchedDeposit) keepCandidate(x proof.AwaitedPayment, s *swap.CandidatePayment) {
	w.l.candidates[x.What] = proof.BetterCandidate(w.l.candidates[x.What], s, w.order.Claim)
}
