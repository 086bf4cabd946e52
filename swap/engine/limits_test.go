package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// A limitsFixture is a service with a journal on disk that does not execute orders. It tests what
// its callers may get journaled.
type limitsFixture struct {
	t           *testing.T
	db          *bolt.DB
	signer      *fakeSigner
	account     common.Address
	clockOffset atomic.Int64 // offset of its clock to the real one, nanoseconds
	made        int
	confirm     func(Act) error
	limits      Limits
	*Service
}

// dollarPrices are dollars per whole token of 18 decimals.
var dollarPrices = map[common.Address]int64{native: 1000, usdc: 1}

type dollarValuer struct{}

func (dollarValuer) Dollars(_ context.Context, _ uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	price, ok := dollarPrices[token]
	if !ok {
		return nil, errors.New("no price")
	}
	n := new(big.Int).Mul(amount, big.NewInt(price))
	return n.Div(n, big.NewInt(1e12)), nil
}

type confirmer func(Act) error

func (f confirmer) Confirm(_ context.Context, a Act) (swap.Confirmation, error) {
	return swap.Confirmation{By: swap.ByPopup, Lines: swap.HashLines(a.Lines)}, f(a)
}

// A pinentry is a confirmer outside the browser.
type pinentry func(Act) error

func (f pinentry) Confirm(_ context.Context, a Act) (swap.Confirmation, error) {
	return swap.Confirmation{By: swap.ByPinentry, Lines: swap.HashLines(a.Lines)}, f(a)
}

func dollarsOf(n int64) *big.Int { return big.NewInt(n * 1e6) }

func newLimitsFixture(t *testing.T) *limitsFixture {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &limitsFixture{t: t, signer: &fakeSigner{key: key, strict: true}, account: crypto.PubkeyToAddress(key.PublicKey), limits: Limits{Hour: dollarsOf(5000), Unpriced: dollarsOf(100)}}
	if s.db, err = bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	s.restart()
	return s
}

