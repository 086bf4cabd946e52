package swap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

func ask(b *engineFixture, change func(*QuoteRequest)) (QuoteResult, error) {
	r := QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}
	if change != nil {
		change(&r)
	}
	return b.service.Quote(context.Background(), r, []Kind{DEX}, nil)
}

func even(r QuoteRequest) ([]Offer, error) {
	return []Offer{{AmountOut: r.AmountIn, MinOut: r.AmountIn, Expires: time.Now().Add(time.Minute)}}, nil
}

// TestQuoteRefusals checks that bad input reaches no provider, and that each refusal says
// what is wrong.
func TestQuoteRefusals(t *testing.T) {
	b := newEngineFixture(t)
	asked := 0
	b.provider.quote = func(r QuoteRequest) ([]Offer, error) { asked++; return even(r) }
	for name, c := range map[string]struct {
		code   Code
		change func(*QuoteRequest)
	}{
		"no account":        {BadRequest, func(r *QuoteRequest) { r.Account = common.Address{} }},
		"amount zero":       {AmountZero, func(r *QuoteRequest) { r.AmountIn = new(big.Int) }},
		"amount negative":   {AmountZero, func(r *QuoteRequest) { r.AmountIn = big.NewInt(-1) }},
		"amount missing":    {AmountZero, func(r *QuoteRequest) { r.AmountIn = nil }},
		"amount absurd":     {BadRequest, func(r *QuoteRequest) { r.AmountIn = new(big.Int).Lsh(big.NewInt(1), 300) }},
		"slippage negative": {SlippageBounds, func(r *QuoteRequest) { r.SlippageBps = -1 }},
		"slippage above 50": {SlippageBounds, func(r *QuoteRequest) { r.SlippageBps = 5001 }},
		"token = token":     {SameToken, func(r *QuoteRequest) { r.TokenOut = native }},
		"foreign chain":     {UnsupportedNetwork, func(r *QuoteRequest) { r.SrcChain, r.DstChain = 777, 777 }},
		"cross-chain":       {UnsupportedRoute, func(r *QuoteRequest) { r.DstChain = 10 }},
	} {
		_, err := ask(b, c.change)
		if !errors.Is(err, &Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if asked != 0 {
		t.Errorf("the provider was asked %d times", asked)
	}
	if q, err := ask(b, func(r *QuoteRequest) { r.SlippageBps = 0 }); err != nil || q.Offers[0].Request.SlippageBps != DefaultSlippageBps {
		t.Errorf("default slippage: %+v, %v", q, err)
	}
}

// gatedProvider is a provider that answers when a test lets it.
type gatedProvider struct {
	*wrapProvider
	answer func(context.Context) error
}

func (a gatedProvider) Quote(ctx context.Context, r QuoteRequest) ([]Offer, error) {
	if err := a.answer(ctx); err != nil {
		return nil, err
	}
	return even(r)
}

// gatedNodes are nodes that return a balance when a test lets them.
type gatedNodes struct {
	Nodes
	tell func() (*big.Int, error)
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
			b := newEngineFixture(t)
			answered := make(chan struct{})
			b.service.o.Nodes = gatedNodes{b.service.o.Nodes, func() (*big.Int, error) {
				if c.offersFirst {
					<-answered
					time.Sleep(20 * time.Millisecond) // time for an offer to be reported, if it were
				}
				return big.NewInt(1), c.failure
			}}
			b.service.o.Providers[DEX] = gatedProvider{b.provider, func(ctx context.Context) error {
				defer close(answered)
				if !c.offersFirst {
					<-ctx.Done()
				}
				return ctx.Err()
			}}
			told := false
			q, err := b.service.Quote(t.Context(), QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth},
				nil, func(QuoteUpdate) { told = true })
			if c.failure == nil {
				refusedWith(t, err, InsufficientFunds)
			} else if !errors.Is(err, c.failure) {
				t.Errorf("%v, want %v", err, c.failure)
			}
			if told || len(q.Offers) > 0 || len(b.service.offers.byKey) > 0 {
				t.Errorf("told: %v, returned %d, kept %d", told, len(q.Offers), len(b.service.offers.byKey))
			}
		})
	}
}

