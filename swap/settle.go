package swap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// settle looks for proof of o's end, and records what a settling provider says.
func (e *Engine) settle(ctx context.Context, o *Order) (Cause, error) {
	if o.Plan.Settlement == ByProvider {
		return e.settleProvider(ctx, o)
	}
	prove := e.proveOwnCall
	if o.Terms.Provider == Wallet {
		prove = e.proveRevoked
	}
	v, ok, err := prove(ctx, *o)
	if err != nil || !ok {
		return untold, err
	}
	if v.By != byOwnCall {
		return proven(o, v)
	}
	switch alone, err := e.settledAlone(*o, *v.Evidence); {
	case err != nil:
		return untold, err
	case !alone:
		o.clear(v.Evidence.Tx)
		o.Condition = FillUnclear
		return waits(FillUnclear), nil
	}
	v.Logs = refsOf(v.Evidence.Chain, v.Evidence.Tx, transfersTo(v.Evidence.Logs, o.Terms.TokenOut, o.Terms.Recipient)...)
	return proven(o, v)
}

// proven records a verdict and moves o to its state.
func proven(o *Order, v Verdict) (Cause, error) {
	o.Verdict, o.Condition = &v, NoCondition
	return because(Proven, "state", string(v.State)), o.to(v.State)
}

// settleProvider polls the provider and searches the chains. Only evidence from the
// chains moves the order to another state; what the provider says is kept for people, and
// as a hint where to search first.
func (e *Engine) settleProvider(ctx context.Context, o *Order) (Cause, error) {
	s, err := e.settler(o)
	if err != nil {
		return untold, err
	}
	l := e.lookout(o.ID)
	before := o.Clone()
	e.hear(ctx, s, o, l)
	p, err := s.Proof(*o)
	if err == nil {
		err = p.check(o.Terms)
	}
	if err != nil {
		return untold, fmt.Errorf("what would prove the order: %w", err)
	}
	v, found, err := e.proveProvider(ctx, *o, p, l)
	o.heard(before)
	switch {
	case v != nil:
		l.unwatch()
		o.clear(common.Hash{})
		return proven(o, *v)
	case err == nil && (o.Condition == NoCondition || o.reported()):
		o.clear(found.unclear)
		if o.Condition = found.condition(o.Claim, len(p.Fill) == 0); o.Condition == TransferSeen {
			o.Seen = better(o.Seen, found.seen, o.Claim)
		}
	}
	o.searched(l, e.Now())
	if err != nil && !same(before, *o) { // what the provider said is recorded all the same
		e.Log(*o, err)
		err = nil
	}
	return told(before, *o), err
}

// clear records which transaction is unclear, or removes that reason if none is.
func (o *Order) clear(unclear common.Hash) {
	switch {
	case unclear != common.Hash{}:
		o.because(because(LookAt, "tx", unclear.Hex(), "chainId", strconv.FormatUint(o.Terms.SrcChain, 10)))
	case o.Condition == FillUnclear:
		o.because(untold)
	}
}

// told returns the history line for what a poll of an order found.
func told(before, now Order) Cause {
	switch {
	case now.Condition != before.Condition && now.Condition != NoCondition:
		return waits(now.Condition)
	case now.Claim != nil && !sameClaim(before.Claim, now.Claim):
		c := because(ProviderSays, "state", string(now.Claim.State))
		if now.Claim.Word != "" && now.Claim.Word != string(now.Claim.State) {
			c.By, c.Said = SaidByProvider, now.Claim.Word
			c = c.says(c.text + " (" + now.Claim.Word + ")")
		}
		return c
	}
	return because(Searched)
}

// findings are what a search of the chains showed besides a verdict.
type findings struct {
	blind   bool        // the payment's chain has no RPC endpoint of ours
	pending bool        // the transaction that the provider names is in a block that is not deep enough yet
	seen    *Seen       // a payment like the awaited one, from an unknown sender
	unclear common.Hash // a transaction that settled the order and does not show the amounts
}

// condition returns the condition in which an order without a verdict waits.
func (f findings) condition(c *Claim, deposit bool) Condition {
	switch {
	case f.unclear != common.Hash{}:
		return FillUnclear
	case c == nil || !deposit || f.pending:
		return NoCondition
	case f.seen != nil && (c.State == Filled || c.State == Refunded):
		return TransferSeen
	case c.State == Filled || c.State == Refunded:
		return ReportedUnproven
	case c.State.Final():
		return WatchingForRefund
	}
	return NoCondition
}

