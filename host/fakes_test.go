package host

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// The fakes below stand for the wallet, the swap service and the chains. They
// are deterministic: fixtures hold their answers.

const (
	password  = "five broken umbrellas in May"
	testWords = "test test test test test test test test test test test junk" // published test mnemonic, never a real wallet
)

var (
	account  = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // first of the published test mnemonic
	stranger = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	usdc     = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	router   = common.HexToAddress("0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af")
	clock    = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	digest   = common.HexToHash("0x1111111111111111111111111111111111111111111111111111111111111111")
	txHash   = common.HexToHash("0x2222222222222222222222222222222222222222222222222222222222222222")
)

// Errors of the fake wallet, as a vault's: with a text and a remedy of their own.
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
}

type fakeWallet struct {
	mu       sync.Mutex
	made     int
	removed  int
	accounts []protocol.Account
	open     bool
	touched  int
	secrets  [][]byte // as handed in: the host must have wiped them
	watch    func(string, bool)
	fail     error
	slow     chan struct{} // not nil: Create waits for it
	unlocked func()        // not nil: called by Unlock before it returns
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
		s.State, s.LocksAt = protocol.KeysUnlocked, clock.Add(15*time.Minute)
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
	defer w.watch(protocol.CauseListed, false)
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
	w.watch(protocol.CauseListed, false)
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
	defer w.watch(protocol.CauseListed, false)
	w.mu.Lock()
	defer w.mu.Unlock()
	a := protocol.Account{Address: addressOf(stranger), Name: "Account 2", Wallet: "w1", Path: "m/44'/60'/0'/0/1"}
	w.accounts = append(w.accounts, a)
	return a, w.fail
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
	w.watch(protocol.CauseUnlocked, false)
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
		w.watch(protocol.CauseLocked, idle)
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

func (w *fakeWallet) Subscribe(f func(string, bool)) func() {
	w.watch = f
	return func() {}
}

type fakeSwaps struct {
	mu       sync.Mutex
	pending  bool // an order is open
	dropped  int
	asked    []swap.QuoteRequest
	executed []swap.ExecuteRequest
	ended    []error // of the context of Execute, once it returns
	watch    func(swap.Order)
	fail     error
	hold     chan struct{} // not nil: Execute waits for it
	long     int           // bytes of every order's reason
	lines    int           // of every history
	panics   bool
}

func (s *fakeSwaps) Providers() []swap.ProviderInfo {
	if s.panics {
		panic("a secret: " + password)
	}
	return []swap.ProviderInfo{{Kind: swap.DEX, Ready: true, Support: map[uint64]swap.Cell{1: swap.SupportOf(swap.DEX, 1)}}}
}

func (s *fakeSwaps) Fees() swap.FeeInfo {
	return swap.FeeInfo{FeeBps: 40, PartnerInfo: swap.Partner{Name: "Swapkeep", Website: "https://swapkeep.example"}}
}

func (s *fakeSwaps) offer(r swap.QuoteRequest) swap.Offer {
	return swap.Offer{
		ID: "offer-1", Provider: swap.DEX, Request: r, Routing: "CLASSIC", Route: "ETH → USDC, V3 0.05 %",
		AmountOut: big.NewInt(3_000_000_000), MinOut: big.NewInt(2_985_000_000), Gas: 180_000, Duration: 12 * time.Second,
		Expires: clock.Add(time.Minute), Fees: []swap.Payment{{Token: usdc, To: router, Bps: 20}},
	}
}

func (s *fakeSwaps) Quote(_ context.Context, r swap.QuoteRequest, _ []swap.Kind, each func(swap.Kind, []swap.Offer, *swap.Refusal)) (swap.QuoteResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return swap.QuoteResult{}, s.fail
	}
	s.asked = append(s.asked, r)
	offers := []swap.Offer{s.offer(r)}
	failure := &swap.Refusal{Code: swap.NoRoute, Reason: "no offer for this pair", Field: "tokenOut", Data: map[string]string{"provider": "gasless"}}
	each(swap.DEX, offers, nil)
	each(swap.Gasless, nil, failure)
	return swap.QuoteResult{Offers: offers, Failures: map[swap.Kind]*swap.Refusal{swap.Gasless: failure}}, nil
}

func (s *fakeSwaps) request() swap.QuoteRequest {
	return swap.QuoteRequest{Account: account, SrcChain: 1, AmountIn: big.NewInt(1e18), DstChain: 1, TokenOut: usdc, Recipient: account, RefundTo: account, SlippageBps: 50}
}

func (s *fakeSwaps) terms() swap.Terms {
	return swap.Terms{
		Provider: swap.DEX, Account: account, SrcChain: 1, AmountIn: big.NewInt(1e18), DstChain: 1, TokenOut: usdc, Recipient: account,
		FloorOut: big.NewInt(2_985_000_000), Deadline: clock.Add(20 * time.Minute), RefundTo: account, FeeBps: 20, FeeReceiver: router,
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
			Pays:     []swap.Payment{{Token: usdc, To: router, Bps: 20}}, Deadline: clock.Add(20 * time.Minute),
		},
	}}}
}