// TestOffersAreChecked checks that an offer with more slippage than requested, or without
// valid amounts, never reaches the user.
func TestOffersAreChecked(t *testing.T) {
	b := newEngineFixture(t)
	for name, o := range map[string]Offer{
		"no amount":              {MinOut: big.NewInt(1)},
		"no minimum":             {AmountOut: big.NewInt(1)},
		"minimum zero":           {AmountOut: big.NewInt(1), MinOut: new(big.Int)},
		"minimum above":          {AmountOut: big.NewInt(1000), MinOut: big.NewInt(1001)},
		"minimum below slippage": {AmountOut: big.NewInt(1000), MinOut: big.NewInt(994)},
	} {
		b.provider.quote = func(QuoteRequest) ([]Offer, error) { return []Offer{o}, nil }
		if q, err := ask(b, nil); err == nil {
			t.Errorf("%s: offered %+v", name, q.Offers)
		}
	}
	b.provider.quote = func(QuoteRequest) ([]Offer, error) { return nil, nil }
	_, err := ask(b, nil)
	refusedWith(t, err, NoRoute)
	b.provider.quote = func(QuoteRequest) ([]Offer, error) { return nil, fmt.Errorf("asking: %w", context.DeadlineExceeded) }
	_, err = ask(b, nil)
	refusedWith(t, err, ProviderDown)
}

// TestProvidersFailApart checks that one provider's failure does not hide others' offers.
func TestProvidersFailApart(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	told := map[Kind]bool{}
	q, err := b.service.Quote(t.Context(), QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1e17), DstChain: 1, TokenOut: weth}, nil,
		func(q QuoteUpdate) { told[q.Provider] = true })
	if err != nil || len(q.Offers) != 1 || len(q.Failures) != 3 || len(told) != 4 {
		t.Errorf("%d offers, failures %v, told of %v, %v", len(q.Offers), q.Failures, told, err)
	}
}

func prepared(t *testing.T, b *engineFixture) (Review, error) {
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
	for name, lie := range map[string]func(*Effect){
		"thief":   func(f *Effect) { f.Receives[0].To = thief },
		"floor":   func(f *Effect) { f.Receives[0].Min = big.NewInt(1) },
		"pays":    func(f *Effect) { f.Pays = []Payment{{weth, thief, 1}} },
		"grant":   func(f *Effect) { f.Approves = []Approval{{Token: weth, Spender: thief, Amount: big.NewInt(1)}} },
		"another": func(f *Effect) { f.Target = thief },
	} {
		b.provider.decode = func(t Terms, s Step) (Effect, error) { f := b.provider.plain(t, s); lie(&f); return f, nil }
		if r, err := prepared(t, b); err == nil {
			t.Errorf("%s: prepared %+v", name, r.Plan)
		}
	}
	b.provider.decode = nil
	_, err := b.service.Prepare(t.Context(), "no such offer")
	refusedWith(t, err, QuoteUnknown)
	b.provider.quote = func(r QuoteRequest) ([]Offer, error) {
		o, _ := even(r)
		o[0].Expires = time.Now().Add(-time.Second)
		return o, nil
	}
	_, err = prepared(t, b)
	refusedWith(t, err, QuoteExpired)
}

// TestGasGuardBlocks covers a native balance that is enough for the amount without gas.
func TestGasGuardBlocks(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	all, err := b.hub.Balance(t.Context(), 1, b.from, native)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ask(b, func(r *QuoteRequest) { r.AmountIn = all })
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
	refusedWith(t, err, InsufficientGas)
	var refused *Refusal
	if errors.As(err, &refused) && refused.Data["missing"] != r.Gas.Missing.String() {
		t.Errorf("the missing amount is not named: %v", refused.Data)
	}
	b.wantNonceAndWETH(0, 0)
}

