package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	// gapPatience is how old a transaction is before the nonces below it are checked, and
	// how long the checks, one every gapEvery, must find a nonce free before it is
	// filled.
	gapPatience = time.Minute
	gapEvery    = 30 * time.Second
	// maxGap is how many nonces below a transaction are checked; gapTries is how many
	// fillers are signed for one nonce.
	maxGap   = 16
	gapTries = 3
	// gapPrefix begins the keys of fillers, the transactions that fill nonce gaps.
	gapPrefix = "gap/"
	nonceWait = 500 * time.Millisecond
)

// filler reports whether tx was made to fill a nonce gap.
func (tx *Tx) filler() bool { return strings.HasPrefix(tx.Key, gapPrefix) }

// closeGaps checks the nonces below tx's for gaps: nonces that nothing holds, left by a
// transaction that another wallet, or a node, dropped. The next call of the account takes
// such a nonce; until there is one, an empty transaction fills it. It returns what tx
// waits for, "" if only to be mined.
func (s *Sender) closeGaps(ctx context.Context, tx *Tx) string {
	now := s.now()
	if now.Sub(tx.Attempts[0].Signed).Abs() < gapPatience || now.After(tx.Last().Until) || tx.filler() || !s.gapCheckDue(tx.Key) {
		return ""
	}
	n, err := s.nodes.Nonces(ctx, tx.Call.ChainID, tx.Call.From)
	if err != nil || n.SingleHost || n.Latest >= tx.Nonce {
		return ""
	}
	if tx.Nonce-n.Latest > maxGap {
		return fmt.Sprintf("it waits for %d transactions of the account before it", tx.Nonce-n.Latest)
	}
	holders, err := s.ledger.holders(tx.Call.ChainID, tx.Call.From, n.Latest, tx.Nonce)
	if err != nil {
		return err.Error()
	}
	since := s.freeSince(tx.Key, n, holders)
	for i, holder := range holders {
		if why := s.closeGap(ctx, tx, n, n.Latest+uint64(i), holder, since[i]); why != "" {
			return fmt.Sprintf("it waits for nonce %d: %s", n.Latest+uint64(i), why)
		}
	}
	return ""
}

// gapCheckDue reports, once per gapEvery, that the gaps below key's nonce should be
// checked.
func (s *Sender) gapCheckDue(key string) bool {
	s.flightMu.Lock()
	defer s.flightMu.Unlock()
	f := s.flights[key]
	if s.now().Sub(f.gapChecked) < gapEvery {
		return false
	}
	f.gapChecked = s.now()
	s.flights[key] = f
	return true
}

// freeSince records since when every check for key found a nonce free: held by no record
// of ours, and in no host's blocks or pool. It returns that for each of holders, which
// start at nonce n.Latest; zero = it is not free.
func (s *Sender) freeSince(key string, n Nonces, holders []*Tx) []time.Time {
	s.flightMu.Lock()
	defer s.flightMu.Unlock()
	f := s.flights[key]
	before := f.freeNonces
	f.freeNonces = make(map[uint64]time.Time)
	since := make([]time.Time, len(holders))
	for i, holder := range holders {
		nonce := n.Latest + uint64(i)
		if holder != nil || n.Highest > nonce {
			continue
		}
		since[i] = s.now()
		if earlier, known := before[nonce]; known {
			since[i] = earlier
		}
		f.freeNonces[nonce] = since[i]
	}
	s.flights[key] = f
	return since
}

// closeGap tries to make nonce, below tx's, usable, and returns why it is not, or not
// yet. While any host shows another transaction with it, the nonce is left alone, however
// long that takes: it may be a valid transaction of another wallet, which a filler would
// cancel.
func (s *Sender) closeGap(ctx context.Context, tx *Tx, n Nonces, nonce uint64, holder *Tx, free time.Time) (why string) {
	switch {
	case holder != nil && holder.filler():
		return s.replaceFiller(ctx, tx, holder)
	case holder != nil:
		return s.pollFinal(ctx, holder)
	case free.IsZero():
		return fmt.Sprintf("%s shows a transaction that is not ours; if it does not get on, speed it up or cancel it where it was made", n.HighestHost)
	case s.now().Sub(free) < gapPatience:
		return "nothing uses it; it is watched a little longer before it is used up"
	}
	if err := s.fill(ctx, tx, nonce); err != nil {
		return "nothing uses it, and it could not be used up: " + err.Error()
	}
	return ""
}

// pollFinal polls a transaction that has ended although its nonce is free: its block may
// have been reorganised away. One that has not ended is polled by its own order.
func (s *Sender) pollFinal(ctx context.Context, tx *Tx) (why string) {
	if !tx.State.Final() {
		return ""
	}
	if _, _, err := s.Poll(ctx, tx.Key); err != nil {
		return err.Error()
	}
	return ""
}

