package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/test/await"
)

// A depositProvider is a provider whose plans deposit the input in the bridge's real depository,
// for somebody on another network to settle. Fields that are nil change nothing.
type depositProvider struct {
	b        *engineFixture
	kind     swap.EffectKind // Deposit, or Opaque
	pins     swap.Pins
	wrap     common.Address // of its offers with native input
	isolates bool           // the calls are made from isolated accounts

	mu         sync.Mutex
	routes     []string                 // of its offers, best first; nil = one offer
	alterBuilt func(*swap.Built)        // changes what Build returns
	build      func(route string) error // error of Build
	submit     func(n int) error
	known      bool // Status knows the deposit

	submits atomic.Int32
}

func (b *engineFixture) useDepositProvider(k swap.EffectKind) *depositProvider {
	b.t.Helper()
	h := &depositProvider{b: b, kind: k, pins: swap.Pins{{Chain: 1, Role: swap.Wrapper, Address: weth}, {Chain: 1, Role: swap.Depot, Address: depot}}}
	b.halt()
	b.otherProvider = h
	b.start()
	b.fundTokens()
	return h
}

func (h *depositProvider) set(change func(*depositProvider)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// IsolatesOn implements [plan.IsolatingProvider].
func (h *depositProvider) IsolatesOn(uint64) bool { return h.isolates }

func (h *depositProvider) Kind() swap.Kind { return swap.Intent }

func (h *depositProvider) Pins() swap.Pins {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pins
}

// pin adds a built-in contract.
func (h *depositProvider) pin(a common.Address) {
	h.set(func(h *depositProvider) {
		h.pins = append(slices.Clone(h.pins), swap.Pin{Chain: 1, Role: swap.Router, Address: a})
	})
}

func (h *depositProvider) Quote(_ context.Context, r swap.QuoteRequest) (offers []swap.Offer, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, route := range append(h.routes, "PLAIN")[:max(len(h.routes), 1)] {
		o := swap.Offer{AmountOut: r.AmountIn, MinOut: swap.MinAfterSlippage(r.AmountIn, r.SlippageBps), Routing: route, Expires: h.b.now().Add(time.Minute)}
		if r.TokenIn == native {
			o.Wrap = h.wrap
		}
		offers = append(offers, o)
	}
	return offers, nil
}

var (
	depositERC20 = common.FromHex("0xe8017952") // depositErc20(address depositor, address token, uint256 amount, bytes32 id)
	depositAll   = common.FromHex("0x5a1ee3ac") // depositErc20(address depositor, address token, bytes32 id): all that is allowed
	depositCoin  = common.FromHex("0x49290c1c") // depositNative(address depositor, bytes32 id)
)

func (h *depositProvider) Build(_ context.Context, o swap.Offer, t swap.Terms) (swap.Built, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.build != nil {
		if err := h.build(o.Routing); err != nil {
			return swap.Built{}, err
		}
	}
	id := common.Hash{31: 7}
	c := chain.Call{ChainID: 1, From: t.From(), To: depot, Value: new(big.Int)}
	built := swap.Built{Settlement: swap.ByProvider}
	if t.Input() == native {
		c.Value, c.Data = t.AmountIn, slices.Concat(depositCoin, pad(t.Account), id[:])
	} else {
		c.Data = slices.Concat(depositERC20, pad(t.Account), pad(t.Input()), word(t.AmountIn.Uint64()), id[:])
		built.Spender = depot
	}
	built.Steps = []swap.Step{{Kind: swap.CallStep, Call: &c}}
	if h.alterBuilt != nil {
		h.alterBuilt(&built)
	}
	return built, nil
}

func (h *depositProvider) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	f := swap.Effect{Kind: h.kind, Chain: s.Call.ChainID, Target: s.Call.To, Spends: []swap.Spend{{Token: t.Input(), Amount: t.AmountIn}}, TrustedTo: "a filler"}
	if h.kind == swap.Deposit {
		f.DepositID = common.BytesToHash(s.Call.Data[len(s.Call.Data)-32:])
	}
	return f, nil
}

