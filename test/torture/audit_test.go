//go:build faults && linux

package torture

import (
	"errors"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
	"swapkeep/test/journalreader"
	"swapkeep/test/processes"
)

// A audit compares what daemon and users say with what chains and providers know.
type audit struct {
	*world
	orders          map[string]protocol.OrderResult
	records         map[common.Hash]journalreader.Record // signed transactions, by the hash of each attempt
	moves           []movement
	owns            []ownTx
	grants          map[grant]bool
	claimed         map[common.Hash]string // the order that each transaction belongs to
	listed          map[grant]protocol.Allowance
	droppedDeposits map[common.Hash]bool         // deposits that providers know and no chain has
	strayPayments   map[common.Hash]strayPayment // what was paid for them, by the payment
	awaited         map[common.Hash]strayPayment // what was paid for orders that cannot prove it, by the payment
}

func newAudit(w *world, listed map[grant]protocol.Allowance) *audit {
	return &audit{
		world: w, orders: map[string]protocol.OrderResult{}, records: map[common.Hash]journalreader.Record{}, grants: map[grant]bool{}, claimed: map[common.Hash]string{},
		listed: listed, droppedDeposits: map[common.Hash]bool{}, strayPayments: map[common.Hash]strayPayment{}, awaited: map[common.Hash]strayPayment{},
	}
}

// runAudit ends the world's programs and checks everything they left.
func (w *world) runAudit(orders []protocol.OrderResult, listed map[grant]protocol.Allowance) {
	w.checkNothingLeft()
	w.checkCrashes()
	r := newAudit(w, listed)
	for _, o := range orders {
		if _, twice := r.orders[o.Order.ID]; twice {
			w.find("order %s is listed twice", o.Order.ID)
		}
		r.orders[o.Order.ID] = o
	}
	onDisk, err := journalreader.Orders(w.Instance.Home)
	if err := errors.Join(err, r.read()); err != nil {
		w.find("reading what is left: %v", err)
		return
	}
	r.checkStored(onDisk)
	r.checkConsents()
	r.checkSent()
	r.checkRecords()
	r.checkNonces()
	r.findDropped()
	r.checkEnds()
	r.checkMovements()
	r.checkCoins()
	r.checkAllowances()
	r.checkProviders()
	w.checkSecrets()
}

// checkNothingLeft ends relays and daemon as a logout does, and checks that nothing remains.
func (w *world) checkNothingLeft() {
	w.mu.Lock()
	relays := w.relays
	w.relays = nil
	w.mu.Unlock()
	for _, p := range relays {
		_, _ = p.Stop()
	}
	if out, err := w.stop(); err != nil {
		w.find("stop: %v: %s", err, out)
	}
	left, err := processes.StillRunning(w.Bin, 5*time.Second)
	if len(left) > 0 || err != nil {
		w.find("processes %v are left, %v", left, err)
	}
	for _, pid := range left {
		_ = processes.Kill(pid)
	}
	_ = filepath.WalkDir(w.Instance.Home, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type()&(os.ModeSocket|os.ModeNamedPipe) != 0 {
			w.find("the socket %s is left", filepath.Base(path))
		}
		if err == nil && (strings.HasSuffix(path, "~") || strings.Contains(filepath.Base(path), ".tmp")) {
			w.find("the file %s is left", path)
		}
		return nil
	})
}

// checkCrashes checks that no program crashed by a fault of its own, by log and standard
// error, and counts the daemons that died at a point.
func (w *world) checkCrashes() {
	for _, path := range []string{w.Instance.LogPath(), w.Instance.LogPath() + ".1", w.said.Name()} {
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.find("log: %v", err)
		}
		for line := range strings.Lines(string(b)) {
			if faulted.MatchString(line) {
				w.find("%s says: %s", filepath.Base(path), line)
			}
		}
	}
	died, err := os.ReadFile(w.deaths())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.find("deaths: %v", err)
	}
	w.count("daemon died at a point", len(strings.Fields(string(died))))
}

// faulted matches the output of a program that ends by a fault of its own.
var faulted = regexp.MustCompile(`^(panic:|fatal error:|\[signal )|"level":"(fatal|panic)"|"panic":|panic in state|panic while`)

