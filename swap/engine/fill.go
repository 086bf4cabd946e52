package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// proveSigned looks for the fill of a signed order or, if there is none, for the proof
// that there will be none.
func (e *Engine) proveSigned(ctx context.Context, o swap.Order, p swap.Proof, l *settlementWatch) (v *swap.Verdict, f findings, err error) {
	id, first := o.Terms.SrcChain, p.TracePatterns()[0]
	if c := o.Claim; c != nil && c.Tx != (common.Hash{}) && (c.Chain == 0 || c.Chain == id) && !l.ruledOut[ruled{searchFill, c.Tx}] {
		v, is, err := e.fillIn(ctx, o, p, c.Tx)
		if v != nil {
			return v, f, nil
		}
		if is == isNothing && err == nil {
			l.ruleOut(searchFill, c.Tx)
		}
	}
	s, searched := e.searchFor(ctx, o, l, searchFill, id, filterOf(first), first.Matches)
	for _, tx := range slices.Clone(s.hints) {
		v, is, err := e.fillIn(ctx, o, p, tx)
		if v != nil {
			return v, f, nil
		}
		searched = errors.Join(searched, err)
		switch is {
		case isNothing:
			s.drop(tx)
		case isAbsent:
			s.dropAbsent(tx, e.Now())
		case isUnclear:
			f.unclear = tx
		}
	}
	if searched != nil {
		return nil, f, searched
	}
	v, err = e.neverFilled(ctx, o, p, s)
	return v, f, err
}

// filterOf returns the filter by which a host finds the logs that may match p.
func filterOf(p swap.LogPattern) chain.LogFilter {
	f := chain.LogFilter{Address: p.Address, Topics: make([][]common.Hash, len(p.Topics))}
	for i, t := range p.Topics {
		if t != (common.Hash{}) {
			f.Topics[i] = []common.Hash{t}
		}
	}
	return f
}

// fillIn checks whether a transaction fills o, without logs that ended another order.
func (e *Engine) fillIn(ctx context.Context, o swap.Order, p swap.Proof, tx common.Hash) (*swap.Verdict, decision, error) {
	ev, ok, err := e.Nodes.Evidence(ctx, o.Terms.SrcChain, tx)
	switch {
	case err != nil:
		return nil, isUndecided, err
	case !ok && ev.Block == 0:
		return nil, isAbsent, nil
	case !ok:
		return nil, isUndecided, nil
	case !ev.Success:
		return nil, isNothing, nil
	}
	logs, err := e.unusedLogs(o.ID, ev)
	if err != nil {
		return nil, isUndecided, err
	}
	places, all := proof.MatchAll(p.Fill, logs)
	if !all {
		return e.partialFillIn(o, p, ev, logs)
	}
	v := swap.VerdictBy(swap.ProvenByFill)
	v.Sources, v.Evidence, v.Logs = proof.Sources(ev.Hosts), &ev, proof.RefsOf(ev.Chain, tx, places...)
	own := e.isOwnCall(o, ev)
	if own && len(p.Fill) > 1 {
		return nil, isUnclear, nil // some of the transfers may belong to that swap
	}
	alone, err := e.settledAlone(o, ev)
	if err != nil {
		return nil, isUndecided, err
	}
	if alone && !own {
		proof.SetReceived(&v, o.Terms, ev.Logs)
	}
	if o.Terms.TokenOut == chain.Native && e.onlyOrderPaidInBlock(o, ev) { // shown only, as far as the balance can tell
		if g, _, err := e.Nodes.BalanceDelta(ctx, ev.Chain, o.Terms.Recipient, ev.Block); err == nil && g.Sent == 0 && g.Amount.Cmp(o.Terms.MinOut) >= 0 {
			v.Received = &swap.Spend{Token: chain.Native, Amount: g.Amount}
		}
	}
	return &v, isProof, nil
}