func (h *depositProvider) Submit(context.Context, swap.Order) (string, error) {
	n := int(h.submits.Add(1))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.submit == nil {
		return "ref", nil
	}
	return "ref", h.submit(n)
}

func (h *depositProvider) Status(context.Context, swap.Order) (swap.Claim, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known {
		return swap.Claim{}, swap.Refuse(swap.OrderUnknown, "no such deposit")
	}
	return swap.Claim{State: swap.Settling, ProviderOrderID: "ref"}, nil
}

func (h *depositProvider) Proof(o swap.Order) (swap.Proof, error) {
	t := o.Terms
	return swap.Proof{Arrival: &swap.Arrival{Chain: t.DstChain, Token: t.TokenOut, To: t.Recipient, Least: t.MinOut, From: []common.Address{thief}}}, nil
}

// depositOffers returns offers to deposit amount of token for a token on chain 10.
func (b *engineFixture) depositOffers(token common.Address, amount int64) []swap.Offer {
	b.t.Helper()
	q, err := b.service.Quote(b.t.Context(), swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: token, AmountIn: big.NewInt(amount), DstChain: 10, TokenOut: unknown}, []swap.Kind{swap.Intent}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return q.Offers
}

func (b *engineFixture) reviewDeposit(token common.Address, amount int64) (swap.Review, error) {
	b.t.Helper()
	return b.service.Prepare(b.t.Context(), b.depositOffers(token, amount)[0].ID)
}

// executeAcknowledged executes a review, with all its acknowledgements.
func (b *engineFixture) executeAcknowledged(r swap.Review) swap.Order {
	b.t.Helper()
	o, err := b.service.Execute(b.t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Acknowledge: acks(r.Findings), Caller: passwordCaller})
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

func (b *engineFixture) waitSettling(id string) swap.Order {
	b.t.Helper()
	return b.waitUntil(id, "settling", func(o swap.Order) bool { return o.State == swap.Settling && o.Submission.Closed() })
}

func findingSeverity(r swap.Review, code string) swap.Severity {
	i := slices.IndexFunc(r.Findings, func(f swap.Finding) bool { return f.Code == code })
	if i < 0 {
		return ""
	}
	return r.Findings[i].Severity
}

func (b *engineFixture) wantDepotAllowance(token common.Address, want int64) {
	b.t.Helper()
	if got, err := b.hub.Allowance(b.t.Context(), 1, token, b.from, depot); err != nil || got.Int64() != want {
		b.t.Errorf("the depository may pull %v, want %d (%v)", got, want, err)
	}
}

// TestDepositsExactly checks that exactly the amount is allowed and leaves, whatever was
// allowed before, and that the review says who is trusted.
func TestDepositsExactly(t *testing.T) {
	for name, c := range map[string]struct {
		kind   swap.EffectKind
		token  common.Address
		before int64
		steps  []swap.EffectKind
		mined  uint64 // the order's transactions
	}{
		"opaque":                       {swap.Opaque, usdc, 0, []swap.EffectKind{swap.Approve, swap.Opaque}, 2},
		"opaque, lowered":              {swap.Opaque, usdc, 4000e6, []swap.EffectKind{swap.Approve, swap.Opaque}, 2},
		"opaque, reset and lowered":    {swap.Opaque, usdt, 4000e6, []swap.EffectKind{"reset", swap.Approve, swap.Opaque}, 3},
		"opaque, allowed as it should": {swap.Opaque, usdc, thousand, []swap.EffectKind{swap.Opaque}, 1},
		"deposit, lowered":             {swap.Deposit, usdc, 4000e6, []swap.EffectKind{swap.Approve, swap.Deposit}, 2},
		"opaque, of the coin":          {swap.Opaque, native, 0, []swap.EffectKind{swap.Opaque}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(c.kind)
			if c.before > 0 {
				b.approveFor(depot, c.token, c.before)
				c.mined++
			}
			r, err := b.reviewDeposit(c.token, thousand)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(kinds(r.Plan), c.steps) || findingSeverity(r, "settlement_trusted") != swap.Note {
				t.Fatalf("%v, %+v", kinds(r.Plan), r.Findings)
			}
			o := b.waitSettling(b.executeAcknowledged(r).ID)
			b.wantNonce(c.mined)
			if c.token != native {
				b.wantDepotAllowance(c.token, 0)
				if got, err := b.hub.Balance(t.Context(), 1, b.from, c.token); err != nil || got.Int64() != 4000e6 {
					t.Errorf("%s is left, %v", got, err)
				}
			}
			if h.submits.Load() != 1 || o.ProviderOrderID != "ref" || len(Leftovers(o)) != 0 {
				t.Errorf("told %d times, ref %q", h.submits.Load(), o.ProviderOrderID)
			}
			_, err = b.service.Cancel(t.Context(), cancelOf(o))
			refusedWith(t, err, swap.CannotCancel)
		})
	}
}

