// Package audit checks, without any of the daemon's code, that money moved exactly as the
// daemon's orders say: it compares what the daemon and its users say with what the chains, the
// providers' records and the database of the stopped daemon show. Whoever plays a scenario
// adds only what that scenario expects.
package audit

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
)

// An Audit is the evidence of one world, and what follows from it.
type Audit struct {
	Context   context.Context
	Chains    map[uint64]chainReader
	Books     func(kind string) ([]Entry, error) // a provider's records
	Accounts  []common.Address
	Histories []*chainHistory
	Foreign   map[common.Hash]bool             // transactions that somebody else signed with the accounts' keys
	Listed    map[Grant]Allowance              // the allowances that the wallet shows its user
	Find      func(format string, args ...any) // is called with each violation
	Count     func(what string, n int)         // is called with the number of each thing that was checked

	orders          map[string]OrderResult
	records         map[common.Hash]senderRecord // signed transactions, by the hash of each attempt
	moves           []movement
	owns            []ownTx
	isolated        map[common.Address]Order     // the order of each isolated account
	isolatedTxs     []ownTx                      // what they sent
	grants          map[Grant]common.Hash        // approvals, with the transaction of the last
	claimed         map[common.Hash]string       // the order that each transaction belongs to
	droppedDeposits map[common.Hash]bool         // deposits that providers know and no chain has
	strayPayments   map[common.Hash]strayPayment // what was paid for them, by the payment
	awaited         map[common.Hash]strayPayment // what was paid for orders that cannot prove it, by the payment
}

// RefusedRecords counts the journal's records of transactions that no node took.
const RefusedRecords = "records of refused transactions"

// New begins the audit of these accounts in a sandbox. It records the chains' history from now
// on, so that a block that a reorg may still replace is read late; depth is how deep no reorg
// reaches. Close ends the recording.
func New(ctx context.Context, box *sandbox.Sandbox, depth uint64, accounts ...common.Address) *Audit {
	r := &Audit{Context: ctx, Chains: map[uint64]chainReader{}, Accounts: accounts, Count: func(string, int) {}}
	r.Books = func(kind string) ([]Entry, error) { return ProviderOrders[kind](r.Context, box) }
	for _, c := range box.Chains() {
		r.Chains[c.ID] = liveChain{c}
		r.Histories = append(r.Histories, record(c, accounts, depth))
	}
	return r
}

// Close ends the recording.
func (r *Audit) Close() {
	for _, h := range r.Histories {
		h.close()
	}
}

// Judge checks everything, after the daemon whose home this is has ended. results are all orders
// as the daemon last reported them.
func (r *Audit) Judge(home string, results []OrderResult, consents []Consent) {
	for _, h := range r.Histories {
		if err := h.finish(); err != nil {
			r.Find("reading a chain: %v", err)
			return
		}
	}
	onDisk, err := storedOrders(home)
	records, unread := senderRecords(home)
	if err := errors.Join(err, unread); err != nil {
		r.Find("reading the journal: %v", err)
		return
	}
	r.judge(onDisk, records, results, consents)
}

// judge checks everything against the journal's orders and records.
func (r *Audit) judge(onDisk map[string]storedOrder, records []senderRecord, results []OrderResult, consents []Consent) {
	r.begin()
	for _, o := range results {
		if _, twice := r.orders[o.Order.ID]; twice {
			r.Find("order %s is listed twice", o.Order.ID)
		}
		r.orders[o.Order.ID] = o
		r.Count("ended "+o.Order.Terms.Provider+": "+stateOf(o.Order), 1)
	}
	r.keep(records)
	if err := r.readHistories(); err != nil {
		r.Find("reading a chain: %v", err)
		return
	}
	r.checkStored(onDisk)
	r.checkConsents(consents)
	r.checkSent()
	r.checkRecords()
	r.checkNonces()
	r.findDropped()
	r.checkEnds()
	r.checkMovements()
	r.checkBalances()
	r.checkCoins()
	r.checkAllowances()
	r.checkProviders()
}

