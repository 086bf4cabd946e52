package intentsim_test

import (
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

// A pair is a swap between chains, or on one; "" is the native coin.
type pair struct {
	name     string
	from, to uint64
	in, out  string
	amount   *big.Int
	route    string
}

var pairs = []pair{
	{"token to token", 8453, 42161, "USDC", "USDC", sandboxtest.Units(25, 6), "Hyperstream"},
	{"native to native", 8453, 1, "", "", sandboxtest.Units(1, 17), "Across"},
	{"native to token", 1, 8453, "", "USDC", sandboxtest.Units(1, 17), "DeBridge"},
	{"token to native", 42161, 8453, "USDC", "", sandboxtest.Units(50, 6), "Hyperstream"},
	{"a token without return values", 1, 42161, "USDT", "USDC", sandboxtest.Units(50, 6), "Hyperstream"},
	{"to a token without return values", 42161, 1, "USDC", "USDT", sandboxtest.Units(50, 6), "Across"},
	{"on one chain", 8453, 8453, "USDC", "DAI", sandboxtest.Units(50, 6), "Hyperstream"},
}

func (p pair) request(t *testing.T, s *sandbox.Sandbox) fields {
	return quoteRequest(s, p.from, token(t, s, p.from, p.in), p.to, token(t, s, p.to, p.out), p.amount, fields{"referrer": receiver.Hex(), "referrerFeeBps": 40})
}

func gained(t *testing.T, s *sandbox.Sandbox, chain uint64, of, coin common.Address, during func()) *big.Int {
	t.Helper()
	before := sandboxtest.Balance(t, s.Chain(chain), of, coin)
	during()
	return new(big.Int).Sub(sandboxtest.Balance(t, s.Chain(chain), of, coin), before)
}

func TestFilledAsQuoted(t *testing.T) {
	s := shared(t)
	for _, reserve := range []bool{false, true} {
		for _, p := range pairs {
			name := p.name
			if reserve {
				name += ", out of the contract"
			}
			t.Run(name, func(t *testing.T) {
				set(t, s, func(c *intentsim.Settings) { c.Outcome.Reserve = reserve })
				contract, input := s.Chain(p.from).Network.IntentDeposit(), token(t, s, p.from, p.in)
				if p.route == "Across" {
					if contract = s.Chain(p.from).Network.SpokePool(); p.in == "" {
						input = s.Chain(p.from).Network.Wrapped.Address // the pool wraps it
					}
				}
				var o order
				var quoted string
				paid := gained(t, s, p.from, contract, input, func() {
					got := gained(t, s, p.to, elsewhere, token(t, s, p.to, p.out), func() {
						id, q, _ := swap(t, s, p.request(t, s), p.route)
						o, quoted = awaitStatus(t, s, id, "filled"), q.route(t, p.route).Quote.AmountOut
					})
					if got.String() != quoted {
						t.Errorf("the recipient got %s, the quote said %s", got, quoted)
					}
				})
				if paid.Cmp(p.amount) != 0 {
					t.Errorf("%s were deposited, not %s", paid, p.amount)
				}
				fill := o.Transactions["fill"]
				receipt, err := s.Chain(p.to).Client().TransactionReceipt(t.Context(), fill.TxHash)
				if err != nil || receipt.Status != types.ReceiptStatusSuccessful || fill.ChainID != p.to || fill.Amount != quoted {
					t.Errorf("fill %+v: %v", fill, err)
				}
				if !slices.Equal(o.StepsCompleted, []string{"created", "deposited", "published", "filled"}) {
					t.Errorf("steps %v", o.StepsCompleted)
				}
			})
		}
	}
}

// TestPaidByAStranger checks that another account than the solver's can pay in full.
func TestPaidByAStranger(t *testing.T) {
	s := shared(t)
	for _, p := range pairs[:2] {
		t.Run(p.name, func(t *testing.T) {
			set(t, s, func(c *intentsim.Settings) { c.Outcome.Stranger = true })
			var o order
			got := gained(t, s, p.to, elsewhere, token(t, s, p.to, p.out), func() {
				id, _, _ := swap(t, s, p.request(t, s), p.route)
				o = awaitStatus(t, s, id, "filled")
			})
			fill := o.Transactions["fill"]
			if got.String() != fill.Amount {
				t.Errorf("the recipient got %s, the API says %s", got, fill.Amount)
			}
			client := s.Chain(p.to).Client()
			tx, _, err := client.TransactionByHash(t.Context(), fill.TxHash)
			if err != nil {
				t.Fatal(err)
			}
			if from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx); err != nil || from != s.Services()["intentStranger"].Address {
				t.Errorf("paid by %s, %v", from, err)
			}
		})
	}
}

