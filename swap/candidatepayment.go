package swap

import (
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A CandidatePayment is a payment like the one that an order waits for, but not certainly its own
// ([PaymentSeen]). It is shown to people and decides nothing.
type CandidatePayment struct {
	End    State          `json:"end"` // what it would prove: filled or refunded
	Chain  uint64         `json:"chainId"`
	Tx     common.Hash    `json:"tx"`
	Token  common.Address `json:"token"` // zero address = native coin
	Amount *big.Int       `json:"amount"`
	From   common.Address `json:"from"`          // who paid; for the coin sent by a contract, the sender of the transaction
	Time   time.Time      `json:"time,omitzero"` // of its block
}

// candidate returns the record of a payment that proves nothing.
func (x awaitedPayment) candidate(p payment, ev chain.Evidence) *CandidatePayment {
	return &CandidatePayment{End: x.end(), Chain: ev.Chain, Tx: ev.Tx, Token: x.Token, Amount: p.amount, From: p.from, Time: ev.Time}
}

// keepCandidate keeps s unless the payment kept before agrees at least as well.
func (w watchedDeposit) keepCandidate(x awaitedPayment, s *CandidatePayment) {
	w.l.candidates[x.what] = betterCandidate(w.l.candidates[x.what], s, w.order.Claim)
}

// agreement rates how well a payment agrees with the provider's claim: by its transaction
// first, then by the end.
func (s *CandidatePayment) agreement(c *Claim) (n int) {
	switch {
	case s == nil:
		return -1
	case c == nil:
		return 0
	}
	if s.Tx == c.Tx {
		n += 2
	}
	if s.End == c.State {
		n++
	}
	return n
}

// betterCandidate returns the payment that agrees better with the provider's claim; was, if both
// agree equally.
func betterCandidate(was, now *CandidatePayment, c *Claim) *CandidatePayment {
	if now.agreement(c) > was.agreement(c) {
		return now
	}
	return was
}
