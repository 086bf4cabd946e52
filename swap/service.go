package swap

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
)

// A QuoteResult is the answer to one quote: ranked offers and, for each
// provider that had none, why.
type QuoteResult struct {
	Offers   []Offer           `json:"offers"`
	Failures map[Kind]*Refusal `json:"failures"`
}

// An ExecuteRequest is the user's consent to a plan: of a swap, or of a revoke.
type ExecuteRequest struct {
	Request     string      // uuid; repeating it returns the order it made
	Digest      common.Hash // of the review that was shown
	Acknowledge []string    // codes of findings accepted by a second act
	Origin      string      // extension origin or terminal, for the record
	Session     string      // the connection's session, as told to the Confirmer
}

// An Act is what a Confirmer is asked about before anything is signed for it.
type Act struct {
	Kind    string // execute, revoke, accept, cancel or speedup
	Digest  common.Hash
	Order   string // for accept, cancel and speedup
	Origin  string
	Session string
	Review  *Review  // what was shown, for execute, revoke and accept
	Ceiling *big.Int // wei, for a speedup that raises the gas ceiling of the order
}

// A Confirmer makes sure that a person wants an act that ends in a signature.
// An error means no. [ByCall] is today's; confirmation outside the browser
// plugs in here.
type Confirmer interface {
	Confirm(ctx context.Context, a Act) error
}

// ByCall confirms by the very call of the popup or terminal that carries the
// digest it was shown: what is acted on must name a session.
type ByCall struct{}

// Confirm refuses an act without a session.
func (ByCall) Confirm(_ context.Context, a Act) error {
	if a.Session == "" {
		return Refuse(ConsentDeclined, "unlock the wallet first")
	}
	return nil
}

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

// A CancelRequest asks for an order to end.
type CancelRequest struct {
	Request string // uuid
	Order   string
	Digest  common.Hash // of the order, as shown
	Origin  string
	Session string
}

// An AcceptRequest consents to an order's proposal.
type AcceptRequest struct {
	Request     string // uuid
	Order       string
	Digest      common.Hash // of the proposal, as shown
	Acknowledge []string    // codes of its findings accepted by a second act
	Origin      string
	Session     string
}

// Options are what a Service needs. All fields but GasPrice, Tokens, Pause and Log are
// required.
type Options struct {
	Journal   *Journal
	Providers map[Kind]Provider
	Nodes     Nodes
	Sender    Sender
	Signer    TypedSigner
	Sealer    Sealer
	Pricer    Pricer
	// GasPrice is what a unit of gas is expected to cost now, in wei; nil = offers
	// are ranked without gas.
	GasPrice func(ctx context.Context, chainID uint64) (*big.Int, error)
	// Tokens are the wallet's own on a network: what a contract of unknown content may
	// take of them is looked at before it is called; nil = of those of earlier orders.
	Tokens     func(chainID uint64) []common.Address
	Confirmer  Confirmer
	Fees       FeeConfig
	Unlocked   func() bool // whether Signer would sign now
	IsLocked   func(error) bool
	OpenOrders int // bound on orders in progress
	Now        func() time.Time
	Pause      func(still time.Duration) time.Duration // nil = [Pause]
	Log        func(o Order, err error)
}

