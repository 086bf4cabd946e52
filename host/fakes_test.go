package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"swapkeep/chain"
	"swapkeep/confirm"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/engine"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// The fakes below replace the wallet, the swap service and the chains. They are
// deterministic, because fixtures contain their answers.

const (
	password  = "five broken umbrellas in May"
	testWords = "test test test test test test test test test test test junk" // published test mnemonic, never a real wallet
)

var (
	account  = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // first account of the published test mnemonic
	stranger = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	usdc     = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	router   = common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	testTime = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	digest   = common.HexToHash("0x1111111111111111111111111111111111111111111111111111111111111111")
	txHash   = common.HexToHash("0x2222222222222222222222222222222222222222222222222222222222222222")
)

// remedied is an error of the fake wallet, with its own text and remedy like a vault's.
type remedied struct{ text, remedy string }

func (e *remedied) Error() string  { return e.text }
func (e *remedied) Remedy() string { return e.remedy }

var (
	errLocked   = &remedied{"vault is locked", "unlock it with the vault password"}
	errPassword = &remedied{"wrong password", "type the vault password again"}
	errBackoff  = errors.New("too many wrong passwords")
	errNoBus    = errors.New("no session bus")
)

var fakeSentinels = []Sentinel{
	{Err: errLocked, Name: "locked"},
	{Err: errPassword, Name: "wrong_password"},
	{Err: errBackoff, Name: "backing_off", Details: func(error) map[string]string { return map[string]string{"seconds": "4"} }},
	{Err: errNoBus, Name: "keychain_no_bus"},
	{Err: confirm.ErrNotWaiting, Name: "confirmation_unknown"}, {Err: confirm.ErrExpired, Name: "confirmation_expired"},
}

type fakeWallet struct {
	mu       sync.Mutex
	made     int
	removed  int
	cleared  int
	accounts []protocol.Account
	open     bool
	touched  int
	secrets  [][]byte // as passed in: the host must have wiped them
	watch    func(WalletChange)
	fail     error
	slow     chan struct{} // if not nil, Create waits for it
	unlocked func()        // if not nil, called by Unlock before it returns
}

func newFakeWallet() *fakeWallet {
	w := &fakeWallet{}
	w.accounts = []protocol.Account{{Address: addressOf(account), Name: "Account 1", Wallet: "w1", Path: "m/44'/60'/0'/0/0"}}
	return w
}

func (w *fakeWallet) wallet() protocol.Wallet {
	return protocol.Wallet{ID: "w1", Name: "Main", Kind: "mnemonic", Accounts: w.accounts}
}

func (w *fakeWallet) Status(context.Context) (protocol.KeysStatus, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := protocol.KeysStatus{State: protocol.KeysLocked, Backend: "os", Wallets: []protocol.Wallet{w.wallet()}, AutoLockSeconds: 900}
	if w.open {
		s.State, s.LocksAt = protocol.KeysUnlocked, testTime.Add(15*time.Minute)
	}
	return s, w.fail
}

func (w *fakeWallet) Accounts(context.Context) ([]protocol.Account, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.accounts, w.fail
}

func (w *fakeWallet) Create(ctx context.Context, _ string, _ int, password []byte) (protocol.Wallet, []byte, string, error) {
	w.mu.Lock()
	slow := w.slow
	w.secrets = append(w.secrets, password)
	w.mu.Unlock()
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return protocol.Wallet{}, nil, "", ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return protocol.Wallet{}, nil, "", w.fail
	}
	w.made++
	return w.wallet(), []byte(testWords), "write the words down", nil
}

func (w *fakeWallet) Import(_ context.Context, p *protocol.ImportParams) (protocol.Wallet, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range []protocol.Secret{p.Mnemonic, p.PrivateKey, p.Keystore, p.KeystorePassword, p.Password} {
		if len(s) > 0 {
			w.secrets = append(w.secrets, s)
		}
	}
	w.made++
	made := w.wallet()
	if len(p.Mnemonic) == 0 {
		made.Kind, made.Accounts = "key", slices.Clone(made.Accounts)
		made.Accounts[0].Path = ""
	}
	return made, w.fail
}

func (w *fakeWallet) Rename(_ context.Context, p *protocol.RenameParams) (protocol.Wallet, error) {
	defer w.watch(WalletChange{Cause: protocol.CauseListed})
	w.mu.Lock()
	defer w.mu.Unlock()
	renamed := w.wallet()
	renamed.Accounts = slices.Clone(renamed.Accounts)
	if p.Account != "" {
		renamed.Accounts[0].Name = p.Name
	} else {
		renamed.Name = p.Name
	}
	return renamed, w.fail
}

func (w *fakeWallet) Clear(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cleared++
	return w.fail
}

