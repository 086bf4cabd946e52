//go:build faults && linux

package crash

import (
	"bytes"
	"encoding/json"
	"math/big"
	"path/filepath"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"

	"swapkeep/host/protocol"
)

// untouched wants that nothing at all came of it.
func (p *passage) untouched() {
	p.t.Helper()
	if orders := p.orders(); len(orders) != 0 {
		p.t.Errorf("%d orders exist without consent", len(orders))
	}
	if s := p.sight(); len(s.offered)+len(s.mined) != 0 || s.pending != 0 {
		p.t.Errorf("without consent %d transactions were sent, %d mined", len(s.offered), len(s.mined))
	}
}

// paidOnce wants the order's end proven, its history in order, and on the
// chain exactly the one transaction that this end means.
func (p *passage) paidOnce() protocol.Order {
	p.t.Helper()
	r, err := p.order(p.id)
	if err != nil {
		p.t.Fatal(err)
	}
	o, s, want := r.Order, p.sight(), p.flow.states[len(p.flow.states)-1]
	if o.State != want || o.Request != p.request || o.Verdict == nil || o.Verdict.State != want {
		p.t.Fatalf("order is %s with verdict %+v (%s), want %s", o.State, o.Verdict, o.Reason, want)
	}
	if states := passed(r.History); !slices.Equal(states, p.flow.states) {
		p.t.Errorf("history goes %v, want %v", states, p.flow.states)
	}
	if orders := p.orders(); len(orders) != 1 {
		p.t.Errorf("%d orders, want 1", len(orders))
	}
	if len(s.mined) != 1 || !s.passed[0] || s.next != 1 || s.pending != 1 {
		p.t.Fatalf("%d transactions mined (%v), next nonce %d, pending %d; want one", len(s.mined), s.passed, s.next, s.pending)
	}
	if e := o.Verdict.Evidence; e == nil || string(e.Tx) != s.mined[0].Hash().Hex() {
		p.t.Errorf("evidence %+v is not of %s", e, s.mined[0].Hash())
	}
	p.onlyOne(s)
	p.balances(s)
	return o
}

// passed are the states of a history, each run of one state once.
func passed(history []protocol.Entry) (states []string) {
	for _, e := range history {
		states = append(states, e.State)
	}
	return slices.Compact(states)
}

// onlyOne wants that nothing but the accepted call was ever handed to a node,
// and for a cancelled order nothing besides but one empty transaction to the
// account itself; and that the right one of them is the one mined.
func (p *passage) onlyOne(s sighting) {
	p.t.Helper()
	step, different, calls, cancels := p.review.Steps[0], s.distinct(), 0, 0
	for _, tx := range different {
		switch {
		case tx.Nonce() != 0:
			p.t.Errorf("transaction %s has nonce %d", tx.Hash(), tx.Nonce())
		case isCall(tx, step):
			calls++
		case isCancel(tx, p.account):
			cancels++
		default:
			p.t.Errorf("transaction %s is neither the accepted call nor its cancelling", tx.Hash())
		}
	}
	wantCancels := 0
	if p.flow.cancels {
		wantCancels = 1
	}
	if calls != 1 || cancels != wantCancels {
		p.t.Errorf("%d different calls and %d cancels were sent, want 1 and %d", calls, cancels, wantCancels)
	}
	if p.flow.cancels != isCancel(s.mined[0], p.account) {
		p.t.Errorf("the wrong transaction was mined: to %s, value %s", s.mined[0].To(), s.mined[0].Value())
	}
}

func isCall(tx *types.Transaction, s protocol.Step) bool {
	return *tx.To() == evmAddress(s.To) && tx.Value().Cmp(s.Value.Int()) == 0 && bytes.Equal(tx.Data(), common.FromHex(s.Data))
}

func isCancel(tx *types.Transaction, account common.Address) bool {
	return *tx.To() == account && tx.Value().Sign() == 0 && len(tx.Data()) == 0
}