// TestDepositRefused checks that a provider's call that does anything but hand over
// exactly the amount is refused before anything is signed.
func TestDepositRefused(t *testing.T) {
	call := func(f func(*chain.Call)) func(*swap.Built) { return func(b *swap.Built) { f(b.Steps[0].Call) } }
	data := func(parts ...[]byte) func(*swap.Built) {
		return call(func(c *chain.Call) { c.Data = slices.Concat(parts...) })
	}
	at := func(a common.Address) func(*swap.Built) {
		return func(b *swap.Built) { b.Steps[0].Call.To, b.Spender = a, a }
	}
	id := make([]byte, 32)
	for name, c := range map[string]struct {
		code  swap.Code
		twist func(from common.Address) func(*swap.Built)
	}{
		"takes less": {swap.NotAsAccepted, func(from common.Address) func(*swap.Built) {
			return data(depositERC20, pad(from), pad(usdc), word(thousand-1), id)
		}},
		"takes nothing": {swap.NotAsAccepted, func(from common.Address) func(*swap.Built) {
			return data(depositERC20, pad(from), pad(usdc), word(0), id)
		}},
		"takes more": {swap.WouldRevert, func(from common.Address) func(*swap.Built) {
			return data(depositERC20, pad(from), pad(usdc), word(thousand+1), id)
		}},
		"another token": {swap.WouldRevert, func(from common.Address) func(*swap.Built) {
			return data(depositERC20, pad(from), pad(usdt), word(thousand), id)
		}},
		"sends coin along": {swap.NotAsAccepted, func(common.Address) func(*swap.Built) { return call(func(c *chain.Call) { c.Value = big.NewInt(1) }) }},
		"of the token":     {swap.NotPinned, func(common.Address) func(*swap.Built) { return at(usdc) }},
		"of another token": {swap.NotPinned, func(common.Address) func(*swap.Built) { return at(usdt) }},
		"approves another": {swap.NotAsAccepted, func(common.Address) func(*swap.Built) {
			return func(b *swap.Built) {
				at(usdt)(b)
				b.Steps[0].Call.Data = slices.Concat(erc20Approve, pad(thief), word(1))
			}
		}},
		"of nobody":         {swap.NotPinned, func(common.Address) func(*swap.Built) { return at(thief) }},
		"of the account":    {swap.NotPinned, func(from common.Address) func(*swap.Built) { return at(from) }},
		"of Permit2":        {swap.NotPinned, func(common.Address) func(*swap.Built) { return at(permit2) }},
		"of the wrapped":    {swap.NotPinned, func(common.Address) func(*swap.Built) { return at(weth) }},
		"another spender":   {swap.NotAsAccepted, func(common.Address) func(*swap.Built) { return func(b *swap.Built) { b.Spender = thief } }},
		"no spender":        {swap.Undecodable, func(common.Address) func(*swap.Built) { return func(b *swap.Built) { b.Spender = common.Address{} } }},
		"settled by itself": {swap.Undecodable, func(common.Address) func(*swap.Built) { return func(b *swap.Built) { b.Settlement = swap.ByOwnCall } }},
		"builds an approval": {swap.NotAsAccepted, func(from common.Address) func(*swap.Built) {
			return func(b *swap.Built) {
				c := approveCall(swap.Terms{SrcChain: 1, Account: from, TokenIn: usdc}, depot, big.NewInt(thousand))
				b.Steps = append([]swap.Step{{Kind: swap.CallStep, Call: &c}}, b.Steps...)
			}
		}},
		"two calls": {swap.NotAsAccepted, func(common.Address) func(*swap.Built) {
			return func(b *swap.Built) { b.Steps = append(b.Steps, b.Steps[0]) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(swap.Opaque)
			h.set(func(h *depositProvider) { h.alterBuilt = c.twist(b.from) })
			_, err := b.reviewDeposit(usdc, thousand)
			refusedWith(t, err, c.code)
			if b.signer.signed.Load() != 0 {
				t.Error("signed")
			}
		})
	}
}

// TestTakesNoMoreThanTheAmount checks that a call that takes all that is allowed takes
// the amount, since no more is allowed.
func TestTakesNoMoreThanTheAmount(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Opaque)
	h.set(func(h *depositProvider) {
		h.alterBuilt = func(built *swap.Built) {
			built.Steps[0].Call.Data = slices.Concat(depositAll, pad(b.from), pad(usdc), make([]byte, 32))
		}
	})
	b.approveFor(depot, usdc, 4000e6)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.waitSettling(b.executeAcknowledged(r).ID)
	if got, err := b.hub.Balance(t.Context(), 1, b.from, usdc); err != nil || got.Int64() != 4000e6 {
		t.Errorf("%s is left, %v", got, err)
	}
}

