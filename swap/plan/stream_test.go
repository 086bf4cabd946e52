package plan

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"swapkeep/chain"
	"swapkeep/swap"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/ethereum/go-ethereum/common"
)

// rawOffer returns a valid offer with the given raw data.
func rawOffer(raw string) swap.Offer {
	o := offerOf("", swap.Intent, 100, 0, 1)
	o.Raw, o.Expires = []byte(raw), time.Now().Add(time.Minute)
	return o
}

// streamService returns a Service whose only provider streams its offers.
func streamService(quote func(ctx context.Context, told func(swap.Offer)) ([]swap.Offer, error)) *Quoter {
	return newTestQuoter(map[swap.Kind]swap.Provider{swap.Intent: fakeStreamer{fakeProvider{quote: quote}}})
}

// A routeProvider builds nothing, and records of which routes that was asked.
type routeProvider struct {
	swap.Provider
	kind  swap.Kind
	built *[]string
}

func (r routeProvider) Kind() swap.Kind { return r.kind }

func (r routeProvider) Build(_ context.Context, o swap.Offer, _ swap.Terms) (swap.Built, error) {
	*r.built = append(*r.built, o.Routing)
	return swap.Built{}, swap.Refuse(swap.ProviderDown, "%s is gone", o.Routing)
}

// prepareRoutes prepares the route A of a provider, whose next is B, and returns the routes
// that it was asked to build.
func prepareRoutes(t *testing.T, k swap.Kind, unusable string) (built []string) {
	t.Helper()
	q := newTestQuoter(map[swap.Kind]swap.Provider{k: routeProvider{kind: k, built: &built}})
	q.planner.Nodes = someNodes{}
	a, b := rawOffer("1"), rawOffer("2")
	a.ID, a.Provider, a.Routing = "a", k, "A"
	b.ID, b.Provider, b.Routing, b.Unusable = "b", k, "B", unusable
	q.offers.put(a.ID, cachedOffer{a, []swap.Offer{b}})
	_, err := q.Prepare(t.Context(), a.ID)
	refusedWith(t, err, swap.ProviderDown)
	return built
}

// TestUnusableIsNoFallback checks that Prepare does not fall back to an offer that is
// only displayed.
func TestUnusableIsNoFallback(t *testing.T) {
	if built := prepareRoutes(t, swap.Intent, "it is no contract call"); !slices.Equal(built, []string{"A"}) {
		t.Errorf("built %v", built)
	}
}

// TestOneWayIsNoFallbackOfAnother checks that a DEX's pool routes are no fallback for its
// auction, nor the reverse. Routes of other providers may replace each other.
func TestOneWayIsNoFallbackOfAnother(t *testing.T) {
	for k, want := range map[swap.Kind][]string{swap.Intent: {"A", "B"}, swap.DEX: {"A"}} {
		if built := prepareRoutes(t, k, ""); !slices.Equal(built, want) {
			t.Errorf("%s: built %v, want %v", k, built, want)
		}
	}
}

// TestFundsMinusReserved checks that what signed open orders may still take is not offered
// to a new one.
func TestFundsMinusReserved(t *testing.T) {
	refusedWith(t, checkFunds(big.NewInt(80), big.NewInt(100), big.NewInt(25)), swap.InsufficientFunds)
	if err := checkFunds(big.NewInt(75), big.NewInt(100), big.NewInt(25)); err != nil {
		t.Error(err)
	}
}

// TestManyOffers checks that a provider that streams without end is cut off at maxOffersPerProvider.
func TestManyOffers(t *testing.T) {
	s := streamService(func(_ context.Context, told func(swap.Offer)) (all []swap.Offer, err error) {
		for i := range 10_000 {
			all = append(all, rawOffer(fmt.Sprintf("%d", i)))
			told(all[i])
		}
		return all, nil
	})
	told := 0
	b := s.newRanking(t.Context(), pairAsked, func(QuoteUpdate) { told++ })
	s.quoteOne(t.Context(), b, swap.Intent, func() error { return nil })
	if n := len(b.result().Offers); told != maxOffersPerProvider+1 || n != maxOffersPerProvider || len(s.offers.order) != maxOffersPerProvider {
		t.Errorf("told %d times, %d offers, %d kept", told, n, len(s.offers.order))
	}
}

// TestNothingIsKeptWithoutFunds checks that without funds no offer is kept, including
// those streamed before the balance is known.
func TestNothingIsKeptWithoutFunds(t *testing.T) {
	s := streamService(func(_ context.Context, told func(swap.Offer)) ([]swap.Offer, error) {
		told(rawOffer("1"))
		return []swap.Offer{rawOffer("1")}, nil
	})
	b := s.newRanking(t.Context(), pairAsked, func(QuoteUpdate) { t.Error("told") })
	if _, err := s.ask(t.Context(), b, swap.Intent, func() error { return swap.Refuse(swap.InsufficientFunds, "poor") }); err == nil || len(s.offers.order) != 0 {
		t.Errorf("%v, %d kept", err, len(s.offers.order))
	}
}

