package bridgesim_test

import (
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

var (
	baseDAI  = leg{8453, "DAI"}
	baseUSDT = leg{8453, "USDT"}
	arbDAI   = leg{42161, "DAI"}
)

// TestBridgedOrdersAreFilled checks that the solver pays deposits out on the other chain
// as quoted.
func TestBridgedOrdersAreFilled(t *testing.T) {
	s := start(t)
	other := s.Accounts()[5].Address
	cases := []struct {
		name    string
		in, out leg
		amount  *big.Int
		steps   []string
		more    fields
	}{
		{"token", baseUSDC, arbUSDC, sandboxtest.Units(25, 6), []string{"approve", "deposit"}, nil},
		{"token, allowed already", baseUSDC, arbUSDC, sandboxtest.Units(25, 6), []string{"approve", "deposit"}, nil},
		{"token for another", baseUSDC, arbDAI, sandboxtest.Units(25, 6), []string{"approve", "deposit"}, nil},
		{"native coin", baseETH, arbETH, sandboxtest.Units(1, 16), []string{"deposit"}, nil},
		{"native coin for a token", baseETH, arbUSDC, sandboxtest.Units(1, 17), []string{"deposit"}, nil},
		{"token for the native coin", baseUSDC, arbETH, sandboxtest.Units(50, 6), []string{"approve", "deposit"}, nil},
		{"through a router", baseDAI, arbUSDC, sandboxtest.Units(25, 18), []string{"approve", "deposit"}, nil},
		{"another router, another token", baseUSDT, arbETH, sandboxtest.Units(25, 6), []string{"approve", "deposit"}, nil},
		{"to somebody else", baseUSDC, arbUSDC, sandboxtest.Units(25, 6), []string{"approve", "deposit"}, fields{"recipient": other}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			q := quote(t, s, tc.in, tc.out, tc.amount, tc.more)
			if !slices.Equal(q.ids(), tc.steps) {
				t.Fatalf("steps %v, want %v", q.ids(), tc.steps)
			}
			before := balance(t, s, tc.in, s.Accounts()[0].Address)
			receipt := executeAll(t, s, q)
			if tc.in.symbol != "" {
				if left := new(big.Int).Sub(before, balance(t, s, tc.in, s.Accounts()[0].Address)); left.Cmp(tc.amount) != 0 {
					t.Errorf("%s left, not %s", left, tc.amount)
				}
			}
			now, _ := follow(t, s, q.RequestID, "success")
			if !slices.Equal(now.InTxHashes, []common.Hash{receipt.TxHash}) || len(now.TxHashes) != 1 || now.FailReason != "N/A" {
				t.Fatalf("the filled request is %+v", now)
			}
			to := s.Accounts()[0].Address
			if tc.more != nil {
				to = other
			}
			want, by := number(t, q.Details.CurrencyOut.Amount), service(t, "bridgeSolver")
			if tc.out == arbDAI { // which the solver swaps for
				pairs := s.Chain(42161).Network.Bridge().Pairs
				by = pairs[len(pairs)-1].Router
			}
			payer, payee, amount := paid(t, s, tc.out, now.TxHashes[0])
			if payer != by || payee != to || amount.Cmp(want) != 0 {
				t.Errorf("%s paid %s to %s, want %s to %s", payer, amount, payee, want, to)
			}
		})
	}
}

func service(t testing.TB, name string) common.Address {
	t.Helper()
	all, err := sandbox.Services()
	if err != nil {
		t.Fatal(err)
	}
	return all[name].Address
}

