package intent_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/providers/intent"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
	"golang.org/x/time/rate"
)

// A walletFixture is the wallet's side of a swap: package swap's own service and engine, a real
// journal, real chains, and the provider with a simulator that was written independently of
// it and really pays.
type walletFixture struct {
	t       *testing.T
	s       *sandbox.Sandbox
	key     *ecdsa.PrivateKey
	who     common.Address
	hub     *chain.MultiClient
	db      *bolt.DB
	service *engine.Service
	stop    context.CancelFunc
	vault   providertest.IsolatedVault

	mu     sync.Mutex
	logged []string
}

// TestSandbox runs deposits and orders to every outcome: fills, refunds, failures and lies,
// lost replies and a sped-up deposit.
func TestSandbox(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{10, 143, 8453, 42161}, Period: -1, Instant: true})
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	c := &walletFixture{t: t, s: s, key: key, who: crypto.PubkeyToAddress(key.PublicKey)}
	var endpoints []chain.Endpoint
	for _, ch := range s.Chains() {
		id := ch.Network.ID
		endpoints = append(endpoints, chain.Endpoint{Chain: id, URLs: ch.RPCs(), Depth: 1})
		for _, token := range []common.Address{native, symbol(t, ch, "USDC")} {
			if err := ch.Fund(t.Context(), c.who, token, new(big.Int).Mul(big.NewInt(1e10), big.NewInt(map[bool]int64{true: 1e9, false: 1}[token == native]))); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c.hub, err = chain.NewMultiClient(endpoints, chain.Options{Sandbox: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.hub.Close)
	if c.db, err = bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.halt(); _ = c.db.Close() })
	// Chains that mine on request run ahead of the clock, more so when busy. The
	// destination is shifted ahead: a payment that is older than the deposit proves
	// nothing.
	if err := s.Chain(42161).Shift(time.Hour); err != nil {
		t.Fatal(err)
	}
	c.start()
	t.Run("endings", c.endings)
	t.Run("accidents", c.accidents)
	t.Run("speed-up", c.spedUp)
	t.Run("fees", c.fees)
	t.Run("hostile", c.hostile)
}

func symbol(t *testing.T, c *sandbox.Chain, name string) common.Address {
	t.Helper()
	for _, token := range c.Network.Tokens {
		if token.Symbol == name {
			return token.Address
		}
	}
	t.Fatalf("chain %d has no %s", c.Network.ID, name)
	return common.Address{}
}

func (c *walletFixture) SignTx(_ context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	if from == c.who {
		return types.SignTx(tx, types.LatestSignerForChainID(id), c.key)
	}
	key, err := c.vault.KeyOf(from)
	if err != nil {
		return nil, err
	}
	return types.SignTx(tx, types.LatestSignerForChainID(id), key)
}

func (c *walletFixture) SignTypedData(context.Context, common.Address, apitypes.TypedData) ([]byte, error) {
	return nil, errors.New("an intent needs no signed message")
}

// Seal is a plain hash: nobody alters the orders in this test.
func (c *walletFixture) Seal(_ common.Address, message []byte) ([32]byte, error) {
	return sha256.Sum256(message), nil
}

// onList: these tests are not about which tokens the wallet knows.
func onList(context.Context, uint64, common.Address) swap.Recognition {
	return swap.Recognition{Listed: true}
}

