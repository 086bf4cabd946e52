package poll

import (
	"math/big"
	"testing"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// crowd returns slow tokens.
func crowd(n int) (all []Watched) {
	for i := range n {
		all = append(all, Watched{Token: tokens.Token{Chain: 1, Address: common.BigToAddress(big.NewInt(int64(i + 1000))), Symbol: "C", Decimals: 18}, Slow: true})
	}
	return all
}

// TestSlowTokensTakeTurns checks that the first fetches, which swaps wait for, ask about no slow
// token, that later ones ask about a fifth of them, no sooner than otherwise, and that each then
// always has a current price.
func TestSlowTokensTakeTurns(t *testing.T) {
	b := newBench(t, eth)
	slow := crowd(1000)
	b.o.Tokens = func() []Watched { return append([]Watched{{Token: eth}}, slow...) }
	b.first.setPrice(price.IDOf(eth), "3000")
	b.second.setPrice(price.IDOf(eth), "3000")
	for _, w := range slow {
		b.first.setPrice(price.IDOf(w.Token), "2")
	}
	early := 0
	for i := range 12 {
		want := 1
		if b.earlyFetch() != nil {
			early++
		} else {
			want += len(slow) / slowEvery
		}
		b.fetch(t)
		if len(b.first.of) != want || b.first.of[0] != price.IDOf(eth) {
			t.Fatalf("fetch %d asks about %d tokens, want %d", i, len(b.first.of), want)
		}
		for _, w := range slow {
			if r := b.row(t, w.Token); i >= early+slowEvery-1 && !r.Current(b.now) {
				t.Fatalf("after fetch %d a slow token has no current price", i)
			}
		}
	}
	if b.last.requests != 0 {
		t.Errorf("a further source is asked %d times about slow tokens that have a price", b.last.requests)
	}
}

// TestSlowTokensInDoubt checks that a further source decides about a slow token without a
// price, and about one whose sources differ.
func TestSlowTokensInDoubt(t *testing.T) {
	b := newBench(t)
	slow := crowd(2)
	b.o.Tokens = func() []Watched { return slow }
	b.first.setPrice(price.IDOf(slow[0].Token), "2")
	b.second.setPrice(price.IDOf(slow[0].Token), "3")
	b.last.setPrice(price.IDOf(slow[0].Token), "3")
	b.last.setPrice(price.IDOf(slow[1].Token), "7")
	for range firstTries + slowEvery {
		b.fetch(t)
	}
	if b.row(t, slow[0].Token).Now.Value != value("3") || b.row(t, slow[1].Token).Now.Value != value("7") {
		t.Errorf("%+v, %+v", b.row(t, slow[0].Token).Now, b.row(t, slow[1].Token).Now)
	}
}

// TestFactsOfSlowTokens checks that a round asks about the facts of some, and that successive
// rounds reach all, also those of which nothing is known.
func TestFactsOfSlowTokens(t *testing.T) {
	b := newBench(t)
	slow := crowd(2*slowFacts + 10)
	b.o.Tokens = func() []Watched { return slow }
	asked := map[price.ID]bool{}
	for range 3 {
		b.factsRound++
		due := b.dueFacts(MetadataConfig{}, nil, func(price.Facts) bool { return true })
		if len(due) != slowFacts {
			t.Errorf("%d at once", len(due))
		}
		for _, x := range due {
			asked[price.IDOf(x)] = true
		}
	}
	if len(asked) != len(slow) {
		t.Errorf("%d of %d were asked about", len(asked), len(slow))
	}
}
