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

// A standing is what a word of the provider's means.
type standing struct {
	state swap.State
	// pays says that the last of the reply's transactions is the payment, on the
	// chain where an order in that state has it.
	pays bool
	// unpaid says that the provider has not seen the deposit.
	unpaid bool
}

// words are the provider's for where a request stands, those of older versions of
// its API among them. A word that is not in it is no end.
var words = map[string]standing{
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
	unknownWord = "unknown"
	noReason    = "N/A"

	// failureGrace is how long a failure may still turn into a refund.
	failureGrace = 120 * time.Second
	// indexAgain is after how long a mined deposit that the provider does not see is
	// told of again, and the pause between two times.
	indexAgain = 60 * time.Second
	maxIndexed = 256
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

// Status reports what the provider claims of an order. A deposit that it does not
// see though it was mined a minute ago is told of again.
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
	if words[r.Status].unpaid || r.Status == unknownWord {
		p.remind(ctx, s)
	}
	c, err := s.claim(r, p.now())
	if o.Ref == "" {
		c.Ref = s.id.Hex()
	}
	return c, err
}

func readStatus(raw []byte) (statusReply, error) {
	var r statusReply
	if err := service.Read("status", raw, &r); err != nil {
		return r, garbage("reply", err)
	}
	if r.Status == "" {
		return r, refuse(swap.ProviderGarbage, "status", "left out where the request stands")
	}
	return r, nil
}

// claim is what a reply says of the order, if it is about it.
func (s paid) claim(r statusReply, now time.Time) (swap.Claim, error) {
	if r.Status == unknownWord {
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
		return swap.Claim{}, refuse(swap.ProviderGarbage, "inTxHashes", "answered about another order than it was asked for")
	}
	word, known := words[r.Status]
	if !known {
		word.state = swap.Settling
	}
	c := swap.Claim{State: word.state, Word: wire.Printable(r.Status), Reason: r.reason()}
	if c.State == swap.Failed && !s.over(r, now) {
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

// over reports whether a failure will not turn into a refund any more: it is said
// to be impossible, or the grace has passed since the reply says it was changed or,
// if it does not, since the deposit.
func (s paid) over(r statusReply, now time.Time) bool {
	if said(r.RefundFailReason) != "" {
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

// minedAt is when the transaction was mined, by the chain; zero where that is not
// known.
func (s paid) minedAt() time.Time {
	if e := s.order.Results[len(s.order.Plan.Steps)-1].Evidence; e != nil {
		return e.Time
	}
	return time.Time{}
}

// reason is why the provider could not fill, or not refund, in its words.
func (r statusReply) reason() string {
	why, and := said(r.FailReason), said(r.RefundFailReason)
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

func said(reason *string) string {
	if reason == nil || *reason == noReason {
		return ""
	}
	return wire.Printable(*reason)
}

// maxHashes bounds how many transactions a reply may name.
const maxHashes = 64

func hashes(field string, list []string) ([]common.Hash, error) {
	if len(list) > maxHashes {
		return nil, refuse(swap.ProviderGarbage, field, "names %d transactions", len(list))
	}
	out := make([]common.Hash, len(list))
	for i, s := range list {
		h, err := parseHash(s)
		if err != nil {
			return nil, refuse(swap.ProviderGarbage, field, "names a transaction that is none")
		}
		out[i] = h
	}
	return out, nil
}

// remind tells the provider again of a transaction that was mined a while ago, not
// too often. What comes of it shows in the next status.
func (p *Provider) remind(ctx context.Context, s paid) {
	now, mined := p.now(), s.minedAt()
	if mined.IsZero() || now.Sub(mined) < indexAgain {
		return
	}
	p.mu.Lock()
	if now.Sub(p.indexed[s.id]) < indexAgain {
		p.mu.Unlock()
		return
	}
	if len(p.indexed) >= maxIndexed {
		clear(p.indexed)
	}
	p.indexed[s.id] = now
	p.mu.Unlock()
	_ = p.index(ctx, s) // tried again in a minute
}
