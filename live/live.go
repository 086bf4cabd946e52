// Package live holds what this program believes of the world against the world: the
// hosts of every network, the built-in contracts, tokens and oracles, and what the
// providers answer. It reads and asks for prices; it has no key, and nothing in it signs
// or sends.
package live

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"swapkeep/chain"
	"swapkeep/priceapi/onchain"
	"swapkeep/swap"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Verdict is what came of one comparison.
type Verdict string

// The verdicts.
const (
	Works   Verdict = "works"
	Differs Verdict = "differs"
	Unasked Verdict = "cannot be asked"
	// Unknown is code of which no hash is known: there is some, and enough hosts show the same.
	Unknown Verdict = "no known hash"
)

// A Row is one thing of the world beside what we believe of it.
type Row struct {
	Subject string  `json:"subject"` // a provider, or "hosts", "tokens", "oracles"
	Chain   uint64  `json:"chainId"`
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
	How     string  `json:"how,omitempty"` // it works, it differs, or why it cannot be asked
}

// Nodes are the networks' hosts.
type Nodes interface {
	swap.Nodes
	Networks() []chain.Network
	Probe(ctx context.Context, id uint64) ([]chain.Probe, error)
	Code(ctx context.Context, id uint64, a common.Address) (chain.Code, []string, error)
	AskAlike(ctx context.Context, id uint64, q chain.Question) ([]byte, error)
	AskToken(ctx context.Context, id uint64, token common.Address) (chain.TokenAnswers, error)
}

// A World is what is looked at.
type World struct {
	Nodes     Nodes
	Providers map[swap.Kind]swap.Provider
	Fees      swap.FeeConfig
	Tokens    []tokens.Token // the built-in list
	Oracles   []onchain.Oracle
	Codes     []Code
	Sandbox   bool // whose tokens and oracles are a part of the real ones

	Provider swap.Kind // only this one; "" = all, and what is no provider's
	Network  uint64    // only this one; 0 = all
}

// Believed is a world of the tokens, oracles and hashes of code that are built in.
func Believed() World {
	return World{Tokens: tokens.Builtin().Tokens(), Oracles: onchain.Oracles(), Codes: codes}
}

// An Answer is a provider's, as it came, with what was asked.
type Answer struct {
	Provider swap.Kind         `json:"provider"`
	Request  swap.QuoteRequest `json:"request"`
	Offers   []swap.Offer      `json:"offers"`
}

// A Report is all that was found, in a fixed order.
type Report struct {
	Rows    []Row    `json:"rows"`
	Answers []Answer `json:"answers"`
}

// atOnce bounds how many networks are looked at together.
const atOnce = 3

// Examine looks at everything once. It may be repeated; it ends with ctx, and what was not
// reached until then cannot be asked.
func Examine(ctx context.Context, w World) Report {
	var (
		mu    sync.Mutex
		out   Report
		all   sync.WaitGroup
		place = make(chan struct{}, atOnce)
	)
	for _, n := range w.Nodes.Networks() {
		if w.Network != 0 && w.Network != n.ID {
			continue
		}
		all.Go(func() {
			place <- struct{}{}
			defer func() { <-place }()
			found := w.network(ctx, n)
			mu.Lock()
			defer mu.Unlock()
			out.Rows, out.Answers = append(out.Rows, found.Rows...), append(out.Answers, found.Answers...)
		})
	}
	all.Wait()
	slices.SortStableFunc(out.Rows, func(a, b Row) int { return cmp.Compare(a.Chain, b.Chain) })
	slices.SortStableFunc(out.Answers, func(a, b Answer) int { return cmp.Compare(a.Request.SrcChain, b.Request.SrcChain) })
	return out
}

// network is all of one network, its hosts first; of one provider, what it has there.
func (w World) network(ctx context.Context, n chain.Network) (out Report) {
	kinds := slices.DeleteFunc(swap.Kinds(), func(k swap.Kind) bool {
		return w.Provider != "" && w.Provider != k || swap.SupportOf(k, n.ID).Support != swap.Active
	})
	if w.Provider == "" {
		out.Rows = w.hosts(ctx, n)
	} else if len(kinds) == 0 {
		return out
	}
	// What hosts that contradict each other say of a contract says nothing.
	agreement := w.agreement(ctx, n)
	compared := agreement.Verdict != Differs
	if w.Provider == "" || !compared {
		out.Rows = append(out.Rows, agreement)
	}
	if w.Provider == "" && compared {
		out.Rows = slices.Concat(out.Rows, w.listed(ctx, n), w.heard(ctx, n))
	}
	for _, k := range kinds {
		p, ok := w.Providers[k]
		if !ok {
			out.Rows = append(out.Rows, Row{string(k), n.ID, "quotes", Unasked, "it is not set up"})
			continue
		}
		rows, answers := w.offers(ctx, p, n)
		if compared {
			rows = slices.Concat(w.pinned(ctx, p, n), rows, w.fills(ctx, p, n))
		}
		out.Rows = append(out.Rows, rows...)
		out.Answers = append(out.Answers, answers...)
	}
	return out
}

// Count is how many rows have each verdict.
func (r Report) Count() map[Verdict]int {
	n := map[Verdict]int{}
	for _, row := range r.Rows {
		n[row.Verdict]++
	}
	return n
}