func (s *fakeSwaps) Prepare(_ context.Context, id string) (swap.Review, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fail != nil:
		return swap.Review{}, s.fail
	case id != "offer-1":
		return swap.Review{}, swap.Refuse(swap.QuoteUnknown, "no such offer; get a new quote")
	}
	share := 0.002
	return swap.Review{
		Digest: digest, Terms: s.terms(), Offer: s.offer(s.request()), Plan: s.plan(), Expires: clock.Add(time.Minute),
		Gas: swap.Gas{Expected: big.NewInt(2e15), Max: big.NewInt(4e15), Balance: big.NewInt(2e18), Share: &share, Costs: []chain.Cost{{
			Gas: 180_000, Fees: chain.Fees{BaseFee: big.NewInt(1e10), GasFeeCap: big.NewInt(2e10), GasTipCap: big.NewInt(1e9)},
			Expected: big.NewInt(2e15), L1: big.NewInt(0), Max: big.NewInt(4e15),
		}}},
		Findings: []swap.Finding{{Code: "price_note", Severity: swap.Note, Text: "the price is 3 % off our own", Data: map[string]string{"percent": "3"}}},
	}, nil
}

func (s *fakeSwaps) order(id string, state swap.State) swap.Order {
	o := swap.Order{
		ID: id, Request: "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d11", Digest: digest, Origin: "terminal", Terms: s.terms(), Offer: s.offer(s.request()),
		Plan: s.plan(), Revision: 1, State: state, Created: clock, Updated: clock, Reason: strings.Repeat("x", s.long),
	}
	if state == swap.Filled {
		ev := &chain.Evidence{
			Chain: 1, Tx: txHash, Block: 100, BlockHash: digest, Success: true, Depth: 2, GasUsed: 150_000, FeePaid: big.NewInt(15e14),
			Hosts: []string{"127.0.0.1"}, To: router,
		}
		o.Results, o.Step, o.Revision = []swap.Result{{Tx: txHash, Signature: []byte{1, 2, 3}, Evidence: ev}}, 1, 5
		o.Verdict = &swap.Verdict{State: state, Received: &swap.Spend{Token: usdc, Amount: big.NewInt(2_999_000_000)}, Sources: "one source", Evidence: ev}
		o.Claim = &swap.Claim{State: swap.Filled, Tx: txHash}
	}
	return o
}

func (s *fakeSwaps) Execute(ctx context.Context, r swap.ExecuteRequest) (swap.Order, error) {
	s.mu.Lock()
	s.executed = append(s.executed, r)
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

func (s *fakeSwaps) Cancel(_ context.Context, r swap.CancelRequest) (swap.Order, error) {
	o := s.order(r.Order, swap.Accepted)
	o.Cancel, o.Revision = true, 2
	return o, s.fail
}

func (s *fakeSwaps) Order(id string) (swap.Order, []swap.Entry, error) {
	if id != "order-1" {
		return swap.Order{}, nil, swap.Refuse(swap.OrderUnknown, "no order %s", id)
	}
	lines := []swap.Entry{{Time: clock, State: swap.Accepted, Note: "accepted"}, {Time: clock.Add(time.Second), State: swap.Filled, Step: 1, Note: "proven"}}
	for len(lines) < s.lines {
		lines = append(lines, lines[0])
	}
	return s.order(id, swap.Filled), lines, s.fail
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
	for len(out) < limit && s.long > 0 {
		out = append(out, out[0])
	}
	if cursor != "" {
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
	hold chan struct{} // not nil: Balances waits for it or its context
	fail error
}

func (n *fakeNetworks) Networks() []chain.Network {
	return []chain.Network{
		{ID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18, WrappedNative: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), Explorer: "https://etherscan.io", Depth: 3},
		{ID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18, Depth: 5},
	}
}

func (n *fakeNetworks) Balances(ctx context.Context, _ uint64, _ common.Address, tokens []common.Address) ([]*big.Int, error) {
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

type fakeTokens struct{}

func (fakeTokens) List(id uint64) []protocol.Token {
	return []protocol.Token{
		{ChainID: id, Address: protocol.Native, Symbol: "ETH", Name: "Ether", Decimals: 18, Verified: true},
		{ChainID: id, Address: addressOf(usdc), Symbol: "USDC", Name: "USD Coin", Decimals: 6, Verified: true},
		{ChainID: id, Address: addressOf(stranger), Symbol: "USDC", Name: "Another", Decimals: 6},
	}
}

type fakeSettings struct {
	mu     sync.Mutex
	active uint64
	fail   error
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