// Out uses the initial prices of the sandbox.
func (c *walletFixture) Out(_ context.Context, src uint64, in common.Address, dst uint64, out common.Address, amount *big.Int) (*big.Int, error) {
	price := func(id uint64, of common.Address) (*big.Int, uint8) {
		n := c.s.Chain(id).Network
		for _, t := range append(n.Tokens, n.Wrapped) {
			if t.Address == of || of == native && t.Address == n.Wrapped.Address {
				return big.NewInt(t.MicroUSD), t.Decimals
			}
		}
		return nil, 0
	}
	from, few := price(src, in)
	to, many := price(dst, out)
	if from == nil || to == nil {
		return nil, errors.New("no price")
	}
	tens := func(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	num := from.Mul(from, amount)
	return num.Mul(num, tens(many)).Div(num, to.Mul(to, tens(few))), nil
}

func (c *walletFixture) Worth(ctx context.Context, id uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	return c.Out(ctx, id, token, id, common.Address{}, amount)
}

// start creates a service, as a start of the daemon does.
func (c *walletFixture) start() {
	c.t.Helper()
	p, err := intent.New(intent.Config{Base: c.s.BaseURL("intent"), Sandbox: true, Limits: rest.Limits{Rate: rate.Inf, Attempt: time.Second, Backoff: time.Millisecond, Failures: 1000}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(p.Close)
	fees := swap.DefaultFees()
	fees.Partner.Receiver = feeReceiver
	journal, err := journal.Open(c.db)
	if err != nil {
		c.t.Fatal(err)
	}
	sender, err := chain.NewSender(c.db, c.hub, c, chain.SenderOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.service, err = engine.NewService(engine.Options{
		Journal: journal, Providers: map[swap.Kind]swap.Provider{swap.Intent: p}, Nodes: c.hub, Sender: sender, Signer: c, Sealer: c, Isolated: &c.vault, Pricer: c, Recognize: onList,
		Confirmer: engine.ByCall{}, Fees: fees, Unlocked: func() bool { return true }, IsLocked: func(error) bool { return false },
		OpenOrders: 100, Now: time.Now, Pause: func(time.Duration) time.Duration { return 20 * time.Millisecond },
		Log: func(o swap.Order, err error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.logged = append(c.logged, o.ID+": "+err.Error())
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	if err := c.service.Resume(ctx); err != nil {
		c.t.Fatal(err)
	}
}

// halt stops the engine wherever it is, as an end of the daemon does.
func (c *walletFixture) halt() {
	c.stop()
	c.service.Wait()
}

// set changes the simulator's settings, starting from fast ones.
func (c *walletFixture) set(t *testing.T, change func(*intentsim.Settings)) {
	t.Helper()
	settings := intentsim.DefaultSettings()
	settings.PacePercent = 0
	if change != nil {
		change(&settings)
	}
	if err := c.s.Intent().Set(settings); err != nil {
		t.Fatal(err)
	}
}

// A trade is a swap to be made.
type trade struct {
	src     uint64
	in      common.Address
	amount  string
	dst     uint64
	out     common.Address
	routing string // of the offer to take; "" = the first
}

func (c *walletFixture) prepare(t *testing.T, x trade) (swap.Review, error) {
	t.Helper()
	r := request(x.src, x.in, x.amount, x.dst, x.out, 0)
	r.Account, r.Recipient, r.RefundTo = c.who, c.who, c.who
	reported := map[string]bool{}
	got, err := c.service.Quote(t.Context(), r, []swap.Kind{swap.Intent}, func(q plan.QuoteUpdate) {
		for _, o := range q.Offers {
			reported[o.ID] = true
		}
	})
	if err != nil {
		return swap.Review{}, err
	}
	at := max(0, slices.IndexFunc(got.Offers, func(o swap.Offer) bool { return o.Routing == x.routing }))
	if !reported[got.Offers[at].ID] {
		t.Error("an offer was not reported")
	}
	return c.service.Prepare(t.Context(), got.Offers[at].ID)
}

// accept prepares a trade and consents to it, with all acknowledgements.
func (c *walletFixture) accept(t *testing.T, x trade) swap.Order {
	t.Helper()
	review, err := c.prepare(t, x)
	if err != nil {
		t.Fatal(err)
	}
	var acts []string
	for _, f := range review.Findings {
		if f.Severity == swap.Acknowledge {
			acts = append(acts, f.Code)
		}
	}
	o, err := c.service.Execute(t.Context(), engine.ExecuteRequest{Request: uuid.NewString(), Digest: review.Digest, Acknowledge: acts, Caller: engine.Caller{Session: "s", Password: true, Present: func() bool { return true }}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// until waits for the order to satisfy ok.
func (c *walletFixture) until(t *testing.T, id, what string, ok func(swap.Order) bool) (o swap.Order) {
	t.Helper()
	if await.Holds(time.Minute, func() bool {
		var err error
		if o, _, err = c.service.Order(id); err != nil {
			t.Fatal(err)
		}
		if !ok(o) && o.State.Final() {
			t.Fatalf("order ended %s (%s, %+v) before it was %s", o.State, o.Reason, o.Verdict, what)
		}
		return ok(o)
	}) {
		return o
	}
	o, lines, _ := c.service.Order(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Fatalf("never %s: %s %q %s, claim %+v\n%+v\n%s", what, o.State, o.Condition, o.Reason, o.Claim, lines, strings.Join(c.logged[max(0, len(c.logged)-10):], "\n"))
	return o
}

func (c *walletFixture) final(t *testing.T, id string, want swap.State) swap.Order {
	t.Helper()
	return c.until(t, id, string(want), func(o swap.Order) bool { return o.State == want && o.Verdict != nil })
}

// paid waits until an order is likely paid: nothing links a payment to it.
func (c *walletFixture) paid(t *testing.T, id string) swap.Order {
	t.Helper()
	return c.until(t, id, string(swap.LikelyPaid), func(o swap.Order) bool { return o.Condition == swap.LikelyPaid })
}

// deposited checks that exactly the input left in one deposit and no allowance remains. It
// returns the provider's order.
func (c *walletFixture) deposited(t *testing.T, o swap.Order) intentsim.Order {
	t.Helper()
	last := len(o.Plan.Steps) - 1
	if o.Plan.Steps[last].Effect.Kind != swap.Opaque || len(o.Results) != last+1 {
		t.Fatalf("%d results of %d steps", len(o.Results), last+1)
	}
	var mine []intentsim.Order
	for _, x := range c.s.Intent().Orders() {
		if x.Deposit == o.Results[last].Tx {
			mine = append(mine, x)
		}
	}
	if len(mine) != 1 {
		t.Fatalf("the provider has %d orders of the deposit %s: %+v", len(mine), o.Results[last].Tx, c.s.Intent().Orders())
	}
	if o.Terms.TokenIn != native {
		left, err := c.hub.Allowance(t.Context(), o.Terms.SrcChain, o.Terms.TokenIn, o.Terms.From(), o.Plan.Spender)
		if err != nil || left.Sign() != 0 {
			t.Errorf("an allowance of %s is left: %v", left, err)
		}
	}
	return mine[0]
}

func (c *walletFixture) balance(t *testing.T, id uint64, token common.Address) *big.Int {
	t.Helper()
	n, err := c.hub.Balance(t.Context(), id, c.who, token)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var (
	bridgedUSDC = trade{8453, usdcBase, "25000000", 42161, usdcArbitrum, ""}
	bridgedETH  = trade{8453, native, "10000000000000000", 42161, native, ""}
)

func wethOf(t *testing.T, c *walletFixture, id uint64) common.Address {
	t.Helper()
	return c.s.Chain(id).Network.Wrapped.Address
}

// endings: the verdict follows what the solver does, whatever the API says.
func (c *walletFixture) endings(t *testing.T) {
	stays := trade{8453, usdcBase, "30000000", 8453, wethOf(t, c, 8453), ""}
	for _, x := range []struct {
		name string
		trade
		outcome   intentsim.Outcome
		end       swap.State // "" = none
		by        string
		condition swap.Condition
		short     bool
	}{
		{"a token across", bridgedUSDC, intentsim.Outcome{}, "", "", swap.LikelyPaid, false},
		{"the coin across", bridgedETH, intentsim.Outcome{}, "", "", swap.LikelyPaid, false},
		{"on one chain", stays, intentsim.Outcome{}, "", "", swap.LikelyPaid, false},
		{"from a network without built-in contracts", trade{10, usdcOptimism, "27000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{}, "", "", swap.LikelyPaid, false},
		{"the coin from such a network", trade{143, native, "1000000000000000000", 42161, native, ""}, intentsim.Outcome{}, "", "", swap.LikelyPaid, false},
		{"by Across", trade{10, usdcOptimism, "27400000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{}, swap.Filled, "arrival", "", false},
		{"by Across, unnamed", trade{10, usdcOptimism, "27410000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "fill_unnamed"}, swap.Filled, "arrival", "", false},
		{"by Across, from a stranger", trade{10, usdcOptimism, "27420000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Stranger: true}, swap.Filled, "arrival", "", false},
		{"by Across, slowly", trade{10, usdcOptimism, "27430000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{PayBips: 9000}, swap.Filled, "arrival", "", true},
		{"by Across, called failed", trade{10, usdcOptimism, "27440000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "fail_fill"}, swap.Filled, "arrival", "", false},
		{"by Across, the coin", trade{143, native, "1100000000000000000", 42161, native, "Across"}, intentsim.Outcome{}, swap.Filled, "arrival", "", false},
		{"by Across, the coin, unnamed", trade{10, native, "20000000000000000", 42161, native, "Across"}, intentsim.Outcome{Ending: "fill_unnamed"}, swap.Filled, "arrival", "", false},
		{"by Across, refunded", trade{10, usdcOptimism, "27450000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "refund"}, "", "", swap.PaymentSeen, false},
		{"by Across, failed", trade{10, usdcOptimism, "27460000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "fail"}, "", "", swap.AwaitingRefund, false},
		{"by Across, reported as filled", trade{10, usdcOptimism, "27470000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "claim"}, "", "", swap.AwaitingProof, false},
		{"by Across, with another's fill", trade{10, usdcOptimism, "27410000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Ending: "borrow"}, "", "", swap.AwaitingProof, false},
		{"by Across, paid plainly", trade{10, usdcOptimism, "27480000", 42161, usdcArbitrum, "Across"}, intentsim.Outcome{Reserve: true}, "", "", swap.LikelyPaid, false},
		{"refunded there", trade{10, usdcOptimism, "27200000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "refund"}, "", "", swap.PaymentSeen, false},
		{"refunded there, by the contract itself", trade{10, usdcOptimism, "27300000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "refund", Reserve: true}, "", "", swap.PaymentSeen, false},
		{"by a contract", trade{8453, usdcBase, "27500000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Reserve: true}, "", "", swap.LikelyPaid, false},
		{"without the transaction", trade{8453, usdcBase, "28000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "fill_unnamed"}, "", "", swap.PaymentSeen, false},
		{"short", trade{8453, usdcBase, "29000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{PayBips: 9000}, "", "", swap.AwaitingProof, false},
		{"a token refunded", trade{8453, usdcBase, "31000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "refund"}, "", "", swap.PaymentSeen, false},
		{"by the contract itself", trade{8453, usdcBase, "32000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "refund", Reserve: true}, swap.Refunded, "refund", "", false},
		{"the coin refunded", trade{8453, native, "20000000000000000", 42161, native, ""}, intentsim.Outcome{Ending: "refund"}, "", "", swap.PaymentSeen, false},
		{"failed, and refunded", trade{8453, usdcBase, "33000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "fail_refund"}, "", "", swap.AwaitingRefund, false},
		{"reported as failed", trade{8453, usdcBase, "34000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "fail_fill"}, "", "", swap.AwaitingRefund, false},
		{"failed", trade{8453, usdcBase, "35000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "fail"}, "", "", swap.AwaitingRefund, false},
		{"reported as filled", trade{8453, usdcBase, "36000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "claim"}, "", "", swap.AwaitingProof, false},
		{"reported as refunded", trade{8453, usdcBase, "37000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "claim_refund"}, "", "", swap.AwaitingProof, false},
		{"filled by another's fill", trade{8453, usdcBase, "20000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Ending: "borrow"}, "", "", swap.PaymentSeen, false},
		{"paid from another account", trade{8453, usdcBase, "38000000", 42161, usdcArbitrum, ""}, intentsim.Outcome{Stranger: true}, "", "", swap.LikelyPaid, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			c.set(t, func(s *intentsim.Settings) { s.Outcome = x.outcome })
			in, out := c.balance(t, x.src, x.in), c.balance(t, x.dst, x.out)
			id := c.accept(t, x.trade).ID
			if x.end == "" {
				o := c.until(t, id, string(x.condition), func(o swap.Order) bool { return o.Condition == x.condition })
				if o.Verdict != nil {
					t.Errorf("a verdict %+v", o.Verdict)
				}
				at := c.deposited(t, o)
				c.isolated(t, o)
				if x.condition == swap.LikelyPaid && (o.Candidate == nil || o.Candidate.Tx != at.Payment || o.Candidate.Amount.Cmp(o.Terms.MinOut) < 0) {
					t.Errorf("seen %+v, paid in %s", o.Candidate, at.Payment)
				}
				return
			}
			o := c.final(t, id, x.end)
			at := c.deposited(t, o)
			c.isolated(t, o)
			if v := o.Verdict; v.ProvenBy != x.by || v.BelowMinimum != x.short || v.Evidence.Tx != at.Payment || at.Payment == (common.Hash{}) {
				t.Errorf("verdict %+v, paid in %s", v, at.Payment)
			}
			spent, got := new(big.Int).Sub(in, c.balance(t, x.src, x.in)), new(big.Int).Sub(c.balance(t, x.dst, x.out), out)
			minimum := o.Terms.MinOut
			if x.short {
				minimum = big.NewInt(1)
			}
			switch {
			case x.end == swap.Refunded && (x.in != native && spent.Sign() != 0 || got.Sign() != 0):
				t.Errorf("refunded: %s left, %s arrived", spent, got)
			case x.end == swap.Filled && (x.in != native && spent.Cmp(o.Terms.AmountIn) != 0 || got.Cmp(minimum) < 0):
				t.Errorf("filled: %s left, %s arrived, at least %s was promised", spent, got, minimum)
			}
		})
	}
}

// accidents: whatever goes wrong during submission, the provider ends up with one order,
// for the mined deposit.
func (c *walletFixture) accidents(t *testing.T) {
	const submit = "/v1/deposit/submit"
	fault := func(rule inject.Rule) func(*testing.T) {
		return func(t *testing.T) {
			rule.Target = submit
			if _, err := c.s.Faults("intent").Add(rule); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.s.Faults("intent").Reset)
		}
	}
	with := func(change func(*intentsim.Settings)) func(*testing.T) {
		return func(t *testing.T) { c.set(t, change) }
	}
	for i, x := range []struct {
		name string
		by   func(*testing.T)
	}{
		{"an answer is lost", fault(inject.Rule{Kind: "drop", Times: 1})},
		{"every answer of a call is lost", fault(inject.Rule{Kind: "drop", Times: 3})},
		{"the service is down", fault(inject.Rule{Kind: "http", Times: 4})},
		{"it answers about another deposit", fault(inject.Rule{Kind: "lie", Times: 1, Pointer: "/txHash", Value: []byte(`"` + fillTx.Hex() + `"`)})},
		{"the quote is lost", with(func(s *intentsim.Settings) { s.LoseQuotes, s.Indexing = 1, true })},
		{"another hash is in the place", with(func(s *intentsim.Settings) { s.Conflicts, s.Indexing = 1, true })},
		{"it claims that the record exists", with(func(s *intentsim.Settings) {
			s.Errors = intentsim.List[intentsim.Error]{{Path: submit, Name: "DuplicateRecordException", Times: 1}}
		})},
	} {
		t.Run(x.name, func(t *testing.T) {
			c.set(t, nil)
			x.by(t)
			b := bridgedUSDC
			b.amount = fmt.Sprint(41_000_000 + 1_000_000*i)
			o := c.paid(t, c.accept(t, b).ID)
			c.deposited(t, o)
			if !o.Submission.Accepted {
				t.Errorf("submission = %+v, want accepted", o.Submission)
			}
		})
	}
	t.Run("the daemon ends while it is told", func(t *testing.T) {
		c.set(t, nil)
		fault(inject.Rule{Kind: "stall"})(t)
		b := bridgedUSDC
		b.amount = "60000000"
		id := c.accept(t, b).ID
		c.until(t, id, "telling", func(o swap.Order) bool { return o.Submission != nil })
		c.halt()
		c.s.Faults("intent").Reset()
		c.start()
		o := c.paid(t, id)
		c.deposited(t, o)
	})
}

// spedUp: the deposit is replaced with a higher fee between its broadcast and its
// registration. The provider is told of the mined transaction.
func (c *walletFixture) spedUp(t *testing.T) {
	c.set(t, nil)
	at := c.s.Chain(8453)
	at.Pause()
	t.Cleanup(at.Resume)
	x := bridgedETH
	x.amount = "30000000000000000"
	o := c.accept(t, x)
	o = c.until(t, o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	first := o.CurrentTx
	if _, err := c.service.SpeedUp(t.Context(), engine.SpeedUpRequest{Request: uuid.NewString(), Order: o.ID, Digest: o.Digest, Caller: engine.Caller{Session: "s", Password: true, Present: func() bool { return true }}}); err != nil {
		t.Fatal(err)
	}
	o = c.until(t, o.ID, "sped up", func(o swap.Order) bool { return len(o.Attempts) == 2 && o.Bump == nil })
	if o.Submission != nil {
		t.Error("the provider was told of a deposit that is not mined")
	}
	at.Resume()
	if err := at.Mine(1); err != nil {
		t.Fatal(err)
	}
	o = c.paid(t, o.ID)
	if got := c.deposited(t, o); got.Deposit == first || got.Deposit != o.Results[len(o.Results)-1].Tx {
		t.Errorf("registered %s; the first was %s", got.Deposit, first)
	}
	for _, x := range c.s.Intent().Orders() {
		if x.Deposit == first {
			t.Error("the first transaction was registered too")
		}
	}
}

// fees: a requested fee is in the terms only if the route states that it takes it.
func (c *walletFixture) fees(t *testing.T) {
	c.set(t, nil)
	for says, want := range map[string]swap.FeeBasis{"": swap.FeeRequested, "40": swap.FeeReported, "15": swap.FeeReported, "0": swap.FeeNone} {
		t.Run("of "+says, func(t *testing.T) {
			c.set(t, nil)
			bps := 0
			if says != "" {
				lie := inject.Rule{Kind: "lie", Target: "/v1/quotes", Pointer: "/0/quote/referrerFeeBps", Value: []byte(says)}
				if _, err := c.s.Faults("intent").Add(lie); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.s.Faults("intent").Reset)
				bps, _ = strconv.Atoi(says)
			}
			r, err := c.prepare(t, bridgedUSDC)
			if err != nil {
				t.Fatal(err)
			}
			if r.FeeBasis() != want || r.Terms.FeeBps != bps || (r.Terms.FeeReceiver == feeReceiver) != (bps > 0) {
				t.Errorf("%s of %d bps to %s", r.FeeBasis(), r.Terms.FeeBps, r.Terms.FeeReceiver)
			}
		})
	}
}

// hostile: every plan that the simulator can spoil is refused before anything is signed.
func (c *walletFixture) hostile(t *testing.T) {
	for plan, want := range map[string]swap.Code{
		"wrong_from": swap.NotAsAccepted, "wrong_chain": swap.NotAsAccepted, "switch_elsewhere": swap.NotAsAccepted,
		"unlimited_approve": swap.NotAsAccepted, "stranger_spender": swap.NotAsAccepted, "stranger_contract": swap.NotPinned, "extra_action": swap.Undecodable,
		"foreign_method": swap.Undecodable, "solana": swap.Undecodable, "two_deposits": swap.Undecodable, "no_deposit": swap.Undecodable,
		"deposit_first": swap.Undecodable, "empty": swap.Undecodable,
		// visible only in a simulation
		"greedy": swap.WouldRevert, "modest": swap.NotAsAccepted, "other_token": swap.WouldRevert,
		// unusual but correct
		"hex_chainid": "", "number_chainid": "", "missing_chain_switch": "",
	} {
		for _, x := range []trade{bridgedUSDC, {10, usdcOptimism, "25000000", 42161, usdcArbitrum, ""}} {
			if plan == "stranger_contract" && x.src == 10 {
				want = swap.NotAsAccepted // any contract may be called from there, but the stranger is none
			}
			t.Run(fmt.Sprintf("%s from %d", plan, x.src), func(t *testing.T) {
				c.set(t, func(s *intentsim.Settings) { s.Plan = plan })
				before := len(c.s.Chain(x.src).Transactions())
				_, err := c.prepare(t, x)
				if (err == nil) != (want == "") || err != nil && !errors.Is(err, &swap.Refusal{Code: want}) {
					t.Errorf("want %q, got %v", want, err)
				}
				if after := len(c.s.Chain(x.src).Transactions()); after != before {
					t.Errorf("%d transactions were sent", after-before)
				}
			})
		}
	}
	for name, change := range map[string]func(*intentsim.Settings){
		"a clock that is ahead":  func(s *intentsim.Settings) { s.ClockSeconds = 90 },
		"a clock that is behind": func(s *intentsim.Settings) { s.ClockSeconds = -90 },
	} {
		t.Run(name, func(t *testing.T) {
			c.set(t, change)
			if _, err := c.prepare(t, bridgedUSDC); !errors.Is(err, &swap.Refusal{Code: swap.ClockSkew}) {
				t.Errorf("prepare: error %v, want ClockSkew", err)
			}
		})
	}
	c.set(t, nil)
	for name, x := range map[string]struct {
		trade
		code swap.Code
	}{
		"another filler's route": {trade{8453, usdcBase, "25000000", 42161, usdcArbitrum, "DeBridge"}, swap.UnsupportedRoute},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.prepare(t, x.trade); !errors.Is(err, &swap.Refusal{Code: x.code}) || !strings.Contains(err.Error(), "choose another route") {
				t.Errorf("prepare: error %v, want advice to choose another route", err)
			}
		})
	}
}