// replaceFiller polls a filler that tx waits behind and, while it is not in a block,
// replaces it by a cancel: dropped, outbid or too late, it would block the account for
// good.
func (s *Sender) replaceFiller(ctx context.Context, tx, filler *Tx) (why string) {
	seen, _, err := s.Poll(ctx, filler.Key)
	if err != nil {
		return err.Error()
	}
	if seen.State.Final() || seen.Depth > 0 {
		return ""
	}
	p, err := s.fillPolicy(ctx, tx, filler.Key)
	if err != nil {
		return err.Error()
	}
	if _, err = s.Cancel(ctx, filler.Key, p); err != nil && !errors.Is(err, ErrNonceUsed) {
		return "what should use it up could not be sent again: " + err.Error()
	}
	return ""
}

// fill signs and sends an empty transaction for a free nonce below tx's.
func (s *Sender) fill(ctx context.Context, tx *Tx, nonce uint64) error {
	p, err := s.fillPolicy(ctx, tx, "")
	if err != nil {
		return err
	}
	i := intent{call: emptyCall(tx.Call), policy: p, kind: AttemptCancel, nonce: &nonce, fillerFor: tx.Key}
	for try := range gapTries {
		i.key = fmt.Sprintf("%s%d/%s/%d/%d", gapPrefix, tx.Call.ChainID, tx.Call.From, nonce, try)
		done, err := s.ledger.get(i.key)
		if err != nil {
			return err
		}
		if done == nil {
			_, err = s.submit(ctx, i)
			return err
		}
	}
	return errors.New("the nodes refused it each time")
}

// fillPolicy bounds what one filler for tx may cost: what tx's ceiling leaves after tx
// itself and all other fillers; the filler of key but is not counted. That ceiling is
// only as trustworthy as the file, so all fillers together cost no more than the
// network's ceiling, or than the account signed for tx. The policy expires with tx. A tx
// that the account did not sign is an error.
func (s *Sender) fillPolicy(ctx context.Context, tx *Tx, but string) (Policy, error) {
	p := Policy{Until: tx.Last().Until, Tier: Fast}
	if err := tx.checkSignatures(); err != nil {
		return p, err
	}
	net, err := s.nodes.Network(tx.Call.ChainID)
	if err != nil {
		return p, err
	}
	own, err := s.maxCost(ctx, tx)
	if err != nil {
		return p, err
	}
	others, err := s.fillersMaxCost(ctx, tx, but)
	if err != nil {
		return p, err
	}
	ceiling := net.GasCeiling
	if own.Cmp(ceiling) > 0 {
		ceiling = own
	}
	if tx.Policy.Ceiling != nil {
		if left := new(big.Int).Sub(tx.Policy.Ceiling, own); left.Cmp(ceiling) < 0 {
			ceiling = left
		}
	}
	p.Ceiling = new(big.Int).Sub(ceiling, others)
	return p, nil
}

// fillersMaxCost returns the most that the fillers below tx can cost, in wei, without the
// filler of key but. A final one counts if it was made for tx. The time of signing does
// not tell that: clocks are set back.
func (s *Sender) fillersMaxCost(ctx context.Context, tx *Tx, but string) (*big.Int, error) {
	sum := new(big.Int)
	if tx.filler() {
		return sum, nil
	}
	holders, err := s.ledger.holders(tx.Call.ChainID, tx.Call.From, tx.Nonce-min(tx.Nonce, maxGap), tx.Nonce)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		if h == nil || !h.filler() || h.Key == but || h.State == TxUnknown || h.State.Final() && h.FillerFor != "" && h.FillerFor != tx.Key {
			continue
		}
		cost, err := s.maxCost(ctx, h)
		if err != nil {
			return nil, err
		}
		sum.Add(sum, cost)
	}
	return sum, nil
}

// maxCost returns the most that tx can cost, in wei: the cost of its most expensive attempt, since
// only one is ever mined.
func (s *Sender) maxCost(ctx context.Context, tx *Tx) (*big.Int, error) {
	highest := new(big.Int)
	for _, a := range tx.Attempts {
		gas, err := a.maxGasCost()
		if err != nil {
			return nil, ledgerError(err)
		}
		if gas.Cmp(highest) > 0 {
			highest = gas
		}
	}
	n, err := s.nodes.Network(tx.Call.ChainID)
	if err != nil || n.L1Fee != L1FeeOP {
		return highest, err
	}
	c := tx.Call
	c.Gas = 21000 // any value, so that it is not estimated
	cost, err := s.nodes.CostAt(ctx, c, Fast)
	if err != nil {
		return nil, err
	}
	return highest.Add(highest, maxL1Fee(cost.L1)), nil
}

// settleFillers polls the fillers below tx: once tx is in a block, so are they.
func (s *Sender) settleFillers(ctx context.Context, tx *Tx) {
	holders, err := s.ledger.holders(tx.Call.ChainID, tx.Call.From, tx.Nonce-min(tx.Nonce, maxGap), tx.Nonce)
	if err != nil {
		return
	}
	for _, h := range holders {
		if h != nil && h.filler() && !h.State.Final() {
			_, _, _ = s.Poll(ctx, h.Key)
		}
	}
}