// begin forgets what followed from earlier evidence.
func (r *Audit) begin() {
	r.orders, r.records, r.moves, r.owns = map[string]OrderResult{}, map[common.Hash]senderRecord{}, nil, nil
	r.grants, r.claimed, r.droppedDeposits = map[Grant]common.Hash{}, map[common.Hash]string{}, map[common.Hash]bool{}
	r.strayPayments, r.awaited = map[common.Hash]strayPayment{}, map[common.Hash]strayPayment{}
}

// keep files the sender's records by the hashes of their attempts.
func (r *Audit) keep(records []senderRecord) {
	for _, rec := range records {
		for _, a := range rec.Attempts {
			switch other, twice := r.records[a.Hash]; {
			case !twice || other.State == "rejected":
				r.records[a.Hash] = rec
			case rec.State != "rejected": // the bytes of a rejected one may be another's
				r.Find("transaction %s is in the records %s and %s", a.Hash, other.Key, rec.Key)
			}
		}
	}
}

// readHistories draws from the chains' history what concerns the accounts.
func (r *Audit) readHistories() error {
	for _, h := range r.Histories {
		moves, owns, grants, err := h.accountEvents()
		if err != nil {
			return err
		}
		r.moves, r.owns = append(r.moves, moves...), append(r.owns, owns...)
		maps.Copy(r.grants, grants)
	}
	return r.readIsolated()
}

// checkConsents checks that there is an order for each accepted consent, and no other.
func (r *Audit) checkConsents(consents []Consent) {
	known := map[string]bool{}
	for _, c := range consents {
		switch o, there := r.orders[c.Order]; {
		case c.Order == "" && !c.Refused:
			r.Find("consent %s has no answer", c.Request)
		case c.Order == "":
			r.Count("consents refused", 1)
		case !there:
			r.Find("order %s was accepted and is lost", c.Order)
		case known[c.Order]:
			r.Find("order %s is of two consents", c.Order)
		case o.Order.Request != c.Request || !slices.Contains(c.Digests, o.Order.Digest):
			r.Find("order %s is not what was accepted: %s, %s", c.Order, o.Order.Request, o.Order.Digest)
		}
		known[c.Order] = true
	}
	for id, o := range r.orders {
		if !known[id] {
			r.Find("order %s (%s) has no consent", id, o.Order.State)
		}
	}
}

func stateOf(o Order) string {
	switch {
	case !o.Final && o.Condition != "":
		return "open, " + o.Condition
	case !o.Final:
		return "open, " + o.State
	}
	return o.State
}

// orderOf returns the id of the order that a sender's record is for.
func orderOf(rec senderRecord) string { id, _, _ := strings.Cut(rec.Key, "/"); return id }

// checkSent checks that the journal has every transaction that was sent to a node or mined.
func (r *Audit) checkSent() {
	sent := map[common.Hash]*types.Transaction{}
	defer func() { r.checkBumps(sent) }()
	for id, c := range r.Chains {
		signer := types.LatestSignerForChainID(new(big.Int).SetUint64(id))
		for _, raw := range c.Sent() {
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(raw); err != nil {
				r.Find("chain %d was handed bytes that are no transaction", id)
				continue
			}
			if from, err := types.Sender(signer, tx); err != nil || !slices.Contains(r.Accounts, from) && r.isolated[from].ID == "" {
				r.Find("chain %d was handed a transaction of %s, %v", id, from, err)
			} else if _, kept := r.records[tx.Hash()]; !kept {
				r.Find("transaction %s was sent and is not in the journal", tx.Hash())
			}
			sent[tx.Hash()] = tx
		}
	}
	for _, o := range r.owns {
		if r.Foreign[o.tx.Hash()] {
			continue
		}
		rec, kept := r.records[o.tx.Hash()]
		if !kept {
			r.Find("transaction %s was mined and is not in the journal", o.tx.Hash())
			continue
		}
		r.claimed[o.tx.Hash()] = orderOf(rec)
		if r.orders[orderOf(rec)].Order.ID == "" {
			r.Find("record %s is of no order", rec.Key)
		}
	}
	r.checkIsolated()
}

