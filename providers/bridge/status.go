package bridge

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A statusMeaning is the meaning of one of the provider's statuses.
type statusMeaning struct {
	state swap.State
	// pays: the last of the reply's transactions is the payment, on the destination chain
	// or, for a refund, on the source chain.
	pays bool
	// unpaid: the provider has not seen the deposit.
	unpaid bool
}

// statuses are the provider's statuses of a request, with those of older versions of its API.
// An unknown status is not an end.
var statuses = map[string]statusMeaning{
	"waiting":    {state: swap.Settling, unpaid: true},
	"received":   {state: swap.Settling, unpaid: true},
	"depositing": {state: swap.Settling},
	"pending":    {state: swap.Settling},
	"delayed":    {state: swap.Settling},
	"submitted":  {state: swap.Settling, pays: true},
	"success":    {state: swap.Filled, pays: true},
	"refund":     {state: swap.Refunded, pays: true},
	"refunded":   {state: swap.Refunded, pays: true},
	"fallback":   {state: swap.Refunded, pays: true},
	"failure":    {state: swap.Failed},
}

const (
	statusUnknown = "unknown"
	noReason      = "N/A"

	// failureGrace is how long a failure may still turn into a refund.
	failureGrace = 120 * time.Second
	// reindexAfter is how long after it was mined a deposit that the provider does not see is
	// reported again, and the pause between two reports.
	reindexAfter = 60 * time.Second
	maxIndexed   = 256
)

// A statusReply is the reply to GET /intents/status/v3, and the data of an event.
type statusReply struct {
	Status           string       `json:"status"`
	InTxHashes       []string     `json:"inTxHashes"`
	TxHashes         []string     `json:"txHashes"`
	OriginChainID    *wire.Number `json:"originChainId"`
	DestChainID      *wire.Number `json:"destinationChainId"`
	UpdatedAt        *wire.Number `json:"updatedAt"` // ms
	FailReason       *string      `json:"failReason"`
	RefundFailReason *string      `json:"refundFailReason"`
}

// Status returns what the provider claims about an order. A deposit that it does not see a
// minute after it was mined is reported again. It returns [swap.OrderUnknown] if the
// provider does not know the request.
func (p *Provider) Status(ctx context.Context, o swap.Order) (swap.Claim, error) {
	s, err := p.paidOrder(o)
	if err != nil {
		return swap.Claim{}, err
	}
	reply, err := p.api.Do(ctx, rest.Call{Method: http.MethodGet, Path: "/intents/status/v3", Query: url.Values{"requestId": {s.id.Hex()}}})
	if err != nil {
		return swap.Claim{}, service.Refusal(err)
	}
	r, err := readStatus(reply.Body)
	if err != nil {
		return swap.Claim{}, err
	}
	if statuses[r.Status].unpaid || r.Status == statusUnknown {
		p.reindexIfDue(ctx, s)
	}
	c, err := s.claim(r, p.now())
	if o.ProviderOrderID == "" {
		c.ProviderOrderID = s.id.Hex()
	}
	return c, err
}

func readStatus(raw []byte) (statusReply, error) {
	var r statusReply
	if err := service.Read("status", raw, &r); err != nil {
		return r, garbage("reply", err)
	}
	if r.Status == "" {
		return r, refuse(swap.ProviderInvalidResponse, "status", "left out where the request stands")
	}
	return r, nil
}

// claim returns what a reply says about the order, and refuses a reply about another one.
func (s paidDeposit) claim(r statusReply, now time.Time) (swap.Claim, error) {
	if r.Status == statusUnknown {
		return swap.Claim{}, refuse(swap.OrderUnknown, "requestId", "does not know the request")
	}
	ours, err := hashes("inTxHashes", r.InTxHashes)
	if err != nil {
		return swap.Claim{}, err
	}
	payments, err := hashes("txHashes", r.TxHashes)
	if err != nil {
		return swap.Claim{}, err
	}
	t := s.order.Terms
	if len(ours) > 0 && !slices.Contains(ours, s.tx) ||
		r.OriginChainID != nil && !r.OriginChainID.IsID(t.SrcChain) || r.DestChainID != nil && !r.DestChainID.IsID(t.DstChain) {
		return swap.Claim{}, refuse(swap.ProviderInvalidResponse, "inTxHashes", "answered about another order than it was asked for")
	}
	word, known := statuses[r.Status]
	if !known {
		word.state = swap.Settling
	}
	c := swap.Claim{State: word.state, ProviderStatus: wire.Printable(r.Status), Reason: r.reason()}
	if c.State == swap.Failed && !s.failureIsFinal(r, now) {
		c.State = swap.Settling
	}
	if word.pays && len(payments) > 0 {
		c.Tx, c.Chain = payments[len(payments)-1], t.DstChain
		if c.State == swap.Refunded {
			c.Chain = t.SrcChain
		}
	}
	return c, nil
}

// failureIsFinal reports whether a failure can no longer turn into a refund: the provider says that a
// refund is impossible, or the grace has passed since the change that the reply states or,
// if it states none, since the deposit.
func (s paidDeposit) failureIsFinal(r statusReply, now time.Time) bool {
	if reasonText(r.RefundFailReason) != "" {
		return true
	}
	since := s.minedAt()
	if r.UpdatedAt != nil && r.UpdatedAt.IsInt64() {
		if at := time.UnixMilli(r.UpdatedAt.Int64()); at.After(since) && !at.After(now) {
			since = at
		}
	}
	return now.Sub(since) >= failureGrace
}

// minedAt returns the block time of the transaction, zero if it is not known.
func (s paidDeposit) minedAt() time.Time {
	if e := s.order.Results[len(s.order.Plan.Steps)-1].Evidence; e != nil {
		return e.Time
	}
	return time.Time{}
}

// reason returns why the provider could not fill or refund, in its own words.
func (r statusReply) reason() string {
	why, and := reasonText(r.FailReason), reasonText(r.RefundFailReason)
	switch {
	case why != "" && and != "":
		return "the bridge provider says: " + why + "; no refund: " + and
	case why != "":
		return "the bridge provider says: " + why
	case and != "":
		return "the bridge provider says: no refund: " + and
	}
	return ""
}

func reasonText(reason *string) string {
	if reason == nil || *reason == noReason {
		return ""
	}
	return wire.Printable(*reason)
}

// maxHashes bounds how many transactions a reply may name.
const maxHashes = 64

func hashes(field string, list []string) ([]common.Hash, error) {
	if len(list) > maxHashes {
		return nil, refuse(swap.ProviderInvalidResponse, field, "names %d transactions", len(list))
	}
	out := make([]common.Hash, len(list))
	for i, s := range list {
		h, err := parseHash(s)
		if err != nil {
			return nil, refuse(swap.ProviderInvalidResponse, field, "names a transaction that is none")
		}
		out[i] = h
	}
	return out, nil
}

// reindexIfDue reports a transaction that was mined a while ago again, but not too often. The
// effect shows in the next status.
func (p *Provider) reindexIfDue(ctx context.Context, s paidDeposit) {
	now, mined := p.now(), s.minedAt()
	if mined.IsZero() || now.Sub(mined) < reindexAfter {
		return
	}
	p.mu.Lock()
	if now.Sub(p.reindexed[s.id]) < reindexAfter {
		p.mu.Unlock()
		return
	}
	if len(p.reindexed) >= maxIndexed {
		clear(p.reindexed)
	}
	p.reindexed[s.id] = now
	p.mu.Unlock()
	_ = p.index(ctx, s) // retried in a minute
}
