// Package live compares what is built into this program with the real world: the hosts of
// every network, the built-in contracts, tokens and oracles, and the providers' answers.
// It only reads and asks for quotes; it has no keys and never signs or sends.
package live

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/onchain"
	"swapkeep/swap"
	"swapkeep/swap/plan"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A Verdict is the result of one comparison.
type Verdict string

// The verdicts.
const (
	Works        Verdict = "works"
	Differs      Verdict = "differs"
	NotAvailable Verdict = "cannot be asked"
	// Unknown means that enough hosts show the same code, and no hash is known for it.
	Unknown Verdict = "no known hash"
)

// A Row is the result for one item.
type Row struct {
	Subject string  `json:"subject"` // a provider, or "hosts", "tokens", "oracles"
	Chain   uint64  `json:"chainId"`
	What    string  `json:"what"`
	Verdict Verdict `json:"verdict"`
	How     string  `json:"how,omitempty"` // how it works or differs, or why it cannot be asked
}

// Nodes are the networks' hosts.
type Nodes interface {
	plan.Nodes
	Settled(ctx context.Context, id uint64) (b chain.Block, hosts []string, err error)
	Head(ctx context.Context, id uint64) (uint64, error)
	Logs(ctx context.Context, id uint64, f chain.LogFilter, from uint64) (chain.LogScan, error)
	Evidence(ctx context.Context, id uint64, tx common.Hash) (chain.Evidence, bool, error)
	Networks() []chain.Network
	Probe(ctx context.Context, id uint64) ([]chain.Probe, error)
	Code(ctx context.Context, id uint64, a common.Address) (chain.Code, []string, error)
	AskQuorum(ctx context.Context, id uint64, q chain.Question) ([]byte, error)
	Ask(ctx context.Context, id uint64, qs []chain.Question) ([][]byte, error)
}

// A World is what Examine checks.
type World struct {
	Nodes     Nodes
	Providers map[swap.Kind]swap.Provider
	Fees      swap.FeeConfig
	Tokens    []tokens.Token // the built-in list
	Oracles   []onchain.Oracle
	Codes     []Code
	Sandbox   bool // only some of the tokens and oracles exist there

	Provider swap.Kind // only this one; "" = all, and what belongs to no provider
	Network  uint64    // only this one; 0 = all
}

// BuiltIn returns a World with the built-in tokens, oracles and code hashes.
func BuiltIn() World {
	return World{Tokens: tokens.Builtin().Tokens(), Oracles: onchain.Oracles(), Codes: codes}
}

// An Answer is a provider's unmodified answer, with its request.
type Answer struct {
	Provider swap.Kind         `json:"provider"`
	Request  swap.QuoteRequest `json:"request"`
	Offers   []swap.Offer      `json:"offers"`
}

// A Report is everything that was found, in a fixed order.
type Report struct {
	Rows    []Row    `json:"rows"`
	Answers []Answer `json:"answers"`
}

// atOnce limits how many networks are checked in parallel.
const atOnce = 3

// Examine checks everything once and may be repeated. When ctx ends, whatever was not
// reached is reported as NotAvailable.
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
			found := w.checkNetwork(ctx, n)
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

// checkNetwork checks one network, hosts first. If too few of them agree, only the providers
// are asked; if it was shut down, nobody is.
func (w World) checkNetwork(ctx context.Context, n chain.Network) (out Report) {
	if n.HasEnded() {
		if w.Provider == "" {
			out.Rows = []Row{{"hosts", n.ID, "all", Works, "the network was shut down on " + n.Ended.Format(time.DateOnly) + ": nobody is asked"}}
		}
		return out
	}
	kinds := slices.DeleteFunc(swap.Kinds(), func(k swap.Kind) bool {
		return w.Provider != "" && w.Provider != k || swap.SupportOf(k, n.ID).Support != swap.Active
	})
	if w.Provider == "" {
		out.Rows = w.checkHosts(ctx, n)
	} else if len(kinds) == 0 {
		return out
	}
	// What hosts that contradict each other say of a contract says nothing.
	agreement := w.checkAgreement(ctx, n)
	compared := agreement.Verdict != Differs
	if w.Provider == "" || !compared {
		out.Rows = append(out.Rows, agreement)
	}
	if w.Provider == "" && compared {
		out.Rows = slices.Concat(out.Rows, w.checkTokens(ctx, n), w.checkOracles(ctx, n))
	}
	for _, k := range kinds {
		p, ok := w.Providers[k]
		if !ok {
			out.Rows = append(out.Rows, Row{string(k), n.ID, "quotes", NotAvailable, "it is not set up"})
			continue
		}
		rows, answers := w.checkOffers(ctx, p, n)
		if compared {
			rows = slices.Concat(w.checkContracts(ctx, p, n), rows, w.checkFills(ctx, p, n))
		}
		out.Rows = append(out.Rows, rows...)
		out.Answers = append(out.Answers, answers...)
	}
	return out
}

// Count returns the number of rows per verdict.
func (r Report) Count() map[Verdict]int {
	n := map[Verdict]int{}
	for _, row := range r.Rows {
		n[row.Verdict]++
	}
	return n
}
