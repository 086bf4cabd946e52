package engine

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
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// settle looks for proof of o's end, and records what a settling provider says.
func (e *Engine) settle(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	if o.Plan.Settlement == swap.ByProvider {
		return e.settleProvider(ctx, o)
	}
	prove := e.proveOwnCall
	if o.Terms.Provider == swap.Wallet {
		prove = e.proveRevoked
	}
	v, ok, err := prove(ctx, *o)
	if err != nil || !ok {
		return swap.NoCause, err
	}
	if v.ProvenBy != swap.ProvenByOwnCall {
		return e.proven(ctx, o, v)
	}
	switch alone, err := e.settledAlone(*o, *v.Evidence); {
	case err != nil:
		return swap.NoCause, err
	case !alone:
		explainUnclear(o, v.Evidence.Tx)
		o.Condition = swap.AmountUnclear
		return swap.WaitCause(swap.AmountUnclear), nil
	}
	v.Logs = proof.RefsOf(v.Evidence.Chain, v.Evidence.Tx, proof.TransfersTo(v.Evidence.Logs, o.Terms.TokenOut, o.Terms.Recipient)...)
	return e.proven(ctx, o, v)
}

// settleProvider polls the provider and searches the chains. Only evidence from the
// chains moves the order to another state; what the provider says is kept for people, and
// as a hint where to search first.
func (e *Engine) settleProvider(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	s, err := e.settler(o)
	if err != nil {
		return swap.NoCause, err
	}
	l := e.settlementWatch(o.ID)
	before := o.Clone()
	e.pollClaim(ctx, s, o, l)
	p, err := s.Proof(*o)
	if err == nil {
		err = p.Check(o.Terms)
	}
	if err != nil {
		return swap.NoCause, fmt.Errorf("what would prove the order: %w", err)
	}
	v, found, err := e.proveProvider(ctx, *o, p, l)
	countClaim(o, before)
	if v == nil && err == nil {
		dropReceiptCause(o)
	}
	switch {
	case v != nil:
		note, err := e.proven(ctx, o, *v)
		if o.State.Final() {
			l.close()
		}
		return note, err
	case err == nil && (o.Condition == swap.NoCondition || o.Unproven()):
		explainUnclear(o, found.unclear)
		if o.Condition == swap.LikelyPaid {
			o.Candidate = found.candidate
		}
		switch o.Condition = found.condition(o.Claim, len(p.Fill) == 0); o.Condition {
		case swap.PaymentSeen:
			o.Candidate = proof.BetterCandidate(o.Candidate, found.candidate, o.Claim)
		case swap.LikelyPaid:
			o.Candidate = found.likely
		}
	}
	e.recordReached(o.ID, l)
	recordSearched(o, l, e.Now())
	if err != nil && !same(before, *o) { // what the provider said is recorded all the same
		e.Log(*o, err)
		err = nil
	}
	return historyLine(before, *o), err
}

// explainUnclear records which transaction is unclear, or removes that reason if none is.
func explainUnclear(o *swap.Order, unclear common.Hash) {
	switch {
	case unclear != common.Hash{}:
		o.SetCause(swap.NewCause(swap.CheckTransaction, "tx", unclear.Hex(), "chainId", strconv.FormatUint(o.Terms.SrcChain, 10)))
	case o.Condition == swap.AmountUnclear:
		o.SetCause(swap.NoCause)
	}
}

// historyLine returns the history line for what a poll of an order found.
func historyLine(before, now swap.Order) swap.Cause {
	switch {
	case now.Condition != before.Condition && now.Condition != swap.NoCondition:
		return swap.WaitCause(now.Condition)
	case now.Claim != nil && !swap.SameClaim(before.Claim, now.Claim):
		c := swap.NewCause(swap.ProviderReported, "state", string(now.Claim.State))
		if now.Claim.ProviderStatus != "" && now.Claim.ProviderStatus != string(now.Claim.State) {
			c.QuotedFrom, c.QuotedText = swap.AuthorProvider, now.Claim.ProviderStatus
			c = c.WithText(c.Text() + " (" + now.Claim.ProviderStatus + ")")
		}
		return c
	}
	return swap.NewCause(swap.Searched)
}