// A lookout is what the engine knows, in memory, of an order that a provider settles. It
// is lost with the process and built anew.
type lookout struct {
	searches map[string]*search
	ruledOut map[ruled]bool         // transactions that are not what they were checked for
	seen     map[string]*Seen       // by name of the search
	quiet    time.Time              // the provider is not polled before
	deposit  time.Time              // when our own transaction was last checked
	looked   bool                   // the transaction of a final claim was checked
	open     map[string]common.Hash // what it named that is in a block not deep enough yet, by name of the search
	hearing
}

type ruled struct {
	what string
	tx   common.Hash
}

// maxRuledOut bounds how many transactions a provider can make us remember.
const maxRuledOut = 256

func (l *lookout) ruleOut(what string, tx common.Hash) {
	if len(l.ruledOut) >= maxRuledOut {
		clear(l.ruledOut)
	}
	l.ruledOut[ruled{what, tx}] = true
}

// opens reports whether a transaction that the provider named may yet prove something.
func (l *lookout) opens(tx common.Hash) bool {
	return slices.Contains(slices.Collect(maps.Values(l.open)), tx)
}

// lookout returns an order's lookout, and makes it if there is none.
func (e *Engine) lookout(id string) *lookout {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lookouts == nil {
		e.lookouts = make(map[string]*lookout)
	}
	if e.lookouts[id] == nil {
		e.lookouts[id] = &lookout{searches: map[string]*search{}, ruledOut: map[ruled]bool{}, seen: map[string]*Seen{}, open: map[string]common.Hash{}}
	}
	return e.lookouts[id]
}

// beginSearch records a settled block of each chain before anything of o that spends is
// signed: whatever becomes of o is in a later block.
func (e *Engine) beginSearch(ctx context.Context, o *Order) (Cause, error) {
	since := map[uint64]uint64{}
	for _, id := range []uint64{o.Terms.SrcChain, o.Terms.DstChain} {
		b, _, err := e.Nodes.Settled(ctx, id)
		if id != o.Terms.SrcChain && errors.Is(err, chain.ErrNoNetwork) {
			continue // no RPC endpoint: an end there can only be reported
		}
		if err != nil {
			return untold, err
		}
		since[id] = b.Number
	}
	o.Since = since
	return because(SearchBegun, "block", strconv.FormatUint(since[o.Terms.SrcChain], 10)), nil
}

// headsLife is how old the known head of the other chain may be when the input is handed
// over.
const headsLife = 15 * time.Second

// looksAhead reports whether the other chain's head must be read before step s hands the
// input over.
func (e *Engine) looksAhead(o Order, s Step) bool {
	return handsOver(s.Effect.Kind) && o.Terms.DstChain != o.Terms.SrcChain && e.Now().Sub(o.HeadsAt).Abs() > headsLife
}

// lookAhead records the other chain's head. If it cannot be read, block times alone
// decide later what came first.
func (e *Engine) lookAhead(ctx context.Context, o *Order) Cause {
	heads, note := map[uint64]uint64{}, because(HandsOverNext)
	if n, err := e.Nodes.Head(ctx, o.Terms.DstChain); err == nil {
		heads[o.Terms.DstChain] = n
		note.Data = Figures{"block": strconv.FormatUint(n, 10)}
		note = note.says(note.text + "; the other chain is at block " + note.Data["block"])
	}
	o.Heads, o.HeadsAt = heads, e.Now()
	return note
}

// A search is the progress of one search for logs.
type search struct {
	from    uint64
	through chain.Block // searched up to here; zero: not begun
	hosts   []string
	hints   []common.Hash             // transactions that are not decided
	missing map[common.Hash]time.Time // when a transaction that is or was a hint was first in no block
	doubt   time.Time                 // when it first ended without a find
	kept    time.Time                 // when its progress was last noted
	once    uint64                    // the block that it had reached then
}

// maxHints is how many transactions may wait to be decided before a search pauses.
const maxHints = 64

