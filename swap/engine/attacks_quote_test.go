package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

// rawOffer returns a valid offer with the given raw data.
func rawOffer(raw string) swap.Offer {
	o := offerOf("", swap.Intent, 100, 0, 1)
	o.Raw, o.Expires = []byte(raw), time.Now().Add(time.Minute)
	return o
}

// streamService returns a Service whose only provider streams its offers.
func streamService(quote func(ctx context.Context, told func(swap.Offer)) ([]swap.Offer, error)) *Service {
	return quoteService(map[swap.Kind]swap.Provider{swap.Intent: streamProvider{quoteProvider{nil, quote}}})
}

// TestUnusableIsNoFallback checks that Prepare does not fall back to an offer that is
// only displayed.
func TestUnusableIsNoFallback(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	h.set(func(h *depositProvider) {
		h.routes = []string{"A", "B"}
		h.build = func(route string) error {
			if route == "A" {
				return swap.Refuse(swap.ProviderDown, "gone")
			}
			return nil
		}
	})
	first := b.depositOffers(usdc, thousand)[0].ID
	kept, _ := b.service.offers.get(first)
	kept.rest = slices.Clone(kept.rest)
	kept.rest[0].Unusable = "it is no contract call"
	b.service.offers.put(first, kept)
	_, err := b.service.Prepare(t.Context(), first)
	refusedWith(t, err, swap.ProviderDown)
}

// TestOneWayIsNoFallbackOfAnother checks that a DEX's pool routes are no fallback for its
// auction, nor the reverse. Routes of other providers may replace each other.
func TestOneWayIsNoFallbackOfAnother(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	h.set(func(h *depositProvider) {
		h.routes = []string{"A", "B"}
		h.build = func(route string) error {
			if route == "A" {
				return swap.Refuse(swap.ProviderDown, "gone")
			}
			return nil
		}
	})
	first := b.depositOffers(usdc, thousand)[0].ID
	if r, err := b.service.Prepare(t.Context(), first); err != nil || r.Offer.Routing != "B" {
		t.Fatalf("%s, %v", r.Offer.Routing, err)
	}
	kept, _ := b.service.offers.get(first)
	net, err := b.service.o.Nodes.Network(kept.Request.SrcChain)
	if err != nil {
		t.Fatal(err)
	}
	kept.Provider = swap.DEX
	_, err = b.service.prepare(t.Context(), h, net, kept)
	refusedWith(t, err, swap.ProviderDown)
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

// TestDroppedWhileAsked checks that offers requested before a lock are useless after it.
func TestDroppedWhileAsked(t *testing.T) {
	var s *Service
	s = streamService(func(_ context.Context, told func(swap.Offer)) ([]swap.Offer, error) {
		s.DropPlans()
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

// TestFailureWords checks the same for the text of an unexpected error.
func TestFailureWords(t *testing.T) {
	r := asRefusal(errors.New("\x1b[31m" + strings.Repeat("é", 1<<20)))
	if strings.Contains(r.Reason, "\x1b") || len([]rune(r.Reason)) > swap.MaxRefusalReason+1 {
		t.Errorf("%.40q, %d bytes", r.Reason, len(r.Reason))
	}
}

// TestShelf checks the bounds for a shelf's number of values and their total size.
func TestShelf(t *testing.T) {
	s := newBoundedCache(3, func(n int) int { return n })
	for i, n := range []int{1, 2, 3, 4} {
		s.put(fmt.Sprint(i), n)
	}
	if _, ok := s.get("0"); ok || len(s.byKey) != 3 || s.bytes != 9 {
		t.Errorf("%+v", s)
	}
	s.put("3", 5) // replaces the value
	if s.bytes != 10 || len(s.order) != 3 {
		t.Errorf("%+v", s)
	}
	s.put("heavy", maxCacheBytes)
	if _, ok := s.get("heavy"); !ok || len(s.byKey) != 1 {
		t.Errorf("%+v", s)
	}
	s.drop("heavy")
	s.drop("heavy")
	if s.bytes != 0 || len(s.order) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestWatchersShare checks that windows which watch the same pair share one request to
// each provider and all get the answer in time.
func TestWatchersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		s := quoteService(map[swap.Kind]swap.Provider{swap.DEX: quoteProvider{nil, func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
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
		s := quoteService(map[swap.Kind]swap.Provider{swap.Bridge: quoteProvider{nil, func(context.Context, func(swap.Offer)) ([]swap.Offer, error) {
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

// TestPlansHaveAPace checks the same limit for building plans.
func TestPlansHaveAPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var built, busy atomic.Int32
		s := quoteService(map[swap.Kind]swap.Provider{swap.Intent: buildProvider{build: func() error { built.Add(1); return swap.Refuse(swap.ProviderRefused, "no") }}})
		s.o.Nodes = someNodes{}
		o := rawOffer("1")
		o.ID, o.Expires = "offer", time.Now().Add(time.Hour)
		s.offers.put(o.ID, cachedOffer{Offer: o})
		s.engine = &Engine{Now: time.Now, Nodes: s.o.Nodes}
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

// A buildProvider is a provider that only builds plans.
type buildProvider struct {
	swap.Provider
	build func() error
}

func (buildProvider) Kind() swap.Kind { return swap.Intent }

func (buildProvider) Pins() swap.Pins { return nil }

func (b buildProvider) Build(context.Context, swap.Offer, swap.Terms) (swap.Built, error) {
	return swap.Built{}, b.build()
}

type someNodes struct{ Nodes }

func (someNodes) Network(uint64) (chain.Network, error) {
	return chain.Network{ID: 1, GasCeiling: big.NewInt(1)}, nil
}

// TestWatchedGas checks that a long watch refreshes the gas price.
func TestWatchedGas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quoteService(nil)
		var price atomic.Int64
		s.o.GasPrice = func(context.Context, uint64) (*big.Int, error) { return big.NewInt(price.Add(1)), nil }
		s.o.Pricer = pricerFunc(func(uint64, common.Address, uint64, common.Address, *big.Int) (*big.Int, error) {
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

// TestConsentIsToWhatWasShown checks that an accepted offer cannot be prepared again, and
// that acknowledged codes of findings that were not shown are dropped.
func TestConsentIsToWhatWasShown(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	q, err := ask(b, func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(1000) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller,
		Acknowledge: []string{"price_off", "gas_scam", "gas_scam", strings.Repeat("x", 256)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.AckCodes, []string{"gas_scam"}) {
		t.Errorf("acknowledged %q", o.AckCodes)
	}
	_, err = b.service.Prepare(t.Context(), q.Offers[0].ID)
	refusedWith(t, err, swap.QuoteUnknown)
}

// TestClaimsAreBounded checks that a provider whose claim keeps changing cannot fill the
// disk: at most maxClaimChanges claims are recorded, and the final one.
func TestClaimsAreBounded(t *testing.T) {
	o := swap.Order{}
	recorded := 0
	for i := range 10 * maxClaimChanges {
		before := o
		o.Claim = &swap.Claim{State: swap.Settling, Tx: common.BigToHash(big.NewInt(int64(i)))}
		if countClaim(&o, before); !swap.SameClaim(before.Claim, o.Claim) {
			recorded++
		}
	}
	before := o
	o.Claim = &swap.Claim{State: swap.Refunded}
	if countClaim(&o, before); recorded != maxClaimChanges || o.Claim.State != swap.Refunded {
		t.Errorf("%d recorded, then %+v", recorded, o.Claim)
	}
}