func (w *fakeWallet) Remove(_ context.Context, _ string, p []byte) (protocol.Wallet, error) {
	w.mu.Lock()
	err := w.check(p)
	if err == nil {
		w.removed++
	}
	w.mu.Unlock()
	if err != nil {
		return protocol.Wallet{}, err
	}
	w.watch(WalletChange{Cause: protocol.CauseListed})
	return w.wallet(), nil
}

func (w *fakeWallet) Export(_ context.Context, p *protocol.ExportParams) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.check(p.Password); err != nil {
		return nil, err
	}
	out := []byte(testWords)
	w.secrets = append(w.secrets, p.KeystorePassword, out)
	return out, nil
}

func (w *fakeWallet) Add(context.Context, string, string) (protocol.Account, error) {
	defer w.watch(WalletChange{Cause: protocol.CauseListed})
	w.mu.Lock()
	defer w.mu.Unlock()
	a := protocol.Account{Address: addressOf(stranger), Name: "Account 2", Wallet: "w1", Path: "m/44'/60'/0'/0/1"}
	w.accounts = append(w.accounts, a)
	return a, w.fail
}

func (w *fakeWallet) Discover(context.Context, string) (protocol.Discovery, error) {
	found := protocol.Account{Address: addressOf(stranger), Name: "Account 2", Wallet: "w1", Path: "m/44'/60'/0'/0/1"}
	d := protocol.Discovery{Wallet: "w1", Checked: 21, Found: []protocol.Account{found}, Unreachable: []uint64{56}, Done: true}
	w.watch(WalletChange{Cause: protocol.CauseDiscovered, Discovery: &d})
	return d, w.fail
}

func (w *fakeWallet) check(p []byte) error {
	w.secrets = append(w.secrets, p)
	switch {
	case w.fail != nil:
		return w.fail
	case string(p) != password:
		return errPassword
	}
	return nil
}

func (w *fakeWallet) Unlock(_ context.Context, p []byte) error {
	w.mu.Lock()
	err := w.check(p)
	hook := w.unlocked
	if err == nil {
		w.open = true
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	w.watch(WalletChange{Cause: protocol.CauseUnlocked})
	if hook != nil {
		hook()
	}
	return nil
}

func (w *fakeWallet) CheckPassword(_ context.Context, p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.check(p)
}

func (w *fakeWallet) Lock() { w.lock(false) }

func (w *fakeWallet) lock(idle bool) {
	w.mu.Lock()
	was := w.open
	w.open = false
	w.mu.Unlock()
	if was {
		w.watch(WalletChange{Cause: protocol.CauseLocked, Idle: idle})
	}
}

func (w *fakeWallet) Unlocked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

func (w *fakeWallet) Touch() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched++
}

func (w *fakeWallet) Subscribe(f func(WalletChange)) func() {
	w.watch = f
	return func() {}
}

type fakeSwaps struct {
	mu       sync.Mutex
	pending  bool // there is an open order
	damaged  bool // its record cannot be read
	dropped  int
	asked    []swap.QuoteRequest
	executed []engine.ExecuteRequest
	revoked  []engine.ExecuteRequest
	sped     []engine.SpeedUpRequest
	listed   []engine.AllowancesRequest
	during   func()  // if not nil, called while allowances are listed
	ended    []error // the context's error when Execute returned
	watch    func(swap.Order)
	fail     error
	hold     chan struct{} // if not nil, Execute waits for it
	long     int           // length of every order's reason
	lines    int           // number of lines of every history
	note     string        // text of the first line, if lines are added
	panics   bool
	takes    []engine.Reason
	callers  []engine.Caller       // of acts
	quoting  func(context.Context) // if not nil, called while a quote is in progress
}

func (s *fakeSwaps) Providers() []swap.ProviderInfo {
	if s.panics {
		panic("a secret: " + password)
	}
	return []swap.ProviderInfo{{
		Kind: swap.DEX, Ready: true, Support: map[uint64]swap.Cell{1: swap.SupportOf(swap.DEX, 1)},
		Can: swap.Capabilities{SameChain: "yes", CrossChain: "no", Intents: "no", Gasless: "only through the auction-style route", Tracking: "yes"},
		Fee: swap.ProviderFee{FeeBps: 20, MakerBps: 20, Description: "taken from the output"},
	}, {
		Kind: swap.Intent, Ready: true, Support: map[uint64]swap.Cell{1: swap.SupportOf(swap.Intent, 1), 39: swap.SupportOf(swap.Intent, 39)},
		Can: swap.Capabilities{SameChain: "route-dependent", CrossChain: "yes", Intents: "yes", Gasless: "no", Tracking: "yes"},
		Fee: swap.ProviderFee{FeeBps: 40, Description: "a referrer fee"},
		Endpoint: &swap.Endpoint{Base: "https://intent.example/key/v1", Frontend: "https://tokens.example", Networks: []swap.NetworkEntry{
			{ChainID: 1, Enabled: true, ProviderChainID: 1, DisplayName: "Ethereum", CrossChainEnabled: true},
			{ChainID: 39, ProviderChainID: 39, DisplayName: "U2U Solaris"},
		}},
	}}
}

