package proof

import (
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Prove turns the evidence of our own mined call into a verdict. It is pure.
func Prove(t swap.Terms, f swap.Effect, e chain.Evidence) swap.Verdict {
	v := swap.VerdictBy(swap.ProvenByOwnCall)
	if !e.Success {
		v = swap.VerdictBy(swap.ProvenByRevert)
	}
	v.Sources, v.Evidence = Sources(e.Hosts), &e
	if !e.Success {
		return v
	}
	if f.Kind == swap.Wrap || f.Kind == swap.Unwrap { // one to one or reverted; neither leaves a Transfer log
		v.Received = &swap.Spend{Token: t.TokenOut, Amount: t.AmountIn}
		return v
	}
	SetReceived(&v, t, e.Logs)
	return v
}

// SetReceived sets what logs show to have arrived at the recipient. They show nothing
// of the native coin.
func SetReceived(v *swap.Verdict, t swap.Terms, logs []*types.Log) {
	if got := swap.NetOf(chain.Transfers(logs), t.Recipient)[t.TokenOut]; got != nil && got.Sign() > 0 && t.TokenOut != chain.Native {
		v.Received = &swap.Spend{Token: t.TokenOut, Amount: got}
		v.BelowMinimum = got.Cmp(t.MinOut) < 0
	}
}

// Sources says whether more than one host agrees.
func Sources(hosts []string) swap.SourceCode {
	if len(hosts) < 2 {
		return swap.OneHost
	}
	return swap.TwoHosts
}

// FewerHosts returns the smaller of two sets of hosts: a verdict is only as good as the
// weakest evidence that it rests on.
func FewerHosts(a, b []string) []string {
	if len(b) < len(a) {
		return b
	}
	return a
}

// DepositEvidence returns the evidence of o's own last transaction (nil if none), and its step.
func DepositEvidence(o swap.Order) (*chain.Evidence, int) {
	for i, r := range slices.Backward(o.Results) {
		if r.Evidence != nil && !r.Skipped {
			return r.Evidence, i
		}
	}
	return nil, 0
}

// TransfersTo returns the indexes of the logs that transfer a token to an account.
func TransfersTo(logs []*types.Log, token, to common.Address) (places []int) {
	for i, l := range logs {
		if m := chain.Transfers([]*types.Log{l}); len(m) == 1 && m[0].Token == token && m[0].To == to {
			places = append(places, i)
		}
	}
	return places
}

// RefsOf returns references to the logs of a transaction at the given indexes.
func RefsOf(chainID uint64, tx common.Hash, places ...int) (refs []swap.LogRef) {
	for _, p := range places {
		refs = append(refs, swap.LogRef{Chain: chainID, Tx: tx, Index: p})
	}
	return refs
}