func TestRefunded(t *testing.T) {
	s := shared(t)
	for _, p := range []pair{pairs[0], {"native", 8453, 42161, "", "USDC", sandboxtest.Units(1, 17), "Across"}} {
		for _, bips := range []int64{0, 9_000} {
			t.Run(p.name, func(t *testing.T) {
				set(t, s, func(c *intentsim.Settings) { c.Outcomes = []intentsim.Outcome{{Ending: "refund", PayBips: bips}} })
				want := p.amount
				if bips != 0 {
					want = new(big.Int).Div(new(big.Int).Mul(p.amount, big.NewInt(bips)), big.NewInt(10_000))
				}
				body := p.request(t, s)
				body["refundTo"] = elsewhere.Hex()
				var o order
				got := gained(t, s, p.from, elsewhere, token(t, s, p.from, p.in), func() {
					id, _, _ := swap(t, s, body, p.route)
					o = awaitStatus(t, s, id, "refunded")
				})
				if got.Cmp(want) != 0 {
					t.Errorf("%s came back of %s", got, want)
				}
				if refund := o.Transactions["refund"]; refund.ChainID != p.from || refund.Amount != p.amount.String() || !slices.Equal(o.StepsCompleted, []string{"created"}) {
					t.Errorf("refund %+v after %v", refund, o.StepsCompleted)
				}
				if _, filled := o.Transactions["fill"]; filled {
					t.Error("it was filled as well")
				}
			})
		}
	}
}

// TestEndings checks what the API says, whom the solver pays and which transaction is
// shown.
func TestEndings(t *testing.T) {
	s := shared(t)
	p := pairs[0]
	usdc := map[uint64]common.Address{8453: token(t, s, 8453, "USDC"), 42161: token(t, s, 42161, "USDC")}
	cases := []struct {
		ending        string
		says          string
		pays, refunds bool
		shows         string
		real          bool // whether it is a transaction on the destination chain
	}{
		{"fill", "filled", true, false, "fill", true},
		{"fill_unnamed", "filled", true, false, "", false},
		{"fail", "failed", false, false, "", false},
		{"fail_refund", "failed", false, true, "", false},
		{"fail_fill", "failed", true, false, "", false},
		{"never", "published", false, false, "", false},
		{"claim", "filled", false, false, "fill", false},
		{"claim_refund", "refunded", false, false, "refund", false},
		{"borrow", "filled", false, false, "fill", true},
	}
	for _, tc := range cases {
		t.Run(tc.ending, func(t *testing.T) {
			set(t, s, func(c *intentsim.Settings) { c.Outcomes = []intentsim.Outcome{{Ending: tc.ending}} })
			body := p.request(t, s)
			body["refundTo"] = elsewhere.Hex()
			var o order
			var back *big.Int
			got := gained(t, s, p.to, elsewhere, usdc[p.to], func() {
				back = gained(t, s, p.from, elsewhere, usdc[p.from], func() {
					id, _, _ := swap(t, s, body, p.route)
					over(t, s)
					o = awaitStatus(t, s, id, tc.says)
				})
			})
			if paid := got.Sign() > 0; paid != tc.pays {
				t.Errorf("the recipient got %s", got)
			}
			if refunded := back.Sign() > 0; refunded != tc.refunds {
				t.Errorf("%s came back", back)
			}
			for _, kind := range []string{"fill", "refund"} {
				shown, is := o.Transactions[kind]
				if is != (kind == tc.shows) {
					t.Errorf("%s: %+v", kind, shown)
				}
				if _, err := s.Chain(p.to).Client().TransactionReceipt(t.Context(), shown.TxHash); is && (err == nil) != tc.real {
					t.Errorf("%s is a transaction: %v", kind, err == nil)
				}
			}
		})
	}
}