// TestSwapsOnOneChain checks that a swap on one chain is one router transaction that pays
// the quoted amount.
func TestSwapsOnOneChain(t *testing.T) {
	s := start(t)
	me, other := s.Accounts()[0].Address, s.Accounts()[5].Address
	cases := []struct {
		name      string
		in, out   leg
		amount    *big.Int
		steps     []string
		operation string
		router    string
		to        common.Address
	}{
		{"token for a token", baseUSDC, baseDAI, sandboxtest.Units(25, 6), []string{"approve", "swap"}, "swap", "v3.2", me},
		{"by the older pair", baseUSDC, baseDAI, sandboxtest.Units(25, 6), []string{"approve", "swap"}, "swap", "v3", me},
		{"by the oldest pair", baseDAI, baseUSDC, sandboxtest.Units(25, 18), []string{"approve", "swap"}, "swap", "v2", me},
		{"native coin for a token", baseETH, baseUSDC, sandboxtest.Units(1, 17), []string{"swap"}, "swap", "v3.2", me},
		{"token for the native coin", baseUSDC, baseETH, sandboxtest.Units(25, 6), []string{"approve", "swap"}, "swap", "v3.2", other},
		{"a token without return values", leg{1, "USDT"}, leg{1, "DAI"}, sandboxtest.Units(25, 6), []string{"approve", "swap"}, "swap", "v3.2", me},
		{"wrap", baseETH, leg{8453, "WETH"}, sandboxtest.Units(1, 17), []string{"swap"}, "wrap", "v3.2", me},
		{"unwrap", leg{8453, "WETH"}, baseETH, sandboxtest.Units(1, 17), []string{"approve", "swap"}, "unwrap", "v3.2", other},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			set(t, s, func(o *bridgesim.Settings) { o.Router = tc.router })
			q := quote(t, s, tc.in, tc.out, tc.amount, fields{"recipient": tc.to})
			if !slices.Equal(q.ids(), tc.steps) || q.Details.Operation != tc.operation {
				t.Fatalf("%s in steps %v, want %s in %v", q.Details.Operation, q.ids(), tc.operation, tc.steps)
			}
			before := balance(t, s, tc.out, tc.to)
			receipt := executeAll(t, s, q)
			want := number(t, q.Details.CurrencyOut.Amount)
			if got := new(big.Int).Sub(balance(t, s, tc.out, tc.to), before); got.Cmp(want) != 0 {
				t.Errorf("got %s, want %s", got, want)
			}
			now, _ := follow(t, s, q.RequestID, "success")
			if !slices.Equal(now.InTxHashes, []common.Hash{receipt.TxHash}) || !slices.Equal(now.TxHashes, now.InTxHashes) {
				t.Errorf("the filled request is %+v, want one transaction for deposit and fill", now)
			}
		})
	}
}

// TestRouterEnforcesTheMinimum checks that a router never pays less than the call
// demands, which may be less than the quote says.
func TestRouterEnforcesTheMinimum(t *testing.T) {
	s := start(t)
	q := quote(t, s, baseETH, baseUSDC, sandboxtest.Units(1, 17), nil)
	minimum := number(t, q.Details.CurrencyOut.MinimumAmount)
	me := s.Accounts()[0].Address
	if err := s.Bridge().Haircut(t.Context(), 8453, 51); err != nil {
		t.Fatal(err)
	}
	if execute(t, s, q.transaction(t, 0)).Status != 0 {
		t.Error("paid below the minimum")
	}
	if err := s.Bridge().Haircut(t.Context(), 8453, 49); err != nil {
		t.Fatal(err)
	}
	before := balance(t, s, baseUSDC, me)
	executeAll(t, s, q)
	if got := new(big.Int).Sub(balance(t, s, baseUSDC, me), before); got.Cmp(minimum) < 0 {
		t.Errorf("got %s, below %s", got, minimum)
	}
	if err := s.Bridge().Haircut(t.Context(), 8453, 0); err != nil {
		t.Fatal(err)
	}
	set(t, s, func(o *bridgesim.Settings) { o.CallShortBips = 100 })
	q = quote(t, s, baseETH, baseUSDC, sandboxtest.Units(1, 17), nil)
	before = balance(t, s, baseUSDC, me)
	executeAll(t, s, q)
	minimum = number(t, q.Details.CurrencyOut.MinimumAmount)
	if got := new(big.Int).Sub(balance(t, s, baseUSDC, me), before); got.Cmp(minimum) >= 0 {
		t.Errorf("got %s, which is not below %s", got, minimum)
	}
}

