//go:build faults && linux

package crash

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
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

// checkOutcome checks that the order's end is proven, its history in order, that the chain
// has exactly the transactions of this end, and that balances and allowances are right.
func (p *flowRun) checkOutcome() protocol.Order {
	p.t.Helper()
	r, err := p.order(p.id)
	if err != nil {
		p.t.Fatal(err)
	}
	o, s, want := r.Order, p.observe(), p.flow.ends()
	if o.State != want || o.Request != p.request || o.Verdict == nil || o.Verdict.State != want {
		p.t.Fatalf("order is %s with verdict %+v (%s), want %s", o.State, o.Verdict, o.Reason, want)
	}
	if states := passed(r.History); !slices.Equal(states, p.flow.states) {
		p.t.Errorf("history goes %v, want %v", states, p.flow.states)
	}
	if orders := p.orders(); len(orders) != 1 {
		p.t.Errorf("%d orders, want 1", len(orders))
	}
	p.checkTransactions(s)
	p.checkProviderOnce(s, r)
	p.evidence(s, o)
	p.checkBalances(s, o)
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

// checkTransactions checks that the flow's transactions are mined once each, in order and without a
// nonce gap, and that nothing else was ever sent to a node: one signature for each, and one
// more if sped up or cancelled.
func (p *flowRun) checkTransactions(s observation) {
	p.t.Helper()
	var mined []string
	for i, tx := range s.mined {
		mined = append(mined, p.txKind(tx))
		if !s.passed[i] {
			mined[i] = "reverted " + mined[i]
		}
		if tx.Nonce() != p.nonce+uint64(i) {
			p.t.Errorf("the %s is mined on nonce %d, want %d", mined[i], tx.Nonce(), p.nonce+uint64(i))
		}
	}
	if !slices.Equal(mined, p.flow.mined) {
		p.t.Fatalf("mined: %v, want %v", mined, p.flow.mined)
	}
	if next := p.nonce + uint64(len(mined)); s.next != next || s.pending != next {
		p.t.Errorf("next nonce %d, pending %d; want %d", s.next, s.pending, next)
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
	p.checkFeeBumps(s)
}

// checkFeeBumps checks that of the transactions sent for one nonce each pays at least an eighth
// more than the previous one, and that the last is the one mined.
func (p *flowRun) checkFeeBumps(s observation) {
	p.t.Helper()
	last := map[uint64]*types.Transaction{}
	for _, tx := range s.distinct() {
		if was := last[tx.Nonce()]; was != nil {
			least := new(big.Int).Div(new(big.Int).Mul(was.GasFeeCap(), big.NewInt(9)), big.NewInt(8))
			if tx.GasFeeCap().Cmp(least) < 0 {
				p.t.Errorf("%s was outbid by %s only", was.GasFeeCap(), tx.GasFeeCap())
			}
		}
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
		return "void"
	}
	for _, s := range p.steps() {
		switch {
		case s.Kind == "call" && isCall(tx, s):
			return "call"
		case s.Kind == "late" && to == evmAddress(s.Effect.Target) && free && bytes.HasPrefix(tx.Data(), common.FromHex("0x3593564c")):
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

// proofTx says, for each row of the table of proofs, which transaction the verdict names:
// the account's last, the provider's payment, or none.
var proofTx = map[string]string{
	"own_call": "own", "opaque_call": "own", "revoke": "own", "revert": "own", "cancel": "own", "void": "own",
	"fill": "payment", "arrival": "payment", "refund": "payment",
	"withdrawn": "", "absence": "",
}

// evidence checks that the verdict is by the row that the flow is for, and names the
// transaction that proves it.
func (p *flowRun) evidence(s observation, o protocol.Order) {
	p.t.Helper()
	by, e := cmp.Or(p.flow.by, "own_call"), o.Verdict.Evidence
	if o.Verdict.By != by || o.Verdict.Short {
		p.t.Errorf("the verdict is by %s, short %t; want %s", o.Verdict.By, o.Verdict.Short, by)
	}
	var want common.Hash
	switch proofTx[by] {
	case "own":
		want = s.mined[len(s.mined)-1].Hash()
	case "payment":
		want = p.providerOrder().Payment
	default:
		if e != nil || (by == "absence") != (o.Verdict.Absence != nil) {
			p.t.Errorf("evidence %+v and absence %+v for what is proven by %s", e, o.Verdict.Absence, by)
		}
		return
	}
	if e == nil || string(e.Tx) != want.Hex() {
		p.t.Errorf("evidence %+v is not of %s", e, want)
	}
}

// ended are the final states of a record.
var ended = []string{"mined", "reverted", "cancelled"}

// checkJournal reads the stopped daemon's database: it has every transaction that a node
// was ever sent, under one key for each nonce, and each has ended. Rejected records occur
// only in the flow in which nodes refuse.
func (p *flowRun) checkJournal() {
	p.t.Helper()
	s := p.observe()
	attempts, nonces := map[common.Hash]bool{}, map[uint64]string{}
	records, err := audit.Records(p.Instance.Home)
	if err != nil {
		p.t.Fatal(err)
	}
	rejected := 0
	for _, r := range records {
		for _, a := range r.Attempts {
			attempts[a.Hash] = true
		}
		if r.State == "rejected" {
			rejected++
			continue // its nonce was free again
		}
		if other, twice := nonces[r.Nonce]; twice {
			p.t.Errorf("nonce %d is of %s and %s", r.Nonce, other, r.Key)
		}
		nonces[r.Nonce] = r.Key
		if !slices.Contains(ended, r.State) {
			p.t.Errorf("record %s is left %s", r.Key, r.State)
		}
		for i, a := range r.Attempts {
			if i > 0 && a.Kind == "call" {
				p.t.Errorf("record %s was signed twice", r.Key)
			}
		}
	}
	for _, tx := range s.distinct() {
		if !attempts[tx.Hash()] {
			p.t.Errorf("transaction %s was sent and is not in the journal", tx.Hash())
		}
	}
	if rejected > 0 && p.flow.name != refused.name {
		p.t.Errorf("%d records are of refused transactions", rejected)
	}
	if len(nonces) != len(s.mined) {
		p.t.Errorf("%d records for %d mined transactions", len(nonces), len(s.mined))
	}
}