func (s *fakeSwaps) Tokens(_ context.Context, k swap.Kind, id uint64) ([]tokens.Token, error) {
	if k != swap.Intent && k != swap.Bridge {
		return nil, swap.Refuse(swap.BadRequest, "the %s provider lists no tokens; leave it out", k)
	}
	t, _ := tokens.Unverified(id, usdc, "USDC", "USD Coin", 6, string(k))
	u, _ := tokens.Unverified(id, router, "UNK", "Unknown", 18, string(k))
	return []tokens.Token{t, u}, nil
}

func (s *fakeSwaps) Destinations(_ context.Context, k swap.Kind) ([]swap.Destination, error) {
	if k != swap.Bridge && k != swap.Intent {
		return nil, swap.Refuse(swap.BadRequest, "the %s provider swaps on one chain only; ask bridge or intent", k)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return nil, s.fail
	}
	return []swap.Destination{
		{ChainID: 7, Name: "zero"}, {ChainID: 1, Name: "not Ethereum", Symbol: "LIE", Decimals: 1},
		{ChainID: 137, Name: "Polygon", Symbol: "POL", Decimals: 18, Explorer: "https://polygonscan.com"}, {ChainID: 5, Name: "zero"},
	}, nil
}

func (s *fakeSwaps) Fees() swap.FeeInfo {
	return swap.FeeInfo{FeeBps: 40, PartnerInfo: swap.Partner{Name: "Swapkeep", Website: "https://swapkeep.example"}}
}

func (s *fakeSwaps) offer(r swap.QuoteRequest) swap.Offer {
	return swap.Offer{
		ID: "offer-1", Provider: swap.DEX, Request: r, Routing: "CLASSIC", Route: "ETH → USDC, V3 0.05 %",
		AmountOut: big.NewInt(3_000_000_000), MinOut: big.NewInt(2_985_000_000), QuotedMin: big.NewInt(3_000_000_000), Gas: 180_000, Duration: 12 * time.Second,
		Expires: testTime.Add(time.Minute), Fees: []swap.Payment{{Token: usdc, To: router, Bps: 20}},
	}
}

func (s *fakeSwaps) Quote(ctx context.Context, r swap.QuoteRequest, _ []swap.Kind, each func(plan.QuoteUpdate)) (plan.QuoteResult, error) {
	s.mu.Lock()
	quoting := s.quoting
	s.mu.Unlock()
	if quoting != nil {
		quoting(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return plan.QuoteResult{}, s.fail
	}
	s.asked = append(s.asked, r)
	offers := []swap.Offer{s.offer(r)}
	failure := &swap.Refusal{Code: swap.NoRoute, Reason: "no offer for this pair", Field: "tokenOut", Data: map[string]string{"provider": "gasless"}}
	each(plan.QuoteUpdate{Provider: swap.DEX, Offers: offers, Done: true, Ranked: offers[:1]})
	each(plan.QuoteUpdate{Provider: swap.Gasless, Failure: failure, Done: true, Ranked: offers[:1]})
	return plan.QuoteResult{Offers: offers, Failures: map[swap.Kind]*swap.Refusal{swap.Gasless: failure}}, nil
}

// Requote answers again and again, while awake does not block, until ctx ends.
func (s *fakeSwaps) Requote(ctx context.Context, r swap.QuoteRequest, _ []swap.Kind, awake func(context.Context) error, each func(plan.QuoteUpdate)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
		if err := awake(ctx); err != nil {
			return err
		}
		each(plan.QuoteUpdate{Provider: swap.DEX, Offers: []swap.Offer{s.offer(r)}, Done: true})
	}
}

func (s *fakeSwaps) request() swap.QuoteRequest {
	return swap.QuoteRequest{Account: account, SrcChain: 1, AmountIn: big.NewInt(1e18), DstChain: 1, TokenOut: usdc, Recipient: account, RefundTo: account, SlippageBps: 50}
}

func (s *fakeSwaps) terms() swap.Terms {
	return swap.Terms{
		Provider: swap.DEX, Account: account, SrcChain: 1, AmountIn: big.NewInt(1e18), DstChain: 1, TokenOut: usdc, Recipient: account,
		MinOut: big.NewInt(2_985_000_000), Deadline: testTime.Add(20 * time.Minute), RefundTo: account, FeeBps: 20, FeeReceiver: router,
		MakerFeeBps: 20, GasCeiling: big.NewInt(5e16),
	}
}

