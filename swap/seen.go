package swap

import (
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A Seen is a payment like the one that an order waits for, but not certainly its own
// ([TransferSeen]). It is shown to people and decides nothing.
type Seen struct {
	End    State          `json:"end"` // what it would prove: filled or refunded
	Chain  uint64         `json:"chainId"`
	Tx     common.Hash    `json:"tx"`
	Token  common.Address `json:"token"` // zero address = native coin
	Amount *big.Int       `json:"amount"`
	From   common.Address `json:"from"`          // who paid; for the coin sent by a contract, the sender of the transaction
	Time   time.Time      `json:"time,omitzero"` // of its block
}

// seen returns the record of a payment that proves nothing.
func (x awaited) seen(p payment, ev chain.Evidence) *Seen {
	return &Seen{End: x.end(), Chain: ev.Chain, Tx: ev.Tx, Token: x.Token, Amount: p.amount, From: p.from, Time: ev.Time}
}

// saw keeps s unless the payment kept before agrees at least as well.
func (w watched) saw(x awaited, s *Seen) {
	w.l.seen[x.what] = better(w.l.seen[x.what], s, w.order.Claim)
}

// fits rates how well a payment agrees with the provider's claim: by its transaction
// first, then by the end.
func (s *Seen) fits(c *Claim) (n int) {
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

// better returns the payment that agrees better with the provider's claim; was, if both
// agree equally.
func better(was, now *Seen, c *Claim) *Seen {
	if now.fits(c) > was.fits(c) {
		return now
	}
	return was
}

func sameSeen(a, b *Seen) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Tx == b.Tx && a.Chain == b.Chain && a.End == b.End && a.From == b.From && a.Amount.Cmp(b.Amount) == 0
}
