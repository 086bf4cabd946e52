package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

func ask(b *engineFixture, change func(*swap.QuoteRequest)) (plan.QuoteResult, error) {
	r := swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}
	if change != nil {
		change(&r)
	}
	return b.service.Quote(context.Background(), r, []swap.Kind{swap.DEX}, nil)
}

func even(r swap.QuoteRequest) ([]swap.Offer, error) {
	return []swap.Offer{{AmountOut: r.AmountIn, MinOut: r.AmountIn, Expires: time.Now().Add(time.Minute)}}, nil
}

// TestQuoteRefusals checks that bad input reaches no provider, and that each refusal says
// what is wrong.
func TestQuoteRefusals(t *testing.T) {
	b := newEngineFixture(t)
	asked := 0
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) { asked++; return even(r) }
	for name, c := range map[string]struct {
		code   swap.Code
		change func(*swap.QuoteRequest)
	}{
		"no account":        {swap.BadRequest, func(r *swap.QuoteRequest) { r.Account = common.Address{} }},
		"amount zero":       {swap.AmountZero, func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int) }},
		"amount negative":   {swap.AmountZero, func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(-1) }},
		"amount missing":    {swap.AmountZero, func(r *swap.QuoteRequest) { r.AmountIn = nil }},
		"amount absurd":     {swap.BadRequest, func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int).Lsh(big.NewInt(1), 300) }},
		"slippage negative": {swap.SlippageBounds, func(r *swap.QuoteRequest) { r.SlippageBps = -1 }},
		"slippage above 50": {swap.SlippageBounds, func(r *swap.QuoteRequest) { r.SlippageBps = 5001 }},
		"token = token":     {swap.SameToken, func(r *swap.QuoteRequest) { r.TokenOut = native }},
		"foreign chain":     {swap.UnsupportedNetwork, func(r *swap.QuoteRequest) { r.SrcChain, r.DstChain = 777, 777 }},
		"cross-chain":       {swap.UnsupportedRoute, func(r *swap.QuoteRequest) { r.DstChain = 10 }},
	} {
		_, err := ask(b, c.change)
		if !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if asked != 0 {
		t.Errorf("the provider was asked %d times", asked)
	}
	if q, err := ask(b, func(r *swap.QuoteRequest) { r.SlippageBps = 0 }); err != nil || q.Offers[0].Request.SlippageBps != swap.DefaultSlippageBps {
		t.Errorf("default slippage: %+v, %v", q, err)
	}
}

// TestOffersAreChecked checks that an offer with more slippage than requested, or without
// valid amounts, never reaches the user.
func TestOffersAreChecked(t *testing.T) {
	b := newEngineFixture(t)
	for name, o := range map[string]swap.Offer{
		"no amount":              {MinOut: big.NewInt(1)},
		"no minimum":             {AmountOut: big.NewInt(1)},
		"minimum zero":           {AmountOut: big.NewInt(1), MinOut: new(big.Int)},
		"minimum above":          {AmountOut: big.NewInt(1000), MinOut: big.NewInt(1001)},
		"minimum below slippage": {AmountOut: big.NewInt(1000), MinOut: big.NewInt(994)},
	} {
		b.provider.quote = func(swap.QuoteRequest) ([]swap.Offer, error) { return []swap.Offer{o}, nil }
		if q, err := ask(b, nil); err == nil {
			t.Errorf("%s: offered %+v", name, q.Offers)
		}
	}
	b.provider.quote = func(swap.QuoteRequest) ([]swap.Offer, error) { return nil, nil }
	_, err := ask(b, nil)
	refusedWith(t, err, swap.NoRoute)
	b.provider.quote = func(swap.QuoteRequest) ([]swap.Offer, error) {
		return nil, fmt.Errorf("asking: %w", context.DeadlineExceeded)
	}
	_, err = ask(b, nil)
	refusedWith(t, err, swap.ProviderDown)
}

// TestProvidersFailApart checks that one provider's failure does not hide others' offers.
func TestProvidersFailApart(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	told := map[swap.Kind]bool{}
	q, err := b.service.Quote(t.Context(), swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}, nil,
		func(q plan.QuoteUpdate) { told[q.Provider] = true })
	if err != nil || len(q.Offers) != 1 || len(q.Failures) != 3 || len(told) != 4 {
		t.Errorf("%d offers, failures %v, told of %v, %v", len(q.Offers), q.Failures, told, err)
	}
}

