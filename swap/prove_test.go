package swap

import (
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// Addresses and topics of the proof tests.
var (
	fillsFor = common.HexToAddress("0x1100000000000000000000000000000000000011")
	solver   = common.HexToAddress("0x2200000000000000000000000000000000000022")
	outside  = common.HexToAddress("0x4400000000000000000000000000000000000044") // a token on the destination chain
	filledAs = common.Hash{0xf1}
)

const (
	srcChain, dstChain = 1, 10
	orderNonce         = 300
)

// fillProof is the proof of a signed order: the event with its digest, and its nonce.
func fillProof(o Order) Proof {
	return Proof{Fill: []LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, o.Digest}}}, Ends: o.Terms.Deadline, Nonce: &NonceBit{permit2, account, big.NewInt(orderNonce)}}
}

// arrivalProof is the proof of a deposit.
func arrivalProof(o Order) Proof {
	return Proof{
		Arrival: &Arrival{Chain: o.Terms.DstChain, Token: o.Terms.TokenOut, To: o.Terms.Recipient, Least: o.Terms.MinOut, From: []common.Address{solver}},
		Refund:  &Arrival{Chain: srcChain, Token: o.Terms.TokenIn, To: o.Terms.RefundTo, Least: big.NewInt(4900), From: []common.Address{solver}},
	}
}

// TestProofsAreChecked refuses proofs that other transactions could satisfy.
func TestProofsAreChecked(t *testing.T) {
	o := Order{Consent: Consent{Terms: Terms{Account: account, SrcChain: srcChain, DstChain: dstChain, TokenIn: usdc, TokenOut: outside, Recipient: account, RefundTo: account, MinOut: big.NewInt(1000)}}}
	for name, change := range map[string]func(*Proof){
		"nothing":               func(p *Proof) { *p = Proof{} },
		"a fill and an arrival": func(p *Proof) { p.Fill = fillProof(o).Fill },
		"a nonce of a deposit":  func(p *Proof) { p.Nonce = fillProof(o).Nonce },
		"another's nonce":       func(p *Proof) { *p = fillProof(o); p.Nonce.Owner = solver },
		"no nonce":              func(p *Proof) { *p = fillProof(o); p.Nonce.Nonce = nil },
		"an event of anybody":   func(p *Proof) { *p = fillProof(o); p.Fill[0].Address = common.Address{} },
		"any event":             func(p *Proof) { *p = fillProof(o); p.Fill[0].Topics[0] = common.Hash{} },
		"no topic":              func(p *Proof) { *p = fillProof(o); p.Fill[0].Topics = nil },
		"a refund of an order":  func(p *Proof) { q := fillProof(o); q.Refund = p.Refund; *p = q },
		"a trace of a deposit":  func(p *Proof) { p.Trace = fillProof(o).Fill },
		"a trace of anybody":    func(p *Proof) { *p = fillProof(o); p.Trace = []LogPattern{{Topics: []common.Hash{filledAs, {}}}} },
		"a trace of nothing":    func(p *Proof) { *p = fillProof(o); p.Trace = []LogPattern{{Address: fillsFor}} },
		"another's trace": func(p *Proof) {
			*p = fillProof(o)
			p.Trace = []LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, {9}}}}
		},
		"a narrower trace": func(p *Proof) {
			*p = fillProof(o)
			p.Trace = []LogPattern{{Address: fillsFor, Topics: p.Fill[0].Topics, Amount: big.NewInt(1)}}
		},
		"less than the floor":     func(p *Proof) { p.Arrival.Least = big.NewInt(999) },
		"no amount":               func(p *Proof) { p.Arrival.Least = nil },
		"nothing arrives":         func(p *Proof) { p.Refund.Least = new(big.Int) },
		"another recipient":       func(p *Proof) { p.Arrival.To = solver },
		"another token":           func(p *Proof) { p.Arrival.Token = usdc },
		"another chain":           func(p *Proof) { p.Arrival.Chain = srcChain },
		"a refund elsewhere":      func(p *Proof) { p.Refund.Chain = dstChain },
		"a refund to another":     func(p *Proof) { p.Refund.To = solver },
		"a filler that is us":     func(p *Proof) { p.Arrival.From = []common.Address{account} },
		"a filler that is nobody": func(p *Proof) { p.Refund.From = []common.Address{{}} },
		"a link without a rule":   func(p *Proof) { p.Arrival.Link = &Link{} },
		"a payer that is nobody":  func(p *Proof) { p.Arrival.Link = &Link{InputEnd: filledAs, Payers: []common.Address{{}}} },
		"two rules": func(p *Proof) {
			p.Arrival.Link = &Link{InputEnd: filledAs, Relay: &Relay{Source: fillsFor, Destination: fillsFor}}
		},
		"a relay of anybody":  func(p *Proof) { p.Arrival.Link = &Link{Relay: &Relay{Destination: fillsFor}} },
		"a relay by anybody":  func(p *Proof) { p.Arrival.Link = &Link{Relay: &Relay{Source: fillsFor}} },
		"a relay of a refund": func(p *Proof) { p.Refund.Link = &Link{Relay: &Relay{Source: fillsFor, Destination: fillsFor}} },
	} {
		p := arrivalProof(o)
		if err := p.Check(o.Terms); err != nil {
			t.Fatal(err)
		}
		if change(&p); p.Check(o.Terms) == nil {
			t.Errorf("%s is a proof", name)
		}
	}
}

// TestTableOfProofs checks that every proof is in the table once, with an end.
func TestTableOfProofs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Proofs() {
		if seen[r.By] || !r.End.Final() || r.Means == "" || r.Of == "" || VerdictBy(r.By).State != r.End {
			t.Errorf("row %+v", r)
		}
		seen[r.By] = true
	}
	for condition := range unprovenEnds {
		o := Order{Progress: Progress{State: Settling, Condition: condition}}
		if !o.Unproven() {
			t.Errorf("a settling order with %s counts as proven", condition)
		}
		if o.State = Executing; o.Unproven() {
			t.Errorf("an executing order with %s counts as unproven", condition)
		}
	}
	ends := slices.Sorted(maps.Keys(map[State]bool{Filled: true, Refunded: true, Failed: true, Expired: true, Cancelled: true}))
	for _, end := range ends {
		if !slices.ContainsFunc(Proofs(), func(r ProofRow) bool { return r.End == end }) {
			t.Errorf("nothing proves %s", end)
		}
	}
}