// TestSend checks that a plain transfer counts once it is reported.
func TestSend(t *testing.T) {
	s := start(t)
	for _, in := range []leg{baseUSDC, baseETH} {
		amount := map[leg]*big.Int{baseUSDC: sandboxtest.Units(5, 6), baseETH: sandboxtest.Units(1, 17)}[in]
		q := quote(t, s, in, in, amount, fields{"recipient": s.Accounts()[5].Address})
		if !slices.Equal(q.ids(), []string{"send"}) || q.Details.Operation != "send" || q.Details.CurrencyOut.Amount != q.Details.CurrencyOut.MinimumAmount {
			t.Fatalf("the quote is %+v, want one send step without slippage", q)
		}
		receipt := executeAll(t, s, q)
		tx, err := json.Marshal(fields{"txHash": receipt.TxHash})
		if err != nil {
			t.Fatal(err)
		}
		mustAsk[fields](t, s, http.MethodPost, "/transactions/single", fields{"requestId": q.RequestID, "chainId": "8453", "tx": string(tx)})
		follow(t, s, q.RequestID, "success")
	}
	swap := quote(t, s, baseETH, baseUSDC, sandboxtest.Units(1, 17), nil)
	tx := `{"txHash":"` + common.Hash{1}.Hex() + `"}`
	if status, raw := ask(t, s, http.MethodPost, "/transactions/single", fields{"requestId": swap.RequestID, "chainId": 8453, "tx": tx}); status != http.StatusBadRequest {
		t.Errorf("a swap reported as a transfer: %d %s", status, raw)
	}
}

// An ending is the result of an outcome for 25 USDC from Base to Arbitrum.
type ending struct {
	name       string
	outcome    bridgesim.Outcome
	status     string
	at         leg // where the payment arrives
	payer      string
	amount     string // "" = the quoted amount
	failReason string
	states     []string // must be seen in this order
}

func TestEndings(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.PaceMS = 25 })
	far, dai := s.Accounts()[6].Address, baseDAI.address(t, s)
	const solver = "bridgeSolver"
	endings := []ending{
		{"filled", bridgesim.Outcome{Kind: bridgesim.Fill}, "success", arbUSDC, solver, "", "N/A", []string{"pending", "submitted", "success"}},
		{"late", bridgesim.Outcome{Kind: bridgesim.Fill, DelayMS: 300}, "success", arbUSDC, solver, "", "N/A", []string{"pending", "delayed", "submitted", "success"}},
		{"short", bridgesim.Outcome{Kind: bridgesim.Fill, ShortBips: 1000}, "success", arbUSDC, solver, "22369320", "N/A", nil},
		{"paid by somebody else", bridgesim.Outcome{Kind: bridgesim.Fill, Stranger: true}, "success", arbUSDC, "bridgeStranger", "", "N/A", nil},
		{"to somebody else", bridgesim.Outcome{Kind: bridgesim.Fill, To: &far}, "success", arbUSDC, solver, "", "N/A", nil},
		{"paid by a router", bridgesim.Outcome{Kind: bridgesim.Fill, Router: true}, "success", arbUSDC, "", "", "N/A", nil},
		{"refunded", bridgesim.Outcome{Kind: bridgesim.Refund}, "refund", baseUSDC, solver, "25000000", "SLIPPAGE", []string{"pending", "failure", "pending", "refund"}},
		{"refunded for a reason", bridgesim.Outcome{Kind: bridgesim.Refund, FailReason: "NO_QUOTES"}, "refund", baseUSDC, solver, "25000000", "NO_QUOTES", nil},
		{"refunded short", bridgesim.Outcome{Kind: bridgesim.Refund, ShortBips: 100}, "refund", baseUSDC, solver, "24750000", "SLIPPAGE", nil},
		{"refunded in another currency", bridgesim.Outcome{Kind: bridgesim.Refund, Currency: &dai}, "refund", baseDAI, solver, "25000000000000000000", "SLIPPAGE", nil},
		{"failed", bridgesim.Outcome{Kind: bridgesim.Fail, FailReason: "EXECUTION_REVERTED", RefundFailReason: "AMOUNT_TOO_LOW_TO_REFUND"}, "failure", leg{}, "", "", "EXECUTION_REVERTED", nil},
	}
	for _, e := range endings {
		t.Run(e.name, func(t *testing.T) { e.run(t, s, far) })
	}
}