// TestScamNeedsASecondAct covers gas above half of the swapped value.
func TestScamNeedsASecondAct(t *testing.T) {
	b := newEngineFixture(t)
	b.provider.quote = even
	q, err := ask(b, func(r *QuoteRequest) { r.AmountIn = big.NewInt(1000) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if r.Blocked() || len(r.Findings) != 1 || r.Findings[0].Code != "gas_scam" {
		t.Fatalf("findings %+v", r.Findings)
	}
	_, err = b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller})
	refusedWith(t, err, NeedsAcknowledge)
	o, err := b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller, Acknowledge: []string{"gas_scam"}})
	if err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, Filled)
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
	b.waitState(good.ID, Filled)
	b.wantNonceAndWETH(1, 1e17)
	for _, openOnly := range []bool{true, false} {
		list, _, err := b.service.Orders(b.from, openOnly, "", 10)
		i := slices.IndexFunc(list, func(o Order) bool { return o.ID == bad.ID })
		if err != nil || i < 0 || list[i].State != Unreadable || list[i].Ended() || !strings.Contains(list[i].Reason, bad.ID) || len(list) == 2 == openOnly {
			t.Errorf("open only: %v: %+v, %v", openOnly, list, err)
		}
	}
	if o, lines, err := b.service.Order(bad.ID); err != nil || o.State != Unreadable || len(lines) == 0 {
		t.Errorf("%+v with %d lines, %v", o, len(lines), err)
	}
	if _, err := b.service.Cancel(t.Context(), CancelRequest{Request: uuid.NewString(), Order: bad.ID}); !errors.Is(err, ErrUnreadable) {
		t.Errorf("cancelled: %v", err)
	}
	if taken, err := b.service.engine.sentByAnother(good, common.Hash{1}); err == nil {
		t.Errorf("whether the unread order sent a transaction is answered with %v", taken)
	}
}

// testOffer is the minimum that every record has of an offer.
func testOffer() Offer {
	return Offer{Request: QuoteRequest{AmountIn: big.NewInt(1)}, AmountOut: big.NewInt(1), MinOut: big.NewInt(1)}
}

// soundOrder returns a valid order as stored under "a".
func soundOrder() Order {
	return Order{ID: "a", Request: uuid.NewString(), Terms: testTerms(), Offer: testOffer(), State: Executing, Created: noon, Updated: noon,
		Plan: Plan{Steps: []Step{{Kind: CallStep, Call: &chain.Call{Value: new(big.Int)}, Effect: testSwap()}}}}
}

// unreadFor returns the reason shown for a record under "a" whose id is name.
func unreadFor(t *testing.T, name string) string {
	t.Helper()
	o := soundOrder()
	o.ID = name
	err := decodeOrder(mustJSON(o), "a", new(Order))
	if err == nil {
		t.Fatal("it is read")
	}
	return UnreadableOrder("a", true, err).Reason
}

