package plan

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"swapkeep/internal/clock"
	"swapkeep/swap"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// tieBps is the difference within which offers count as equally good, so that the
// faster one comes first: 0.1 %.
const tieBps = 10 // bps

// defaultGas is the gas that a provider's call needs if it gives no estimate, in units. The
// gasless provider has no call.
var defaultGas = map[swap.Kind]uint64{swap.DEX: 250_000, swap.Bridge: 150_000, swap.Intent: 200_000, swap.Gasless: 0}

// Gas that the account's own calls before it need, in units.
const (
	approvalGas = 50_000
	wrapGas     = 45_000
)

// gasFor returns the gas that the account pays for to carry out an offer, in units.
// Approvals are exact, so every swap of a token needs one.
func gasFor(o swap.Offer) uint64 {
	units := o.Gas
	switch {
	case o.Gasless:
		units = 0
	case units == 0:
		units = defaultGas[o.Provider]
	}
	if o.Wrap != (common.Address{}) {
		units += wrapGas
	}
	units += isolationGas(o.Request)
	if o.Wrap != (common.Address{}) || o.Request.TokenIn != (common.Address{}) {
		units += approvalGas
	}
	return units
}

// A ranking collects the offers of one quote and ranks them by what is left after gas.
// Every offer's amount is after fees already.
type ranking struct {
	request swap.QuoteRequest
	each    func(QuoteUpdate)
	price   func() gasWorth
	drops   uint64 // Quoter.dropped when it began: offers from before a later drop are not kept

	mu       sync.Mutex
	offers   map[swap.Kind][]swap.Offer
	failures map[swap.Kind]*swap.Refusal
}

// gasWorth is what gas costs on the source chain, and its rate in the output token. nil =
// unknown.
type gasWorth struct {
	perUnit *big.Int // wei per unit of gas, expected
	// rate: paid wei are worth out base units of the output token.
	paid, out *big.Int
}

// rateSample is the amount of wei whose value in the output token is asked for. A tenth
// of a coin is enough for any token's decimals, and too little to move a price.
var rateSample = big.NewInt(1e17)

// newRanking begins a quote. It fetches the price of gas concurrently with the quotes, and
// again once that is older than priceLife.
func (q *Quoter) newRanking(ctx context.Context, r swap.QuoteRequest, each func(QuoteUpdate)) *ranking {
	var mu sync.Mutex
	var last gasWorth
	var until time.Time
	price := func() gasWorth {
		mu.Lock()
		defer mu.Unlock()
		if now := clock.Now(); now.After(until) {
			last, until = q.gasWorth(ctx, r), now.Add(priceLife)
		}
		return last
	}
	go price()
	return &ranking{request: r, each: each, price: price, drops: q.Generation(), offers: map[swap.Kind][]swap.Offer{}, failures: map[swap.Kind]*swap.Refusal{}}
}

func (q *Quoter) gasWorth(ctx context.Context, r swap.QuoteRequest) (g gasWorth) {
	ctx, cancel := context.WithTimeout(ctx, priceTimeout)
	defer cancel()
	if q.planner.GasPrice == nil {
		return g
	}
	var err error
	if g.perUnit, err = q.planner.GasPrice(ctx, r.SrcChain); err != nil {
		return gasWorth{}
	}
	if g.out, err = q.planner.Pricer.Out(ctx, r.SrcChain, common.Address{}, r.DstChain, r.TokenOut, rateSample); err != nil {
		g.out = nil
	}
	g.paid = rateSample
	return g
}

const (
	priceTimeout = 3 * time.Second  // how long the ranking waits for our own prices
	priceLife    = 15 * time.Second // how long they are used; a watch goes on for longer
)

// addOffers posts an offer that arrived before its provider's full answer.
func (b *ranking) addOffers(k swap.Kind, offers []swap.Offer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	offers = b.withGasCost(offers)
	b.offers[k] = append(b.offers[k], offers...)
	b.post(QuoteUpdate{Provider: k, Offers: offers})
}

// setAnswer posts a provider's full answer, which replaces what it offered before.
func (b *ranking) setAnswer(k swap.Kind, offers []swap.Offer, refused *swap.Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	offers = b.withGasCost(offers)
	b.offers[k] = offers
	delete(b.failures, k)
	if refused != nil {
		b.failures[k] = refused
	}
	b.post(QuoteUpdate{Provider: k, Offers: offers, Failure: refused, Done: true})
}