// restart makes a service as after a start of the daemon.
func (s *limitsFixture) restart() {
	s.t.Helper()
	j, err := journal.Open(s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Service, err = NewService(Options{
		Journal: j, Nodes: noNodes{}, Sender: noSender{}, Sealer: s.signer, Pricer: pricerFunc(nil), Valuer: dollarValuer{}, Limits: func() Limits { return s.limits },
		Fees: swap.DefaultFees(), OpenOrders: 1e6, Now: s.clock, IsLocked: func(err error) bool { return errors.Is(err, errLocked) },
		Confirmer: confirmer(func(a Act) error {
			if s.confirm != nil {
				return s.confirm(a)
			}
			_, err := ByCall{}.Confirm(context.Background(), a)
			return err
		}),
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

type noSender struct{ Sender }

func (noSender) Lookup(string) (*chain.Tx, error) { return nil, nil }

func (s *limitsFixture) clock() time.Time { return time.Now().Add(time.Duration(s.clockOffset.Load())) }

// plan caches a plan whose input is worth that many dollars.
func (s *limitsFixture) plan(in, out common.Address, dollars int64, slippage int) swap.Review {
	amount := new(big.Int).Mul(big.NewInt(dollars), big.NewInt(1e18))
	if price := dollarPrices[in]; price > 1 {
		amount.Div(amount, big.NewInt(price))
	}
	s.made++
	floor := big.NewInt(1)
	if price := dollarPrices[out]; price > 0 {
		floor.Div(new(big.Int).Mul(big.NewInt(dollars), big.NewInt(1e18)), big.NewInt(price))
	}
	t := swap.Terms{Provider: swap.DEX, Account: s.account, SrcChain: 1, TokenIn: in, AmountIn: amount, DstChain: 1, TokenOut: out, Recipient: s.account, RefundTo: s.account,
		MinOut: floor, GasCeiling: new(big.Int), Deadline: s.clock().Add(consentLife + time.Duration(s.made)*time.Second).UTC().Truncate(time.Second)}
	plan := swap.Plan{Settlement: swap.ByOwnCall, Steps: []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: 1, From: s.account, To: router, Value: new(big.Int)}, Effect: swap.Effect{Kind: swap.Swap, Chain: 1, Target: router}}}}
	r := swap.Review{Terms: t, Plan: plan, Digest: swap.Digest(t, plan.Effects()), Gas: swap.Gas{Expected: new(big.Int), Max: new(big.Int), Balance: new(big.Int)}, Expires: s.clock().Add(time.Minute), Offer: swap.Offer{ID: uuid.NewString(), Provider: swap.DEX,
		AmountOut: big.NewInt(1), MinOut: big.NewInt(1), Expires: s.clock().Add(time.Minute), Request: swap.QuoteRequest{SlippageBps: slippage, AmountIn: amount}}}
	s.KeepReviews(s.Generation(), r)
	return r
}

// noPasswordCaller is a browser that gives no password; at is a terminal.
var (
	noPasswordCaller = Caller{Session: "s", Present: func() bool { return true }}
	terminalCaller   = Caller{Session: "s", Origin: "terminal", Terminal: true, Present: func() bool { return true }}
)

func (s *limitsFixture) execute(c Caller, r swap.Review) error {
	_, err := s.Execute(context.Background(), ExecuteRequest{Caller: c, Request: uuid.NewString(), Digest: r.Digest})
	return err
}

// wantReasons fails unless err asks for the password for those reasons; "" = nothing is asked.
func wantReasons(t *testing.T, what string, err error, reasons string) {
	t.Helper()
	var refused *swap.Refusal
	switch {
	case reasons == "" && err == nil:
	case errors.As(err, &refused) && refused.Code == swap.ConsentPassword && refused.Data["reasons"] == reasons:
	default:
		t.Errorf("%s: %v, want %q", what, err, reasons)
	}
}

// TestAttackersSession checks that a stolen session moves no more than the hourly limit,
// however many requests run at once and across restarts.
func TestAttackersSession(t *testing.T) {
	s := newLimitsFixture(t)
	var plans []swap.Review
	for range 50 {
		plans = append(plans, s.plan(native, usdc, 1000, 50))
	}
	var moved atomic.Int64
	var wg sync.WaitGroup
	for i, r := range plans {
		wg.Go(func() {
			c := noPasswordCaller
			c.Session = fmt.Sprint("connection ", i%5)
			err := s.execute(c, r)
			if err == nil {
				moved.Add(1000)
				return
			}
			wantReasons(t, "above the sum", err, "hourly_limit")
		})
	}
	wg.Wait()
	if moved.Load() != 5000 {
		t.Errorf("moved %d dollars, want 5000", moved.Load())
	}
	s.restart()
	wantReasons(t, "after a restart", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
	s.clockOffset.Add(-int64(48 * time.Hour))
	wantReasons(t, "with a clock set back", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
	s.clockOffset.Add(int64(48 * time.Hour))
	own := s.plan(native, usdc, 100_000, 50)
	wantReasons(t, "with the password", s.execute(passwordCaller, own), "")
	s.clockOffset.Add(int64(time.Hour + time.Second))
	wantReasons(t, "an hour later", s.execute(noPasswordCaller, s.plan(native, usdc, 5000, 50)), "")
	wantReasons(t, "and then", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
}

// TestRepeatReservesOnce checks that a repeated request is counted once.
func TestRepeatReservesOnce(t *testing.T) {
	s := newLimitsFixture(t)
	r := ExecuteRequest{Caller: noPasswordCaller, Request: uuid.NewString(), Digest: s.plan(native, usdc, 3000, 50).Digest}
	for range 3 {
		if _, err := s.Execute(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	wantReasons(t, "what is left", s.execute(noPasswordCaller, s.plan(native, usdc, 2000, 50)), "")
	wantReasons(t, "and no more", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
}

func TestWhatNeedsThePassword(t *testing.T) {
	unknown := weth // has no price here
	for name, c := range map[string]struct {
		in, out  common.Address
		dollars  int64
		slippage int
		gas      int64 // ceiling in dollars
		want     string
	}{
		"little":                          {native, usdc, 10, 50, 0, ""},
		"all of the hour":                 {native, usdc, 5000, 50, 0, ""},
		"more":                            {native, usdc, 5001, 50, 0, "hourly_limit"},
		"more with its gas":               {native, usdc, 4900, 50, 101, "hourly_limit"},
		"unpriced output":                 {native, unknown, 100, 50, 0, ""},
		"unpriced output, its gas apart":  {native, unknown, 100, 50, 1000, ""},
		"more of an unpriced output":      {native, unknown, 101, 50, 0, "unpriced"},
		"unpriced input":                  {unknown, usdc, 1, 50, 0, "unpriced,hourly_limit"},
		"slippage at the bound":           {native, usdc, 10, 500, 0, ""},
		"slippage above it":               {native, usdc, 10, 501, 0, "slippage"},
		"slippage at the terminals bound": {native, usdc, 10, 1500, 0, "slippage"},
		"everything":                      {unknown, unknown, 10, 1500, 0, "unpriced,hourly_limit,slippage"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLimitsFixture(t)
			r := s.plan(c.in, c.out, c.dollars, c.slippage)
			r.Terms.GasCeiling = new(big.Int).Div(new(big.Int).Mul(big.NewInt(c.gas), big.NewInt(1e18)), big.NewInt(1000))
			s.KeepReviews(s.Generation(), r)
			var told []string
			why, err := s.Takes(t.Context(), r, false)
			for _, w := range why {
				told = append(told, string(w))
			}
			if err != nil || strings.Join(told, ",") != c.want {
				t.Errorf("told %v, %v", told, err)
			}
			wantReasons(t, "without", s.execute(noPasswordCaller, r), c.want)
			if c.want != "" {
				wantReasons(t, "with", s.execute(passwordCaller, r), "")
			}
		})
	}
}

// TestBadPriceTakesThePassword checks that a minimum received below 90 % of the input's
// worth takes the password: a session can move the pools and acknowledge by itself.
func TestBadPriceTakesThePassword(t *testing.T) {
	s := newLimitsFixture(t)
	for kept, want := range map[int64]string{100: "", 90: "", 89: "bad_price", 55: "bad_price"} {
		r := s.plan(native, usdc, 1000, 50)
		r.Terms.MinOut = new(big.Int).Mul(big.NewInt(10*kept), big.NewInt(1e18))
		s.KeepReviews(s.Generation(), r)
		wantReasons(t, fmt.Sprint(kept, " % of it"), s.execute(noPasswordCaller, r), want)
		if want != "" {
			wantReasons(t, "at a terminal", s.execute(terminalCaller, r), "")
		}
	}
	wantReasons(t, "a proposal of half", s.prepared("accept half", noPasswordCaller)(), "bad_price")
}

// TestSlippageForTerminals checks that above the bound the password is not enough.
func TestSlippageForTerminals(t *testing.T) {
	s := newLimitsFixture(t)
	r := s.plan(native, usdc, 10, 1501)
	refusedWith(t, s.execute(noPasswordCaller, r), swap.SlippageTerminal)
	refusedWith(t, s.execute(passwordCaller, r), swap.SlippageTerminal)
	if err := s.execute(terminalCaller, r); err != nil {
		t.Error(err)
	}
}

// TestUnpricedOfADay checks that small swaps of unpriced tokens add up, at terminals too,
// where the amount has to be typed again.
func TestUnpricedOfADay(t *testing.T) {
	s := newLimitsFixture(t)
	execute := func(c Caller, dollars int64) error { return s.execute(c, s.plan(native, weth, dollars, 50)) }
	wantReasons(t, "the first", execute(noPasswordCaller, 60), "")
	wantReasons(t, "the second", execute(noPasswordCaller, 41), "unpriced")
	refusedWith(t, execute(terminalCaller, 41), swap.AmountAgain)
	if err := execute(terminalCaller, 40); err != nil {
		t.Error(err)
	}
	wantReasons(t, "after the terminal's", execute(noPasswordCaller, 1), "unpriced")
	r := s.plan(native, weth, 70, 50)
	typed := terminalCaller
	typed.Amount = big.NewInt(7)
	refusedWith(t, s.execute(typed, r), swap.BadRequest)
	typed.Amount = r.Terms.AmountIn
	if err := s.execute(typed, r); err != nil {
		t.Error(err)
	}
	s.clockOffset.Add(int64(23 * time.Hour))
	wantReasons(t, "in the same day", execute(noPasswordCaller, 1), "unpriced")
	s.clockOffset.Add(int64(time.Hour + time.Second))
	wantReasons(t, "the next day", execute(noPasswordCaller, 100), "")
}

// TestDamagedSums checks that sums that cannot be read count as above every limit, until
// a day after the first action with the password.
func TestDamagedSums(t *testing.T) {
	s := newLimitsFixture(t)
	if err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(journal.DailySpendBucket).Put(movesKey, []byte(`[{"at":`)) }); err != nil {
		t.Fatal(err)
	}
	wantReasons(t, "damaged", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
	wantReasons(t, "with the password", s.execute(passwordCaller, s.plan(native, usdc, 1, 50)), "")
	s.clockOffset.Add(int64(limitDay + time.Second))
	wantReasons(t, "the next day", s.execute(noPasswordCaller, s.plan(native, weth, 100, 50)), "")
}

// TestCountedAmountsAreBounded checks that tiny actions do not make the stored sums grow
// without bound.
func TestCountedAmountsAreBounded(t *testing.T) {
	s := newLimitsFixture(t)
	past := make([]move, maxMoves)
	for i := range past {
		past[i] = move{At: s.clock(), Input: big.NewInt(1), Gas: new(big.Int), Browser: true}
	}
	if err := s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(journal.DailySpendBucket).Put(movesKey, swap.MustJSON(past)) }); err != nil {
		t.Fatal(err)
	}
	wantReasons(t, "one more", s.execute(noPasswordCaller, s.plan(native, usdc, 1, 50)), "hourly_limit")
}

// TestWhileItIsConfirmed checks that an action is not carried out if something relevant
// changed while its confirmation was awaited.
func TestWhileItIsConfirmed(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*limitsFixture, *bool)
		code    swap.Code
	}{
		"nothing":              {func(*limitsFixture, *bool) {}, ""},
		"account change":       {func(s *limitsFixture, _ *bool) { s.DropPlans() }, swap.PlanUnknown},
		"the session's end":    {func(_ *limitsFixture, present *bool) { *present = false }, swap.SessionRequired},
		"the quote's expiry":   {func(s *limitsFixture, _ *bool) { s.clockOffset.Add(int64(2 * time.Minute)) }, ""}, // the engine refreshes it under the same consent
		"the deadline":         {func(s *limitsFixture, _ *bool) { s.clockOffset.Add(int64(time.Hour)) }, swap.QuoteExpired},
		"a lock":               {func(s *limitsFixture, present *bool) { s.signer.locked.Store(true); *present = false; s.DropPlans() }, "locked"},
		"a lock, and unlocked": {func(s *limitsFixture, present *bool) { *present = false; s.DropPlans() }, swap.SessionRequired},
		"another act of the hour": {func(s *limitsFixture, _ *bool) {
			s.confirm = nil
			wantReasons(s.t, "in between", s.execute(noPasswordCaller, s.plan(native, usdc, 4000, 50)), "")
		}, swap.ConsentPassword},
	} {
		for _, act := range []string{"execute", "revoke", "accept"} {
			t.Run(name+"/"+act, func(t *testing.T) {
				s := newLimitsFixture(t)
				present := true
				caller := Caller{Session: "s", Present: func() bool { return present }}
				do := s.prepared(act, caller)
				s.confirm = func(Act) error { c.happens(s, &present); return nil }
				err := do()
				open, _ := s.o.Journal.Open()
				switch {
				case act == "accept" && (c.code == swap.QuoteExpired || name == "the quote's expiry"): // another proposal takes its place
					refusedWith(t, err, swap.ConsentNeeded)
				case c.code == "":
					if err != nil {
						t.Error(err)
					}
				case c.code == "locked":
					if !errors.Is(err, errLocked) {
						t.Error(err)
					}
				case act == "revoke" && c.code == swap.ConsentPassword || act == "accept" && c.code == swap.PlanUnknown:
					return // a revoke moves no input, and a proposal is in no cache
				default:
					refusedWith(t, err, c.code)
				}
				if made := len(open); act != "accept" && c.code != "" && c.code != swap.ConsentPassword && made != 0 {
					t.Errorf("%d orders were made", made)
				}
			})
		}
	}
}

// prepared returns an action that its caller may carry out now.
func (s *limitsFixture) prepared(act string, c Caller) (do func() error) {
	s.t.Helper()
	switch act {
	case "execute":
		r := s.plan(native, usdc, 2000, 50)
		return func() error { return s.execute(c, r) }
	case "revoke":
		r := s.plan(usdc, usdc, 0, 0)
		g := swap.Grant{Token: usdc, Spender: router, Kind: swap.ByToken}
		r.Terms.Provider, r.Terms.AmountIn = swap.Wallet, new(big.Int)
		r.Plan.Steps[0].Effect = swap.Effect{Kind: swap.Approve, Chain: 1, Target: usdc, Approves: []swap.Approval{{Token: g.Token, Spender: g.Spender, Amount: new(big.Int)}}}
		r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
		s.KeepReviews(s.Generation(), r)
		return func() error {
			_, err := s.Revoke(context.Background(), ExecuteRequest{Caller: c, Request: uuid.NewString(), Digest: r.Digest})
			return err
		}
	}
	first := s.plan(native, usdc, 2000, 50)
	o, err := s.Execute(s.t.Context(), ExecuteRequest{Caller: passwordCaller, Request: uuid.NewString(), Digest: first.Digest})
	if err != nil {
		s.t.Fatal(err)
	}
	next := s.plan(native, usdc, 2000, 50)
	if act == "accept half" {
		next.Terms.MinOut.Rsh(next.Terms.MinOut, 1)
	}
	o.State, o.Condition, o.Proposal = swap.Executing, swap.NeedsConsent, &swap.Proposal{Review: next, Made: s.clock()}
	if o.Proposal.Seal, err = s.engine.seal(proposalOf(o), swap.UserAct{Action: "execute", ActedAt: s.clock()}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.o.Journal.Update(&o, swap.NoCause); err != nil {
		s.t.Fatal(err)
	}
	return func() error {
		_, err := s.Accept(context.Background(), AcceptRequest{Caller: c, Request: uuid.NewString(), Order: o.ID, Digest: next.Digest})
		return err
	}
}

// TestAcceptCountsTheWhole checks that accepting a proposal counts the order's whole
// amount, whoever accepted the order before and how.
func TestAcceptCountsTheWhole(t *testing.T) {
	s := newLimitsFixture(t)
	do := s.prepared("accept", noPasswordCaller)
	wantReasons(t, "beside it", s.execute(noPasswordCaller, s.plan(native, usdc, 3001, 50)), "")
	wantReasons(t, "the proposal", do(), "hourly_limit")
	s.clockOffset.Add(int64(time.Hour))
	wantReasons(t, "an hour later", s.prepared("accept", noPasswordCaller)(), "")
}

// TestCancelCountsItsGas checks that a cancel's possible cost counts once per request.
func TestCancelCountsItsGas(t *testing.T) {
	s := newLimitsFixture(t)
	r := s.plan(native, usdc, 10, 50)
	r.Terms.GasCeiling = big.NewInt(3e18) // 3,000 dollars
	r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
	s.KeepReviews(s.Generation(), r)
	o, err := s.Execute(t.Context(), ExecuteRequest{Caller: passwordCaller, Request: uuid.NewString(), Digest: r.Digest})
	if err != nil {
		t.Fatal(err)
	}
	wantReasons(t, "beside it", s.execute(noPasswordCaller, s.plan(native, usdc, 2001, 50)), "")
	cancel := CancelRequest{Caller: noPasswordCaller, Request: uuid.NewString(), Order: o.ID, Digest: o.Digest}
	_, err = s.Cancel(t.Context(), cancel)
	wantReasons(t, "without the password", err, "hourly_limit")
	cancel.Caller = passwordCaller
	for range 2 {
		if _, err := s.Cancel(t.Context(), cancel); err != nil {
			t.Error(err)
		}
	}
	cancel.Caller.Present = func() bool { return false }
	cancel.Request = uuid.NewString()
	second := s.plan(native, usdc, 10, 50)
	if o, err = s.Execute(t.Context(), ExecuteRequest{Caller: passwordCaller, Request: uuid.NewString(), Digest: second.Digest}); err != nil {
		t.Fatal(err)
	}
	cancel.Order, cancel.Digest = o.ID, o.Digest
	_, err = s.Cancel(t.Context(), cancel)
	refusedWith(t, err, swap.SessionRequired)
}

type pricerFunc func(src uint64, in common.Address, dst uint64, out common.Address, n *big.Int) (*big.Int, error)

func (f pricerFunc) Out(_ context.Context, src uint64, in common.Address, dst uint64, out common.Address, n *big.Int) (*big.Int, error) {
	return f(src, in, dst, out, n)
}

func (f pricerFunc) Worth(ctx context.Context, id uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	return f.Out(ctx, id, token, id, common.Address{}, amount)
}

type noNodes struct{ Nodes }

func (noNodes) Network(uint64) (chain.Network, error) { return chain.Network{}, errors.New("none") }

// TestNoLimitsOutside checks that what a person confirms outside the browser has no limits of
// browsers, is not counted, and that a browser still may not choose any slippage.
func TestNoLimitsOutside(t *testing.T) {
	s := newLimitsFixture(t)
	s.limits.Outside = true
	asked := 0
	s.o.Confirmer = pinentry(func(Act) error { asked++; return nil })
	for range 3 {
		wantReasons(t, "outside", s.execute(noPasswordCaller, s.plan(native, usdc, 4000, 50)), "")
	}
	if asked != 3 {
		t.Errorf("the person was asked %d times", asked)
	}
	refusedWith(t, s.execute(noPasswordCaller, s.plan(native, usdc, 10, TerminalSlippageBps+1)), swap.SlippageTerminal)
	s.o.Confirmer = pinentry(func(Act) error { return swap.Refuse(swap.ConsentDeclined, "no") })
	refusedWith(t, s.execute(noPasswordCaller, s.plan(native, usdc, 4000, 50)), swap.ConsentDeclined)
	s.o.Confirmer, s.limits.Outside = ByCall{}, false
	wantReasons(t, "in the popup again", s.execute(noPasswordCaller, s.plan(native, usdc, 4000, 50)), "")
	wantReasons(t, "and once more", s.execute(noPasswordCaller, s.plan(native, usdc, 4000, 50)), "hourly_limit")
}

// TestTheActIsSealed checks that who asked, by what a person confirmed it and the lines that were
// shown are sealed with the order, and cannot be changed there.
func TestTheActIsSealed(t *testing.T) {
	s := newLimitsFixture(t)
	r := s.plan(native, usdc, 10, 50)
	r.Lines = []swap.Line{{Key: "line_pay"}}
	s.KeepReviews(s.Generation(), r)
	var shown []swap.Line
	s.o.Confirmer = pinentry(func(a Act) error { shown = a.Lines; return nil })
	c := noPasswordCaller
	c.Origin = "chrome-extension://x/"
	o, err := s.Execute(t.Context(), ExecuteRequest{Caller: c, Request: uuid.NewString(), Digest: r.Digest})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = s.o.Journal.Get(o.ID); err != nil {
		t.Fatal(err)
	}
	want := swap.UserAct{Action: "execute", Origin: "chrome-extension://x/", Confirmation: swap.Confirmation{By: swap.ByPinentry, Lines: swap.HashLines(r.Lines)}, ActedAt: o.Seal.ActedAt}
	if o.Seal.UserAct != want || len(shown) != 1 {
		t.Errorf("%+v, want %+v; shown %v", o.Seal.UserAct, want, shown)
	}
	if err := s.engine.checkAccepted(o); err != nil {
		t.Fatal(err)
	}
	s.o.Lines = func(swap.Review) []swap.Line { return []swap.Line{{Key: "line_worth"}} }
	if err := s.execute(noPasswordCaller, s.plan(native, usdc, 10, 50)); err != nil || len(shown) != 1 || shown[0].Key != "line_worth" {
		t.Errorf("the lines are not those of now: %v, %v", shown, err)
	}
	for name, change := range map[string]func(*swap.UserAct){
		"origin": func(a *swap.UserAct) { a.Origin = "terminal" },
		"by":     func(a *swap.UserAct) { a.By = swap.ByTerminal },
		"lines":  func(a *swap.UserAct) { a.Lines = common.Hash{1} },
		"time":   func(a *swap.UserAct) { a.ActedAt = a.ActedAt.Add(time.Second) },
		"action": func(a *swap.UserAct) { a.Action = "accept" },
	} {
		forged := o.Clone()
		change(&forged.Seal.UserAct)
		if !sealMismatch(s.engine.checkAccepted(forged)) {
			t.Errorf("%s can be changed", name)
		}
	}
}

// A changeable is a Confirmer under which the setting changes.
type changeable struct{ changes func() }

func (c changeable) Confirm(ctx context.Context, a Act) (swap.Confirmation, error) {
	yes, err := ByCall{}.Confirm(ctx, a)
	c.changes()
	return yes, err
}

// TestLimitsOfWhatThePopupConfirmed checks that an act which the popup's call confirmed keeps the
// limits, although the setting was changed before it is journaled.
func TestLimitsOfWhatThePopupConfirmed(t *testing.T) {
	s := newLimitsFixture(t)
	wantReasons(t, "the first", s.execute(noPasswordCaller, s.plan(native, usdc, 3000, 50)), "")
	r := s.plan(native, usdc, 2000, 50)
	s.o.Confirmer = changeable{func() {
		s.limits.Outside = true
		s.o.Confirmer = ByCall{}
		s.limits.Outside = false
		wantReasons(t, "in between", s.execute(noPasswordCaller, s.plan(native, usdc, 2000, 50)), "")
		s.limits.Outside = true
	}}
	wantReasons(t, "after the change", s.execute(noPasswordCaller, r), "hourly_limit")
}