func TestShortAndLate(t *testing.T) {
	s := shared(t)
	p := pairs[0]
	set(t, s, func(c *intentsim.Settings) {
		c.Outcomes = []intentsim.Outcome{{PayBips: 5_000, LateSeconds: 3600}}
	})
	usdc := token(t, s, p.to, "USDC")
	var o order
	var q quotesReply
	got := gained(t, s, p.to, elsewhere, usdc, func() {
		var id string
		id, q, _ = swap(t, s, p.request(t, s), p.route)
		awaitStatus(t, s, id, "published")
		time.Sleep(100 * time.Millisecond) // time for something that must not happen
		awaitStatus(t, s, id, "published")
		set(t, s, func(c *intentsim.Settings) { c.ClockSeconds = 3601 })
		o = awaitStatus(t, s, id, "filled")
	})
	quoted, _ := new(big.Int).SetString(q.route(t, p.route).Quote.AmountOut, 10)
	if half := new(big.Int).Div(quoted, big.NewInt(2)); got.Cmp(half) != 0 {
		t.Errorf("got %s, want %s", got, half)
	}
	if o.Transactions["fill"].Amount != quoted.String() {
		t.Errorf("it says %s", o.Transactions["fill"].Amount)
	}
}

// TestAcross checks that deposits and fills of Across's route name each other: the fill's event
// has the id of the deposit's, also if it pays less, or the deposit was never submitted.
func TestAcross(t *testing.T) {
	s := start(t, 8453, 42161)
	p := pair{"token to coin", 8453, 42161, "USDC", "", sandboxtest.Units(50, 6), "Across"}
	for _, bips := range []int64{0, 9_000} {
		for _, submit := range []bool{true, false} {
			set(t, s, func(c *intentsim.Settings) { c.Outcome.PayBips, c.Indexing = bips, !submit })
			q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", p.request(t, s))
			want, _ := new(big.Int).SetString(q.route(t, p.route).Quote.AmountOut, 10)
			if bips > 0 {
				want.Div(want.Mul(want, big.NewInt(bips)), big.NewInt(10_000))
			}
			var deposit *types.Receipt
			var paid common.Hash
			got := gained(t, s, p.to, elsewhere, common.Address{}, func() {
				deposit = execute(t, s, p.from, mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil)))
				if submit {
					mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, deposit.TxHash))
				}
				await.Until(t, 20*time.Second, "the fill", func() bool {
					for _, o := range s.Intent().Orders() {
						if o.QuoteID == q.QuoteID && o.Over {
							paid = o.Payment
						}
					}
					return paid != common.Hash{}
				})
			})
			if got.Cmp(want) != 0 {
				t.Errorf("%s arrived, want %s", got, want)
			}
			fill, err := s.Chain(p.to).Client().TransactionReceipt(t.Context(), paid)
			if err != nil {
				t.Fatal(err)
			}
			made, filled := deposit.Logs[len(deposit.Logs)-1], fill.Logs[0]
			if made.Address != s.Chain(p.from).Network.SpokePool() || filled.Address != s.Chain(p.to).Network.SpokePool() || len(made.Topics) != 4 || len(filled.Topics) != 4 || made.Topics[2] != filled.Topics[2] {
				t.Errorf("made %+v, filled %+v", made, filled)
			}
		}
	}
}

