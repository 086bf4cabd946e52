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

// settle looks for proof. Of a provider's order, its word is recorded beside that.
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

// proven records a verdict.
func proven(o *Order, v Verdict) (Cause, error) {
	o.Verdict, o.Condition = &v, NoCondition
	return because(Proven, "state", string(v.State)), o.to(v.State)
}

// settleProvider hears what the provider says and looks at the chains. Only these
// move the order to another state; what it says is kept for people, and as a hint
// where to look first.
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
	if err != nil && !same(before, *o) { // what was heard is recorded all the same
		e.Log(*o, err)
		err = nil
	}
	return told(before, *o), err
}

// clear says which transaction is unclear, and takes that back when none is.
func (o *Order) clear(unclear common.Hash) {
	switch {
	case unclear != common.Hash{}:
		o.because(because(LookAt, "tx", unclear.Hex(), "chainId", strconv.FormatUint(o.Terms.SrcChain, 10)))
	case o.Condition == FillUnclear:
		o.because(untold)
	}
}

// told is the line of history for what an order heard.
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

// findings are what a look at the chains showed beside a verdict.
type findings struct {
	blind   bool        // a chain that no RPC of ours serves
	pending bool        // the transaction that the provider names is in a block, not deep enough yet
	seen    *Seen       // a payment as awaited, from somebody
	unclear common.Hash // a transaction that settled the order, in which the amounts are not clear
}

// condition is what an order without a verdict waits with.
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

// A lookout is what the engine keeps in mind of an order that a provider settles.
// It ends with the process, and is made again.
type lookout struct {
	searches map[string]*search
	ruledOut map[ruled]bool         // transactions, each for what it was looked at
	seen     map[string]*Seen       // by what is searched for
	quiet    time.Time              // before, the provider is not asked
	deposit  time.Time              // when our own transaction was last looked at
	looked   bool                   // at what the provider named as its last word
	open     map[string]common.Hash // what it named that stands in a block not deep enough yet, by what is searched for
	hearing
}

type ruled struct {
	what string
	tx   common.Hash
}

// maxRuledOut bounds what a provider can make us remember.
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

// lookout finds an order's, or begins it.
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

// begin records where the chains stand before anything of o that spends is signed:
// whatever becomes of it is in a later block.
func (e *Engine) beginSearch(ctx context.Context, o *Order) (Cause, error) {
	since := map[uint64]uint64{}
	for _, id := range []uint64{o.Terms.SrcChain, o.Terms.DstChain} {
		b, _, err := e.Nodes.Settled(ctx, id)
		if id != o.Terms.SrcChain && errors.Is(err, chain.ErrNoNetwork) {
			continue // its end can only be reported
		}
		if err != nil {
			return untold, err
		}
		since[id] = b.Number
	}
	o.Since = since
	return because(SearchBegun, "block", strconv.FormatUint(since[o.Terms.SrcChain], 10)), nil
}

// headsLife is how old what is known of the other chain may be when the input is
// handed over.
const headsLife = 15 * time.Second

// looksAhead reports whether it has to be asked where the other chain stands, before
// a step hands the input over.
func (e *Engine) looksAhead(o Order, s Step) bool {
	return handsOver(s.Effect.Kind) && o.Terms.DstChain != o.Terms.SrcChain && e.Now().Sub(o.HeadsAt).Abs() > headsLife
}

// lookAhead records where it stands. Without an answer nothing is known, and the clock
// alone decides later what came first.
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

// A search is how far one search for logs came.
type search struct {
	from    uint64
	through chain.Block // zero: not begun
	hosts   []string
	hints   []common.Hash             // transactions that are not decided
	missing map[common.Hash]time.Time // since when those of them, or that were, are in no block
	doubt   time.Time                 // when it first ended with nothing
	kept    time.Time                 // when it was last looked at how far it came
	once    uint64                    // the block up to which it had come then
}

// maxHints is how many transactions may wait to be decided.
const maxHints = 64

// searchFor goes on with a search of o's. An error may come with hints.
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

// drop takes a transaction that is decided out of the hints.
func (s *search) drop(tx common.Hash) {
	s.hints = slices.DeleteFunc(s.hints, func(h common.Hash) bool { return h == tx })
}

// absent takes a transaction that is in no block out of the hints, once that has been
// so for a while: who shows its log may be ahead of who is asked for its receipt.
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

// tooSoon reports whether what was first missed then is not yet to be believed. Where the
// clock was set back meanwhile, then is now: it would take as long else as it was ahead.
func tooSoon(then *time.Time, now time.Time) bool {
	if now.Before(*then) {
		*then = now
	}
	return now.Before(then.Add(absentTime))
}

// absentTime is how long after the first search that ended with nothing a second
// one, from the beginning, must end so too before that is believed. Behind one URL
// there may be several nodes, of which one is behind with its logs.
const absentTime = time.Minute

// sure reports whether it is the second time that the search ends with nothing.
func (s *search) sure(now time.Time) bool {
	if s.doubt.IsZero() {
		s.doubts(now)
		return false
	}
	return !tooSoon(&s.doubt, now)
}

// doubts has the search begin anew in a while.
func (s *search) doubts(now time.Time) {
	s.doubt, s.through, s.hosts = now, chain.Block{}, nil
}

// searchedEvery is how often a long search begins again where it was that long ago,
// and how often it is recorded what was searched twice.
const searchedEvery = time.Hour

// searched has o's searches for payments look at every block a second time, an hour
// later: who is asked may have been behind with its logs. It records how far that is
// done, so that a restart does not begin them anew; not where something was seen that
// is not decided.
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

// What is searched for.
const (
	searchFill    = "fill"
	searchArrival = "arrival"
	searchRefund  = "refund"
)

// A decision is what a transaction means for an order.
type decision int

const (
	isNot       decision = iota // nothing, for ever
	isAbsent                    // it is in no block
	isShallow                   // it stands in a block that may yet be deep enough
	isOpen                      // it may yet, or could not be looked at
	isProof                     // its end
	isStranger                  // a payment as awaited, from somebody
	isUnclear                   // a fill of the order, of which the amounts are not clear
	isContested                 // a payment that may be another order's of ours as well
)

// quietFor is how long a provider asked to be left alone; 0 = it did not.
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
	retryAfter = "retryAfterSeconds" // in the data of a refusal
	maxQuiet   = 10 * time.Minute
)