// balances wants that what left and what arrived is what was accepted, to the
// last wei where the amount is fixed.
func (p *passage) balances(s sighting) {
	p.t.Helper()
	want := map[common.Address]*big.Int{native: new(big.Int).Sub(gasMoney, s.spent)}
	for token, amount := range p.flow.funds {
		want[token] = new(big.Int).Set(amount)
	}
	if !p.flow.cancels {
		want[p.flow.in] = new(big.Int).Sub(want[p.flow.in], stake)
		if p.flow.name != "swap" { // one for one
			want[p.flow.out] = new(big.Int).Add(orZero(want[p.flow.out]), stake)
		}
	}
	for token, amount := range want {
		if got := p.lane.balance(p.t, p.flow.chain, token, p.account); got.Cmp(amount) != 0 {
			p.t.Errorf("balance of %s is %s, want %s", token, got, amount)
		}
	}
	if p.flow.name == "swap" {
		floor := p.review.Terms.FloorOut.Int()
		if got := p.lane.balance(p.t, p.flow.chain, p.flow.out, p.account); got.Cmp(floor) < 0 || floor.Sign() <= 0 {
			p.t.Errorf("%s of token out arrived, the floor is %s", got, floor)
		}
	}
}

func orZero(n *big.Int) *big.Int {
	if n == nil {
		return new(big.Int)
	}
	return n
}

// goesOn makes one more swap, which hangs if a nonce was left out, and wants
// it mined on the nonce after those used.
func (p *passage) goesOn(used uint64) {
	p.t.Helper()
	review, err := p.reviewOf(native, wrappedOn[p.flow.chain], milli)
	if err != nil {
		p.t.Fatal(err)
	}
	var o protocol.Order
	p.must("swap.execute", protocol.ExecuteParams{Request: newUUID(), Digest: review.Digest}, &o)
	if o, err = p.awaitOrder(o.ID, final); err != nil || o.State != "filled" {
		p.t.Fatalf("the next swap is %s (%s), %v", o.State, o.Reason, err)
	}
	s := p.sight()
	if s.next != used+1 || s.pending != used+1 || uint64(len(s.mined)) != used+1 || !isCall(s.mined[used], review.Steps[0]) {
		p.t.Errorf("after the next swap: nonce %d, pending %d, %d mined; want %d", s.next, s.pending, len(s.mined), used+1)
	}
}

var wrappedOn = map[uint64]common.Address{
	mainnet: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
	base:    weth,
}

// A record is as much of the sender's journal as a reader of the file needs.
type record struct {
	Key      string
	Nonce    uint64
	State    string
	Attempts []struct {
		Kind string
		Hash common.Hash
	}
}

// journalHolds reads the database of the stopped daemon: every transaction
// that a node was ever handed is in it, under one key for each nonce, and each
// has its end.
func (p *passage) journalHolds() {
	p.t.Helper()
	s := p.sight()
	attempts, nonces := map[common.Hash]bool{}, map[uint64]string{}
	for _, r := range p.records() {
		if other, twice := nonces[r.Nonce]; twice {
			p.t.Errorf("nonce %d is of %s and %s", r.Nonce, other, r.Key)
		}
		nonces[r.Nonce] = r.Key
		if r.State != "mined" && r.State != "cancelled" {
			p.t.Errorf("record %s is left %s", r.Key, r.State)
		}
		for i, a := range r.Attempts {
			attempts[a.Hash] = true
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
	if len(nonces) != len(s.mined) {
		p.t.Errorf("%d records for %d mined transactions", len(nonces), len(s.mined))
	}
}

func (p *passage) records() (all []record) {
	p.t.Helper()
	db, err := bolt.Open(filepath.Join(p.place.Home, "orders.db"), 0o600, &bolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("sender.tx")).ForEach(func(_, v []byte) error {
			var r record
			all = append(all, r)
			return json.Unmarshal(v, &all[len(all)-1])
		})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}
