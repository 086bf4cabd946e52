package swap

import (
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

func TestSupportTable(t *testing.T) {
	for _, c := range []struct {
		k        Kind
		src, dst uint64
		want     Code
	}{
		{DEX, 1, 1, ""}, {DEX, 10, 10, ""}, {DEX, 8453, 8453, ""}, {DEX, 42161, 42161, ""},
		{DEX, 56, 56, ""}, {DEX, 143, 143, ""}, {DEX, 43114, 43114, ""}, {DEX, 5330, 5330, UnsupportedNetwork}, {DEX, 39, 39, UnsupportedNetwork},
		{DEX, 1, 10, UnsupportedRoute}, {Gasless, 1, 10, UnsupportedRoute},
		{Bridge, 1, 10, ""}, {Bridge, 56, 5330, ""}, {Bridge, 1, 999999, ""}, {Bridge, 143, 1, ""}, {Bridge, 1, 143, ""}, {Bridge, 43114, 1, ""}, {Bridge, 1, 43114, ""}, {Bridge, 39, 1, UnsupportedNetwork},
		{Intent, 143, 1, ""}, {Intent, 1, 143, ""}, {Intent, 43114, 1, ""}, {Intent, 1, 43114, ""}, {Intent, 5330, 1, UnsupportedNetwork}, {Intent, 1, 5330, UnsupportedNetwork}, {Intent, 39, 39, UnsupportedNetwork},
		{Gasless, 5330, 5330, ""}, {Gasless, 56, 56, ""}, {Gasless, 43114, 43114, ""}, {Gasless, 143, 143, UnsupportedNetwork}, {Gasless, 39, 39, UnsupportedNetwork},
	} {
		err := CheckRoute(c.k, c.src, c.dst)
		if c.want == "" && err != nil || c.want != "" && !errors.Is(err, &Refusal{Code: c.want}) {
			t.Errorf("%s %d→%d: %v, want %q", c.k, c.src, c.dst, err, c.want)
		}
	}
}

func TestFees(t *testing.T) {
	f := DefaultFees()
	for k := range feeRules {
		if bps, receiver, _ := f.For(k); bps != 0 || receiver != (common.Address{}) {
			t.Errorf("%s asks %d bps for nobody", k, bps)
		}
	}
	f.Partner = Partner{Name: "P", Receiver: partner, Website: "https://example.org"}
	for k, want := range map[Kind][2]int{DEX: {20, 20}, Bridge: {40, 0}, Intent: {40, 0}, Gasless: {40, 0}} {
		if bps, receiver, maker := f.For(k); bps != want[0] || maker != want[1] || receiver != partner {
			t.Errorf("%s: %d bps and %d for the maker, want %v", k, bps, maker, want)
		}
	}
	for _, none := range []int{0, 1} { // half a basis point is none
		free := f
		free.FeeBps = none
		if bps, receiver, maker := free.For(DEX); bps != 0 || receiver != (common.Address{}) || maker != 20 {
			t.Errorf("of %d bps: %d bps to %s", none, bps, receiver)
		}
	}
	if got := string(MustJSON(f.Info())); got != `{"feeBps":40,"partnerInfo":{"name":"P","receiverAddress":"`+partnerText+`","website":"https://example.org"}}` {
		t.Errorf("accessor: %s", got)
	}
	for _, bad := range []FeeConfig{{FeeBps: 301, MaxFeeBps: 300}, {FeeBps: -1, MaxFeeBps: 300}, {FeeBps: 40, MaxFeeBps: 400}, {FeeBps: 40, MinFeeBps: 50, MaxFeeBps: 300}} {
		if bad.Check() == nil {
			t.Errorf("%+v accepted", bad)
		}
	}
}

const partnerText = "0x90f79bf6eb2c4f870365e785982e1f101e93b906"

func TestStates(t *testing.T) {
	seen := map[State]bool{}
	for _, r := range stateTable {
		if seen[r.State] || r.Means == "" {
			t.Errorf("row %s", r.State)
		}
		seen[r.State] = true
	}
	for _, r := range stateTable {
		for _, n := range r.Next {
			if !seen[n] {
				t.Errorf("%s leads to %s, which has no row", r.State, n)
			}
		}
	}
	for _, s := range []State{Filled, Refunded, Failed, Expired, Cancelled, "written_by_newer"} {
		if !s.Final() {
			t.Errorf("%s is not final", s)
		}
	}
	o := Order{Progress: Progress{State: Filled}}
	if err := o.SetState(Failed); !errors.Is(err, ErrTransition) {
		t.Errorf("a final state was left: %v", err)
	}
}

// TestFeeBasis checks that a fee is FeeDecoded if the signed data pays the receiver, and
// FeeReported if only the offer names it, at its rate and at most the requested one.
// Otherwise the terms have none: FeeRequested if one was requested, else FeeNone.
func TestFeeBasis(t *testing.T) {
	asked := QuoteRequest{FeeBps: 40, FeeReceiver: common.Address{7}}
	ours := []Payment{{To: common.Address{7}, Bps: 40}}
	plan := func(pays []Payment) Plan { return Plan{Steps: []Step{{Effect: Effect{Kind: Signed, Pays: pays}}}} }
	for _, c := range []struct {
		fees, pays []Payment
		unsaid     int
		want       FeeBasis
		bps        int
	}{
		{ours, ours, 0, FeeDecoded, 40},
		{ours, nil, 0, FeeReported, 40},
		{ours, []Payment{{To: common.Address{7}, Bps: 39}}, 0, FeeReported, 40},
		{ours, []Payment{{To: common.Address{8}, Bps: 40}}, 0, FeeReported, 40},
		{nil, nil, 0, FeeNone, 0},
		{nil, nil, 40, FeeRequested, 0},
		{ours, nil, 40, FeeReported, 40},
		{[]Payment{{To: common.Address{8}, Bps: 40}}, nil, 0, FeeNone, 0},
		{[]Payment{{To: common.Address{7}, Bps: 39}}, nil, 0, FeeReported, 39},
		{[]Payment{{To: common.Address{7}, Bps: 41}}, nil, 0, FeeNone, 0},
		{[]Payment{{To: common.Address{7}}}, nil, 0, FeeNone, 0},
	} {
		r := asked.WithActualFee(c.fees)
		got := Review{Terms: Terms{FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver}, Offer: Offer{FeeRequested: c.unsaid}, Plan: plan(c.pays)}.FeeBasis()
		if got != c.want || r.FeeBps != c.bps || (r.FeeReceiver == common.Address{}) != (c.bps == 0) {
			t.Errorf("fees %v, pays %v: %s of %d bps to %s", c.fees, c.pays, got, r.FeeBps, r.FeeReceiver)
		}
	}
}

// TestStatedMinimum checks that the quote's own minimum is reported if the effects enforce
// another one, or if they enforce none and it is not the accepted minimum.
func TestStatedMinimum(t *testing.T) {
	terms := Terms{TokenOut: weth, Recipient: common.Address{1}, MinOut: big.NewInt(990)}
	enforcing := Plan{Steps: []Step{{Effect: Effect{Kind: Swap, Receives: []Receive{
		{Token: weth, To: common.Address{1}, Min: big.NewInt(995)}, {Token: native, To: common.Address{1}, Min: big.NewInt(7)},
	}}}}}
	promise := Plan{Steps: []Step{{Effect: Effect{Kind: Deposit}}}}
	for _, c := range []struct {
		told int64
		plan Plan
		want string
	}{
		{995, enforcing, ""}, {990, enforcing, "990"}, {1000, enforcing, "1000"}, {0, enforcing, "0"},
		{990, promise, ""}, {995, promise, "995"},
	} {
		got := ""
		if n := (Review{Terms: terms, Offer: Offer{QuotedMin: big.NewInt(c.told)}, Plan: c.plan}).QuotedMinimum(); n != nil {
			got = n.String()
		}
		if got != c.want {
			t.Errorf("told %d of %v: %q, want %q", c.told, c.plan.LastEffect().Kind, got, c.want)
		}
	}
	if n := (Review{Terms: terms, Plan: enforcing}).QuotedMinimum(); n != nil {
		t.Errorf("told nothing: %s", n)
	}
}