func (s *fakeSwaps) plan() swap.Plan {
	return swap.Plan{Settlement: swap.ByOwnCall, Steps: []swap.Step{{
		Kind: swap.CallStep,
		Call: &chain.Call{ChainID: 1, From: account, To: router, Value: big.NewInt(1e18), Data: []byte{0x35, 0x93, 0x56, 0x4c}},
		Effect: swap.Effect{
			Kind: swap.Swap, Chain: 1, Target: router, Spends: []swap.Spend{{Amount: big.NewInt(1e18)}},
			Receives: []swap.Receive{{Token: usdc, To: account, Min: big.NewInt(2_985_000_000)}},
			Pays:     []swap.Payment{{Token: usdc, To: router, Bps: 20}}, Deadline: testTime.Add(20 * time.Minute),
		},
	}}}
}

func (s *fakeSwaps) Prepare(_ context.Context, id string) (swap.Review, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fail != nil:
		return swap.Review{}, s.fail
	case id != "offer-1" && id != "offer-5":
		return swap.Review{}, swap.Refuse(swap.QuoteUnknown, "no such offer; get a new quote")
	}
	share := 0.002
	r := swap.Review{
		Digest: digest, Terms: s.terms(), Offer: s.offer(s.request()), Plan: s.plan(), Expires: testTime.Add(time.Minute),
		Gas: swap.Gas{Expected: big.NewInt(2e15), Max: big.NewInt(4e15), Balance: big.NewInt(2e18), Share: &share, Costs: []chain.Cost{{
			Gas: 180_000, Fees: chain.Fees{BaseFee: big.NewInt(1e10), GasFeeCap: big.NewInt(2e10), GasTipCap: big.NewInt(1e9)},
			Expected: big.NewInt(2e15), L1: big.NewInt(0), Max: big.NewInt(4e15),
		}}},
		Findings: []swap.Finding{{Code: "price_note", Severity: swap.Note, Text: "the price is 3 % off our own", Data: map[string]string{"percent": "3"}}},
	}
	if id == "offer-5" {
		r = s.isolatedReview(r)
	}
	return r, nil
}

func (s *fakeSwaps) called(c engine.Caller) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.callers = append(s.callers, c)
}

func (s *fakeSwaps) Takes(context.Context, swap.Review, bool) ([]engine.Reason, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takes, nil
}

func (s *fakeSwaps) order(id string, state swap.State) swap.Order {
	o := swap.Order{
		ID: id, Consent: swap.Consent{Request: "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d11", Digest: digest, Origin: "terminal", Terms: s.terms(), Offer: s.offer(s.request()),
			Plan: s.plan()}, Progress: swap.Progress{Revision: 1, State: state}, Created: testTime, Updated: testTime, Outcome: swap.Outcome{Reason: strings.Repeat("x", s.long)},
	}
	if state == swap.Filled {
		ev := &chain.Evidence{
			Chain: 1, Tx: txHash, Block: 100, BlockHash: digest, Success: true, Depth: 2, GasUsed: 150_000, FeePaid: big.NewInt(15e14),
			Hosts: []string{"127.0.0.1"}, To: router,
		}
		o.Results, o.Step, o.Revision = []swap.Result{{Tx: txHash, Signature: []byte{1, 2, 3}, Evidence: ev}}, 1, 5
		o.Verdict = &swap.Verdict{State: state, Received: &swap.Spend{Token: usdc, Amount: big.NewInt(2_999_000_000)}, Sources: swap.OneHost, Evidence: ev}
		o.Claim = &swap.Claim{State: swap.Filled, Tx: txHash}
	}
	return o
}

func (s *fakeSwaps) Execute(ctx context.Context, r engine.ExecuteRequest) (swap.Order, error) {
	s.mu.Lock()
	s.executed, s.callers = append(s.executed, r), append(s.callers, r.Caller)
	hold, fail := s.hold, s.fail
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, ctx.Err())
	if r.Digest != digest {
		fail = swap.Refuse(swap.PlanUnknown, "no prepared plan has this digest; prepare it again")
	}
	o := s.order("order-1", swap.Accepted)
	if fail == nil {
		s.watch(o)
	}
	return o, fail
}

func (s *fakeSwaps) Cancel(_ context.Context, r engine.CancelRequest) (swap.Order, error) {
	s.called(r.Caller)
	o := s.order(r.Order, swap.Accepted)
	o.Cancel, o.Revision = true, 2
	return o, s.fail
}