// A changingNodes changes what nodes say about the called contract and its allowance, and
// whether simulations show anything.
type changingNodes struct {
	Nodes
	gone   atomic.Bool // the contract no longer exists
	blind  atomic.Bool
	raised atomic.Pointer[big.Int] // an allowance that somebody raised
}

func (s *changingNodes) IsContract(ctx context.Context, id uint64, a common.Address) (bool, error) {
	there, err := s.Nodes.IsContract(ctx, id, a)
	return there && !s.gone.Load(), err
}

func (s *changingNodes) Simulations(ctx context.Context, calls []chain.Call) ([]chain.Simulation, error) {
	all, err := s.Nodes.Simulations(ctx, calls)
	for i := range all {
		all[i].Shown = all[i].Shown && !s.blind.Load()
	}
	return all, err
}

func (s *changingNodes) AgreedAllowances(ctx context.Context, id uint64, owner common.Address, asked []chain.Grantee) ([]*big.Int, error) {
	if n := s.raised.Load(); n != nil {
		return slices.Repeat([]*big.Int{n}, len(asked)), nil
	}
	return s.Nodes.AgreedAllowances(ctx, id, owner, asked)
}

// TestDepositIsCheckedAgainBeforeSigning checks that what held at review is verified before signing.
func TestDepositIsCheckedAgainBeforeSigning(t *testing.T) {
	for name, change := range map[string]func(*changingNodes){
		"no contract any more": func(s *changingNodes) { s.gone.Store(true) },
		"nothing is shown":     func(s *changingNodes) { s.blind.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			s := &changingNodes{}
			b.wrapNodes = func(n Nodes) Nodes { s.Nodes = n; return s }
			b.useDepositProvider(swap.Opaque)
			r, err := b.reviewDeposit(native, 1e15)
			if err != nil {
				t.Fatal(err)
			}
			change(s)
			if _, err := b.reviewDeposit(native, 1e15); err == nil {
				t.Error("reviewed")
			}
			b.waitState(b.executeAcknowledged(r).ID, swap.Cancelled)
			b.wantNonce(0)
		})
	}
}