// checkBumps checks that of what was sent for one record each pays at least an eighth more than
// the one before it, as nodes demand.
func (r *Audit) checkBumps(sent map[common.Hash]*types.Transaction) {
	for _, rec := range r.records {
		var last *types.Transaction
		for _, a := range rec.Attempts {
			tx := sent[a.Hash]
			if tx == nil {
				continue
			}
			if last != nil && new(big.Int).Mul(tx.GasFeeCap(), big.NewInt(8)).Cmp(new(big.Int).Mul(last.GasFeeCap(), big.NewInt(9))) < 0 {
				r.Find("record %s: %s was outbid by %s only", rec.Key, last.GasFeeCap(), tx.GasFeeCap())
			}
			last = tx
		}
	}
}

// checkRecords checks that every record was signed once and has the end that the chain shows.
func (r *Audit) checkRecords() {
	mined, seen := map[common.Hash]ownTx{}, map[string]bool{}
	for _, o := range slices.Concat(r.owns, r.isolatedTxs) {
		mined[o.tx.Hash()] = o
	}
	for _, rec := range r.records {
		if seen[rec.Key] {
			continue
		}
		seen[rec.Key] = true
		if rec.State == "rejected" {
			r.Count(RefusedRecords, 1)
		}
		// What an isolated account moves back may be on its way when the world ends: a new
		// start follows it.
		moving := rec.State == "sent" && strings.HasPrefix(rec.Key, sweepKey)
		if end := endOf(rec, mined); rec.State != end && !moving {
			r.Find("record %s is %s, and %s on the chain", rec.Key, rec.State, end)
		}
		for i, a := range rec.Attempts {
			if i > 0 && a.Kind == "call" {
				r.Find("record %s was signed twice", rec.Key)
			}
		}
	}
}