func prepared(t *testing.T, b *engineFixture) (swap.Review, error) {
	t.Helper()
	q, err := ask(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.service.Prepare(t.Context(), q.Offers[0].ID)
}

func TestPrepareRefuses(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	for name, lie := range map[string]func(*swap.Effect){
		"thief": func(f *swap.Effect) { f.Receives[0].To = thief },
		"floor": func(f *swap.Effect) { f.Receives[0].Min = big.NewInt(1) },
		"pays":  func(f *swap.Effect) { f.Pays = []swap.Payment{{Token: weth, To: thief, Bps: 1}} },
		"grant": func(f *swap.Effect) {
			f.Approves = []swap.Approval{{Token: weth, Spender: thief, Amount: big.NewInt(1)}}
		},
		"another": func(f *swap.Effect) { f.Target = thief },
	} {
		b.provider.decode = func(t swap.Terms, s swap.Step) (swap.Effect, error) {
			f := b.provider.plain(t, s)
			lie(&f)
			return f, nil
		}
		if r, err := prepared(t, b); err == nil {
			t.Errorf("%s: prepared %+v", name, r.Plan)
		}
	}
	b.provider.decode = nil
	_, err := b.service.Prepare(t.Context(), "no such offer")
	refusedWith(t, err, swap.QuoteUnknown)
	b.provider.quote = func(r swap.QuoteRequest) ([]swap.Offer, error) {
		o, _ := even(r)
		o[0].Expires = time.Now().Add(-time.Second)
		return o, nil
	}
	_, err = prepared(t, b)
	refusedWith(t, err, swap.QuoteExpired)
}

// TestGasGuardBlocks covers a native balance that is enough for the amount without gas.
func TestGasGuardBlocks(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	all, err := b.hub.Balance(t.Context(), 1, b.from, native)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ask(b, func(r *swap.QuoteRequest) { r.AmountIn = all })
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Blocked() || r.Gas.Missing == nil || r.Gas.Missing.Cmp(r.Gas.Max) != 0 {
		t.Errorf("findings %+v, missing %v of %v", r.Findings, r.Gas.Missing, r.Gas.Max)
	}
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	refusedWith(t, err, swap.InsufficientGas)
	var refused *swap.Refusal
	if errors.As(err, &refused) && refused.Data["missing"] != r.Gas.Missing.String() {
		t.Errorf("the missing amount is not named: %v", refused.Data)
	}
	b.wantNonceAndWETH(0, 0)
}

// TestExcessiveGasNeedsAcknowledgement covers gas above half of the swapped value.
func TestExcessiveGasNeedsAcknowledgement(t *testing.T) {
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
	if r.Blocked() || len(r.Findings) != 1 || r.Findings[0].Code != "gas_excessive" {
		t.Fatalf("findings %+v", r.Findings)
	}
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	refusedWith(t, err, swap.NeedsAcknowledge)
	o, err := b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller, Acknowledge: []string{"gas_excessive"}})
	if err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1000)
}

// TestJournalFailureSignsNothing checks that with the database closed under the engine
// nothing is accepted and nothing is signed.
func TestJournalFailureSignsNothing(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	r, err := prepared(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	if err == nil || b.signer.signed.Load() != 0 {
		t.Errorf("executed without a journal: %v, %d signatures", err, b.signer.signed.Load())
	}
}

// TestUnreadableOrder checks that an order that cannot be read neither stops nor hides
// others, and is listed as one that has not ended.
func TestUnreadableOrder(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	bad, good := b.order(nil), b.order(nil)
	b.halt()
	if err := b.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(orderBucket).Put([]byte(bad.ID), []byte("{")) }); err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(false)
	b.start()
	b.waitState(good.ID, swap.Filled)
	b.wantNonceAndWETH(1, 1e17)
	for _, openOnly := range []bool{true, false} {
		list, _, err := b.service.Orders(b.from, openOnly, "", 10)
		i := slices.IndexFunc(list, func(o swap.Order) bool { return o.ID == bad.ID })
		if err != nil || i < 0 || list[i].State != swap.Unreadable || list[i].Ended() || !strings.Contains(list[i].Reason, bad.ID) || len(list) == 2 == openOnly {
			t.Errorf("open only: %v: %+v, %v", openOnly, list, err)
		}
	}
	if o, lines, err := b.service.Order(bad.ID); err != nil || o.State != swap.Unreadable || len(lines) == 0 {
		t.Errorf("%+v with %d lines, %v", o, len(lines), err)
	}
	if _, err := b.service.Cancel(t.Context(), CancelRequest{Request: uuid.NewString(), Order: bad.ID}); !errors.Is(err, journal.ErrUnreadable) {
		t.Errorf("cancelled: %v", err)
	}
	if taken, err := b.service.engine.sentByAnother(good, common.Hash{1}); err == nil {
		t.Errorf("whether the unread order sent a transaction is answered with %v", taken)
	}
}