// TestRaisedAllowanceIsNotSpent covers an allowance that somebody raises between the
// approval and the call: the call is not signed, and the order expires.
func TestRaisedAllowanceIsNotSpent(t *testing.T) {
	b := newEngineFixture(t)
	s := &changingNodes{}
	b.wrapNodes = func(n Nodes) Nodes { s.Nodes = n; return s }
	b.useDepositProvider(swap.Opaque)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(true)
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.signer.locked.Store(false)
	b.service.Wake()
	b.waitUntil(o.ID, "approving", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} || o.Step == 1 })
	s.raised.Store(big.NewInt(4000e6))
	b.waitUntil(o.ID, "approved", func(o swap.Order) bool {
		return o.Step == 1 && o.State == swap.Executing && o.Cause != nil && o.Cause.Reason == swap.ApprovalNotVisible
	})
	time.Sleep(100 * time.Millisecond)
	b.wantNonce(1)
	b.clockOffset.Add(int64(30 * time.Minute))
	b.waitState(o.ID, swap.Expired)
	b.wantNonce(1)
}

// TestWrapsFirst checks that the coin is wrapped once, after the approval and before the
// deposit, wherever the process stops.
func TestWrapsFirst(t *testing.T) {
	for _, restarts := range []int{0, 12} {
		b := newEngineFixture(t)
		h := b.useDepositProvider(swap.Deposit)
		h.wrap = weth
		r, err := b.reviewDeposit(native, 1e17)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kinds(r.Plan), []swap.EffectKind{swap.Approve, swap.Wrap, swap.Deposit}) || findingSeverity(r, "wraps_first") != swap.Note || len(r.Gas.Costs) != 3 || r.Gas.Balance.Cmp(big.NewInt(1e17)) < 0 {
			t.Fatalf("%v, %+v, gas %+v", kinds(r.Plan), r.Findings, r.Gas)
		}
		o := b.executeAcknowledged(r)
		for range restarts {
			time.Sleep(20 * time.Millisecond)
			b.halt()
			b.start()
		}
		o = b.waitSettling(o.ID)
		b.wantNonceAndWETH(3, 0)
		if !o.Wrapped {
			t.Error("not noted")
		}
	}
}