// read reads the database of the stopped daemon, and the chains.
func (r *audit) read() error {
	records, err := journalreader.Records(r.Instance.Home)
	if err != nil {
		return err
	}
	for _, rec := range records {
		for _, a := range rec.Attempts {
			switch other, twice := r.records[a.Hash]; {
			case !twice || other.State == "rejected":
				r.records[a.Hash] = rec
			case rec.State != "rejected": // the bytes of a rejected one may be another's
				r.find("transaction %s is in the records %s and %s", a.Hash, other.Key, rec.Key)
			}
		}
	}
	for _, id := range chains {
		h := r.history[id]
		if err := h.finish(); err != nil {
			return err
		}
		moves, owns, grants, err := h.accountEvents()
		if err != nil {
			return err
		}
		r.moves, r.owns = append(r.moves, moves...), append(r.owns, owns...)
		for g := range grants {
			r.grants[g] = true
		}
	}
	return nil
}

// checkConsents checks that there is an order for each accepted consent, and no other.
func (r *audit) checkConsents() {
	known := map[string]bool{}
	for _, c := range r.consents {
		switch o, there := r.orders[c.id]; {
		case c.id == "" && c.refused == "":
			r.find("consent %s has no answer", c.request)
		case c.id == "":
			r.count("consents refused", 1)
		case !there:
			r.find("order %s was accepted and is lost", c.id)
		case known[c.id]:
			r.find("order %s is of two consents", c.id)
		case o.Order.Request != c.request || !slices.Contains(c.digests, o.Order.Digest):
			r.find("order %s is not what was accepted: %s, %s", c.id, o.Order.Request, o.Order.Digest)
		}
		known[c.id] = true
	}
	for id, o := range r.orders {
		if !known[id] {
			r.find("order %s (%s) has no consent", id, o.Order.State)
		}
		r.count("ended "+o.Order.Terms.Provider+": "+stateOf(o.Order), 1)
	}
}

func stateOf(o protocol.Order) string {
	switch {
	case !o.Final && o.Condition != "":
		return "open, " + o.Condition
	case !o.Final:
		return "open, " + o.State
	}
	return o.State
}

// orderOf returns the id of the order that a sender's record is for.
func orderOf(rec journalreader.Record) string { id, _, _ := strings.Cut(rec.Key, "/"); return id }

// checkSent checks that the journal has every transaction that was sent to a node or mined.
func (r *audit) checkSent() {
	mine := map[common.Address]bool{}
	for _, a := range r.accounts {
		mine[a] = true
	}
	for _, c := range r.Chains() {
		signer := types.LatestSignerForChainID(new(big.Int).SetUint64(c.ID))
		for _, raw := range c.Transactions() {
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(raw.Raw); err != nil {
				r.find("chain %d was handed bytes that are no transaction", c.ID)
				continue
			}
			if from, err := types.Sender(signer, tx); err != nil || !mine[from] {
				r.find("chain %d was handed a transaction of %s, %v", c.ID, from, err)
			} else if _, kept := r.records[tx.Hash()]; !kept {
				r.find("transaction %s was sent and is not in the journal", tx.Hash())
			}
		}
	}
	for _, o := range r.owns {
		rec, kept := r.records[o.tx.Hash()]
		if !kept {
			r.find("transaction %s was mined and is not in the journal", o.tx.Hash())
			continue
		}
		r.claimed[o.tx.Hash()] = orderOf(rec)
		if r.orders[orderOf(rec)].Order.ID == "" {
			r.find("record %s is of no order", rec.Key)
		}
	}
}

// checkRecords checks that every record was signed once and has the end that the chain shows.
func (r *audit) checkRecords() {
	mined, seen := map[common.Hash]ownTx{}, map[string]bool{}
	for _, o := range r.owns {
		mined[o.tx.Hash()] = o
	}
	for _, rec := range r.records {
		if seen[rec.Key] {
			continue
		}
		seen[rec.Key] = true
		if end := endOf(rec, mined); rec.State != end {
			r.find("record %s is %s, and %s on the chain", rec.Key, rec.State, end)
		}
		for i, a := range rec.Attempts {
			if i > 0 && a.Kind == "call" {
				r.find("record %s was signed twice", rec.Key)
			}
		}
	}
}

// endOf returns how a record ended, by which of its attempts was mined.
func endOf(rec journalreader.Record, mined map[common.Hash]ownTx) string {
	for _, a := range rec.Attempts {
		switch o, is := mined[a.Hash]; {
		case !is:
		case a.Kind == "cancel":
			return "cancelled"
		case o.receipt.Status == types.ReceiptStatusSuccessful:
			return "mined"
		default:
			return "reverted"
		}
	}
	return "rejected"
}