// TestStrangeNames checks that keys that are no order ids neither end a listing nor
// restart it.
func TestStrangeNames(t *testing.T) {
	b := newEngineFixture(t)
	b.signer.locked.Store(true)
	made := []Order{b.order(nil), b.order(nil)}
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

// TestDamagedRecord checks that an invalid record is refused. Some of these used to cause
// a panic.
func TestDamagedRecord(t *testing.T) {
	good := soundOrder()
	var back Order
	if err := decodeOrder(mustJSON(good), "a", &back); err != nil {
		t.Fatal(err)
	}
	beyond, err := time.Parse(time.RFC3339, "9999-12-31T23:59:59-23:59")
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(o *Order){
		"another's":               func(o *Order) { o.ID = "b" },
		"a step before the first": func(o *Order) { o.Step = -1 },
		"a step after the end":    func(o *Order) { o.Step = 2 },
		"results without steps":   func(o *Order) { o.Results = make([]Result, 2) },
		"a created time":          func(o *Order) { o.Created = beyond },
		"a deadline":              func(o *Order) { o.Terms.Deadline = beyond },
		"a step's deadline":       func(o *Order) { o.Plan.Steps[0].Effect.Deadline = beyond },
		"a time in evidence": func(o *Order) {
			o.Verdict = &Verdict{Evidence: &chain.Evidence{Time: beyond, FeePaid: new(big.Int)}}
		},
		"nothing but a name":      func(o *Order) { *o = Order{ID: "a"} },
		"no steps":                func(o *Order) { o.Plan.Steps = nil },
		"no request":              func(o *Order) { o.Request = "" },
		"a request in braces":     func(o *Order) { o.Request = "{" + o.Request + "}" },
		"no gas ceiling":          func(o *Order) { o.Terms.GasCeiling = nil },
		"less than nothing":       func(o *Order) { o.Terms.AmountIn = big.NewInt(-1) },
		"too much":                func(o *Order) { o.Offer.MinOut = new(big.Int).Lsh(big.NewInt(1), 256) },
		"an offer of nothing":     func(o *Order) { o.Offer.AmountOut = nil },
		"a wide slippage":         func(o *Order) { o.Offer.Request.SlippageBps = 1 << 40 },
		"a call without a value":  func(o *Order) { o.Plan.Steps[0].Call.Value = nil },
		"a fee below nothing":     func(o *Order) { o.Results = []Result{{Evidence: &chain.Evidence{FeePaid: big.NewInt(-1)}}} },
		"an attempt without fees": func(o *Order) { o.Attempts = []Attempt{{}} },
		"a revoke of nothing":     func(o *Order) { o.Terms.Provider = Wallet },
	} {
		bad := good.Clone()
		damage(&bad)
		var o Order
		if err := decodeOrder(mustJSON(bad), "a", &o); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := strings.Repeat("x", 1<<20)
	if told := unreadFor(t, long); len(told) > 4*maxShownError {
		t.Errorf("a long record is told in %d bytes", len(told))
	}
	poor := soundOrder()
	poor.Offer.Net = big.NewInt(-1) // gas may cost more than a swap brings
	if err := decodeOrder(mustJSON(poor), "a", &back); err != nil {
		t.Error(err)
	}
	if (Order{State: Filled, Terms: testTerms(), Verdict: &Verdict{Spent: &Spend{}}}).Means() == "" {
		t.Error("no meaning")
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

// TestOpenOrdersAreListedAlone checks that listing open orders does not read the ended
// ones, whose number only grows, and that a cursor still works if its order has ended.
func TestOpenOrdersAreListedAlone(t *testing.T) {
	j := newJournal(t)
	ends := func(o Order) { j.must(t, &o, func(o *Order) { o.State = Cancelled }) }
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
	var open []Order
	for range 4 {
		open = append(open, j.spends(t, Swap, 1))
	}
	slices.SortFunc(open, func(a, b Order) int { return strings.Compare(b.ID, a.ID) }) // as listed
	cost := func() float64 { return testing.AllocsPerRun(3, func() { listed("", 10) }) }
	alone := cost()
	for range 100 {
		ends(j.spends(t, Swap, 1))
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

func TestSupportTable(t *testing.T) {
	for _, c := range []struct {
		k        Kind
		src, dst uint64
		want     Code
	}{
		{DEX, 1, 1, ""}, {DEX, 10, 10, ""}, {DEX, 8453, 8453, ""}, {DEX, 42161, 42161, ""},
		{DEX, 56, 56, ""}, {DEX, 143, 143, ""}, {DEX, 5330, 5330, UnsupportedNetwork}, {DEX, 39, 39, UnsupportedNetwork},
		{DEX, 1, 10, UnsupportedRoute}, {Gasless, 1, 10, UnsupportedRoute},
		{Bridge, 1, 10, ""}, {Bridge, 56, 5330, ""}, {Bridge, 1, 999999, ""}, {Bridge, 143, 1, ""}, {Bridge, 1, 143, ""}, {Bridge, 39, 1, UnsupportedNetwork},
		{Intent, 143, 1, ""}, {Intent, 1, 143, ""}, {Intent, 5330, 1, UnsupportedNetwork}, {Intent, 1, 5330, UnsupportedNetwork}, {Intent, 39, 39, UnsupportedNetwork},
		{Gasless, 5330, 5330, ""}, {Gasless, 56, 56, ""}, {Gasless, 143, 143, UnsupportedNetwork}, {Gasless, 39, 39, UnsupportedNetwork},
	} {
		err := checkRoute(c.k, c.src, c.dst)
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
	if got := string(mustJSON(f.Info())); got != `{"feeBps":40,"partnerInfo":{"name":"P","receiverAddress":"`+partnerText+`","website":"https://example.org"}}` {
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
	o := Order{State: Filled}
	if err := o.setState(Failed); !errors.Is(err, ErrTransition) {
		t.Errorf("a final state was left: %v", err)
	}
}

// FuzzOrder checks that no stored bytes crash the decoder, and that a decoded order can
// be shown and sealed, encodes to the same again, and has a step within its plan.
func FuzzOrder(f *testing.F) {
	f.Add(string(mustJSON(soundOrder())))
	f.Add(`{"state":"newer","plan":{"steps":[{}]}}`)
	f.Add(`{`)
	f.Fuzz(func(t *testing.T, stored string) {
		var o Order
		if decodeOrder([]byte(stored), "a", &o) != nil {
			return
		}
		if o.Step < 0 || o.Step > len(o.Plan.Steps) || len(o.Results) > len(o.Plan.Steps) || o.Ended() != o.State.Final() {
			t.Fatalf("step %d of %d with %d results", o.Step, len(o.Plan.Steps), len(o.Results))
		}
		if o.Means() == "" || (&Engine{}).ceilingLeft(o) == nil {
			t.Fatal("no meaning")
		}
		for _, s := range []*Seal{o.Seal, o.EndSeal, {}} {
			if s != nil {
				_, _ = o.consent().message(*s), o.ending().message(*s)
			}
		}
		if o.Proposal != nil {
			_ = o.proposal().message(Seal{})
		}
		_ = Digest(o.Terms, o.Plan.Effects())
		_ = Check(o.Terms, o.Plan.Effects(), testPins)
		var again Order
		written := mustJSON(o)
		if err := decodeOrder(written, "a", &again); err != nil || !bytes.Equal(mustJSON(again), written) {
			t.Fatalf("%s is written as %s and then as %s: %v", stored, written, mustJSON(again), err)
		}
	})
}

// TestFeeBasis checks that a fee is FeeDecoded if the signed data pays the receiver, and
// FeeClaimed if only the offer names it, at its rate and at most the requested one.
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
		{ours, nil, 0, FeeClaimed, 40},
		{ours, []Payment{{To: common.Address{7}, Bps: 39}}, 0, FeeClaimed, 40},
		{ours, []Payment{{To: common.Address{8}, Bps: 40}}, 0, FeeClaimed, 40},
		{nil, nil, 0, FeeNone, 0},
		{nil, nil, 40, FeeRequested, 0},
		{ours, nil, 40, FeeClaimed, 40},
		{[]Payment{{To: common.Address{8}, Bps: 40}}, nil, 0, FeeNone, 0},
		{[]Payment{{To: common.Address{7}, Bps: 39}}, nil, 0, FeeClaimed, 39},
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

// TestToldMinimum checks that the quote's own minimum is reported if the effects enforce
// another one, or if they enforce none and it is not the accepted minimum.
func TestToldMinimum(t *testing.T) {
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
			t.Errorf("told %d of %v: %q, want %q", c.told, c.plan.lastEffect().Kind, got, c.want)
		}
	}
	if n := (Review{Terms: terms, Plan: enforcing}).QuotedMinimum(); n != nil {
		t.Errorf("told nothing: %s", n)
	}
}