func TestWrapsFirstRefused(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	for name, c := range map[string]struct {
		code swap.Code
		wrap common.Address
		in   common.Address
	}{
		"of another token": {swap.NotPinned, usdc, native},
		"of nothing":       {swap.NotPinned, thief, native},
	} {
		h.set(func(h *depositProvider) { h.wrap = c.wrap })
		_, err := b.reviewDeposit(c.in, 1e15)
		if !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.set(func(h *depositProvider) {
		h.wrap = weth
		h.alterBuilt = func(built *swap.Built) { // the provider wraps by itself, in our place
			c := *swap.WrapStep(swap.Terms{SrcChain: 1, Account: b.from, Wrap: weth, AmountIn: big.NewInt(1e15)}).Call
			built.Steps = append([]swap.Step{{Kind: swap.CallStep, Call: &c}}, built.Steps...)
		}
	})
	_, err := b.reviewDeposit(native, 1e15)
	refusedWith(t, err, swap.NotAsAccepted)
}

// TestFallsBack checks that if an offer fails for a reason of the provider's, its next
// offer is reviewed and the review says so, while a false plan is refused.
func TestFallsBack(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	for name, c := range map[string]struct {
		first, second error
		want          string // route that is reviewed
	}{
		"nothing amiss":    {nil, nil, "A"},
		"down":             {swap.Refuse(swap.ProviderDown, "gone"), nil, "B"},
		"would revert":     {swap.Refuse(swap.WouldRevert, "no"), nil, "B"},
		"lies":             {swap.Refuse(swap.NotAsAccepted, "a thief"), nil, ""},
		"not understood":   {swap.Refuse(swap.Undecodable, "what?"), nil, ""},
		"both down":        {swap.Refuse(swap.ProviderDown, "gone"), swap.Refuse(swap.ProviderBusy, "later"), ""},
		"down, then lies":  {swap.Refuse(swap.ProviderDown, "gone"), swap.Refuse(swap.NotPinned, "a thief"), ""},
		"our own misery":   {swap.Refuse(swap.InsufficientFunds, "poor"), nil, ""},
		"something unsaid": {errors.New("odd"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h.set(func(h *depositProvider) {
				h.routes = []string{"A", "B"}
				h.build = func(route string) error {
					return map[string]error{"A": c.first, "B": c.second}[route]
				}
			})
			r, err := b.reviewDeposit(usdc, thousand)
			switch {
			case c.want == "" && !errors.Is(err, c.first):
				t.Errorf("%v, want %v", err, c.first)
			case c.want != "" && (err != nil || r.Offer.Routing != c.want):
				t.Errorf("route %q, %v", r.Offer.Routing, err)
			case c.want != "" && (findingSeverity(r, "fallback_used") == swap.Warn) != (c.want == "B"):
				t.Errorf("%+v", r.Findings)
			}
		})
	}
}

// TestRefreshKeepsTheRoute checks that of fresh offers the first of the accepted route is
// taken, wherever it is in the list, or the next of that route if it cannot be built.
func TestRefreshKeepsTheRoute(t *testing.T) {
	b := newEngineFixture(t)
	h := b.useDepositProvider(swap.Deposit)
	h.set(func(h *depositProvider) { h.routes = []string{"A"} })
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.signer.locked.Store(true)
	o := b.executeAcknowledged(r)
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
	b.clockOffset.Add(int64(2 * time.Minute))
	h.set(func(h *depositProvider) {
		h.routes = []string{"B", "A", "A"}
		tried := 0
		h.build = func(route string) error {
			if route != "A" {
				t.Errorf("built route %q", route)
			}
			if tried++; tried == 1 {
				return swap.Refuse(swap.ProviderRefused, "not this one")
			}
			return nil
		}
	})
	b.signer.locked.Store(false)
	b.service.Wake()
	if o = b.waitSettling(o.ID); o.Offer.Routing != "A" || !strings.HasSuffix(o.Offer.ID, "'") {
		t.Errorf("settled by %+v", o.Offer)
	}
	if waited := o.HeadsAt.Sub(o.Created); waited < 2*time.Minute {
		t.Errorf("where the other chain stands is known from %s after consent, and the deposit was signed two minutes after it", waited)
	}
}

// TestHeadIsReadBeforeDeposit checks that the destination chain's head is read again right before the
// input is handed over, however often that has to wait.
func TestHeadIsReadBeforeDeposit(t *testing.T) {
	now := time.Now()
	e := &Engine{Now: func() time.Time { return now }}
	for name, c := range map[string]struct {
		kind swap.EffectKind
		dst  uint64
		at   time.Time
		want bool
	}{
		"never":                 {swap.Deposit, dstChain, time.Time{}, true},
		"just now":              {swap.Deposit, dstChain, now.Add(-headLife), false},
		"a while ago":           {swap.Opaque, dstChain, now.Add(-headLife - time.Second), true},
		"the clock is set back": {swap.Opaque, dstChain, now.Add(time.Hour), true},
		"the same chain":        {swap.Deposit, srcChain, time.Time{}, false},
		"nothing handed over":   {swap.Approve, dstChain, time.Time{}, false},
	} {
		o := swap.Order{Consent: swap.Consent{Terms: swap.Terms{SrcChain: srcChain, DstChain: c.dst}}, Progress: swap.Progress{HeadsAt: c.at}}
		if e.needsHead(o, swap.Step{Effect: swap.Effect{Kind: c.kind}}) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}

// TestDepositIsReportedAgain checks that a deposit which its provider does not accept is reported
// again while the chain is watched.
func TestDepositIsReportedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		submit func(n int) error
		known  bool
		back   time.Duration // set the clock back by this after the report
		tries  int32
		ref    string
	}{
		"refused twice": {func(n int) error {
			if n < 3 {
				return swap.Refuse(swap.ProviderRefused, "never heard of it")
			}
			return nil
		}, false, 0, 3, "ref"},
		"lost, not there": {func(n int) error {
			if n < 2 {
				return errors.New("connection reset")
			}
			return nil
		}, false, 0, 2, "ref"},
		"lost, not there, and the clock was ahead": {func(n int) error {
			if n < 2 {
				return errors.New("connection reset")
			}
			return nil
		}, false, 2 * time.Hour, 2, "ref"},
		"lost, there": {func(int) error { return errors.New("connection reset") }, true, 0, 1, "ref"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			h := b.useDepositProvider(swap.Deposit)
			h.set(func(h *depositProvider) { h.submit, h.known = c.submit, c.known })
			r, err := b.reviewDeposit(native, 1e15)
			if err != nil {
				t.Fatal(err)
			}
			o := b.executeAcknowledged(r)
			if c.back > 0 {
				await.Until(t, 30*time.Second, "it is told", func() bool { return h.submits.Load() > 0 })
			}
			b.clockOffset.Add(-int64(c.back))
			for range 40 {
				b.clockOffset.Add(int64(3 * time.Second))
				time.Sleep(30 * time.Millisecond)
			}
			o = b.waitSettling(o.ID)
			if h.submits.Load() != c.tries || o.ProviderOrderID != c.ref || o.Claim != nil && o.Claim.State.Final() {
				t.Errorf("told %d times, ref %q, claim %+v", h.submits.Load(), o.ProviderOrderID, o.Claim)
			}
		})
	}
}