func (s *fakeSwaps) Close(_ context.Context, r engine.CloseRequest) (swap.Order, error) {
	s.called(r.Caller)
	o := s.order(r.Order, swap.Closed)
	o.Closing = &swap.Closing{At: testTime, By: swap.ClosedByPerson, Claim: &swap.Claim{State: swap.Failed, ProviderStatus: "expired"}, Searched: map[uint64]uint64{1: 100}}
	return o, s.fail
}

func (s *fakeSwaps) SpeedUp(_ context.Context, r engine.SpeedUpRequest) (swap.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sped, s.callers = append(s.sped, r), append(s.callers, r.Caller)
	if r.Order != "order-1" {
		return swap.Order{}, swap.Refuse(swap.OrderUnknown, "no order %s", r.Order)
	}
	o := s.order(r.Order, swap.Executing)
	o.CurrentTx, o.Revision, o.Bump = txHash, 4, &swap.Bump{Tier: cmp.Or(r.Tier, chain.Fast), Replaces: txHash}
	o.Attempts = []swap.Attempt{{Kind: chain.AttemptCall, Tx: txHash, FeeCap: big.NewInt(2e10), TipCap: big.NewInt(1e9), Signed: testTime}}
	if r.GasCeiling != nil {
		o.Terms.GasCeiling = r.GasCeiling
	}
	return o, s.fail
}

// Allowances returns two rows; the first can be revoked by digest if prepared.
func (s *fakeSwaps) Allowances(_ context.Context, r engine.AllowancesRequest) ([]engine.Allowance, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = append(s.listed, r)
	if s.during != nil {
		s.during()
	}
	if s.fail != nil {
		return nil, "", s.fail
	}
	a := engine.Allowance{
		Chain: r.Chain, Token: usdc, Spender: router, Kind: swap.ByPermit2, Name: "Uniswap Universal Router", Provider: swap.DEX,
		Amount: big.NewInt(1_000_000), Expires: testTime.Add(time.Hour), Share: new(big.Int), Leftover: "order-1",
	}
	b := engine.Allowance{
		Chain: r.Chain, Token: stranger, Spender: stranger, Kind: swap.ByToken, Amount: new(big.Int).Lsh(big.NewInt(1), 255), Share: big.NewInt(5),
	}
	if r.Prepare {
		a.Review = &swap.Review{Digest: digest, Gas: swap.Gas{Expected: big.NewInt(1e14), Max: big.NewInt(2e14), Balance: big.NewInt(1e14), Missing: big.NewInt(1e14)},
			Findings: []swap.Finding{{Code: "gas_insufficient", Severity: swap.Block, Text: "not enough ETH for gas: 0.0001 ETH more is needed", Data: map[string]string{"missing": "100000000000000"}}}}
	}
	return []engine.Allowance{a, b}, "next", nil
}

func (s *fakeSwaps) Revoke(_ context.Context, r engine.ExecuteRequest) (swap.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked, s.callers = append(s.revoked, r), append(s.callers, r.Caller)
	o := s.order("order-2", swap.Accepted)
	o.Terms = swap.Terms{Provider: swap.Wallet, Account: account, SrcChain: 1, TokenIn: usdc, AmountIn: new(big.Int), DstChain: 1, TokenOut: usdc,
		Recipient: account, MinOut: new(big.Int), Deadline: testTime.Add(20 * time.Minute), RefundTo: account, GasCeiling: big.NewInt(5e16)}
	o.Offer = swap.Offer{Provider: swap.Wallet, Routing: "REVOKE", AmountOut: new(big.Int), MinOut: new(big.Int), Expires: testTime.Add(10 * time.Minute), Request: swap.QuoteRequest{
		Account: account, SrcChain: 1, TokenIn: usdc, AmountIn: new(big.Int), DstChain: 1, TokenOut: usdc, Recipient: account, RefundTo: account}}
	o.Plan = swap.Plan{Settlement: swap.ByOwnCall, Steps: []swap.Step{{
		Kind: swap.CallStep, Call: &chain.Call{ChainID: 1, From: account, To: usdc, Value: new(big.Int), Data: []byte{0x09, 0x5e, 0xa7, 0xb3}},
		Effect: swap.Effect{Kind: swap.Approve, Chain: 1, Target: usdc, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: new(big.Int)}}},
	}}}
	if r.Digest != digest {
		return swap.Order{}, swap.Refuse(swap.PlanUnknown, "no prepared plan has this digest; list the allowances again")
	}
	return o, s.fail
}

func (s *fakeSwaps) Accept(_ context.Context, r engine.AcceptRequest) (swap.Order, error) {
	s.called(r.Caller)
	o := s.order(r.Order, swap.Executing)
	o.Digest, o.Revision = r.Digest, 3
	return o, s.fail
}