func (e ending) run(t *testing.T, s *sandbox.Sandbox, far common.Address) {
	set(t, s, func(o *bridgesim.Settings) { o.Next = []bridgesim.Outcome{e.outcome} })
	q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
	executeAll(t, s, q)
	now, seen := follow(t, s, q.RequestID, e.status)
	if now.FailReason != e.failReason || (e.outcome.RefundFailReason != "" && now.RefundFailReason != e.outcome.RefundFailReason) {
		t.Errorf("reasons: %+v", now)
	}
	at := 0
	for _, state := range seen {
		if at < len(e.states) && e.states[at] == state {
			at++
		}
	}
	if at < len(e.states) {
		t.Errorf("states %v, want %v", seen, e.states)
	}
	if e.at == (leg{}) {
		if len(now.TxHashes) != 0 {
			t.Errorf("paid: %+v", now)
		}
		return
	}
	payer, payee, amount := paid(t, s, e.at, now.TxHashes[0])
	want := e.amount
	if want == "" {
		want = q.Details.CurrencyOut.Amount
	}
	to := s.Accounts()[0].Address
	if e.outcome.To != nil {
		to = far
	}
	if payee != to || amount.String() != want || (e.payer != "" && payer != service(t, e.payer)) {
		t.Errorf("%s paid %s to %s, want %s", payer, amount, payee, want)
	}
}

// TestFillByARouterIsNotTheSolversTransfer checks that a fill through a router is a
// transfer from the router.
func TestFillByARouterIsNotTheSolversTransfer(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Router = true })
	q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
	executeAll(t, s, q)
	now, _ := follow(t, s, q.RequestID, "success")
	payer, payee, amount := paid(t, s, arbUSDC, now.TxHashes[0])
	if payer != common.HexToAddress("0x0729e2a4716d9f7dd17858d5d504426d228697f7") || payee != s.Accounts()[0].Address || amount.String() != q.Details.CurrencyOut.Amount {
		t.Errorf("%s paid %s to %s", payer, amount, payee)
	}
}

func TestWithoutARefundAddressNothingComesBack(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Refund })
	q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), fields{"refundTo": nil})
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "failure")
	var now status
	if !await.Holds(10*time.Second, func() bool {
		now = statusOf(t, s, q.RequestID)
		return now.Status == "failure" && now.RefundFailReason == "MANUAL_REFUND_REQUIRED"
	}) {
		t.Fatalf("the request is %+v, want a failure that needs a manual refund", now)
	}
}

// TestForcedRefund tests the API's own test hook.
func TestForcedRefund(t *testing.T) {
	s := start(t)
	body := request(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), fields{"referrer": "debug-force-refund"})
	status, raw := ask(t, s, http.MethodPost, "/quote/v2", body)
	var q quoteReply
	if status != http.StatusOK || json.Unmarshal(raw, &q) != nil {
		t.Fatalf("the quote: status %d, %s", status, raw)
	}
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "refund")
}