func (b *ranking) post(q QuoteUpdate) {
	if b.each == nil {
		return
	}
	q.Ranked = b.ranked()
	b.each(q)
}

func (b *ranking) result() QuoteResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	return QuoteResult{Offers: b.ranked(), Failures: b.failures}
}

// withGasCost returns offers with their gas cost and what is left after it; nil if unknown.
func (b *ranking) withGasCost(offers []swap.Offer) []swap.Offer {
	g := b.price()
	out := slices.Clone(offers)
	for i := range out {
		o := &out[i]
		units := gasFor(*o)
		if g.perUnit == nil {
			continue
		}
		o.GasCost = new(big.Int).Mul(g.perUnit, new(big.Int).SetUint64(units))
		if g.out == nil && units > 0 {
			continue
		}
		o.Net = new(big.Int).Set(o.AmountOut)
		if units > 0 {
			cost := new(big.Int).Mul(o.GasCost, g.out)
			o.Net.Sub(o.Net, cost.Div(cost, g.paid))
		}
	}
	return out
}

// ranked merges the providers' lists. Each list keeps its own order, except that the
// DEX's auction and pools are compared like two providers'. Of the lists' first offers
// the best after gas comes next, or a faster one that is as good within tieBps.
// Unusable offers come last. Each offer's Rank says why it stands where it does.
func (b *ranking) ranked() []swap.Offer {
	lists := make([][]swap.Offer, 0, len(b.offers))
	for _, k := range swap.Kinds() {
		switch all := b.offers[k]; {
		case k == swap.DEX:
			lists = slices.AppendSeq(lists, slices.Chunk(all, 1))
		case len(all) > 0:
			lists = append(lists, all)
		}
	}
	counted := true // gas is deducted from all or from none
	for _, l := range lists {
		counted = counted && !slices.ContainsFunc(l, func(o swap.Offer) bool { return o.Net == nil })
	}
	out, unusable := []swap.Offer{}, []swap.Offer{}
	for len(lists) > 0 {
		i, quicker := leading(lists, counted)
		o := lists[i][0]
		if o.Unusable != "" {
			o.Rank = o.Unusable
			unusable = append(unusable, o)
		} else {
			o.Rank = reason(out, o, counted, quicker)
			out = append(out, o)
		}
		if lists[i] = lists[i][1:]; len(lists[i]) == 0 {
			lists = slices.Delete(lists, i, i+1)
		}
	}
	return append(out, unusable...)
}

// leading returns the index of the list whose first offer comes next, and whether a
// faster offer takes the place of the best.
func leading(lists [][]swap.Offer, counted bool) (at int, quicker bool) {
	best := 0
	for i := range lists {
		if rankAmount(lists[i][0], counted).Cmp(rankAmount(lists[best][0], counted)) > 0 {
			best = i
		}
	}
	at = best
	least := swap.MinAfterSlippage(rankAmount(lists[best][0], counted), tieBps)
	for i := range lists {
		if o := lists[i][0]; rankAmount(o, counted).Cmp(least) >= 0 && o.Duration < lists[at][0].Duration {
			at = i
		}
	}
	return at, at != best
}

// rankAmount returns the amount by which offers are compared, in the output token.
func rankAmount(o swap.Offer, counted bool) *big.Int {
	if counted {
		return o.Net
	}
	return o.AmountOut
}

// reason says in words why an offer follows those before it.
func reason(before []swap.Offer, o swap.Offer, counted, quicker bool) string {
	after := "after fees and gas"
	if !counted {
		after = "after fees; gas is not counted, since no source of our own has its price"
	}
	if len(before) == 0 && !quicker {
		return "the most " + after
	}
	if len(before) == 0 {
		return fmt.Sprintf("within 0.1 %% of the most %s, and quicker", after)
	}
	first, here := rankAmount(before[0], counted), rankAmount(o, counted)
	text := "as much as the first " + after
	if first.Sign() > 0 && here.Cmp(first) != 0 {
		off, _ := new(big.Rat).SetFrac(new(big.Int).Sub(first, here), first).Float64()
		text = fmt.Sprintf("%.2f %% less than the first %s", off*100, after)
		if off < 0 {
			text = fmt.Sprintf("%.2f %% more than the first %s", -off*100, after)
		}
	}
	switch {
	case quicker:
		return text + "; before the next, since it is quicker"
	case o.Duration > before[0].Duration && here.Cmp(first) >= 0:
		return text + ", but slower"
	}
	return text
}