func (s *fakeSwaps) Order(id string) (swap.Order, []journal.Entry, error) {
	switch id {
	case "order-1":
	case "order-3":
		return s.inNeed(id), nil, s.fail
	case "order-4":
		return s.leaving(id), nil, s.fail
	case "order-5":
		lines := []journal.Entry{{Time: testTime.Add(time.Minute), State: swap.Filled, Step: 4, Note: "moved back", Cause: &swap.Cause{Reason: swap.ReasonReturned, Data: swap.Figures{"token": chain.Native.Hex(), "amount": "900000000000000"}}}}
		return s.returned(id), lines, s.fail
	default:
		return swap.Order{}, nil, swap.Refuse(swap.OrderUnknown, "no order %s", id)
	}
	lines := []journal.Entry{{Time: testTime, State: swap.Accepted, Note: "accepted", Cause: &swap.Cause{Reason: swap.ReasonAccepted}}, {Time: testTime.Add(time.Second), State: swap.Filled, Step: 1, Note: "proven filled", Cause: &swap.Cause{Reason: swap.Proven, Data: swap.Figures{"state": "filled"}}}}
	for len(lines) < s.lines {
		lines[0].Note = cmp.Or(s.note, lines[0].Note)
		lines = append(lines, lines[0])
	}
	return s.order(id, swap.Filled), lines, s.fail
}

// inNeed returns an order that asks for consent to a lower minimum.
func (s *fakeSwaps) inNeed(id string) swap.Order {
	o := s.order(id, swap.Executing)
	o.Condition, o.Revision = swap.NeedsConsent, 6
	r, _ := s.Prepare(context.Background(), "offer-1")
	r.Terms.MinOut = big.NewInt(2_900_000_000)
	o.Proposal = &swap.Proposal{Review: r, Reason: "the price fell", Made: testTime, Cause: &swap.Cause{Reason: swap.PriceFell, Code: swap.ConsentNeeded, Data: swap.Figures{"minOut": "2985000000", "offered": "2900000000"}}}
	return o
}

// leaving returns an order that failed after its approval and left an allowance.
func (s *fakeSwaps) leaving(id string) swap.Order {
	o := s.order(id, swap.Failed)
	o.Terms.TokenIn, o.Terms.AmountIn, o.Plan.Spender = usdc, big.NewInt(1_000_000), router
	approve := swap.Step{Kind: swap.CallStep, Call: &chain.Call{ChainID: 1, From: account, To: usdc, Value: new(big.Int)}, Effect: swap.Effect{
		Kind: swap.Approve, Chain: 1, Target: usdc, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: big.NewInt(1_000_000)}}}}
	o.Plan.Steps = append([]swap.Step{approve}, o.Plan.Steps...)
	o.Results, o.Step, o.Reason = []swap.Result{{Tx: txHash, Evidence: &chain.Evidence{Chain: 1, Tx: txHash, Success: true, FeePaid: big.NewInt(1)}}}, 1, "another transaction used its nonce"
	o.Cause = &swap.Cause{Reason: swap.NonceUsed}
	return o
}

func (s *fakeSwaps) Orders(_ common.Address, openOnly bool, cursor string, limit int) ([]swap.Order, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fail != nil:
		return nil, "", s.fail
	case openOnly && !s.pending:
		return nil, "", nil
	}
	out := []swap.Order{s.order("order-1", swap.Filled)}
	if s.damaged {
		out[0] = journal.UnreadableOrder("order-1", true, fmt.Errorf("order order-1: %w", journal.ErrUnreadable))
	}
	for len(out) < limit && s.long > 0 {
		out = append(out, out[0])
	}
	if cursor != "" || openOnly {
		return out, "", nil
	}
	return out, "order-1", nil
}

func (s *fakeSwaps) Subscribe(f func(swap.Order)) func() {
	s.watch = f
	return func() {}
}

func (s *fakeSwaps) DropPlans() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped++
}

func (s *fakeSwaps) drops() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

type fakeNetworks struct {
	hold  chan struct{} // if not nil, Balances waits for it or its context
	fail  error
	asked atomic.Int64 // number of calls of Balances

	heads bool // WatchGas reports a new head at once

	mu      sync.Mutex
	watched []gasWatcher // all watchers ever
}

type gasWatcher struct {
	ctx   context.Context
	chain uint64
	f     func(chain.GasPrice)
}

// fakeGas returns the gas price at a block, with a fee market or, for chain 39, without.
func fakeGas(id, block uint64) chain.GasPrice {
	fees := func(tip int64) chain.Fees {
		return chain.Fees{GasFeeCap: big.NewInt(2e9 + tip), GasTipCap: big.NewInt(tip), Legacy: id == 39}
	}
	g := chain.GasPrice{
		Chain: id, Block: block, Time: testTime, BaseFee: big.NewInt(9e8), NextBaseFee: big.NewInt(1e9),
		Slow: fees(1e6), Normal: fees(2e6), Fast: fees(5e6),
	}
	if id == 8453 {
		g.L1, g.L1Fee = chain.L1FeeOP, big.NewInt(1e9)
	}
	return g
}