// TestDepositIsVerified checks that a reverted or wrong deposit fails the order, and that
// a missing one keeps it waiting.
func TestDepositIsVerified(t *testing.T) {
	s := start(t, 8453, 42161)
	p := pairs[0]
	usdc := token(t, s, p.from, "USDC")
	request := p.request(t, s)

	t.Run("reverted", func(t *testing.T) {
		q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", request)
		plan := mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil))
		plan.Approvals = plan.Approvals[len(plan.Approvals)-1:] // without the approval
		receipt := execute(t, s, p.from, plan)
		if receipt.Status != types.ReceiptStatusFailed {
			t.Fatal("a deposit without allowance went through")
		}
		id := mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, receipt.TxHash)).OrderID
		awaitStatus(t, s, id, "failed")
	})
	t.Run("another transaction", func(t *testing.T) {
		q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", request)
		receipt := transact(t, s, p.from, transaction{From: s.Accounts()[0].Address, To: usdc})
		id := mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, receipt.TxHash)).OrderID
		awaitStatus(t, s, id, "failed")
	})
	t.Run("unknown", func(t *testing.T) {
		q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", request)
		id := mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, p.route, common.Hash{1})).OrderID
		time.Sleep(150 * time.Millisecond) // time for something that must not happen
		if o := awaitStatus(t, s, id, "created"); len(o.Transactions) != 0 {
			t.Errorf("transactions %v", o.Transactions)
		}
	})
	t.Run("after its time", func(t *testing.T) {
		q := mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", request)
		plan := mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, p.route, nil))
		if err := s.Chain(p.from).Shift(time.Hour); err != nil {
			t.Fatal(err)
		}
		if receipt := execute(t, s, p.from, plan); receipt.Status != types.ReceiptStatusFailed {
			t.Error("a deposit after validBefore went through")
		}
	})
}

// TestAbandonedDeposit checks that an order waits for its deposit again after a
// reorganisation has dropped it.
func TestAbandonedDeposit(t *testing.T) {
	s := start(t, 8453, 42161)
	p := pairs[0]
	set(t, s, func(c *intentsim.Settings) { c.Outcome.LateSeconds = 3600 })
	id, _, deposit := swap(t, s, p.request(t, s), p.route)
	awaitStatus(t, s, id, "published")
	since := new(big.Int).Sub(s.Chain(p.from).Head().Number, deposit.BlockNumber)
	if err := s.Chain(p.from).Reorg(int(since.Int64())+1, true); err != nil {
		t.Fatal(err)
	}
	got := gained(t, s, p.to, elsewhere, token(t, s, p.to, "USDC"), func() {
		set(t, s, func(c *intentsim.Settings) { c.ClockSeconds = 3700 })
		awaitStatus(t, s, id, "created")
	})
	if got.Sign() != 0 {
		t.Errorf("%s were paid without a deposit", got)
	}
}

// TestForgottenPayment checks that a payment dropped by the chain is sent again and
// arrives once.
func TestForgottenPayment(t *testing.T) {
	s := start(t, 8453, 42161)
	p := pairs[0]
	s.Chain(p.to).Pause()
	id, q, _ := swap(t, s, p.request(t, s), p.route)
	paid(t, s, p.to)
	s.Chain(p.to).DropPending()
	got := gained(t, s, p.to, elsewhere, token(t, s, p.to, "USDC"), func() {
		paid(t, s, p.to)
		s.Chain(p.to).Resume()
		if err := s.Chain(p.to).Mine(1); err != nil {
			t.Fatal(err)
		}
		awaitStatus(t, s, id, "filled")
		if err := s.Chain(p.to).Mine(3); err != nil {
			t.Fatal(err)
		}
	})
	if quoted := q.route(t, p.route).Quote.AmountOut; got.String() != quoted {
		t.Errorf("paid %s, want %s", got, quoted)
	}
}

// paid waits until the chain knows the payment of the first order.
func paid(t *testing.T, s *sandbox.Sandbox, chain uint64) {
	t.Helper()
	await.Until(t, 20*time.Second, "the solver's payment", func() bool {
		_, _, err := s.Chain(chain).Client().TransactionByHash(t.Context(), s.Intent().Orders()[0].Payment)
		return err == nil
	})
}