// TestDroppedWhileQueried checks that offers requested before a lock are useless after it.
func TestDroppedWhileQueried(t *testing.T) {
	var s *Quoter
	s = streamService(func(_ context.Context, told func(swap.Offer)) ([]swap.Offer, error) {
		s.Drop()
		told(rawOffer("1"))
		return []swap.Offer{rawOffer("1")}, nil
	})
	b := s.newRanking(t.Context(), pairAsked, nil)
	_, err := s.ask(t.Context(), b, swap.Intent, func() error { return nil })
	refusedWith(t, err, swap.QuoteUnknown)
	if len(s.offers.order) != 0 {
		t.Errorf("%d kept", len(s.offers.order))
	}
}

// TestOfferWords checks that a provider's texts are short and without control characters.
func TestOfferWords(t *testing.T) {
	s := streamService(func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
		o := rawOffer("1")
		o.Routing, o.Route, o.Unusable = "A\x1b[2J", "via \u202egro.live\r\n"+strings.Repeat("x", 1<<20), "\x00no"
		return []swap.Offer{o}, nil
	})
	offers, err := s.ask(t.Context(), s.newRanking(t.Context(), pairAsked, nil), swap.Intent, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{offers[0].Routing, offers[0].Route, offers[0].Unusable} {
		if strings.ContainsAny(words, "\x00\x1b\u202e\r\n") || len(words) > maxOfferText+len("…") {
			t.Errorf("%.40q, %d bytes", words, len(words))
		}
	}
}

// TestReasonsAreBounded checks that a reason is one bounded, printable line, whatever it
// quotes.
func TestReasonsAreBounded(t *testing.T) {
	noise := strings.Repeat("9", 100_000) + "\x1b[2J\u202e\r\n"
	for name, r := range map[string]*swap.Refusal{
		"refused": swap.Refuse(swap.ProviderInvalidResponse, "cannot read %s", noise), "of a field": swap.RefuseField(swap.ProviderInvalidResponse, "f", "%s", "\u202e"+noise),
		"an error": asRefusal(errors.New(noise + noise)),
	} {
		if n := len([]rune(r.Reason)); n > swap.MaxRefusalReason+1 || strings.ContainsFunc(r.Reason, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("%s: a reason of %d runes: %.20q", name, n, r.Reason)
		}
	}
}

// TestFailureWords checks the same for the text of an unexpected error.
func TestFailureWords(t *testing.T) {
	r := asRefusal(errors.New("\x1b[31m" + strings.Repeat("é", 1<<20)))
	if strings.Contains(r.Reason, "\x1b") || len([]rune(r.Reason)) > swap.MaxRefusalReason+1 {
		t.Errorf("%.40q, %d bytes", r.Reason, len(r.Reason))
	}
}

// TestWatchersShare checks that windows which watch the same pair share one request to
// each provider and all get the answer in time.
func TestWatchersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := newTestQuoter(map[swap.Kind]swap.Provider{swap.DEX: fakeProvider{quote: func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
			asked.Add(1)
			o := rawOffer("1")
			o.Provider, o.Expires = swap.DEX, time.Now().Add(30*time.Second)
			time.Sleep(300 * time.Millisecond)
			return []swap.Offer{o}, nil
		}}})
		ctx, cancel := context.WithCancel(t.Context())
		awake := func(context.Context) error { return nil }
		var told [7]atomic.Int32
		ended := make(chan error, len(told))
		for i := range told {
			go func() {
				ended <- s.Requote(ctx, pairAsked, []swap.Kind{swap.DEX}, awake, func(q QuoteUpdate) {
					told[i].Add(1)
					if q.Failure != nil || len(q.Offers) != 1 || time.Until(q.Offers[0].Expires) < 10*time.Second {
						t.Errorf("window %d was told %+v", i, q)
					}
				})
			}()
			time.Sleep(2 * time.Second)
		}
		time.Sleep(200 * time.Second)
		if n := asked.Load(); n > 12 {
			t.Errorf("%d windows had the provider asked %d times in 200 s", len(told), n)
		}
		for i := range told {
			if n := told[i].Load(); n < 9 {
				t.Errorf("window %d was told %d times", i, n)
			}
		}
		other := pairAsked
		other.Recipient = common.Address{9}
		before := asked.Load()
		go func() { _ = s.Requote(ctx, other, []swap.Kind{swap.DEX}, awake, func(QuoteUpdate) {}) }()
		time.Sleep(21 * time.Second)
		if n := asked.Load() - before; n < 2 {
			t.Error("another request got the answer to this one")
		}
		cancel()
		for range told {
			<-ended
		}
		synctest.Wait()
		if len(s.watches) != 0 {
			t.Errorf("%d questions are kept that nobody asks", len(s.watches))
		}
	})
}

