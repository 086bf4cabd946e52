package chain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Nonces are an account's transaction counts in the words of a network's
// endpoints. A count that is too high would have a transaction signed that hangs
// behind a gap, and that whoever holds it could release long after; one that is
// too low costs a refusal. So a count is what as many hosts as evidence needs say
// at least: with two hosts, the lower one.
type Nonces struct {
	Block   uint64   // lowest of the latest blocks that they know
	Latest  uint64   // transactions in blocks
	Next    uint64   // with those that wait in the nodes' pools, never below Latest
	Highest uint64   // that any single host says; more than Next is nobody's word but its own
	Ahead   string   // the host that says Highest
	Hosts   []string // that were heard
	Sole    bool     // fewer hosts answered than must agree: Latest and Next are one's word
}

// Nonces asks for the transaction counts of account, one host after the other,
// until enough of them say the same or all are asked. An error is temporary.
func (h *Hub) Nonces(ctx context.Context, id uint64, account common.Address) (Nonces, error) {
	p, err := h.pool(id)
	if err != nil {
		return Nonces{}, err
	}
	var claims []Nonces
	var errs []error
	for _, e := range p.order() {
		if slices.ContainsFunc(claims, func(c Nonces) bool { return c.Hosts[0] == e.host }) {
			continue
		}
		c, err := e.nonces(ctx, account)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		claims = append(claims, c)
		if n := agreed(claims, p.quorum()); !n.Sole && n.Highest == n.Next {
			return n, nil
		}
	}
	if len(claims) == 0 {
		return Nonces{}, p.failure(errs)
	}
	return agreed(claims, p.quorum()), nil
}

// agreed is what at least quorum of claims say, each of another host; with
// fewer, what the lowest says.
func agreed(claims []Nonces, quorum int) Nonces {
	n := Nonces{Block: claims[0].Block, Sole: len(claims) < quorum}
	var latest, next []uint64
	for _, c := range claims {
		n.Block = min(n.Block, c.Block)
		if c.Next >= n.Highest {
			n.Highest, n.Ahead = c.Next, c.Hosts[0]
		}
		n.Hosts = append(n.Hosts, c.Hosts[0])
		latest, next = append(latest, c.Latest), append(next, c.Next)
	}
	slices.Sort(latest)
	slices.Sort(next)
	i := max(len(claims)-quorum, 0)
	n.Latest, n.Next = latest[i], next[i]
	return n
}

// nonces is one endpoint's word.
func (e *endpoint) nonces(ctx context.Context, account common.Address) (n Nonces, err error) {
	n.Hosts = []string{e.host}
	_, err = e.do(ctx, func(ctx context.Context) (err error) {
		if n.Block, err = e.eth.BlockNumber(ctx); err != nil {
			return err
		}
		if n.Latest, err = e.eth.NonceAt(ctx, account, nil); err != nil {
			return err
		}
		n.Next, err = e.eth.PendingNonceAt(ctx, account)
		return err
	})
	n.Next = max(n.Next, n.Latest)
	n.Highest, n.Ahead = n.Next, e.host
	return n, err
}

const nonceLooks = 3 // before the hosts' lower count is taken

// nextNonce takes the lowest nonce that neither the chain, the nodes' pools nor
// our ledger holds; so a nonce given back by a rejected transaction is the
// first to be taken, and none is left out. While hosts differ about transactions
// that are not ours, it gives the slower one a moment. The word of a single host
// where two are configured is believed only as far as our own records go. It
// returns what they said last, too.
func (s *Sender) nextNonce(ctx context.Context, c Call) (nonce uint64, n Nonces, err error) {
	for look := 1; ; look++ {
		if n, err = s.nodes.Nonces(ctx, c.ChainID, c.From); err != nil {
			return 0, n, err
		}
		if n.Sole {
			if n.Next, err = s.within(c, n); err != nil {
				return 0, n, err
			}
		}
		if nonce, err = s.ledger.free(c.ChainID, c.From, n.Next, s.now()); err != nil {
			return 0, n, err
		}
		if n.Highest <= nonce || look == nonceLooks {
			return nonce, n, nil
		}
		if err := s.sleep(ctx, nonceWait); err != nil {
			return 0, n, err
		}
	}
}

// within bounds one host's count by our own records: it may say neither that
// there are transactions which they do not show, nor that one of them, which has
// not come to its end, needs no waiting for.
func (s *Sender) within(c Call, n Nonces) (uint64, error) {
	open, next, err := s.ledger.extent(c.ChainID, c.From)
	if err != nil {
		return 0, err
	}
	if n.Next > next {
		return 0, fmt.Errorf("chain %d: %w: only %s answers, and says that %s has made %d transactions, of which %d are known here",
			c.ChainID, ErrUnreachable, strings.Join(n.Hosts, ", "), c.From, n.Next, next)
	}
	return min(n.Next, open), nil
}