// testOffer is the minimum that every record has of an offer.
func testOffer() swap.Offer {
	return swap.Offer{Request: swap.QuoteRequest{AmountIn: big.NewInt(1)}, AmountOut: big.NewInt(1), MinOut: big.NewInt(1)}
}

// soundOrder returns a valid order as stored under "a".
func soundOrder() swap.Order {
	return swap.Order{ID: "a", Consent: swap.Consent{Request: uuid.NewString(), Terms: testTerms(), Offer: testOffer(),
		Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{Value: new(big.Int)}, Effect: testSwap()}}}}, Progress: swap.Progress{State: swap.Executing}, Created: noon, Updated: noon}
}

// TestStrangeNames checks that keys that are no order ids neither end a listing nor
// restart it.
func TestStrangeNames(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	made := []swap.Order{b.order(nil), b.order(nil)}
	b.halt()
	err := b.db.Update(func(tx *bolt.Tx) error {
		for _, bucket := range [][]byte{orderBucket, openBucket} {
			for _, name := range []string{"\x80", strings.Repeat("a", 300), "A/..", "\x00"} {
				if err := tx.Bucket(bucket).Put([]byte(name), []byte("{}")); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.start()
	var seen []string
	for cursor, pages := "", 0; ; pages++ {
		page, next, err := b.service.Orders(common.Address{}, true, cursor, 1)
		if err != nil || pages > 5 {
			t.Fatalf("%d pages, %v", pages, err)
		}
		for _, o := range page {
			seen = append(seen, o.ID)
		}
		if cursor = next; next == "" {
			break
		}
	}
	if !slices.Equal(seen, []string{made[1].ID, made[0].ID}) {
		t.Errorf("listed: %q", seen)
	}
}

func TestOrdersPage(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	var ids []string
	for range 5 {
		ids = append([]string{b.order(nil).ID}, ids...) // newest first
	}
	var got []string
	cursor := ""
	for range 10 {
		page, next, err := b.service.Orders(b.from, true, cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			got = append(got, o.ID)
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("paged %v, want %v", got, ids)
	}
	if page, _, err := b.service.Orders(thief, false, "", 10); err != nil || len(page) != 0 {
		t.Errorf("another account sees %d orders, %v", len(page), err)
	}
}

// FuzzOrder checks that no stored bytes crash the decoder, and that a decoded order can
// be shown and sealed, encodes to the same again, and has a step within its plan.
func FuzzOrder(f *testing.F) {
	db, err := bolt.Open(filepath.Join(f.TempDir(), "orders.db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	j, err := journal.Open(db)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(swap.MustJSON(soundOrder())))
	f.Add(`{"state":"newer","plan":{"steps":[{}]}}`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, stored string) {
		o, err := readStored(t, j, []byte(stored))
		if err != nil {
			return
		}
		if o.Step < 0 || o.Step > len(o.Plan.Steps) || len(o.Results) > len(o.Plan.Steps) || o.Ended() != o.State.Final() {
			t.Fatalf("step %d of %d with %d results", o.Step, len(o.Plan.Steps), len(o.Results))
		}
		if o.GasLeft() == nil {
			t.Fatal("no gas left")
		}
		for _, s := range []*swap.Seal{o.Seal, o.CancelSeal, {}} {
			if s != nil {
				_, _ = consentOf(o).message(*s), cancelRequestOf(o).message(*s)
			}
		}
		if o.Proposal != nil {
			_ = proposalOf(o).message(swap.Seal{})
		}
		_ = swap.Digest(o.Terms, o.Plan.Effects())
		_ = swap.Check(o.Terms, o.Plan.Effects(), testPins)
		written := swap.MustJSON(o)
		if again, err := readStored(t, j, written); err != nil || !bytes.Equal(swap.MustJSON(again), written) {
			t.Fatalf("%s is written as %s and then as %s: %v", stored, written, swap.MustJSON(again), err)
		}
	})
}