// checkNonces checks that each account's nonces have no gap, and that nothing is pending.
func (r *audit) checkNonces() {
	type line struct {
		chain   uint64
		account common.Address
	}
	next := map[line]uint64{}
	for _, o := range r.owns {
		l := line{o.chain, o.account}
		if o.tx.Nonce() != next[l] {
			r.find("chain %d: %s mined nonce %d after %d", o.chain, o.account, o.tx.Nonce(), next[l])
		}
		next[l] = o.tx.Nonce() + 1
	}
	for _, c := range r.Chains() {
		for _, a := range r.accounts {
			if waits, err := c.Client().PendingNonceAt(r.ctx, a); err != nil || waits != next[line{c.ID, a}] {
				r.find("chain %d: %s has next nonce %d, and %d with what waits, %v", c.ID, a, next[line{c.ID, a}], waits, err)
			}
		}
	}
	r.count("transactions mined", len(r.owns))
}

// checkEnds checks that each order's end is what happened: paid exactly once and enough,
// refunded, or untouched; and that an order without an end really has none.
func (r *audit) checkEnds() {
	for _, id := range slices.Sorted(maps.Keys(r.orders)) {
		o := r.orders[id].Order
		r.checkEvidence(o)
		e, times := r.inBook(o)
		if times > 1 || times == 0 && mustBeInBook(o) {
			r.find("%s: the provider has it %d times", r.orderLabel(o), times)
		} else if e != nil {
			r.checkBooked(o, *e)
			r.recordAwaited(o, *e)
		}
		check := ended[o.State]
		switch {
		case o.Final && check == nil:
			r.find("%s: no such end", r.orderLabel(o))
		case o.Final && o.Verdict != nil:
			check(r, o, r.sumOf(o))
		case !o.Final:
			r.checkOpen(o, e)
		}
	}
}

// checkOpen requires a reason why an order has no end.
func (r *audit) checkOpen(o protocol.Order, e *journalreader.Entry) {
	why := r.whyOpen(o)
	if why == "" && e != nil && r.ambiguousPayment(o, *e, r.unpaid) {
		why = "its payment fits another order as well, which nobody pays"
	}
	if why == "" {
		r.find("%s: it has no end: %s; %s; seen %+v; in the book %+v", r.orderLabel(o), o.Reason, o.Report, o.CandidatePayment, e)
		return
	}
	if gone := r.sumOf(o).gone; gone.Cmp(o.Terms.AmountIn.Int()) != 0 {
		r.find("%s: %s of the input left, want %s", r.orderLabel(o), gone, o.Terms.AmountIn)
	}
	r.count("open: "+why, 1)
}

// recordAwaited records what a provider paid for an open order that cannot prove it.
func (r *audit) recordAwaited(o protocol.Order, e journalreader.Entry) {
	if of := r.claimed[e.Payment]; !o.Final && e.Payment != (common.Hash{}) && (of == "" || of == o.ID) {
		r.claimed[e.Payment], r.awaited[e.Payment] = o.ID, paymentRange(o, e)
	}
}

// orderLabel names an order in findings.
func (r *audit) orderLabel(o protocol.Order) string {
	return strings.Join([]string{o.ID, o.Terms.Provider, o.Offer.Routing, string(rune('0' + len(o.Steps))), stateOf(o)}, " ")
}

// checkEvidence claims a verdict's transaction for its order alone, and checks its proof.
func (r *audit) checkEvidence(o protocol.Order) {
	v := o.Verdict
	if (v != nil) != o.Final {
		r.find("%s: final %t, verdict %+v", r.orderLabel(o), o.Final, v)
	}
	if v == nil {
		return
	}
	r.checkProof(o)
	r.checkAbsence(o)
	if v.Evidence == nil {
		return
	}
	tx := common.HexToHash(string(v.Evidence.Tx))
	if other := r.claimed[tx]; other != "" && other != o.ID {
		r.find("%s: its evidence %s is of %s too", r.orderLabel(o), tx, other)
	}
	r.claimed[tx] = o.ID
	c := r.Chain(v.Evidence.ChainID)
	if c == nil {
		r.find("%s: evidence on chain %d", r.orderLabel(o), v.Evidence.ChainID)
		return
	}
	receipt, err := c.Client().TransactionReceipt(r.ctx, tx)
	if err != nil || (receipt.Status == 1) != v.Evidence.Success || receipt.BlockHash.Hex() != string(v.Evidence.BlockHash) {
		r.find("%s: its evidence %s is not what the chain has: %v", r.orderLabel(o), tx, err)
	}
}