// Service answers quotes, prepares plans and runs orders.
type Service struct {
	o      Options
	engine *Engine
	ctx    context.Context // of the engine; set by Run

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

// Bounds of what is kept between quote and execution: how many, and how many bytes
// of them together. Several windows watch quotes at once, and none may push another's
// out while somebody looks at it.
const (
	maxOffers = 2048
	maxPlans  = 512
	maxShelf  = 32 << 20
)

// NewService returns a service; [Service.Run] must follow before orders move.
func NewService(o Options) (*Service, error) {
	if err := o.Fees.Check(); err != nil {
		return nil, err
	}
	s := &Service{o: o, subs: map[int]func(Order){}, watches: map[question]*shared{}, queues: newQueues()}
	s.DropPlans()
	carriers := map[Kind]Provider{Wallet: revoker{}}
	maps.Copy(carriers, o.Providers)
	s.engine = &Engine{Journal: o.Journal, Providers: carriers, Nodes: o.Nodes, Sender: o.Sender, Signer: o.Signer, Sealer: o.Sealer, Pricer: o.Pricer, Fees: o.Fees, Tokens: o.Tokens,
		Unlocked: o.Unlocked, IsLocked: o.IsLocked, Pause: o.Pause, Now: o.Now, Notify: s.tell, Log: o.Log}
	if s.engine.Pause == nil {
		s.engine.Pause = Pause
	}
	if s.engine.Log == nil {
		s.engine.Log = func(Order, error) {}
	}
	return s, nil
}

// Pause is how long an order that made no progress for so long waits before the
// next look: ever more slowly, without an end.
func Pause(still time.Duration) time.Duration {
	for _, p := range []struct{ below, pause time.Duration }{
		{time.Minute, time.Second}, {10 * time.Minute, 5 * time.Second}, {time.Hour, 15 * time.Second},
		{24 * time.Hour, time.Minute}, {7 * 24 * time.Hour, 10 * time.Minute},
	} {
		if still < p.below {
			return p.pause
		}
	}
	return time.Hour
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

// Providers lists what each provider supports and whether it is set up.
func (s *Service) Providers() []ProviderInfo {
	out := make([]ProviderInfo, 0, len(Kinds()))
	for _, k := range Kinds() {
		info := ProviderInfo{Kind: k, Support: map[uint64]Cell{}, Can: capabilities[k], Fee: s.o.Fees.provider(k)}
		var p Provider
		if p, info.Ready = s.o.Providers[k]; !info.Ready {
			info.Reason = "not configured"
		}
		if placed, ok := p.(Placed); ok {
			at := placed.Place()
			info.Place = &at
		}
		for _, c := range SupportedChains() {
			info.Support[c] = SupportOf(k, c)
		}
		out = append(out, info)
	}
	return out
}

// Tokens lists what a provider trades on a network, as far as it says so.
func (s *Service) Tokens(ctx context.Context, k Kind, chainID uint64) ([]tokens.Token, error) {
	l, err := able[Lister](s, k, "lists no tokens; leave it out")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimes[k])
	defer cancel()
	return l.Tokens(ctx, chainID)
}

// Destinations lists the chains that a provider pays out on, if it crosses chains.
func (s *Service) Destinations(ctx context.Context, k Kind) ([]Destination, error) {
	r, err := able[Reacher](s, k, "swaps on one chain only; ask bridge or intent")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, quoteTimes[k])
	defer cancel()
	return r.Destinations(ctx)
}

// able is the provider of that kind as one that does what not all do; lack says what
// the others answer.
func able[T any](s *Service, k Kind, lack string) (T, error) {
	var none T
	p, ok := s.o.Providers[k]
	if !ok {
		return none, Refuse(ProviderDown, "the %s provider is not configured", k)
	}
	a, ok := p.(T)
	if !ok {
		return none, refuseField(BadRequest, "provider", "the %s provider %s", k, lack)
	}
	return a, nil
}

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

// DropPlans forgets offers and prepared plans.
func (s *Service) DropPlans() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers, s.plans, s.revokes = newShelf(maxOffers, shelved.weight), newShelf(maxPlans, Review.weight), newShelf(maxRevokes, Review.weight)
	s.dropped++
}

// generation changes whenever plans are forgotten.
func (s *Service) generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Execute journals the user's consent to a prepared plan and starts it.
func (s *Service) Execute(ctx context.Context, r ExecuteRequest) (Order, error) {
	return s.carryOut(ctx, "execute", r)
}

