package plan

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"swapkeep/chain"
	"swapkeep/swap"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// offerOf returns an offer: its id, provider, amount out, gas units and seconds.
func offerOf(id string, k swap.Kind, out int64, gas uint64, seconds int) swap.Offer {
	return swap.Offer{ID: id, Provider: k, AmountOut: big.NewInt(out), MinOut: big.NewInt(out), Gas: gas, Gasless: gas == 0, Duration: time.Duration(seconds) * time.Second}
}

// wrapping makes an offer for native input one of a provider that takes only tokens.
func wrapping(o swap.Offer) swap.Offer {
	o.Wrap = weth
	return o
}

// TestRank checks that offers are ranked by what remains after gas, faster ones first
// among equals, and that each provider's own order is kept.
func TestRank(t *testing.T) {
	// A unit of gas costs 1 wei, and 1000 wei are worth 1 base unit of the output.
	priced := gasWorth{perUnit: big.NewInt(1), paid: big.NewInt(1000), out: big.NewInt(1)}
	for _, c := range []struct {
		name   string
		price  gasWorth
		offers []swap.Offer
		want   string
		why    []string
	}{
		{"gas decides", priced, []swap.Offer{offerOf("dear", swap.DEX, 1_000_000, 200_000_000, 1), offerOf("free", swap.Gasless, 900_000, 0, 1)}, "free dear",
			[]string{"the most after fees and gas", "11.11 % less than the first after fees and gas"}},
		{"without a price gas is not counted", gasWorth{}, []swap.Offer{offerOf("dear", swap.DEX, 1_000_000, 200_000_000, 1), offerOf("free", swap.Gasless, 900_000, 0, 1)}, "dear free",
			[]string{"not counted", "not counted"}},
		{"quicker of two as good", priced, []swap.Offer{offerOf("slow", swap.Bridge, 1_000_000, 0, 60), offerOf("quick", swap.Intent, 999_100, 0, 5)}, "quick slow",
			[]string{"quicker", "slower"}},
		{"not at any price", priced, []swap.Offer{offerOf("slow", swap.Bridge, 1_000_000, 0, 60), offerOf("quick", swap.Intent, 998_000, 0, 5)}, "slow quick", nil},
		{"a provider's order stays", priced, []swap.Offer{offerOf("first", swap.Intent, 900_000, 0, 5), offerOf("second", swap.Intent, 1_000_000, 0, 5), offerOf("other", swap.Bridge, 950_000, 0, 5)}, "other first second", nil},
		{"gas above the amount", priced, []swap.Offer{offerOf("lost", swap.DEX, 10, 1_000_000, 5), offerOf("less lost", swap.Bridge, 9, 500_000, 5)}, "less lost lost", nil},
		{"a wrap and an allowance cost gas", priced, []swap.Offer{wrapping(offerOf("free", swap.Gasless, 1000, 0, 1)), offerOf("native", swap.DEX, 910, 1, 5)}, "native free", []string{"the most", "0.55 % less"}},
		{"equal", priced, []swap.Offer{offerOf("a", swap.DEX, 10, 0, 5), offerOf("b", swap.Bridge, 10, 0, 5)}, "a b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &ranking{price: func() gasWorth { return c.price }, offers: map[swap.Kind][]swap.Offer{}, failures: map[swap.Kind]*swap.Refusal{}}
			for _, k := range swap.Kinds() {
				var own []swap.Offer
				for _, o := range c.offers {
					if o.Provider == k {
						own = append(own, o)
					}
				}
				b.setAnswer(k, own, nil)
			}
			var ids, why []string
			for _, o := range b.result().Offers {
				ids, why = append(ids, o.ID), append(why, o.Rank)
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("ranked %q, want %q", got, c.want)
			}
			for i, w := range c.why {
				if !strings.Contains(why[i], w) {
					t.Errorf("offer %d: %q, want %q", i, why[i], w)
				}
			}
		})
	}
}

type pricerFunc func(src uint64, in common.Address, dst uint64, out common.Address, n *big.Int) (*big.Int, error)

func (f pricerFunc) Out(_ context.Context, src uint64, in common.Address, dst uint64, out common.Address, n *big.Int) (*big.Int, error) {
	return f(src, in, dst, out, n)
}

func (f pricerFunc) Worth(ctx context.Context, id uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	return f.Out(ctx, id, token, id, common.Address{}, amount)
}

// A fakeProvider answers with its functions. A fakeStreamer streams its offers too.
type fakeProvider struct {
	swap.Provider
	quote func(ctx context.Context, told func(swap.Offer)) ([]swap.Offer, error)
	build func() error
}

func (fakeProvider) Kind() swap.Kind { return swap.Intent }

func (fakeProvider) Pins() swap.Pins { return nil }

func (f fakeProvider) Quote(ctx context.Context, _ swap.QuoteRequest) ([]swap.Offer, error) {
	return f.quote(ctx, func(swap.Offer) {})
}

func (f fakeProvider) Build(context.Context, swap.Offer, swap.Terms) (swap.Built, error) {
	return swap.Built{}, f.build()
}

type fakeStreamer struct{ fakeProvider }