// A cancelCallProvider is a hander that returns a given cancel call.
type cancelCallProvider struct {
	*depositProvider
	call chain.Call
}

func (v cancelCallProvider) CancelCall(swap.Order) (chain.Call, error) { return v.call, nil }

// TestInvalidationCall checks that a call that invalidates an order goes to the contract that
// verifies its signature or settles it, and moves nothing.
func TestInvalidationCall(t *testing.T) {
	terms, effects := handed(swap.Signed, false)
	o := swap.Order{ID: "o", Consent: swap.Consent{Terms: terms, Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.TypedStep, Effect: effects[1]}}}}}
	for name, c := range map[string]struct {
		code   swap.Code // "" = allowed
		change func(*chain.Call)
	}{
		"of the verifier":    {"", func(*chain.Call) {}},
		"of the settlement":  {"", func(c *chain.Call) { c.To = reactor }},
		"of another":         {swap.NotPinned, func(c *chain.Call) { c.To = thief }},
		"of the token":       {swap.NotPinned, func(c *chain.Call) { c.To = usdc }},
		"of a pinned router": {swap.NotPinned, func(c *chain.Call) { c.To = router }},
		"sends coin":         {swap.NotAsAccepted, func(c *chain.Call) { c.Value = big.NewInt(1) }},
		"no value":           {swap.Undecodable, func(c *chain.Call) { c.Value = nil }},
		"of another account": {swap.NotAsAccepted, func(c *chain.Call) { c.From = thief }},
		"on another chain":   {swap.NotAsAccepted, func(c *chain.Call) { c.ChainID = 10 }},
		"no call":            {swap.Undecodable, func(c *chain.Call) { c.Data = nil }},
		"an approval":        {swap.Undecodable, func(c *chain.Call) { c.Data = approveCall(terms, thief, big.NewInt(1)).Data }},
	} {
		v := cancelCallProvider{&depositProvider{pins: handPins}, chain.Call{ChainID: 1, From: account, To: permit2, Value: new(big.Int), Data: voidSelector}}
		c.change(&v.call)
		e := &Engine{Providers: map[swap.Kind]swap.Provider{swap.Intent: v}}
		switch _, err := e.invalidationCall(o); {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.code != "" && !errors.Is(err, &swap.Refusal{Code: c.code}):
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}