// findings are what a search of the chains showed besides a verdict.
type findings struct {
	pending   bool                   // the transaction that the provider names is in a block that is not deep enough yet
	candidate *swap.CandidatePayment // a payment like the awaited one, from an unknown sender
	likely    *swap.CandidatePayment // the payment that the provider names, and that likely fills the order
	unclear   common.Hash            // a transaction that settled the order and does not show the amounts
}

// condition returns the condition in which an order without a verdict waits.
func (f findings) condition(c *swap.Claim, deposit bool) swap.Condition {
	switch {
	case f.unclear != common.Hash{}:
		return swap.AmountUnclear
	case f.likely != nil:
		return swap.LikelyPaid
	case c == nil || !deposit || f.pending:
		return swap.NoCondition
	case f.candidate != nil && (c.State == swap.Filled || c.State == swap.Refunded):
		return swap.PaymentSeen
	case c.State == swap.Filled || c.State == swap.Refunded:
		return swap.AwaitingProof
	case c.State.Final():
		return swap.AwaitingRefund
	}
	return swap.NoCondition
}

// A settlementWatch is what the engine knows, in memory, of an order that a provider settles. It
// is lost with the process and built anew.
type settlementWatch struct {
	searches       map[string]*search
	ruledOut       map[ruled]bool                    // transactions that are not what they were checked for
	candidates     map[string]*swap.CandidatePayment // by name of the search
	quietUntil     time.Time                         // the provider is not polled before
	lateLooks      int                               // looks without a failure since the order was old enough to be closed by itself
	lateSince      time.Time                         // of the first of them
	depositChecked time.Time                         // when our own transaction was last checked
	deposit        *chain.Evidence                   // of it, with its logs, if the proof rests on them
	claimChecked   bool                              // the transaction of a final claim was checked
	shallow        map[string]common.Hash            // what it named that is in a block not deep enough yet, by name of the search
	claimStream
}

type ruled struct {
	what string
	tx   common.Hash
}

// maxRuledOut bounds how many transactions a provider can make us remember.
const maxRuledOut = 256

func (l *settlementWatch) ruleOut(what string, tx common.Hash) {
	if len(l.ruledOut) >= maxRuledOut {
		clear(l.ruledOut)
	}
	l.ruledOut[ruled{what, tx}] = true
}

// claimsShallow reports whether a transaction that the provider named may yet prove something.
func (l *settlementWatch) claimsShallow(tx common.Hash) bool {
	return slices.Contains(slices.Collect(maps.Values(l.shallow)), tx)
}

// settlementWatch returns what is known of an order's settlement.
func (e *Engine) settlementWatch(id string) *settlementWatch {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.inProgress(id)
	if p.settlement == nil {
		p.settlement = &settlementWatch{searches: map[string]*search{}, ruledOut: map[ruled]bool{}, candidates: map[string]*swap.CandidatePayment{}, shallow: map[string]common.Hash{}}
	}
	return p.settlement
}

// beginSearch records a settled block of each chain before anything of o that spends is
// signed: whatever becomes of o is in a later block.
func (e *Engine) beginSearch(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	since := map[uint64]uint64{}
	for _, id := range []uint64{o.Terms.SrcChain, o.Terms.DstChain} {
		b, _, err := e.Nodes.Settled(ctx, id)
		if id != o.Terms.SrcChain && errors.Is(err, chain.ErrNoNetwork) {
			continue // no RPC endpoint: an end there can only be reported
		}
		if err != nil {
			return swap.NoCause, err
		}
		since[id] = b.Number
	}
	o.SearchFrom = since
	return swap.NewCause(swap.SearchStarted, "block", strconv.FormatUint(since[o.Terms.SrcChain], 10)), nil
}

// headLife is how old the known head of the other chain may be when the input is handed
// over.
const headLife = 15 * time.Second

// needsHead reports whether the other chain's head must be read before step s hands the
// input over.
func (e *Engine) needsHead(o swap.Order, s swap.Step) bool {
	return swap.HandsOver(s.Effect.Kind) && o.Terms.DstChain != o.Terms.SrcChain && e.Now().Sub(o.HeadsAt).Abs() > headLife
}