// TestWrongDepositsAreRefunded checks that deposits that differ from the quote are
// refunded.
func TestWrongDepositsAreRefunded(t *testing.T) {
	s := start(t)
	alter := func(word int, value *big.Int) func(*transaction) {
		return func(tx *transaction) { copy(tx.Data[4+32*word:], common.LeftPadBytes(value.Bytes(), 32)) }
	}
	cases := []struct {
		name, reason string
		alter        func(*transaction)
		more         fields
		wait         time.Duration
		back         string
	}{
		{"less than quoted", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", alter(2, sandboxtest.Units(24, 6)), nil, 0, "24000000"},
		{"another depositor", "UNKNOWN", alter(0, big.NewInt(77)), nil, 0, "25000000"},
		{"too late", "TTL_EXPIRED", func(*transaction) {}, fields{"ttl": 1}, 1100 * time.Millisecond, "25000000"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), tc.more)
			execute(t, s, q.transaction(t, 0))
			tx := q.transaction(t, 1)
			tc.alter(&tx)
			time.Sleep(tc.wait) // the order's lifetime goes by the clock
			execute(t, s, tx)
			now, _ := follow(t, s, q.RequestID, "refund")
			_, payee, amount := paid(t, s, baseUSDC, now.TxHashes[0])
			if now.FailReason != tc.reason || payee != s.Accounts()[0].Address || amount.String() != tc.back {
				t.Errorf("%s: %s back to %s", now.FailReason, amount, payee)
			}
		})
	}
	t.Run("another currency", func(t *testing.T) {
		q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
		tx := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil).transaction(t, 0)
		copy(tx.Data[36:], q.Protocol.V2.OrderID[:])
		execute(t, s, tx)
		if now, _ := follow(t, s, q.RequestID, "refund"); now.FailReason != "ORIGIN_CURRENCY_MISMATCH" {
			t.Errorf("the refunded request is %+v, want ORIGIN_CURRENCY_MISMATCH", now)
		}
	})
}

// TestOutcomeOfOneRequest checks that an order's outcome can be changed while it is in
// progress.
func TestOutcomeOfOneRequest(t *testing.T) {
	s := start(t)
	setOutcome := func(request common.Hash, kind bridgesim.Kind) {
		set(t, s, func(o *bridgesim.Settings) { o.Requests = map[common.Hash]bridgesim.Outcome{request: {Kind: kind}} })
	}
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	setOutcome(q.RequestID, bridgesim.Never)
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "pending")
	time.Sleep(100 * time.Millisecond) // time for something that must not happen
	if now := statusOf(t, s, q.RequestID); now.Status != "pending" {
		t.Fatalf("the request is %+v, want pending", now)
	}
	setOutcome(q.RequestID, bridgesim.Fail)
	follow(t, s, q.RequestID, "failure")
	setOutcome(q.RequestID, bridgesim.Refund)
	now, _ := follow(t, s, q.RequestID, "refund")
	if _, payee, amount := paid(t, s, baseETH, now.TxHashes[0]); payee != s.Accounts()[0].Address || amount.Cmp(sandboxtest.Units(1, 16)) != 0 {
		t.Errorf("%s to %s", amount, payee)
	}
}

func TestDepositMustBeIndexedWhereTheSettingsSaySo(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.NeedsIndex = true })
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	receipt := executeAll(t, s, q)
	time.Sleep(100 * time.Millisecond) // time for something that must not happen
	if now := statusOf(t, s, q.RequestID); now.Status != "waiting" || len(now.InTxHashes) != 0 {
		t.Fatalf("the request is %+v, want waiting without transactions", now)
	}
	mustAsk[fields](t, s, http.MethodPost, "/transactions/index", fields{"chainId": "8453", "txHash": receipt.TxHash, "requestId": q.RequestID})
	follow(t, s, q.RequestID, "success")
}

// TestDepositThatIsReorganisedAway checks that nothing is paid for a deposit lost in a
// reorganisation.
func TestDepositThatIsReorganisedAway(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Never })
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "pending")
	if err := s.Chain(8453).Reorg(1, true); err != nil {
		t.Fatal(err)
	}
	set(t, s, func(o *bridgesim.Settings) { o.Outcome.Kind = bridgesim.Fill })
	if now, _ := follow(t, s, q.RequestID, "waiting"); len(now.TxHashes) != 0 {
		t.Errorf("the request is %+v, want no payments", now)
	}
	executeAll(t, s, q)
	follow(t, s, q.RequestID, "success")
}