// carryOut is Execute for both kinds of plan; act tells which.
func (s *Service) carryOut(ctx context.Context, act string, r ExecuteRequest) (Order, error) {
	if err := tidyRequest(&r.Request); err != nil {
		return Order{}, err
	}
	slices.Sort(r.Acknowledge)
	content := crypto.Keccak256Hash([]byte(act), r.Digest[:], []byte(strings.Join(r.Acknowledge, ",")))
	if o, ok, err := s.o.Journal.Asked(r.Request, content); ok || err != nil {
		return o, err
	}
	review, err := s.consented(act, r)
	if err != nil {
		return Order{}, err
	}
	if err := s.o.Confirmer.Confirm(ctx, Act{Kind: act, Digest: r.Digest, Origin: r.Origin, Session: r.Session, Review: &review}); err != nil {
		return Order{}, err
	}
	id, err := uuid.NewV7() // ids ascend with time
	if err != nil {
		return Order{}, err
	}
	now := s.o.Now().UTC()
	o := Order{ID: id.String(), Request: r.Request, Digest: r.Digest, Origin: r.Origin, Terms: review.Terms,
		Offer: review.Offer, Plan: review.Plan, AckCodes: heeded(review.Findings, r.Acknowledge), State: Accepted, Created: now, Updated: now}
	if o.Seal, err = s.engine.seal(o.consent(), act, now); err != nil {
		return Order{}, err
	}
	o, made, err := s.o.Journal.Create(o, content)
	if err != nil {
		return Order{}, err
	}
	if made {
		s.spend(review.Offer.ID)
		s.tell(o.Clone())
		s.start(o.ID)
	}
	return o, nil
}

// spend forgets an offer whose plan was accepted: its id goes to every window now,
// and another plan of it would be another consent, and may need another password.
func (s *Service) spend(offerID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers.drop(offerID)
}

// tidyRequest brings a uuid to the one form in which it is remembered.
func tidyRequest(request *string) error {
	id, err := uuid.Parse(*request)
	if err != nil {
		return refuseField(BadRequest, "request", "must be a uuid")
	}
	*request = id.String()
	return nil
}

// consented finds the plan of a digest and makes sure that it may be executed
// and that every finding that needs a second act got one.
func (s *Service) consented(act string, r ExecuteRequest) (Review, error) {
	s.mu.Lock()
	shelf, again := s.plans, "prepare it again"
	if act == "revoke" {
		shelf, again = s.revokes, "list the allowances again"
	}
	review, ok := shelf.get(r.Digest.Hex())
	s.mu.Unlock()
	if late := ok && s.o.Now().After(review.Expires); !ok || late {
		if o, err := s.o.Journal.ByDigest(r.Digest); err == nil {
			return review, &Refusal{Code: PlanExecuted, Reason: "this plan was already carried out; " + again, Data: map[string]string{"order": o.ID}}
		}
		if late {
			return review, Refuse(QuoteExpired, "too much time has passed since it was shown; %s", again)
		}
		return review, Refuse(PlanUnknown, "no prepared plan has this digest; %s (plans are dropped on lock, account and network changes)", again)
	}
	if act == "revoke" {
		if err := s.o.Journal.unneeded(review.Terms.Account, review.Terms.SrcChain, grantOf(review.Plan.Steps[0].Effect), ""); err != nil {
			return review, err
		}
	}
	if err := acceptable(review.Findings, r.Acknowledge); err != nil {
		return review, err
	}
	open, err := s.o.Journal.Open()
	if err != nil {
		return review, err
	}
	if len(open) < s.o.OpenOrders {
		return review, nil
	}
	busy, err := s.o.Journal.busy(open)
	if err == nil && busy >= s.o.OpenOrders {
		err = Refuse(TooManyOrders, "%d orders are in progress; wait for some to end", busy)
	}
	return review, err
}

// acceptable refuses what a finding blocks, and what needs a second act that was
// not taken.
func acceptable(found []Finding, acknowledged []string) error {
	for _, f := range found {
		switch {
		case f.Severity == Block:
			code, ok := blockCodes[f.Code]
			if !ok {
				code = NotAsAccepted
			}
			return &Refusal{Code: code, Reason: f.Text, Data: f.Data}
		case f.Severity == Acknowledge && !slices.Contains(acknowledged, f.Code):
			return &Refusal{Code: NeedsAcknowledge, Field: f.Code, Reason: f.Text + "; accept it by naming " + f.Code, Data: f.Data}
		}
	}
	return nil
}