// endOf returns how a record ended, by which of its attempts was mined.
func endOf(rec senderRecord, mined map[common.Hash]ownTx) string {
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
func (r *Audit) checkNonces() {
	type line struct {
		chain   uint64
		account common.Address
	}
	next := map[line]uint64{}
	for _, o := range slices.Concat(r.owns, r.isolatedTxs) {
		l := line{o.chain, o.account}
		if o.tx.Nonce() != next[l] {
			r.Find("chain %d: %s mined nonce %d after %d", o.chain, o.account, o.tx.Nonce(), next[l])
		}
		next[l] = o.tx.Nonce() + 1
	}
	for id, c := range r.Chains {
		for _, a := range r.Accounts {
			if waits, err := c.Pending(r.Context, a); err != nil || waits != next[line{id, a}] {
				r.Find("chain %d: %s has next nonce %d, and %d with what waits, %v", id, a, next[line{id, a}], waits, err)
			}
		}
	}
	r.Count("transactions mined", len(r.owns))
}

// checkEnds checks that each order's end is what happened: paid exactly once and enough,
// refunded, or untouched; and that an order without an end really has none.
func (r *Audit) checkEnds() {
	for _, id := range slices.Sorted(maps.Keys(r.orders)) {
		o := r.orders[id].Order
		r.checkEvidence(o)
		e, times := r.inBook(o)
		if times > 1 || times == 0 && mustBeInBook(o) {
			r.Find("%s: the provider has it %d times", r.orderLabel(o), times)
		} else if e != nil {
			r.checkBooked(o, *e)
			r.recordAwaited(o, *e)
		}
		check := ended[o.State]
		switch {
		case o.Final && check == nil:
			r.Find("%s: no such end", r.orderLabel(o))
		case o.Final && o.Verdict != nil:
			check(r, o, r.sumOf(o))
		case !o.Final:
			r.checkOpen(o, e)
		}
	}
	r.checkLikely()
}

// checkLikely requires that an order is ended or not as its state and condition say, and that no
// payment makes two orders likely paid.
func (r *Audit) checkLikely() {
	type payment struct {
		tx        common.Hash
		token, to common.Address
	}
	used := map[payment]string{}
	for _, id := range slices.Sorted(maps.Keys(r.orders)) {
		o := r.orders[id].Order
		likely := o.Condition == "likely_paid" && !o.Final
		if o.Ended != (o.Final || likely || o.State == "closed") {
			r.Find("%s: ended %t", r.orderLabel(o), o.Ended)
		}
		if !likely {
			continue
		}
		if o.CandidatePayment == nil {
			r.Find("%s: likely paid by nothing", r.orderLabel(o))
			continue
		}
		p := payment{o.CandidatePayment.Tx, o.CandidatePayment.Token, o.Terms.Account}
		if other := used[p]; other != "" {
			r.Find("%s: its payment %s is of %s too", r.orderLabel(o), p.tx, other)
		}
		used[p] = o.ID
	}
}

// checkOpen requires a reason why an order has no end.
func (r *Audit) checkOpen(o Order, e *Entry) {
	why := r.WhyOpen(o)
	if why == "" && e != nil && r.ambiguousPayment(o, *e, r.unpaid) {
		why = "its payment fits another order as well, which nobody pays"
	}
	if why == "" {
		r.Find("%s: it has no end: %s; seen %+v; in the book %+v", r.orderLabel(o), o.Reason, o.CandidatePayment, e)
		return
	}
	if spent := r.sumOf(o).spent; spent.Cmp(o.Terms.AmountIn.Int()) != 0 {
		r.Find("%s: %s of the input left, want %s", r.orderLabel(o), spent, o.Terms.AmountIn)
	}
	r.Count("open: "+why, 1)
}

// recordAwaited records what a provider paid for an open order that cannot prove it.
func (r *Audit) recordAwaited(o Order, e Entry) {
	if of := r.claimed[e.Payment]; !o.Final && e.Payment != (common.Hash{}) && (of == "" || of == o.ID) {
		r.claimed[e.Payment], r.awaited[e.Payment] = o.ID, paymentRange(o, e)
	}
}

// orderLabel names an order in findings.
func (r *Audit) orderLabel(o Order) string {
	return strings.Join([]string{o.ID, o.Terms.Provider, o.Offer.Routing, string(rune('0' + len(o.Steps))), stateOf(o)}, " ")
}

// checkEvidence claims a verdict's transaction for its order alone, and checks its proof.
func (r *Audit) checkEvidence(o Order) {
	v := o.Verdict
	if (v != nil) != o.Final {
		r.Find("%s: final %t, verdict %+v", r.orderLabel(o), o.Final, v)
	}
	if v == nil {
		return
	}
	r.checkProof(o)
	r.checkAbsence(o)
	if v.Evidence == nil {
		return
	}
	tx := v.Evidence.Tx
	if other := r.claimed[tx]; other != "" && other != o.ID {
		r.Find("%s: its evidence %s is of %s too", r.orderLabel(o), tx, other)
	}
	r.claimed[tx] = o.ID
	c := r.Chains[v.Evidence.ChainID]
	if c == nil {
		r.Find("%s: evidence on chain %d", r.orderLabel(o), v.Evidence.ChainID)
		return
	}
	receipt, err := c.Receipt(r.Context, tx)
	if err != nil || receipt == nil || (receipt.Status == 1) != v.Evidence.Success || receipt.BlockHash != v.Evidence.BlockHash {
		r.Find("%s: its evidence %s is not what the chain has: %v", r.orderLabel(o), tx, err)
	}
}