// TestPace checks that quote requests to a provider are limited to a rate that leaves
// room for following its orders, and that a caller that cannot wait gets ProviderBusy.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, busy atomic.Int32
		s := newTestQuoter(map[swap.Kind]swap.Provider{swap.Bridge: fakeProvider{quote: func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
			asked.Add(1)
			return nil, swap.Refuse(swap.NoRoute, "none")
		}}})
		for range 500 {
			go func() {
				b := s.newRanking(t.Context(), pairAsked, nil)
				if _, err := s.ask(t.Context(), b, swap.Bridge, func() error { return nil }); errors.Is(err, &swap.Refusal{Code: swap.ProviderBusy}) {
					busy.Add(1)
				}
			}()
		}
		time.Sleep(time.Minute)
		if n := int(asked.Load()); n < 6 || n > 50 || n+int(busy.Load()) != 500 {
			t.Errorf("asked %d times in a minute, %d were told that it is busy", n, busy.Load())
		}
	})
}

// TestPlanRateLimit checks the same limit for building plans.
func TestPlanRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var built, busy atomic.Int32
		s := newTestQuoter(map[swap.Kind]swap.Provider{swap.Intent: fakeProvider{build: func() error { built.Add(1); return swap.Refuse(swap.ProviderRefused, "no") }}})
		s.planner.Nodes = someNodes{}
		o := rawOffer("1")
		o.ID, o.Expires = "offer", time.Now().Add(time.Hour)
		s.offers.put(o.ID, cachedOffer{Offer: o})
		for range 500 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if _, err := s.Prepare(ctx, o.ID); errors.Is(err, &swap.Refusal{Code: swap.ProviderBusy}) {
					busy.Add(1)
				}
			}()
		}
		time.Sleep(time.Minute)
		if n := int(built.Load()); n < 10 || n > 60 || n+int(busy.Load()) != 500 {
			t.Errorf("built %d in a minute, %d were told that it is busy", n, busy.Load())
		}
	})
}

type someNodes struct{ Nodes }

func (someNodes) Network(uint64) (chain.Network, error) {
	return chain.Network{ID: 1, GasCeiling: big.NewInt(1)}, nil
}

// TestWatchedGas checks that a long watch refreshes the gas price.
func TestWatchedGas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestQuoter(nil)
		var price atomic.Int64
		s.planner.GasPrice = func(context.Context, uint64) (*big.Int, error) { return big.NewInt(price.Add(1)), nil }
		s.planner.Pricer = pricerFunc(func(uint64, common.Address, uint64, common.Address, *big.Int) (*big.Int, error) {
			return nil, errors.New("none")
		})
		b := s.newRanking(t.Context(), pairAsked, nil)
		first := b.price().perUnit.Int64()
		time.Sleep(time.Minute)
		if again := b.price().perUnit.Int64(); first != 1 || again != 2 || b.price().perUnit.Int64() != 2 {
			t.Errorf("%d, after a minute %d", first, again)
		}
	})
}

// gatedNodes are nodes that return a balance when a test lets them.
type gatedNodes struct {
	Nodes
	tell func() (*big.Int, error)
}

// noOrders are the orders of an account that has none.
type noOrders struct{ Orders }

func (noOrders) Promised(uint64, common.Address, common.Address, time.Time) (*big.Int, error) {
	return new(big.Int), nil
}

func (r gatedNodes) Balance(context.Context, uint64, common.Address, common.Address) (*big.Int, error) {
	return r.tell()
}

// TestNoOffersWithoutFunds covers a balance that is read while providers are asked.
// Whichever is known first, without funds no offer is reported, kept or returned, and
// pending requests are cancelled.
func TestNoOffersWithoutFunds(t *testing.T) {
	unreachable := errors.New("no node")
	for name, c := range map[string]struct {
		offersFirst bool
		failure     error
	}{
		"balance known first": {}, "offers known first": {offersFirst: true},
		"no balance at first": {failure: unreachable}, "no balance in the end": {offersFirst: true, failure: unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			answered := make(chan struct{})
			nodes := gatedNodes{someNodes{}, func() (*big.Int, error) {
				if c.offersFirst {
					<-answered
					time.Sleep(20 * time.Millisecond) // time for an offer to be reported, if it were
				}
				return big.NewInt(1), c.failure
			}}
			s := newTestQuoter(map[swap.Kind]swap.Provider{swap.DEX: fakeProvider{quote: func(ctx context.Context, _ func(swap.Offer)) ([]swap.Offer, error) {
				defer close(answered)
				if !c.offersFirst {
					<-ctx.Done()
				}
				return []swap.Offer{{AmountOut: pairAsked.AmountIn, MinOut: pairAsked.AmountIn, Expires: time.Now().Add(time.Minute)}}, ctx.Err()
			}}})
			s.planner.Nodes, s.planner.Orders = nodes, noOrders{}
			told := false
			q, err := s.Quote(t.Context(), pairAsked, nil, func(QuoteUpdate) { told = true })
			if c.failure == nil {
				refusedWith(t, err, swap.InsufficientFunds)
			} else if !errors.Is(err, c.failure) {
				t.Errorf("%v, want %v", err, c.failure)
			}
			if told || len(q.Offers) > 0 || len(s.offers.byKey) > 0 {
				t.Errorf("told: %v, returned %d, kept %d", told, len(q.Offers), len(s.offers.byKey))
			}
		})
	}
}
