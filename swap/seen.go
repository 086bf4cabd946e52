package swap

import (
	"math/big"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A Seen is a payment as an order waits for, of which it is not certain whose it is
// ([TransferSeen]). It is kept for people and decides nothing.
type Seen struct {
	End    State          `json:"end"` // what it would prove: filled or refunded
	Chain  uint64         `json:"chainId"`
	Tx     common.Hash    `json:"tx"`
	Token  common.Address `json:"token"` // zero address = native coin
	Amount *big.Int       `json:"amount"`
	From   common.Address `json:"from"`          // who paid; of a coin by way of a contract, who sent the transaction
	Time   time.Time      `json:"time,omitzero"` // of its block
}

// seen is the record of a payment from somebody.
func (x awaited) seen(p payment, ev chain.Evidence) *Seen {
	return &Seen{End: x.end(), Chain: ev.Chain, Tx: ev.Tx, Token: x.Token, Amount: p.amount, From: p.from, Time: ev.Time}
}

// saw keeps in mind a payment from somebody.
func (w watched) saw(x awaited, s *Seen) {
	w.l.seen[x.what] = better(w.l.seen[x.what], s, w.order.Claim)
}

// fits is how well a payment goes with what the provider says: first by the
// transaction that it names, then by the end.
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

// better is the one of two that goes better with what the provider says, else the one
// there was.
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