// heeded are the codes that stand for a finding which was shown. Others say nothing.
func heeded(found []Finding, acknowledged []string) (codes []string) {
	for _, f := range found {
		if f.Severity == Acknowledge && slices.Contains(acknowledged, f.Code) && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// blockCodes maps a blocking finding to the refusal that executing it gets.
var blockCodes = map[string]Code{
	"gas_insufficient": InsufficientGas,
	"gas_ceiling":      InsufficientGas,
	"price_off":        PriceRefused,
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

// Cancel records that the user wants an order to end; the engine does the rest.
func (s *Service) Cancel(ctx context.Context, r CancelRequest) (Order, error) {
	if err := tidyRequest(&r.Request); err != nil {
		return Order{}, err
	}
	o, err := s.o.Journal.Get(r.Order)
	if err != nil {
		return o, err
	}
	if r.Digest != o.Digest {
		return o, refuseField(BadRequest, "digest", "is not the digest of that order")
	}
	if err := s.o.Confirmer.Confirm(ctx, Act{Kind: "cancel", Order: r.Order, Digest: o.Digest, Origin: r.Origin, Session: r.Session}); err != nil {
		return o, err
	}
	content := crypto.Keccak256Hash([]byte("cancel"), []byte(r.Order))
	// A repeat goes on: the first may have died between uuid and wish.
	if repeated, err := s.o.Journal.Ask(r.Request, content, r.Order); err != nil || repeated && o.State.Final() {
		return o, err
	}
	for range 10 {
		if o.State.Final() {
			return o, Refuse(OrderFinal, "the order is already %s", o.State)
		}
		if o.Cancel && !o.Distrusted() {
			return o, nil
		}
		if err := s.cancellable(o); err != nil {
			return o, err
		}
		if err := s.wishEnd(&o); err != nil {
			return o, err
		}
		if err = s.o.Journal.Update(&o, because(UserCancelled)); !errors.Is(err, errStale) {
			break
		}
		if o, err = s.o.Journal.Get(r.Order); err != nil {
			return o, err
		}
	}
	if err == nil {
		s.tell(o.Clone())
		s.start(o.ID)
	}
	return o, err
}

// wishEnd has o say that its user wants it ended. That of an account which no wallet has
// goes without a seal: nothing can be signed for it anyway.
func (s *Service) wishEnd(o *Order) error {
	now := s.o.Now().UTC()
	if errors.Is(s.engine.accepted(*o), &Refusal{Code: RecordChanged}) {
		s.engine.capGas(o)
	}
	seal, err := s.engine.seal(o.ending(), "cancel", now)
	switch {
	case err == nil:
		o.Ending = seal
	case s.o.IsLocked(err):
		return err
	}
	o.Cancel, o.Updated = true, now
	return nil
}

// A shelf keeps the newest values by key, up to a number of them and to maxShelf
// bytes.
type shelf[T any] struct {
	bound  int
	weight func(T) int // about how many bytes a value takes
	bytes  int
	order  []string
	byKey  map[string]T
}

func newShelf[T any](bound int, weight func(T) int) *shelf[T] {
	return &shelf[T]{bound: bound, weight: weight, byKey: map[string]T{}}
}

func (s *shelf[T]) put(key string, v T) {
	s.drop(key)
	s.order, s.byKey[key] = append(s.order, key), v
	s.bytes += s.weight(v)
	for len(s.order) > s.bound || s.bytes > maxShelf && len(s.order) > 1 {
		s.drop(s.order[0])
	}
}

func (s *shelf[T]) get(key string) (T, bool) { v, ok := s.byKey[key]; return v, ok }

// drop forgets a value, if it is there.
func (s *shelf[T]) drop(key string) {
	v, ok := s.byKey[key]
	if !ok {
		return
	}
	s.bytes -= s.weight(v)
	delete(s.byKey, key)
	i := slices.Index(s.order, key)
	s.order = slices.Delete(s.order, i, i+1)
}

// weight counts an offer's own words and, roughly, the rest.
func (o shelved) weight() int { return len(o.Raw) + 1<<10 }

// weight counts what is long in a review.
func (r Review) weight() int {
	n := len(r.Offer.Raw) + 4<<10
	for _, s := range r.Plan.Steps {
		if s.Call != nil {
			n += len(s.Call.Data)
		}
		if s.Typed != nil {
			n += len(mustJSON(s.Typed))
		}
	}
	return n
}