// TestExtraSteps checks that ExtraAfter delays the extra step to the second quote.
func TestExtraSteps(t *testing.T) {
	s := start(t)
	for _, tc := range []struct {
		extra string
		id    string
	}{{"approve", "approve"}, {"deposit", "deposit"}, {"send", "send"}, {"signature", "authorize1"}} {
		set(t, s, func(o *bridgesim.Settings) { o.ExtraStep, o.ExtraAfter = tc.extra, 1 })
		first, second := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil), quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
		if want := append(slices.Clone(first.ids()), tc.id); len(first.Steps) != 2 || !slices.Equal(second.ids(), want) {
			t.Errorf("%s: %v, then %v", tc.extra, first.ids(), second.ids())
		}
	}
}

// TestAnotherDepository checks that Settings.Depository appears in every place.
func TestAnotherDepository(t *testing.T) {
	s := start(t)
	other := common.HexToAddress("0x5a4d00000000000000000000000000000000dead")
	set(t, s, func(o *bridgesim.Settings) { o.Depository = &other })
	q := quote(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)
	approve, deposit := q.transaction(t, 0), q.transaction(t, 1)
	if common.BytesToAddress(approve.Data[4:36]) != other || deposit.To != other {
		t.Errorf("approve %s, deposit to %s", hexutil.Encode(approve.Data), deposit.To)
	}
	if q.Protocol.V2.PaymentDetails.Depository != other {
		t.Errorf("payment details name %s", q.Protocol.V2.PaymentDetails.Depository)
	}
	list := mustAsk[struct {
		Chains []struct {
			VMType   string
			Protocol struct{ V2 struct{ Depository string } }
		}
	}](t, s, http.MethodGet, "/chains", nil)
	for _, c := range list.Chains {
		if c.VMType == "evm" && common.HexToAddress(c.Protocol.V2.Depository) != other {
			t.Errorf("a chain names %s", c.Protocol.V2.Depository)
		}
	}
}

func TestDisabledChain(t *testing.T) {
	s := start(t)
	set(t, s, func(o *bridgesim.Settings) { o.Disabled = []uint64{42161} })
	if status, raw := ask(t, s, http.MethodPost, "/quote/v2", request(t, s, baseUSDC, arbUSDC, sandboxtest.Units(25, 6), nil)); status != http.StatusBadRequest {
		t.Errorf("a quote to a disabled chain: status %d, want 400: %s", status, raw)
	}
}

// TestResetForgetsOrders checks that a deposit for an order from before a reset is
// ignored.
func TestResetForgetsOrders(t *testing.T) {
	s := start(t)
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	s.Reset()
	executeAll(t, s, q)
	time.Sleep(100 * time.Millisecond) // time for something that must not happen
	if now := statusOf(t, s, q.RequestID); now.Status != "unknown" || len(s.Bridge().Orders()) != 0 {
		t.Errorf("the request is %+v, want unknown and no orders", now)
	}
}

// TestControl checks that the control endpoint works like the methods.
func TestControl(t *testing.T) {
	s := start(t)
	control := func(path, body string) []byte {
		t.Helper()
		resp, err := http.Post(s.ControlURL()+"/bridge"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, resp.StatusCode, raw, err)
		}
		return raw
	}
	q := quote(t, s, baseETH, arbETH, sandboxtest.Units(1, 16), nil)
	control("", `{"outcome":{"kind":"fail"},"requests":{"`+q.RequestID.Hex()+`":{"kind":"refund","failReason":"NO_QUOTES"}}}`)
	control("/haircut", `{"chain":8453,"bips":0}`)
	executeAll(t, s, q)
	if now, _ := follow(t, s, q.RequestID, "refund"); now.FailReason != "NO_QUOTES" {
		t.Errorf("the refunded request is %+v, want NO_QUOTES", now)
	}
	resp, err := http.Get(s.ControlURL() + "/bridge/orders")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var orders []bridgesim.OrderView
	if err := json.NewDecoder(resp.Body).Decode(&orders); err != nil || len(orders) != 1 || orders[0].RequestID != q.RequestID || !orders[0].Refund {
		t.Errorf("%v: %+v", err, orders)
	}
}