// isOwnCall reports whether a transaction may contain a swap of the account's own, made by
// any account of the wallet.
func (e *Engine) isOwnCall(o swap.Order, ev chain.Evidence) bool {
	return ev.From == o.Terms.Account || e.isMine(ev.From)
}

// unusedLogs returns a transaction's logs, with nil for those that ended another order.
func (e *Engine) unusedLogs(order string, ev chain.Evidence) ([]*types.Log, error) {
	refs := make([]swap.LogRef, len(ev.Logs))
	for i := range refs {
		refs[i] = swap.LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: i}
	}
	free, err := e.Journal.Unused(order, refs)
	if err != nil {
		return nil, err
	}
	logs := make([]*types.Log, len(ev.Logs))
	for _, r := range free {
		logs[r.Index] = ev.Logs[r.Index]
	}
	return logs, nil
}

// partialFillIn checks whether a transaction that is no exact fill has filled o nevertheless: in
// part, or with a token of which less arrives than is sent. It returns isUnclear if the
// transaction is not o's alone, or does not show what left and what arrived.
func (e *Engine) partialFillIn(o swap.Order, p swap.Proof, ev chain.Evidence, logs []*types.Log) (*swap.Verdict, decision, error) {
	places, all := proof.MatchAll(p.Trace, logs)
	if !all {
		return nil, isNothing, nil
	}
	t := o.Terms
	shared := slices.Contains(logs, nil) || e.isOwnCall(o, ev)
	if others, err := e.mayFillOpenOrder(o, ev, logs); err != nil || others || shared {
		return nil, isUnclear, err
	}
	moved := chain.Transfers(logs)
	left, got := swap.NetOf(moved, t.Account)[t.Input()], swap.NetOf(moved, t.Recipient)[t.TokenOut]
	if t.TokenOut == chain.Native || left == nil || got == nil || left.Sign() >= 0 || got.Sign() <= 0 {
		return nil, isUnclear, nil
	}
	left = new(big.Int).Neg(left)
	if left.Cmp(t.AmountIn) > 0 {
		return nil, isUnclear, nil
	}
	v := swap.VerdictBy(swap.ProvenByPartialFill)
	v.Sources, v.Evidence, v.Logs = proof.Sources(ev.Hosts), &ev, proof.RefsOf(ev.Chain, ev.Tx, places...)
	v.Spent, v.Received, v.BelowMinimum = &swap.Spend{Token: t.Input(), Amount: left}, &swap.Spend{Token: t.TokenOut, Amount: got}, got.Cmp(t.MinOut) < 0
	return &v, isProof, nil
}

// settledAlone reports whether no other order of ours ended, or may end, by a
// transaction, so that all it moved is o's. A token that a swap passes through can have a
// signed order filled from within its own transfer.
func (e *Engine) settledAlone(o swap.Order, ev chain.Evidence) (bool, error) {
	logs, err := e.unusedLogs(o.ID, ev)
	if err != nil || slices.Contains(logs, nil) {
		return false, err
	}
	another, err := e.fillsAnother(o, ev)
	return !another, err
}

// fillsAnother reports whether a transaction fills, or may fill, another signed order of
// ours; its payments may then be for that one.
func (e *Engine) fillsAnother(o swap.Order, ev chain.Evidence) (bool, error) {
	ours := func(l *types.Log) bool { return l != nil && e.settles(ev.Chain, l.Address) }
	if !slices.ContainsFunc(ev.Logs, ours) {
		return false, nil
	}
	logs, err := e.unusedLogs(o.ID, ev)
	if err != nil {
		return false, err
	}
	for i, l := range ev.Logs {
		if ours(l) && logs[i] == nil {
			return true, nil
		}
	}
	return e.mayFillOpenOrder(o, ev, logs)
}

// settles reports whether a contract is pinned as one that settles signed orders.
func (e *Engine) settles(chainID uint64, a common.Address) bool {
	for _, p := range e.Providers {
		if p.Pins().Allows(chainID, swap.Settlement, a) {
			return true
		}
	}
	return false
}

