package journal

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// testOffer is the minimum that every record has of an offer.
func testOffer() swap.Offer {
	return swap.Offer{Request: swap.QuoteRequest{AmountIn: big.NewInt(1)}, AmountOut: big.NewInt(1), MinOut: big.NewInt(1)}
}

// soundOrder returns a valid order as stored under "a".
func soundOrder() swap.Order {
	return swap.Order{ID: "a", Consent: swap.Consent{Request: uuid.NewString(), Terms: testTerms(), Offer: testOffer(),
		Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{Value: new(big.Int)}, Effect: testSwap()}}}}, Progress: swap.Progress{State: swap.Executing}, Created: noon, Updated: noon}
}

// unreadFor returns the reason shown for a record under "a" whose id is name.
func unreadFor(t *testing.T, name string) string {
	t.Helper()
	o := soundOrder()
	o.ID = name
	err := decodeOrder(swap.MustJSON(o), "a", new(swap.Order))
	if err == nil {
		t.Fatal("it is read")
	}
	return UnreadableOrder("a", true, err).Reason
}

// TestDamagedRecord checks that an invalid record is refused. Some of these used to cause
// a panic.
func TestDamagedRecord(t *testing.T) {
	good := soundOrder()
	var back swap.Order
	if err := decodeOrder(swap.MustJSON(good), "a", &back); err != nil {
		t.Fatal(err)
	}
	beyond, err := time.Parse(time.RFC3339, "9999-12-31T23:59:59-23:59")
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(o *swap.Order){
		"another's":               func(o *swap.Order) { o.ID = "b" },
		"a step before the first": func(o *swap.Order) { o.Step = -1 },
		"a step after the end":    func(o *swap.Order) { o.Step = 2 },
		"results without steps":   func(o *swap.Order) { o.Results = make([]swap.Result, 2) },
		"a created time":          func(o *swap.Order) { o.Created = beyond },
		"a deadline":              func(o *swap.Order) { o.Terms.Deadline = beyond },
		"a step's deadline":       func(o *swap.Order) { o.Plan.Steps[0].Effect.Deadline = beyond },
		"a time in evidence": func(o *swap.Order) {
			o.Verdict = &swap.Verdict{Evidence: &chain.Evidence{Time: beyond, FeePaid: new(big.Int)}}
		},
		"nothing but a name":      func(o *swap.Order) { *o = swap.Order{ID: "a"} },
		"no steps":                func(o *swap.Order) { o.Plan.Steps = nil },
		"no request":              func(o *swap.Order) { o.Request = "" },
		"a request in braces":     func(o *swap.Order) { o.Request = "{" + o.Request + "}" },
		"no gas ceiling":          func(o *swap.Order) { o.Terms.GasCeiling = nil },
		"less than nothing":       func(o *swap.Order) { o.Terms.AmountIn = big.NewInt(-1) },
		"too much":                func(o *swap.Order) { o.Offer.MinOut = new(big.Int).Lsh(big.NewInt(1), 256) },
		"an offer of nothing":     func(o *swap.Order) { o.Offer.AmountOut = nil },
		"a wide slippage":         func(o *swap.Order) { o.Offer.Request.SlippageBps = 1 << 40 },
		"a call without a value":  func(o *swap.Order) { o.Plan.Steps[0].Call.Value = nil },
		"a fee below nothing":     func(o *swap.Order) { o.Results = []swap.Result{{Evidence: &chain.Evidence{FeePaid: big.NewInt(-1)}}} },
		"an attempt without fees": func(o *swap.Order) { o.Attempts = []swap.Attempt{{}} },
		"a revoke of nothing":     func(o *swap.Order) { o.Terms.Provider = swap.Wallet },
	} {
		bad := good.Clone()
		damage(&bad)
		var o swap.Order
		if err := decodeOrder(swap.MustJSON(bad), "a", &o); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := strings.Repeat("x", 1<<20)
	if told := unreadFor(t, long); len(told) > 4*maxShownError {
		t.Errorf("a long record is told in %d bytes", len(told))
	}
	poor := soundOrder()
	poor.Offer.Net = big.NewInt(-1) // gas may cost more than a swap brings
	if err := decodeOrder(swap.MustJSON(poor), "a", &back); err != nil {
		t.Error(err)
	}
	if (swap.Order{Progress: swap.Progress{State: swap.Filled}, Consent: swap.Consent{Terms: testTerms()}, Outcome: swap.Outcome{Verdict: &swap.Verdict{Spent: &swap.Spend{}}}}).Partly() {
		t.Error("filled in part without an amount")
	}
}

// TestOpenOrdersAreListedAlone checks that listing open orders does not read the ended
// ones, whose number only grows, and that a cursor still works if its order has ended.
func TestOpenOrdersAreListedAlone(t *testing.T) {
	j := newJournal(t)
	ends := func(o swap.Order) { j.must(t, &o, func(o *swap.Order) { o.State = swap.Cancelled }) }
	listed := func(cursor string, limit int) (ids []string) {
		page, _, err := j.List(common.Address{}, true, cursor, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			ids = append(ids, o.ID)
		}
		return ids
	}
	var open []swap.Order
	for range 4 {
		open = append(open, j.spends(t, swap.Swap, 1))
	}
	slices.SortFunc(open, func(a, b swap.Order) int { return strings.Compare(b.ID, a.ID) }) // as listed
	cost := func() float64 { return testing.AllocsPerRun(3, func() { listed("", 10) }) }
	alone := cost()
	for range 100 {
		ends(j.spends(t, swap.Swap, 1))
	}
	if beside := cost(); beside > 2*alone {
		t.Errorf("%.0f allocations for 4 open orders, %.0f beside 100 that ended", alone, beside)
	}
	if all, _, err := j.List(common.Address{}, false, "", 200); err != nil || len(all) != 104 {
		t.Errorf("%d orders in all, %v", len(all), err)
	}
	for i := range 2 { // in the second round the cursor is newer than every open order
		ends(open[1-i])
		if got := listed(open[1].ID, 10); !slices.Equal(got, []string{open[2].ID, open[3].ID}) {
			t.Errorf("on from one that ended: %v", got)
		}
	}
	err := j.DB().Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Delete([]byte(open[2].ID)) })
	if got := listed("", 10); err != nil || !slices.Equal(got, []string{open[3].ID}) {
		t.Errorf("beside one of which nothing is there: %v, %v", got, err)
	}
}