// recordHead records the other chain's head. If it cannot be read, block times alone
// decide later what came first.
func (e *Engine) recordHead(ctx context.Context, o *swap.Order) swap.Cause {
	heads, note := map[uint64]uint64{}, swap.NewCause(swap.DepositNext)
	if n, err := e.Nodes.Head(ctx, o.Terms.DstChain); err == nil {
		heads[o.Terms.DstChain] = n
		note.Data = swap.Figures{"block": strconv.FormatUint(n, 10)}
		note = note.WithText(note.Text() + "; the other chain is at block " + note.Data["block"])
	}
	o.Heads, o.HeadsAt = heads, e.Now()
	return note
}

// A search is the progress of one search for logs.
type search struct {
	chain        uint64
	from         uint64
	through      chain.Block // searched up to here; zero: not begun
	hosts        []string
	hints        []common.Hash             // transactions that are not decided
	missing      map[common.Hash]time.Time // when a transaction that is or was a hint was first in no block
	firstEmpty   time.Time                 // when it first ended without a find
	notedAt      time.Time                 // when its progress was last noted
	notedThrough uint64                    // the block that it had reached then
}

// maxHints is how many transactions may wait to be decided before a search pauses.
const maxHints = 64

// searchFor continues a search of o's; what fits becomes a hint. An error may come with
// hints.
func (e *Engine) searchFor(ctx context.Context, o swap.Order, l *settlementWatch, what string, chainID uint64, f chain.LogFilter, fits func(*types.Log) bool) (*search, error) {
	s := l.searches[what]
	if s == nil {
		s = &search{chain: chainID, from: max(o.SearchFrom[chainID], o.Searched[what], 1)}
		l.searches[what] = s
	}
	if !s.firstEmpty.IsZero() && tooSoon(&s.firstEmpty, e.Now()) || len(s.hints) >= maxHints {
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

// dropAbsent removes a transaction that is in no block from the hints, after absentTime: the
// host that shows its log may be ahead of the host that is asked for its receipt.
func (s *search) dropAbsent(tx common.Hash, now time.Time) {
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

// confirmedEmpty reports whether the search ended without a find twice. The first time restarts it.
func (s *search) confirmedEmpty(now time.Time) bool {
	if s.firstEmpty.IsZero() {
		s.restart(now)
		return false
	}
	return !tooSoon(&s.firstEmpty, now)
}

// restart makes the search begin again after absentTime.
func (s *search) restart(now time.Time) {
	s.firstEmpty, s.through, s.hosts = now, chain.Block{}, nil
}

// searchedEvery is how often a search for a payment begins again, and how often Searched
// is updated.
const searchedEvery = time.Hour

// recordSearched makes o's searches for payments go over every block a second time, an hour
// later, since the hosts may have lagged with their logs. It records how far that is
// done, so that a restart does not begin anew, unless something was seen that is not
// decided.
func recordSearched(o *swap.Order, l *settlementWatch, now time.Time) {
	for what, s := range l.searches {
		if s.notedAt.IsZero() {
			s.notedAt = now
		}
		if what == searchFill || len(s.hints) > 0 || s.through.Number == 0 || now.Sub(s.notedAt) < searchedEvery {
			continue
		}
		twice := s.notedThrough
		s.notedAt, s.notedThrough = now, s.through.Number
		s.from, s.through, s.hosts = max(s.from, twice), chain.Block{}, nil
		if twice == 0 || l.candidates[what] != nil {
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
	searchFill = "fill"
)

// A decision is what a transaction means for an order.
type decision int

const (
	isNothing       decision = iota // nothing, permanently
	isAbsent                        // it is in no block
	isShallow                       // it is in a block that may yet be deep enough
	isUndecided                     // undecided, or it could not be read
	isProof                         // it proves the order's end
	isUnknownSender                 // a payment like the awaited one, from an unknown sender
	isLikely                        // the payment that the provider names, which counts for no other order
	isUnclear                       // a fill of the order that does not show the amounts
	isContested                     // a payment that may belong to another order of ours
)
