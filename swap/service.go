package swap

import (
	"context"
	"maps"
	"math/big"
	"sync"
	"time"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// Host is what package host asks of the service; *Service satisfies it.
type Host interface {
	// Providers lists what each provider supports and whether it is set up.
	Providers() []ProviderInfo
	// Fees is the accessor of the fee configuration: feeBps and partnerInfo only.
	Fees() FeeInfo
	// Tokens lists what a provider trades on a network, in its own words.
	Tokens(ctx context.Context, k Kind, chainID uint64) ([]tokens.Token, error)
	// Destinations lists the chains that a provider pays out on, in its own words.
	Destinations(ctx context.Context, k Kind) ([]Destination, error)
	// Quote asks providers (all that support the route when kinds is empty) and
	// calls each as offers come, before returning them ranked.
	Quote(ctx context.Context, r QuoteRequest, kinds []Kind, each func(Quoted)) (QuoteResult, error)
	// Requote goes on asking at each provider's cadence while awake lets it.
	Requote(ctx context.Context, r QuoteRequest, kinds []Kind, awake func(context.Context) error, each func(Quoted)) error
	// Prepare builds, decodes, checks, simulates and judges an offer.
	Prepare(ctx context.Context, offerID string) (Review, error)
	// Takes says for what reasons carrying out a review would take the password now, or
	// at a terminal the amount again.
	Takes(ctx context.Context, r Review, terminal bool) ([]Reason, error)
	// Execute seals and journals consent, which takes unlocked keys, and starts the
	// order; for its signatures the engine waits if they are locked by then.
	Execute(ctx context.Context, r ExecuteRequest) (Order, error)
	// Cancel ends an order that has not been signed, or starts its cancelling
	// transaction. request is a uuid as for Execute.
	Cancel(ctx context.Context, r CancelRequest) (Order, error)
	// Accept consents to what an order in need of consent proposes. request is a
	// uuid as for Execute; a proposal that changed meanwhile is refused with
	// ConsentNeeded.
	Accept(ctx context.Context, r AcceptRequest) (Order, error)
	// SpeedUp has an order's pending transaction sent again for more. request is
	// a uuid as for Execute.
	SpeedUp(ctx context.Context, r SpeedUpRequest) (Order, error)
	// Allowances lists what an account granted, a page at a time, and prepares
	// the revoke of each.
	Allowances(ctx context.Context, r AllowancesRequest) (page []Allowance, next string, err error)
	// Revoke takes one allowance away: Execute for a plan of Allowances.
	Revoke(ctx context.Context, r ExecuteRequest) (Order, error)
	Order(id string) (Order, []Entry, error)
	// Orders lists newest first; cursor is "" at the start and "" at the end.
	Orders(account common.Address, openOnly bool, cursor string, limit int) (orders []Order, next string, err error)
	// Subscribe calls f after every recorded change, until stop is called. f must
	// not block.
	Subscribe(f func(Order)) (stop func())
	// DropPlans forgets offers and prepared plans: on lock, account or network change.
	DropPlans()
}

// Options are what a Service needs. All fields but Valuer, Limits, GasPrice, Tokens,
// Recognize, AwaitPrices, Decimals, Pause and Log are required.
type Options struct {
	Journal   *Journal
	Providers map[Kind]Provider
	Nodes     Nodes
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Pricer    Pricer
	// Valuer and Limits bound what acts of browsers move without the password; without
	// them each takes it.
	Valuer Valuer
	Limits func() Limits
	// GasPrice is what a unit of gas is expected to cost now, in wei; nil = offers
	// are ranked without gas.
	GasPrice func(ctx context.Context, chainID uint64) (*big.Int, error)
	// Decimals tells whether more than a list, a provider or one host told how many
	// decimals a token has; nil = nobody is asked.
	Decimals func(chainID uint64, token common.Address) bool
	// Tokens are the wallet's own on a network: what a contract of unknown content may
	// take of them is looked at before it is called; nil = of those of earlier orders.
	Tokens func(chainID uint64) []common.Address
	// Recognize says what the wallet's lists make of a token on any chain, also one that
	// is no network of the wallet's; nil = no list has any.
	Recognize func(ctx context.Context, chainID uint64, token common.Address) Recognition
	// Keep keeps answers of providers that were refused; nil = none is kept.
	Keep AnswerKeeper
	// AwaitPrices waits a short while for the first prices, if there were none yet, before
	// a plan is prepared; nil = it is judged at once.
	AwaitPrices func(ctx context.Context)
	Confirmer   Confirmer
	Fees        FeeConfig
	Unlocked    func() bool // whether Signer would sign now
	IsLocked    func(error) bool
	OpenOrders  int // bound on orders in progress
	Now         func() time.Time
	Pause       func(still time.Duration) time.Duration // nil = [Pause]
	Log         func(o Order, err error)
}

// Service answers quotes, prepares plans and runs orders.
type Service struct {
	o      Options
	engine *Engine
	ctx    context.Context // of the engine; set by Resume

	acting sync.Mutex // held while an act is journalled, and while plans are dropped; before mu
	mu     sync.Mutex
	offers *shelf[shelved]
	plans  *shelf[Review]
	// revokes are kept apart: a list of allowances must not push out the review
	// that somebody is looking at.
	revokes *shelf[Review]
	dropped uint64 // counts how often all of them were forgotten
	watches map[question]*shared
	queues  map[Kind]queue

	subMu sync.Mutex
	subs  map[int]func(Order)
	next  int
}

var _ Host = (*Service)(nil)

// NewService returns a service; [Service.Resume] must follow before orders move.
func NewService(o Options) (*Service, error) {
	if err := o.Fees.Check(); err != nil {
		return nil, err
	}
	s := &Service{o: o, subs: map[int]func(Order){}, watches: map[question]*shared{}, queues: newQueues()}
	s.DropPlans()
	carriers := map[Kind]Provider{Wallet: revoker{}}
	maps.Copy(carriers, o.Providers)
	s.engine = &Engine{Journal: o.Journal, Providers: carriers, Nodes: o.Nodes, Sender: o.Sender, Signer: o.Signer, Sealer: o.Sealer, Pricer: o.Pricer, Fees: o.Fees, Tokens: o.Tokens, Recognize: o.Recognize, Decimals: o.Decimals, Keep: o.Keep,
		Unlocked: o.Unlocked, IsLocked: o.IsLocked, Pause: o.Pause, Now: o.Now, Notify: s.tell, Log: o.Log}
	if s.engine.Pause == nil {
		s.engine.Pause = Pause
	}
	if s.engine.Log == nil {
		s.engine.Log = func(Order, error) {}
	}
	return s, nil
}

// Resume starts every order that was left open, then lets new ones be started.
// They stop when ctx ends; [Service.Wait] waits for that.
func (s *Service) Resume(ctx context.Context) error {
	open, err := s.o.Journal.Open()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	s.engine.Resume(ctx, open) // one that cannot be read does not hold up the others
	return nil
}

// Wait returns when every order in progress has stopped, after Resume's context ended.
func (s *Service) Wait() { s.engine.Wait() }

// Wake lets orders go on that wait for keys, which were unlocked.
func (s *Service) Wake() { s.engine.Wake() }

// Fees is the accessor of the fee configuration.
func (s *Service) Fees() FeeInfo { return s.o.Fees.Info() }

// Order returns an order, which may be [Unreadable], and its history.
func (s *Service) Order(id string) (Order, []Entry, error) {
	o, err := s.o.Journal.Show(id)
	if err != nil {
		return o, nil, err
	}
	lines, err := s.o.Journal.History(id)
	return s.engine.dated(o), lines, err
}

// Orders lists orders, newest first.
func (s *Service) Orders(account common.Address, openOnly bool, cursor string, limit int) ([]Order, string, error) {
	all, next, err := s.o.Journal.List(account, openOnly, cursor, min(max(limit, 1), 200))
	for i, o := range all {
		all[i] = s.engine.dated(o)
	}
	return all, next, err
}

// Subscribe calls f after every recorded change until stop is called.
func (s *Service) Subscribe(f func(Order)) (stop func()) {
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

func (s *Service) tell(o Order) {
	s.subMu.Lock()
	defer s.subMu.Unlock()
	o = s.engine.dated(o)
	for _, f := range s.subs {
		f(o)
	}
}

// start hands an order to the engine, unless it is being stopped: then the next
// start finds the order in the journal.
func (s *Service) start(id string) {
	s.mu.Lock()
	ctx := s.ctx
	s.mu.Unlock()
	if ctx != nil && ctx.Err() == nil {
		s.engine.Start(ctx, id)
	}
}
