//go:build faults && linux

package crash

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/audit"
)

// checkUntouched checks that nothing at all happened.
func (p *flowRun) checkUntouched() {
	p.t.Helper()
	if orders := p.orders(); len(orders) != 0 {
		p.t.Errorf("%d orders exist without consent", len(orders))
	}
	if s := p.observe(); len(s.sent)+len(s.mined) != 0 || s.pending != p.nonce {
		p.t.Errorf("without consent %d transactions were sent, %d mined", len(s.sent), len(s.mined))
	}
	p.checkProviderUnaware()
}

// How orders of the intent provider end: it names a payment, and nothing links that to the order;
// or it names none, and the user waits no longer.
const (
	likelyPaid   = "likely_paid"
	closedByUser = "closed"
)

// checkOutcome checks that the order's end is proven, its history in order, that the chain
// has exactly the transactions of this end, and that it left the allowances it should. checkAudit
// checks the rest.
func (p *flowRun) checkOutcome() protocol.Order {
	p.t.Helper()
	r, err := p.order(p.id)
	if err != nil {
		p.t.Fatal(err)
	}
	o, s, want := r.Order, p.observe(), p.flow.ends()
	by := cmp.Or(p.flow.by, "own_call")
	switch {
	case by == likelyPaid && o.State == want && o.Condition == likelyPaid && o.Ended && o.Request == p.request:
	case by == closedByUser && o.State == want && o.Closing != nil && o.Ended && o.Request == p.request:
	case o.State != want || o.Request != p.request || o.Verdict == nil || o.Verdict.State != want:
		p.t.Fatalf("order is %s, %s, with verdict %+v (%s), want %s by %s", o.State, o.Condition, o.Verdict, o.Reason, want, by)
	case o.Verdict.ProvenBy != by || o.Verdict.BelowMinimum:
		p.t.Errorf("the verdict is by %s, short %t; want %s", o.Verdict.ProvenBy, o.Verdict.BelowMinimum, by)
	}
	if states := passed(r.History); !slices.Equal(states, p.flow.states) {
		p.t.Errorf("history goes %v, want %v", states, p.flow.states)
	}
	if orders := p.orders(); len(orders) != 1 {
		p.t.Errorf("%d orders, want 1", len(orders))
	}
	p.checkTransactions(s)
	p.checkProviderOnce(s, r)
	if p.input() != p.flow.in && sandboxtest.Balance(p.t, p.chain(), p.account, p.input()).Sign() != 0 {
		p.t.Error("some of the input is left wrapped")
	}
	p.checkAgreed(o)
	p.checkAllowances(o)
	return o
}

// passed returns the states of a history without repeats in a row.
func passed(history []protocol.Entry) (states []string) {
	for _, e := range history {
		states = append(states, e.State)
	}
	return slices.Compact(states)
}

// checkTransactions checks that the flow's transactions are mined once each, in order,
// and that nothing else was ever sent to a node: one signature for each, and one
// more if sped up or cancelled.
func (p *flowRun) checkTransactions(s observation) {
	p.t.Helper()
	var mined []string
	for i, tx := range s.mined {
		mined = append(mined, p.txKind(tx))
		if !s.passed[i] {
			mined[i] = "reverted " + mined[i]
		}
	}
	if !slices.Equal(mined, p.flow.mined) {
		p.t.Fatalf("mined: %v, want %v", mined, p.flow.mined)
	}
	want := p.flow.sentTxs
	if want == nil {
		want = map[string]int{}
		for _, deed := range mined {
			want[deed] = 1
		}
	}
	offered := map[string]int{}
	for _, tx := range s.distinct() {
		offered[p.txKind(tx)]++
	}
	if !maps.Equal(offered, want) {
		p.t.Errorf("handed to the node, different ones each: %v, want %v", offered, want)
	}
	p.checkLastMined(s)
}

// checkLastMined checks that of the transactions sent for one nonce the last is the one mined.
func (p *flowRun) checkLastMined(s observation) {
	p.t.Helper()
	last := map[uint64]*types.Transaction{}
	for _, tx := range s.distinct() {
		last[tx.Nonce()] = tx
	}
	for _, tx := range s.mined {
		if l := last[tx.Nonce()]; l != nil && l.Hash() != tx.Hash() {
			p.t.Errorf("on nonce %d the %s was mined, and not the last that was handed in", tx.Nonce(), p.txKind(tx))
		}
	}
}

