package engine

import (
	"context"
	"maps"
	"math/big"
	"sync"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// Host is what package host needs of the service. *Service satisfies it.
type Host interface {
	// Providers lists what each provider supports and whether it is set up.
	Providers() []swap.ProviderInfo
	// Fees returns the spec's view of the fee configuration: feeBps and partnerInfo only.
	Fees() swap.FeeInfo
	// Tokens lists what a provider trades on a network, as the provider says.
	Tokens(ctx context.Context, k swap.Kind, chainID uint64) ([]tokens.Token, error)
	// Destinations lists the chains that a provider pays out on, as it says.
	Destinations(ctx context.Context, k swap.Kind) ([]swap.Destination, error)
	// Quote asks providers (all of them if kinds is empty), calls each as offers arrive,
	// and returns them ranked.
	Quote(ctx context.Context, r swap.QuoteRequest, kinds []swap.Kind, each func(plan.QuoteUpdate)) (plan.QuoteResult, error)
	// Requote keeps asking at each provider's cadence while awake lets it.
	Requote(ctx context.Context, r swap.QuoteRequest, kinds []swap.Kind, awake func(context.Context) error, each func(plan.QuoteUpdate)) error
	// Prepare builds, decodes, checks, simulates and judges an offer.
	Prepare(ctx context.Context, offerID string) (swap.Review, error)
	// Takes returns the reasons why carrying out a review would need the password now or,
	// at a terminal, the amount again.
	Takes(ctx context.Context, r swap.Review, terminal bool) ([]Reason, error)
	// Execute seals and journals consent, which needs unlocked keys, and starts the
	// order. If they are locked before a signature, the engine waits.
	Execute(ctx context.Context, r ExecuteRequest) (swap.Order, error)
	// Cancel ends an order that has not been signed, or starts its cancelling
	// transaction. Request is a uuid as for Execute.
	Cancel(ctx context.Context, r CancelRequest) (swap.Order, error)
	// Accept consents to an order's proposal. Request is a uuid as for Execute. A
	// proposal that changed meanwhile is refused with ConsentNeeded.
	Accept(ctx context.Context, r AcceptRequest) (swap.Order, error)
	// Close ends the wait for a deposit of which nothing proves the end. Request is a uuid
	// as for Execute.
	Close(ctx context.Context, r CloseRequest) (swap.Order, error)
	// SpeedUp sends an order's pending transaction again with a higher fee. Request is a
	// uuid as for Execute.
	SpeedUp(ctx context.Context, r SpeedUpRequest) (swap.Order, error)
	// Allowances lists an account's allowances, a page at a time, and prepares the revoke
	// of each.
	Allowances(ctx context.Context, r AllowancesRequest) (page []Allowance, next string, err error)
	// Revoke takes one allowance away: Execute for a plan of Allowances.
	Revoke(ctx context.Context, r ExecuteRequest) (swap.Order, error)
	Order(id string) (swap.Order, []journal.Entry, error)
	// Orders lists newest first. cursor is "" for the first page, next "" after the last.
	Orders(account common.Address, openOnly bool, cursor string, limit int) (orders []swap.Order, next string, err error)
	// Subscribe calls f after every recorded change, until stop is called. f must
	// not block.
	Subscribe(f func(swap.Order)) (stop func())
	// DropPlans drops offers and prepared plans: on lock, account or network change.
	DropPlans()
}

// Options are what a Service needs. All fields but Valuer, Limits, GasPrice, Tokens, Mine,
// Recognize, Keep, AwaitPrices, Lines, OrderLines, Decimals, Pause and Log are required.
type Options struct {
	Journal   *journal.Journal
	Providers map[swap.Kind]swap.Provider
	Nodes     Nodes
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Pricer    plan.Pricer
	// Valuer and Limits bound what browsers may move without the password; without them
	// every act needs it.
	Valuer Valuer
	Limits func() Limits
	// GasPrice returns what a unit of gas is expected to cost now, in wei; nil = offers
	// are ranked without gas.
	GasPrice func(ctx context.Context, chainID uint64) (*big.Int, error)
	// Decimals reports whether a token's decimals are known from more than a list, a
	// provider or one host; nil = this is not checked.
	Decimals func(chainID uint64, token common.Address) bool
	// Tokens returns the wallet's own tokens on a network: what a contract may take of
	// them is checked before an opaque call to it; nil = none.
	Tokens func(chainID uint64) []common.Address
	// Recognize returns what the wallet's lists say of a token on any chain, also on one
	// that is no network of the wallet; nil = no list has any token.
	Recognize func(ctx context.Context, chainID uint64, token common.Address) swap.Recognition
	// Isolated hands out isolated accounts, which Sender, Signer and Sealer can sign for once
	// they are taken; nil = there are none.
	Isolated IsolatedVault
	// Lines says in lines what a review asks; nil = reviews have none.
	Lines func(swap.Review) []swap.Line
	// OrderLines says in lines what cancelling or speeding up an order does; nil = no lines.
	OrderLines func(act string, o swap.Order) []swap.Line
	// Keep stores answers of providers that were refused; nil = none is stored.
	Keep plan.AnswerKeeper
	// AwaitPrices waits a short while for the first prices before a plan is prepared, if
	// there are none yet; nil = no wait.
	AwaitPrices func(ctx context.Context)
	Confirmer   Confirmer
	Fees        swap.FeeConfig
	Mine        func(common.Address) bool // whether an account is one of the wallet's; nil = only the order's own is known
	Unlocked    func() bool               // whether Signer would sign now
	IsLocked    func(error) bool
	OpenOrders  int // limit of orders in progress
	Now         func() time.Time
	Pause       func(still time.Duration) time.Duration // nil = [defaultPause]
	Log         func(o swap.Order, err error)
}

// Service answers quotes, prepares plans and runs orders.
type Service struct {
	*plan.Quoter
	o       Options
	engine  *Engine
	sweeper sweeper

	actMu sync.Mutex // held while an act is journaled and while plans are dropped

	subMu sync.Mutex
	subs  map[int]func(swap.Order)
	next  int
}

var _ Host = (*Service)(nil)

// NewService returns a service. Orders do not move before [Service.Resume].
func NewService(o Options) (*Service, error) {
	if err := o.Fees.Check(); err != nil {
		return nil, err
	}
	planner := &plan.Planner{Providers: o.Providers, Nodes: o.Nodes, Pricer: o.Pricer, Fees: o.Fees, Now: o.Now,
		GasPrice: o.GasPrice, Decimals: o.Decimals, Tokens: o.Tokens, Recognize: o.Recognize, AwaitPrices: o.AwaitPrices, Lines: o.Lines, Keep: o.Keep}
	if o.Isolated != nil {
		planner.Isolated = o.Isolated
	}
	s := &Service{Quoter: plan.NewQuoter(planner), o: o, subs: map[int]func(swap.Order){}}
	carriers := map[swap.Kind]swap.Provider{swap.Wallet: plan.Revoker{}}
	maps.Copy(carriers, o.Providers)
	s.engine = &Engine{Journal: o.Journal, Providers: carriers, Nodes: o.Nodes, Planner: planner, Sender: o.Sender, Signer: o.Signer, Sealer: o.Sealer,
		Isolated: o.Isolated, Unlocked: o.Unlocked, IsLocked: o.IsLocked, Pause: o.Pause, Now: o.Now, Mine: o.Mine, Notify: s.notify, Log: o.Log}
	planner.Orders = acceptedOrders{o.Journal, s.engine}
	if s.engine.Pause == nil {
		s.engine.Pause = defaultPause
	}
	if s.engine.Log == nil {
		s.engine.Log = func(swap.Order, error) {}
	}
	s.sweeper = sweeper{o: o, log: s.engine.Log, notify: s.notify, pause: s.engine.Pause, due: map[journal.Found]sweepDue{}, wake: make(chan struct{}, 1)}
	return s, nil
}

// Resume starts every order that was left open, and lets new ones start. They stop when
// ctx ends; [Service.Wait] waits for that.
func (s *Service) Resume(ctx context.Context) error {
	open, err := s.o.Journal.Open()
	if err != nil {
		return err
	}
	s.engine.Resume(ctx, open) // one that cannot be read does not hold up the others
	if s.o.Isolated != nil {
		s.sweeper.lookAtAll()
		s.engine.running.Go(func() { s.sweeper.run(ctx) })
	}
	return nil
}

// Wait returns when every order in progress has stopped, after Resume's context ended.
func (s *Service) Wait() { s.engine.Wait() }

// Wake lets orders go on that wait for the keys, which were unlocked.
func (s *Service) Wake() {
	s.engine.Wake()
	if s.o.Isolated != nil {
		s.sweeper.lookAtAll()
	}
}

// DropPlans drops offers and prepared plans. Once it returns, no act that rests on one is
// journaled any more.
func (s *Service) DropPlans() {
	s.actMu.Lock()
	defer s.actMu.Unlock()
	s.Drop()
}

// Fees returns the spec's view of the fee configuration.
func (s *Service) Fees() swap.FeeInfo { return s.o.Fees.Info() }

// Order returns an order, which may be [swap.Unreadable], and its history.
func (s *Service) Order(id string) (swap.Order, []journal.Entry, error) {
	o, err := s.o.Journal.GetForDisplay(id)
	if err != nil {
		return o, nil, err
	}
	lines, err := s.o.Journal.History(id)
	return s.engine.withPresent(o), lines, err
}

// Orders lists orders, newest first, from 1 to 200 at a time.
func (s *Service) Orders(account common.Address, openOnly bool, cursor string, limit int) ([]swap.Order, string, error) {
	all, next, err := s.o.Journal.List(account, openOnly, cursor, min(max(limit, 1), 200))
	for i, o := range all {
		all[i] = s.engine.withPresent(o)
	}
	return all, next, err
}

// Subscribe calls f after every recorded change until stop is called.
func (s *Service) Subscribe(f func(swap.Order)) (stop func()) {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	id := s.next
	s.next++
	s.subs[id] = f
	return func() {
		s.subMu.Lock()
		defer s.subMu.Unlock()
		delete(s.subs, id)
	}
}

func (s *Service) notify(o swap.Order) {
	s.sweeper.look(o)
	s.subMu.Lock()
	defer s.subMu.Unlock()
	o = s.engine.withPresent(o)
	for _, f := range s.subs {
		f(o)
	}
}