// searchFor continues a search of o's; what fits becomes a hint. An error may come with
// hints.
func (e *Engine) searchFor(ctx context.Context, o Order, l *lookout, what string, chainID uint64, f chain.LogFilter, fits func(*types.Log) bool) (*search, error) {
	s := l.searches[what]
	if s == nil {
		s = &search{from: max(o.Since[chainID], o.Searched[what], 1)}
		l.searches[what] = s
	}
	if !s.doubt.IsZero() && tooSoon(&s.doubt, e.Now()) || len(s.hints) >= maxHints {
		return s, nil
	}
	got, err := e.Nodes.Logs(ctx, chainID, f, max(s.from, s.through.Number+1))
	for _, log := range got.Logs {
		if fits(log) && !slices.Contains(s.hints, log.TxHash) {
			s.hints = append(s.hints, log.TxHash)
		}
	}
	if got.Through.Number > s.through.Number {
		if s.through.Number == 0 || len(got.Hosts) < len(s.hosts) {
			s.hosts = got.Hosts
		}
		s.through = got.Through
	}
	return s, err
}

// drop removes a decided transaction from the hints.
func (s *search) drop(tx common.Hash) {
	s.hints = slices.DeleteFunc(s.hints, func(h common.Hash) bool { return h == tx })
}

// absent removes a transaction that is in no block from the hints, after absentTime: the
// host that shows its log may be ahead of the host that is asked for its receipt.
func (s *search) absent(tx common.Hash, now time.Time) {
	if len(s.missing) >= maxRuledOut {
		clear(s.missing)
	}
	if s.missing == nil {
		s.missing = make(map[common.Hash]time.Time)
	}
	since := cmp.Or(s.missing[tx], now)
	if !tooSoon(&since, now) {
		s.drop(tx)
	}
	s.missing[tx] = since
}

// tooSoon reports whether less than absentTime has passed since then. If the clock was
// set back meanwhile, it sets then to now: otherwise the wait would grow by as much.
func tooSoon(then *time.Time, now time.Time) bool {
	if now.Before(*then) {
		*then = now
	}
	return now.Before(then.Add(absentTime))
}

// absentTime is how long after a search without a find a second one, from the beginning,
// must also end without one before that is believed. One URL may lead to several nodes,
// one of which lags with its logs.
const absentTime = time.Minute

// sure reports whether the search ended without a find twice. The first time restarts it.
func (s *search) sure(now time.Time) bool {
	if s.doubt.IsZero() {
		s.doubts(now)
		return false
	}
	return !tooSoon(&s.doubt, now)
}

// doubts makes the search begin again after absentTime.
func (s *search) doubts(now time.Time) {
	s.doubt, s.through, s.hosts = now, chain.Block{}, nil
}

// searchedEvery is how often a search for a payment begins again, and how often Searched
// is updated.
const searchedEvery = time.Hour

// searched makes o's searches for payments go over every block a second time, an hour
// later, since the hosts may have lagged with their logs. It records how far that is
// done, so that a restart does not begin anew, unless something was seen that is not
// decided.
func (o *Order) searched(l *lookout, now time.Time) {
	for what, s := range l.searches {
		if s.kept.IsZero() {
			s.kept = now
		}
		if what == searchFill || len(s.hints) > 0 || s.through.Number == 0 || now.Sub(s.kept) < searchedEvery {
			continue
		}
		twice := s.once
		s.kept, s.once = now, s.through.Number
		s.from, s.through, s.hosts = max(s.from, twice), chain.Block{}, nil
		if twice == 0 || l.seen[what] != nil {
			continue
		}
		o.Searched = maps.Clone(o.Searched)
		if o.Searched == nil {
			o.Searched = map[string]uint64{}
		}
		o.Searched[what] = twice
	}
}

// The names of searches.
const (
	searchFill    = "fill"
	searchArrival = "arrival"
	searchRefund  = "refund"
)

// A decision is what a transaction means for an order.
type decision int

const (
	isNot       decision = iota // nothing, permanently
	isAbsent                    // it is in no block
	isShallow                   // it is in a block that may yet be deep enough
	isOpen                      // undecided, or it could not be read
	isProof                     // it proves the order's end
	isStranger                  // a payment like the awaited one, from an unknown sender
	isUnclear                   // a fill of the order that does not show the amounts
	isContested                 // a payment that may belong to another order of ours
)

// quietFor returns how long a provider asked not to be polled; 0 = it did not ask.
func quietFor(err error) time.Duration {
	var refused *Refusal
	if !errors.As(err, &refused) || !refused.Temporary() {
		return 0
	}
	seconds, err := strconv.ParseUint(refused.Data[retryAfter], 10, 32)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxQuiet)
}

const (
	retryAfter = "retryAfterSeconds" // key in Refusal.Data
	maxQuiet   = 10 * time.Minute
)