func (f fakeStreamer) Stream(ctx context.Context, _ swap.QuoteRequest, told func(swap.Offer)) ([]swap.Offer, error) {
	return f.quote(ctx, told)
}

// newTestQuoter returns a Quoter that can only quote and has no network.
func newTestQuoter(providers map[swap.Kind]swap.Provider) *Quoter {
	return NewQuoter(&Planner{Providers: providers, Nodes: noNodes{}, Pricer: pricerFunc(nil), Fees: swap.DefaultFees(), Now: time.Now})
}

type noNodes struct{ Nodes }

func (noNodes) Network(uint64) (chain.Network, error) { return chain.Network{}, errors.New("none") }

var pairAsked = swap.QuoteRequest{Account: common.Address{1}, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}

// TestStream checks that streamed offers are reported as they arrive, keep their ids in
// the full answer and end up in the provider's order.
func TestStream(t *testing.T) {
	offer := func(raw string, out int64) swap.Offer {
		o := offerOf("", swap.Intent, out, 0, 1)
		o.Raw, o.Expires = []byte(raw), time.Now().Add(time.Minute)
		return o
	}
	s := newTestQuoter(map[swap.Kind]swap.Provider{swap.Intent: fakeStreamer{fakeProvider{quote: func(_ context.Context, told func(swap.Offer)) ([]swap.Offer, error) {
		told(offer(`"a"`, 100))
		told(offer(`"bad"`, 0))
		told(offer(`"b"`, 200))
		return []swap.Offer{offer(`"b"`, 200), offer(`"a"`, 100), offer(`"c"`, 50)}, nil
	}}}})
	var told []QuoteUpdate
	b := s.newRanking(t.Context(), pairAsked, func(q QuoteUpdate) { told = append(told, q) })
	s.quoteOne(t.Context(), b, swap.Intent, func() error { return nil })
	if len(told) != 3 || told[0].Done || told[1].Done || !told[2].Done {
		t.Fatalf("told %+v", told)
	}
	a, second := told[0].Offers[0].ID, told[1].Offers[0].ID
	if got := told[2].Ranked; len(got) != 3 || got[0].ID != second || got[1].ID != a || a == second {
		t.Errorf("in the end %v, told %s and %s", got, a, second)
	}
	if s.offers.byKey[a].AmountOut.Int64() != 100 {
		t.Error("what was told cannot be prepared")
	}
}

// TestRequote checks that each provider is asked at its own interval, less often while it
// fails, not at all once it cannot serve or while nobody watches, and no more after the
// offers were dropped.
func TestRequote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards at
		at := map[swap.Kind][]time.Duration{}
		times := func(k swap.Kind) []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(at[k])
		}
		began := time.Now()
		answers := func(k swap.Kind, err error) swap.Provider {
			return fakeProvider{quote: func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
				mu.Lock()
				at[k] = append(at[k], time.Since(began))
				mu.Unlock()
				o := offerOf("", k, 100, 0, 1)
				o.Expires = time.Now().Add(time.Minute)
				return []swap.Offer{o}, err
			}}
		}
		later := swap.Refuse(swap.ProviderBusy, "busy")
		later.Data = map[string]string{"retryAfterSeconds": "300"}
		s := newTestQuoter(map[swap.Kind]swap.Provider{swap.DEX: answers(swap.DEX, nil), swap.Intent: answers(swap.Intent, later), swap.Bridge: answers(swap.Bridge, swap.Refuse(swap.ProviderKey, "no key")), swap.Gasless: answers(swap.Gasless, swap.Refuse(swap.ProviderBusy, "busy"))})
		looks, away := make(chan struct{}), make(chan struct{})
		close(looks)
		var gate atomic.Pointer[chan struct{}]
		gate.Store(&looks)
		awake := func(context.Context) error { <-*gate.Load(); return nil }
		ended := make(chan error, 1)
		go func() { ended <- s.Requote(t.Context(), pairAsked, nil, awake, func(QuoteUpdate) {}) }()
		time.Sleep(201 * time.Second)
		dex := len(times(swap.DEX))
		if dex != 10 || len(times(swap.Bridge)) != 1 {
			t.Errorf("in 200 s: %v of the dex, %v of the bridge", times(swap.DEX), times(swap.Bridge))
		}
		if want := []time.Duration{20 * time.Second, time.Minute, 140 * time.Second}; !slices.Equal(times(swap.Gasless), want) {
			t.Errorf("while it fails it is asked at %v, want %v", times(swap.Gasless), want)
		}
		if want := []time.Duration{25 * time.Second}; !slices.Equal(times(swap.Intent), want) {
			t.Errorf("asked to be left alone for five minutes, it is asked at %v", times(swap.Intent))
		}
		gate.Store(&away)
		time.Sleep(10 * time.Minute)
		if n := len(times(swap.DEX)); n != dex {
			t.Errorf("asked %d times while nobody looked", n-dex)
		}
		s.Drop()
		close(away)
		if err := <-ended; !errors.Is(err, errDropped) {
			t.Errorf("ended with %v", err)
		}
		if len(times(swap.DEX)) != dex {
			t.Error("asked after the offers were dropped")
		}
	})
}
