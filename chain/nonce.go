package chain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Nonces are an account's transaction counts as a network's endpoints report them. A
// count that is too high would have a transaction signed behind a nonce gap, which anyone
// who has it could release long after; one that is too low costs a refusal. So a count is
// the highest that a quorum of hosts reports or exceeds: with two hosts, the lower one.
type Nonces struct {
	Block       uint64   // lowest of the hosts' latest blocks
	Latest      uint64   // transactions in blocks
	Next        uint64   // with those pending in the nodes' pools, never below Latest
	Highest     uint64   // highest Next of a single host; above Next, only that host says so
	HighestHost string   // the host that reports Highest
	Hosts       []string // that answered
	SingleHost  bool     // fewer hosts than the quorum answered: Latest and Next are one host's word
}

// Nonces asks for the transaction counts of account, one host after the other, until
// enough of them agree or all are asked. Errors are temporary.
func (h *MultiClient) Nonces(ctx context.Context, id uint64, account common.Address) (Nonces, error) {
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
		if n := agreed(claims, p.quorum()); !n.SingleHost && n.Highest == n.Next {
			return n, nil
		}
	}
	if len(claims) == 0 {
		return Nonces{}, p.failure(errs)
	}
	return agreed(claims, p.quorum()), nil
}

// agreed returns the counts that at least quorum of claims, each of another host, reach;
// with fewer claims, the lowest.
func agreed(claims []Nonces, quorum int) Nonces {
	n := Nonces{Block: claims[0].Block, SingleHost: len(claims) < quorum}
	var latest, next []uint64
	for _, c := range claims {
		n.Block = min(n.Block, c.Block)
		if c.Next >= n.Highest {
			n.Highest, n.HighestHost = c.Next, c.Hosts[0]
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

// nonces is one endpoint's answer.
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
	n.Highest, n.HighestHost = n.Next, e.host
	return n, err
}

const nonceTries = 3 // polls before the hosts' lower count is taken

// nextNonce returns the lowest nonce that neither the chain, the nodes' pools nor our
// ledger holds, and what the hosts said last. A nonce given back by a rejected
// transaction is the first to be taken, and none is left out. While hosts differ about
// transactions that are not ours, the slower one gets time to catch up. If a single host
// answers where two are configured, it is believed only as far as our own records go.
func (s *Sender) nextNonce(ctx context.Context, c Call) (nonce uint64, n Nonces, err error) {
	for look := 1; ; look++ {
		if n, err = s.nodes.Nonces(ctx, c.ChainID, c.From); err != nil {
			return 0, n, err
		}
		if n.SingleHost {
			if n.Next, err = s.boundByLedger(c, n); err != nil {
				return 0, n, err
			}
		}
		if nonce, err = s.ledger.free(c.ChainID, c.From, n.Next, s.now()); err != nil {
			return 0, n, err
		}
		if n.Highest <= nonce || look == nonceTries {
			return nonce, n, nil
		}
		if err := s.sleep(ctx, nonceWait); err != nil {
			return 0, n, err
		}
	}
}

// boundByLedger bounds a single host's count by our own records. The host may neither claim
// transactions that the records do not show (ErrUnreachable) nor skip a recorded one that
// has not ended.
func (s *Sender) boundByLedger(c Call, n Nonces) (uint64, error) {
	open, next, err := s.ledger.nonceExtent(c.ChainID, c.From)
	if err != nil {
		return 0, err
	}
	if n.Next > next {
		return 0, fmt.Errorf("chain %d: %w: only %s answers, and says that %s has made %d transactions, of which %d are known here",
			c.ChainID, ErrUnreachable, strings.Join(n.Hosts, ", "), c.From, n.Next, next)
	}
	return min(n.Next, open), nil
}