func (n *fakeNetworks) GasPrice(_ context.Context, id uint64) (chain.GasPrice, error) {
	return fakeGas(id, 100), n.fail
}

func (n *fakeNetworks) WatchGas(ctx context.Context, id uint64, f func(chain.GasPrice)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.watched = append(n.watched, gasWatcher{ctx, id, f})
	if n.heads {
		f(fakeGas(id, 101))
	}
	return n.fail
}

func (n *fakeNetworks) watching(id uint64) (count int) {
	for _, w := range n.watchers() {
		if w.chain == id && w.ctx.Err() == nil {
			count++
		}
	}
	return count
}

func (n *fakeNetworks) watchers() []gasWatcher {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.watched)
}

func (n *fakeNetworks) mine(id, block uint64) {
	for _, w := range n.watchers() {
		if w.chain == id && w.ctx.Err() == nil {
			w.f(fakeGas(id, block))
		}
	}
}

func (n *fakeNetworks) Networks() []chain.Network {
	return []chain.Network{
		{ID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18, WrappedNative: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), Explorer: "https://etherscan.io", Depth: 3, BlockTime: 12 * time.Second, Fee: chain.FeeMarket, GasCeiling: big.NewInt(5e16)},
		{ID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18, Depth: 5, BlockTime: 2 * time.Second, Fee: chain.FeeMarket, L1Fee: chain.L1FeeOP, GasCeiling: big.NewInt(5e15)},
	}
}

func (n *fakeNetworks) Health() []chain.EndpointHealth {
	return []chain.EndpointHealth{
		{Chain: 1, Host: "rpc.example", Head: 100, HeadTime: testTime},
		{Chain: 1, Host: "other.example", Failure: "other.example: no answer in time", RetryAt: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Chain: 8453, Host: "base.example"},
	}
}

func (n *fakeNetworks) Balances(ctx context.Context, _ uint64, _ common.Address, tokens []common.Address) ([]*big.Int, error) {
	n.asked.Add(1)
	if n.hold != nil {
		select {
		case <-n.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	out := make([]*big.Int, len(tokens))
	for i := range out {
		if i < 2 {
			out[i] = big.NewInt(int64(i+1) * 1e18)
		}
	}
	return out, n.fail
}

// fakeTokens knows three tokens on every chain and can import one.
type fakeTokens struct {
	mu       sync.Mutex
	imported bool
	fail     error
}

var foo = common.HexToAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")

func (f *fakeTokens) On(chain uint64) []tokens.Token {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := []tokens.Token{
		{Chain: chain, Symbol: "ETH", Name: "Ether", Decimals: 18, Recognized: true, Verified: true, List: "Swapkeep"},
		{Chain: chain, Address: usdc, Symbol: "USDC", Name: "USD Coin", Decimals: 6, Recognized: true, Verified: true, List: "Swapkeep"},
		{Chain: chain, Address: stranger, Symbol: "USDC", Name: "Another", Decimals: 6, List: "My list"},
	}
	if f.imported {
		all = append(all, tokens.Token{Chain: chain, Address: foo, Symbol: "FOO", Name: "Foo", Decimals: 8, Imported: true})
	}
	return all
}

func (f *fakeTokens) Search(chain uint64, query string) []tokens.Token {
	return slices.DeleteFunc(f.On(chain), func(t tokens.Token) bool {
		return !strings.EqualFold(t.Symbol, query) && !strings.EqualFold(t.Address.Hex(), query)
	})
}

func (f *fakeTokens) Lookup(chain uint64, a common.Address) (tokens.Token, bool) {
	all := f.On(chain)
	i := slices.IndexFunc(all, func(t tokens.Token) bool { return t.Address == a })
	if i < 0 {
		return tokens.Token{}, false
	}
	return all[i], true
}

func (f *fakeTokens) Incoming(_ context.Context, chain uint64, _ common.Address) ([]tokens.Token, error) {
	return []tokens.Token{{Chain: chain, Address: foo, Symbol: "USDC", Name: "USDC", Decimals: 6}}, nil
}

func (f *fakeTokens) Imitated(t tokens.Token) (common.Address, bool) {
	return usdc, t.Symbol == "USDC" && !t.Recognized
}

func (f *fakeTokens) Preview(_ context.Context, chain uint64, a common.Address) (tokens.Token, bool, error) {
	t, known := f.Lookup(chain, a)
	switch {
	case f.fail != nil:
		return tokens.Token{}, false, f.fail
	case known:
		return t, true, nil
	case a == router:
		return t, false, tokens.ErrReserved
	case a != foo:
		return t, false, &tokens.NotTokenError{Why: "there is no contract at that address"}
	}
	return tokens.Token{Chain: chain, Address: foo, Symbol: "FOO", Name: "Foo", Decimals: 8}, false, nil
}

func (f *fakeTokens) Import(ctx context.Context, chain uint64, a common.Address) (tokens.Token, bool, error) {
	t, known, err := f.Preview(ctx, chain, a)
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Imported = t.Imported || err == nil && !known
	f.imported = f.imported || t.Imported
	return t, known, err
}

func (f *fakeTokens) Remove(_ uint64, a common.Address) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.imported && a == foo
	f.imported = f.imported && !was
	return was, f.fail
}

// fakeSettings has a setting with every right and source.
type fakeSettings struct {
	mu      sync.Mutex
	active  uint64
	changed map[string][]string
	fail    error
}

func (s *fakeSettings) ActiveNetwork(fallback uint64) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == 0 {
		return fallback, nil
	}
	return s.active, nil
}