// txKind names what a transaction does, by its content.
func (p *flowRun) txKind(tx *types.Transaction) string {
	to, free, input := *tx.To(), tx.Value().Sign() == 0, p.input()
	switch {
	case to == p.account && free && len(tx.Data()) == 0:
		return "cancel"
	case to == input && free && bytes.Equal(tx.Data(), approveData(p.spender(), zeroAmount)):
		return "reset"
	case to == input && free && bytes.Equal(tx.Data(), approveData(p.spender(), p.flow.amount)):
		return "approve"
	case to == permit2 && free && bytes.HasPrefix(tx.Data(), invalidateNonces):
		return "invalidate"
	}
	for _, s := range p.steps() {
		switch {
		case s.Kind == "call" && isCall(tx, s):
			return "call"
		case s.Kind == "deferred" && to == evmAddress(s.Effect.Target) && free && bytes.HasPrefix(tx.Data(), common.FromHex("0x3593564c")):
			return "swap" // execute(bytes,bytes[],uint256); balances show how much
		}
	}
	return fmt.Sprintf("call of %s that nobody accepted", to)
}

func (p *flowRun) steps() []protocol.Step {
	if p.review == nil {
		return nil
	}
	return p.review.Steps
}

func isCall(tx *types.Transaction, s protocol.Step) bool {
	return *tx.To() == evmAddress(s.To) && tx.Value().Cmp(s.Value.Int()) == 0 && bytes.Equal(tx.Data(), common.FromHex(s.Data))
}

// record begins the audit of the account, which checkAudit ends.
func (p *flowRun) record() {
	p.evidence = audit.New(p.t.Context(), p.lane.Sandbox, sandboxDepth, p.account)
	p.evidence.Find, p.evidence.Foreign = p.t.Errorf, p.foreignTxs
	p.evidence.Count = func(what string, n int) {
		if what == audit.RefusedRecords {
			p.refusals += n
		}
	}
	p.t.Cleanup(p.evidence.Close)
}

// listen takes down all that the daemon says of orders and allowances, for the audit.
func (p *flowRun) listen() {
	p.t.Helper()
	p.told = nil
	for _, o := range p.orders() {
		r, err := p.order(o.ID)
		if err != nil {
			p.t.Fatal(err)
		}
		told, err := audit.As[audit.OrderResult](r)
		if err != nil {
			p.t.Fatal(err)
		}
		p.told = append(p.told, told)
	}
	all, err := p.allowances()
	if err != nil {
		p.t.Fatal(err)
	}
	p.evidence.Listed = map[audit.Grant]audit.Allowance{}
	for _, a := range all {
		g := audit.Grant{Chain: p.flow.chain, Account: p.account, Token: evmAddress(a.Token), Spender: evmAddress(a.Spender)}
		if a.Kind == protocol.AllowancePermit2 {
			g.Via = permit2
		}
		if p.evidence.Listed[g], err = audit.As[audit.Allowance](a); err != nil {
			p.t.Fatal(err)
		}
	}
}

// checkAudit checks everything against the stopped daemon's database. Refused transactions
// occur only in the flow in which nodes refuse.
func (p *flowRun) checkAudit() {
	p.t.Helper()
	consents := slices.Clone(p.consents)
	if p.id != "" {
		consents = append(consents, consentTo(p.request, cmp.Or(p.agreed, p.digest), p.id))
	}
	p.evidence.Context = p.t.Context()
	p.evidence.Judge(p.Instance.Home, p.told, consents)
	if p.refusals > 0 && p.flow.name != refused.name {
		p.t.Errorf("%d records are of refused transactions", p.refusals)
	}
}

func consentTo(request protocol.UUID, digest protocol.Hash, order string) audit.Consent {
	return audit.Consent{Request: string(request), Digests: []common.Hash{common.HexToHash(string(digest))}, Order: order}
}
