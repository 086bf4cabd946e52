package dex_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/valuation"
	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// scamActs are what must be acknowledged before 9,000 ether go into a token that calls
// itself USDC: anybody's token, with its own pool, and unknown to every price source.
var scamActs = []string{"output_lookalike", "output_unverified", "price_unknown"}

// scamAttacks swap into it on the real contracts, through the simulator, each with one of
// the acknowledgements missing; the last one has none.
func scamAttacks() (list []providertest.Attack) {
	for _, without := range append(slices.Clone(scamActs), "any act") {
		acts := slices.DeleteFunc(slices.Clone(scamActs), func(code string) bool { return code == without || without == "any act" })
		field := without
		if without == "any act" {
			field = ""
		}
		list = append(list, providertest.Attack{Name: "scam token with a pool of its own/without " + without, Code: swap.NeedsAcknowledge, Field: field,
			Try: func(t *testing.T) error { return scammed(t, acts) }})
	}
	return list
}

// scammed swaps with those acknowledgements.
func scammed(t *testing.T, acts []string) error {
	s := sandboxtest.Start(t, 1)
	if err := s.DEX().Set(dexsim.Settings{Auctions: dexsim.AuctionsNever}); err != nil {
		t.Fatal(err)
	}
	fake, c := sandboxtest.DeployFakeUSDC(t, s, 1), s.Chain(1)
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	hub, err := chain.NewMultiClient([]chain.Endpoint{{Chain: 1, URLs: []string{c.RPC()}, Depth: 1}}, chain.Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(hub.Close)
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	journal, err := journal.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	usdc := sandboxtest.Token(t, c, "USDC")
	service, err := engine.NewService(engine.Options{
		Journal: journal, Providers: map[swap.Kind]swap.Provider{swap.DEX: p}, Nodes: hub, Pricer: valuation.Valuer{Feed: priced(t)},
		Recognize: func(_ context.Context, _ uint64, token common.Address) swap.Recognition {
			if token == fake {
				return swap.Recognition{Imitates: usdc}
			}
			return swap.Recognition{Listed: true}
		},
		Confirmer: engine.ByCall{}, Fees: swap.DefaultFees(), OpenOrders: 10, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := request(1, native, fake, "9000000000000000000000", 0)
	offers, err := service.Quote(t.Context(), r, []swap.Kind{swap.DEX}, nil)
	if err != nil || len(offers.Offers) == 0 {
		t.Fatalf("no offer: %v, %v", offers.Failures, err)
	}
	review, err := service.Prepare(t.Context(), offers.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = service.Execute(t.Context(), engine.ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Acknowledge: acts, Caller: engine.Caller{Session: "open", Password: true, Present: func() bool { return true }}})
	return err
}

// priced has ether at 3,000 dollars, from an oracle.
func priced(t *testing.T) *pricetable.Feed {
	t.Helper()
	v, err := price.Parse("3000")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ether := price.Sample{Value: v, At: now, Source: price.Chainlink}
	feed := pricetable.NewFeed()
	feed.Publish(pricetable.New(1, now, []pricetable.Row{{Token: tokens.Token{Chain: 1, Symbol: "ETH", Decimals: 18, Verified: true}, Now: ether, AcceptedAt: now, Oracle: ether, OracleAt: now}}))
	return feed
}