func (s *fakeSettings) SetActiveNetwork(id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.active = id
	}
	return s.fail
}

func (s *fakeSettings) Slippage() protocol.Percent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.changed["swap.slippage"]; v != nil {
		p, _ := protocol.ParsePercent(v[0])
		return p
	}
	return 50
}

func (s *fakeSettings) List(reveal bool) []protocol.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	rpc := []string{"rpc.example"}
	if reveal {
		rpc = []string{"https://rpc.example/ACCESSKEY"}
	}
	all := []protocol.Setting{
		{Key: "swap.slippage", Description: "slippage of a quote that names none", Type: protocol.SettingPercent, Value: "0.5", Default: "0.5", Source: protocol.FromDefault, Requires: protocol.RightSession, TakesEffect: protocol.AppliesNow, Min: "0.01", Max: "50"},
		{Key: "networks.1.rpc", Description: "RPC endpoints", Type: protocol.SettingURLs, Values: rpc, Masked: !reveal, Source: protocol.FromFile, Name: "/etc/swapkeep.toml", Requires: protocol.RightPassword, TakesEffect: protocol.AppliesNow},
		{Key: "log.level", Description: "how much is logged", Type: protocol.SettingChoice, Value: "debug", Default: "info", Source: protocol.FromEnvironment, Name: "SWAPKEEP_LOG_LEVEL", Requires: protocol.RightSession, Refused: "set by the environment: SWAPKEEP_LOG_LEVEL", TakesEffect: protocol.AppliesRestart, Choices: []string{"debug", "info"}},
		{Key: "fees.fee_bps", Description: "the wallet's fee", Type: protocol.SettingNumber, Value: "40", Default: "40", Source: protocol.FromDefault, Requires: protocol.RightNone, Refused: "the wallet's vendor sets it", TakesEffect: protocol.AppliesRestart},
	}
	for i, one := range all {
		switch v := s.changed[one.Key]; {
		case v == nil:
			continue
		case one.Type == protocol.SettingURLs:
			all[i].Values = []string{"mine.example"}
		default:
			all[i].Value = v[0]
		}
		all[i].Source, all[i].Name = protocol.FromSetting, ""
	}
	return all
}

// Asks returns the setting's right. What depends on the value is tested with real
// settings.
func (s *fakeSettings) RequiredRight(key string, _ []string) (string, error) {
	one, err := settingOf(s.List(false), key)
	return one.Requires, err
}

func (s *fakeSettings) Change(_ context.Context, key string, values []string) (protocol.Setting, error) {
	switch {
	case slices.Contains(values, "https://wrong.example"):
		return protocol.Setting{}, protocol.New("rpc_refused", "wrong.example: rpc endpoint serves another chain: 5 instead of 1").With("key", key)
	case slices.Contains(values, "51"):
		return protocol.Setting{}, protocol.New("setting_refused", "swap.slippage: must be above 0 and at most 50 percent").With("key", key)
	}
	s.mu.Lock()
	if s.fail != nil {
		s.mu.Unlock()
		return protocol.Setting{}, s.fail
	}
	if s.changed == nil {
		s.changed = map[string][]string{}
	}
	s.changed[key] = values
	s.mu.Unlock()
	one, err := settingOf(s.List(false), key)
	return one, err
}

type fakeProviderKeys struct {
	mu   sync.Mutex
	kept map[string]string
	seen [][]byte // as passed in: the host must have wiped them
}

func (k *fakeProviderKeys) SetProviderKey(_ context.Context, provider string, key []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]string{}
	}
	k.kept[provider], k.seen = string(key), append(k.seen, key)
	return nil
}