// mayFillOpenOrder reports whether a transaction is one of another open order's own, or logs are,
// or may be, those of a fill of another open signed order.
func (e *Engine) mayFillOpenOrder(o swap.Order, ev chain.Evidence, logs []*types.Log) (bool, error) {
	open, err := e.Journal.Open()
	if err != nil {
		return false, err
	}
	for _, id := range open {
		other, err := e.Journal.Get(id)
		if errors.Is(err, journal.ErrUnreadable) {
			return true, nil // unknown
		}
		if err != nil {
			return false, err
		}
		if id == o.ID || other.Terms.SrcChain != ev.Chain {
			continue
		}
		if slices.ContainsFunc(other.Results, func(r swap.Result) bool { return r.Tx == ev.Tx }) {
			return true, nil
		}
		if !other.OrderSigned() {
			continue
		}
		s, err := e.settler(&other)
		if err != nil {
			return true, nil // unknown
		}
		p, err := s.Proof(other)
		if err != nil {
			return true, nil
		}
		if _, its := proof.MatchAll(p.TracePatterns(), logs); its {
			return true, nil
		}
	}
	return false, nil
}

// neverFilled proves that a signed order was not filled and cannot be any more: no block
// has a fill, from its signature to one that is past its last second or in which its
// nonce is used. It returns nil while that is not proven.
func (e *Engine) neverFilled(ctx context.Context, o swap.Order, p swap.Proof, s *search) (*swap.Verdict, error) {
	if len(s.hints) > 0 || s.through.Number == 0 {
		return nil, nil
	}
	hosts, used := s.hosts, false
	if n := p.Nonce; n != nil {
		var by []string
		var err error
		if used, by, err = e.Nodes.NonceBit(ctx, o.Terms.SrcChain, n.Contract, n.Owner, n.Nonce, s.through.Number); err != nil {
			return nil, err
		}
		hosts = proof.FewerHosts(hosts, by)
	}
	invalidation, err := e.invalidationEvidence(ctx, o)
	if err != nil {
		return nil, err
	}
	var v swap.Verdict
	switch {
	case invalidation != nil && invalidation.Block <= s.through.Number && (used || p.Nonce == nil):
		v, hosts = swap.VerdictBy(swap.ProvenByInvalidated), proof.FewerHosts(hosts, invalidation.Hosts)
		v.Evidence = invalidation
	case used:
		v = swap.VerdictBy(swap.ProvenByOrderNonceUsed)
	case !p.Ends.IsZero() && s.through.Time.After(p.Ends):
		v = swap.VerdictBy(swap.ProvenByAbsence)
	default:
		return nil, nil
	}
	absence := &swap.Absence{Chain: o.Terms.SrcChain, From: s.from, Through: s.through, Hosts: s.hosts}
	if !s.confirmedEmpty(e.Now()) {
		return nil, nil
	}
	if err := e.Nodes.CheckLogs(ctx, absence.Chain, absence.Through.Number, absence.Hosts); err != nil {
		s.restart(e.Now())
		return nil, err
	}
	v.Sources, v.Absence = proof.Sources(hosts), absence
	return &v, nil
}

// invalidateKey returns the sender's key of our own call that invalidates a signed order.
func invalidateKey(o swap.Order) string { return o.ID + "/invalidate" }

// invalidationEvidence returns the evidence that this call succeeded; nil if there is none.
func (e *Engine) invalidationEvidence(ctx context.Context, o swap.Order) (*chain.Evidence, error) {
	tx, err := e.Sender.Lookup(invalidateKey(o))
	if err != nil || tx == nil {
		return nil, err
	}
	now, ev, err := e.Sender.Poll(ctx, invalidateKey(o))
	if err != nil || ev == nil || now.State != chain.TxMined || !ev.Success {
		return nil, err
	}
	return ev, nil
}
