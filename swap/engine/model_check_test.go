package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"
)

// MaxPermitLife is the longest that a signed allowance may be valid.
const MaxPermitLife = 31 * 24 * time.Hour

// checkSigned checks a transaction that is about to be signed.
func (m *model) checkSigned(from common.Address, tx *types.Transaction, id uint64) {
	o := m.order(m.acting)
	t := o.Terms
	c, _ := m.chainOf(id)
	m.checkGas(o, tx, c)
	if *tx.To() == from && tx.Value().Sign() == 0 && len(tx.Data()) == 0 {
		return // closes a nonce
	}
	x, trade := tradeIn(tx.Data())
	switch {
	case bytes.HasPrefix(tx.Data(), voidSelector):
		bid := bidHash(o.ID)
		if !o.Cancel || !o.OrderSigned() || from != t.Account || id != t.SrcChain || *tx.To() != swap.Permit2Contract || tx.Value().Sign() != 0 || !bytes.Equal(tx.Data()[4:], bid[:]) {
			m.t.Fatalf("signed to make void what was not to be ended")
		}
	case time.Now().After(t.Deadline):
		m.t.Fatalf("signed after the deadline")
	case from != t.Account || id != t.SrcChain:
		m.t.Fatalf("signed for another account or chain")
	case trade:
		own := x.in == t.TokenIn && x.out == t.TokenOut && x.to == t.Recipient && x.amount == t.AmountIn.Uint64() && x.deadline <= uint64(t.Deadline.Unix())
		value := uint64(0)
		if x.in == chain.Native {
			value = x.amount
		}
		if !own || *tx.To() != router || x.least < t.MinOut.Uint64() || tx.Value().Uint64() != value {
			m.t.Fatalf("signed a trade that was not accepted")
		}
	case t.Wrap != common.Address{} && bytes.Equal(tx.Data(), swap.WrapDeposit):
		if from != t.Account || id != t.SrcChain || *tx.To() != c.net.WrappedNative || tx.Value().Cmp(t.AmountIn) != 0 || o.Wrapped {
			m.t.Fatalf("signed a wrap that does not go first")
		}
	case *tx.To() == c.net.WrappedNative && !bytes.HasPrefix(tx.Data(), erc20Approve):
		if !swap.IsWrap(swap.QuoteRequest{SrcChain: id, DstChain: id, TokenIn: t.TokenIn, TokenOut: t.TokenOut}, *tx.To()) {
			m.t.Fatalf("signed a wrap that was not accepted")
		}
	case o.Plan.LastEffect().Kind == swap.Opaque && !bytes.HasPrefix(tx.Data(), erc20Approve):
		m.checkHandedOver(o, tx, c)
	default:
		m.checkSignedAllowance(o, tx)
	}
}

// checkGas checks that the order costs no more than was accepted, whatever becomes of tx.
func (m *model) checkGas(o swap.Order, tx *types.Transaction, c *modelChain) {
	records := slices.DeleteFunc(slices.Clone(m.records()), func(r *chain.Tx) bool { return r.Nonce == tx.Nonce() }) // of a nonce only one is mined
	f := m.chainOutcomeOf(o, records)
	if most := tx.Gas()*tx.GasFeeCap().Uint64() + c.l1; !f.shaken && f.paid+most > o.Terms.GasCeiling.Uint64() {
		m.t.Fatalf("signed for more gas than is left")
	}
}

// checkSignedAllowance checks that an approval is of the input to the plan's spender, and
// no other order is between approval and pull; a revoke grants nothing.
func (m *model) checkSignedAllowance(o swap.Order, tx *types.Transaction) {
	w := words(tx.Data()[4:])
	amount := new(big.Int).SetBytes(w[len(w)-1])
	switch {
	case tx.Value().Sign() != 0:
		m.t.Fatalf("an approval sends coin")
	case bytes.HasPrefix(tx.Data(), permit2Approve):
		if o.Terms.Provider != swap.Wallet || len(bytes.Trim(slices.Concat(w[2:]...), "\x00")) > 0 {
			m.t.Fatalf("signed an allowance of Permit2")
		}
		return
	case !bytes.HasPrefix(tx.Data(), erc20Approve) || *tx.To() != o.Terms.Input() || common.BytesToAddress(w[0]) != o.Plan.Spender || o.Plan.Spender != swap.Permit2Contract && o.Plan.Spender != depot:
		m.t.Fatalf("signed something unknown")
	case amount.Sign() > 0 && o.Terms.Provider == swap.Wallet:
		m.t.Fatalf("a revoke grants")
	case amount.Sign() > 0:
		if slices.ContainsFunc(recordsOf(o, m.records()), func(r *chain.Tx) bool { return r.Nonce == tx.Nonce() && bytes.Equal(r.Call.Data, tx.Data()) }) {
			break // it was signed before, and is sped up
		}
		own := o.Terms.AmountIn.Uint64()
		_, needed := m.shares(o)
		if n := amount.Uint64(); !amount.IsUint64() || n < own+needed || n > own+m.share { // an order may have ended meanwhile
			m.t.Fatalf("signed an approval of %d, not of %d and %d to %d of others", n, own, needed, m.share)
		}
	}
	for _, other := range m.orders() {
		if other.ID != o.ID && !other.State.Final() && allowanceKeyOf(other) == allowanceKeyOf(o) && other.AllowanceLocked {
			m.t.Fatalf("changes an allowance that another order holds")
		}
	}
}

// checkPermit checks a permit that is about to be signed.
func (m *model) checkPermit(from common.Address, p permitSingle, id uint64, contract common.Address) {
	o := m.order(m.acting)
	t := o.Terms
	switch {
	case time.Now().After(t.Deadline):
		m.t.Fatalf("signed a permit after the deadline")
	case from != t.Account || id != t.SrcChain || contract != swap.Permit2Contract || p.Spender != router || p.Details.Token != t.TokenIn || p.Details.Amount.Cmp(t.AmountIn) != 0:
		m.t.Fatalf("signed a permit that was not accepted")
	case p.Details.Expiration.Int64() > t.Deadline.Add(MaxPermitLife).Unix():
		m.t.Fatalf("signed a permit that stays")
	}
	if spends := m.spends(o); len(spends) > 0 {
		m.t.Fatalf("signed a permit again after its call")
	}
}

// checkBid checks an order that is about to be signed. As it cannot be taken back, there
// must be only one.
func (m *model) checkBid(from common.Address, f swap.Effect) {
	o := m.order(m.acting)
	t, r := o.Terms, f.Receives[0]
	switch {
	case time.Now().After(t.Deadline) || f.Deadline.After(t.Deadline):
		m.t.Fatalf("signed an order after the deadline")
	case time.Until(f.Deadline) < minValidity[swap.Signed]:
		m.t.Fatalf("signed an order that has no time to be filled")
	case t.Wrap != common.Address{} && !o.Wrapped:
		m.t.Fatalf("signed an order before its input was wrapped")
	case from != t.Account || f.Chain != t.SrcChain || f.Spends[0].Token != t.Input() || f.Spends[0].Amount.Cmp(t.AmountIn) != 0:
		m.t.Fatalf("signed an order that spends something else")
	case r.Token != t.TokenOut || r.To != t.Recipient || r.Min.Cmp(t.MinOut) < 0:
		m.t.Fatalf("signed an order that gives something else")
	case len(o.Results) == len(o.Plan.Steps):
		m.t.Fatalf("signed an order twice")
	}
}

// checkTold checks that before the dealer is called, the order on disk says so and has
// the signature that is handed over.
func (m *model) checkTold(o swap.Order) {
	stored := m.order(o.ID)
	last := len(stored.Plan.Steps) - 1
	switch {
	case stored.Submission == nil || stored.Submission.Tries != o.Submission.Tries || stored.State != swap.Submitting && stored.State != swap.Settling:
		m.t.Fatalf("the dealer is told of what is not recorded")
	case len(stored.Results) <= last || !bytes.Equal(stored.Results[last].Signature, o.Results[last].Signature):
		m.t.Fatalf("another signature is handed over than the one that is recorded")
	}
}

// arrived checks bytes that reach a node: they are in the sender's records and may still
// be sent.
func (m *model) arrived(tx *types.Transaction) {
	recorded := false
	for _, r := range m.records() {
		for _, a := range r.Attempts {
			if a.Hash == tx.Hash() {
				recorded = true
				if !time.Now().After(a.Until) {
					return
				}
			}
		}
	}
	if recorded {
		m.t.Fatalf("sent after its last moment")
	}
	m.t.Fatalf("sent what is not in the journal")
}

func (m *model) order(id string) swap.Order {
	o, err := m.journal.Get(id)
	if err != nil {
		m.t.Fatalf("order %q: %v", id, err)
	}
	return o
}

// A modelFile is the database's content, read once per commit.
type modelFile struct {
	commit  int
	orders  []swap.Order // oldest first
	records []*chain.Tx  // the sender's, by key
}

// file reads the database. Its result must not be changed.
func (m *model) file() modelFile {
	commit := 0
	err := m.db.View(func(b *bolt.Tx) error { commit = b.ID(); return nil })
	if err == nil && commit == m.read.commit {
		return m.read
	}
	m.read = modelFile{commit: commit}
	if m.read.orders, _, err = m.journal.List(common.Address{}, false, "", 1000); err != nil {
		m.t.Fatal(err)
	}
	slices.Reverse(m.read.orders)
	err = m.db.View(func(b *bolt.Tx) error {
		return b.Bucket([]byte("sender.tx")).ForEach(func(_, v []byte) error {
			tx := new(chain.Tx)
			m.read.records = append(m.read.records, tx)
			return json.Unmarshal(v, tx)
		})
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return m.read
}

func (m *model) orders() []swap.Order { return m.file().orders }

func (m *model) records() []*chain.Tx { return m.file().records }

// recordsOf returns the records of an order.
func recordsOf(o swap.Order, records []*chain.Tx) (own []*chain.Tx) {
	for _, r := range records {
		if strings.HasPrefix(r.Key, o.ID+"/") {
			own = append(own, r)
		}
	}
	return own
}

// spendsInput reports whether a call takes the input, or for a revoke, is the revoke.
func spendsInput(o swap.Order, c chain.Call) bool {
	return o.Terms.Provider == swap.Wallet || !isApprove(c) && !isSideCall(o, c)
}

// isSideCall reports whether a call neither approves nor takes the input: it wraps the input
// first or invalidates the signed order.
func isSideCall(o swap.Order, c chain.Call) bool {
	return o.Terms.IsWrapFirst(c) || bytes.HasPrefix(c.Data, voidSelector)
}

// spends returns the records of o's spending call, except refused ones.
func (m *model) spends(o swap.Order) (out []*chain.Tx) {
	for _, r := range recordsOf(o, m.records()) {
		if spendsInput(o, r.Call) && r.State != chain.TxRejected {
			out = append(out, r)
		}
	}
	return out
}

// A chainOutcome is what the chain says about an order's transactions, at any depth.
type chainOutcome struct {
	taken    int    // calls that spent and succeeded
	depth    int    // of the last of them
	out      uint64 // what arrived for it
	paid     uint64 // wei for gas, in total
	shaken   bool   // a block that was final was removed by a reorg
	approved uint64 // largest approval
	wrapped  int    // calls that wrapped the input first
}

// notRefused reports whether a record that was not refused has these very bytes: the nonce of
// a refused one is reused, perhaps by the same call.
func notRefused(hash common.Hash, records []*chain.Tx) bool {
	return slices.ContainsFunc(records, func(r *chain.Tx) bool {
		return r.State != chain.TxRejected && slices.ContainsFunc(r.Attempts, func(a chain.Attempt) bool { return a.Hash == hash })
	})
}

func (m *model) chainOutcomeOf(o swap.Order, records []*chain.Tx) (f chainOutcome) {
	c, _ := m.chainOf(o.Terms.SrcChain)
	f.shaken = c.reorged[bidHash(o.ID)]
	if o.Verdict != nil {
		for _, ref := range o.Verdict.Logs {
			at, _ := m.chainOf(ref.Chain)
			f.shaken = f.shaken || at.reorged[ref.Tx]
		}
	}
	if out, block := c.filled(o.ID); block > 0 {
		f.taken, f.out, f.depth = 1, out, c.head()-block+1
	}
	for _, r := range recordsOf(o, records) {
		for _, a := range r.Attempts {
			f.shaken = f.shaken || c.reorged[a.Hash]
			got, block := c.find(a.Hash, c.head())
			if got == nil || r.State == chain.TxRejected && notRefused(a.Hash, records) {
				continue
			}
			f.paid += got.paid
			if a.Kind == chain.AttemptCancel || !got.success {
				continue
			}
			if isSideCall(o, r.Call) {
				if o.Terms.IsWrapFirst(r.Call) {
					f.wrapped++
				}
				continue
			}
			if !spendsInput(o, r.Call) {
				f.approved = max(f.approved, new(big.Int).SetBytes(r.Call.Data[36:]).Uint64())
				continue
			}
			f.taken++
			f.depth = c.head() - block + 1
			for _, move := range got.did.moves {
				if move.Token == o.Terms.TokenOut && move.To == o.Terms.Recipient {
					f.out += move.Amount.Uint64()
				}
			}
		}
	}
	return f
}

// check verifies what must hold at any moment.
func (m *model) check() {
	records, orders := m.records(), m.orders()
	for _, o := range orders {
		m.checkOrder(o, records)
	}
	m.checkDistinct(orders)
	m.checkHolders(orders)
	m.checkShares(orders)
	m.checkForeign(records)
	m.checkTaken(orders)
}

// checkOrder checks that nothing is paid twice or beyond what was accepted, and that an
// end is as the chain shows.
func (m *model) checkOrder(o swap.Order, records []*chain.Tx) {
	lines, err := m.journal.History(o.ID)
	if untold := uncaused(o, lines); err != nil || untold != "" {
		m.t.Fatal(untold, err)
	}
	terms, ok := m.consents[o.Digest]
	if !ok || !bytes.Equal(swap.MustJSON(terms), swap.MustJSON(o.Terms)) {
		m.t.Fatalf("an order without consent to its terms")
	}
	calls := map[string]bool{}
	open := false
	for _, r := range recordsOf(o, records) {
		open = open || !r.State.Final()
		if spendsInput(o, r.Call) && r.State != chain.TxRejected {
			calls[r.Key] = true
		}
	}
	if len(calls) > 1 {
		m.t.Fatalf("two different spends under one consent")
	}
	f := m.chainOutcomeOf(o, records)
	switch most := o.Terms.GasCeiling; {
	case f.taken > 1:
		m.t.Fatalf("paid %d times", f.taken)
	case f.wrapped > 1:
		m.t.Fatalf("wrapped %d times", f.wrapped)
	case f.shaken:
		return // the end was proven, and the proof removed by a reorg
	case most.IsUint64() && f.paid > most.Uint64():
		m.t.Fatalf("paid more gas than accepted")
	case o.Terms.Provider != swap.Wallet && f.approved > o.Terms.AmountIn.Uint64()+m.granted[o.ID]:
		m.t.Fatalf("approved more than the amount")
	case !o.State.Final():
	case open:
		m.t.Fatalf("ended %s with a transaction under way", o.State)
	case o.Verdict == nil || o.Verdict.State != o.State:
		m.t.Fatalf("ended %s without a verdict", o.State)
	default:
		m.checkEnd(o, f)
	}
}

// checkEnd compares an end with the chain.
func (m *model) checkEnd(o swap.Order, f chainOutcome) {
	switch {
	case o.Terms.Provider == swap.Wallet && o.State == swap.Failed && f.taken == 1 && m.touched[o.Terms.SrcChain]:
		// granted again before its end was examined, and the token logs nothing
	case o.Terms.Provider == swap.Wallet:
		if (o.State == swap.Filled) != (f.taken == 1) {
			m.t.Fatalf("a revoke ended %s and was carried out %d times", o.State, f.taken)
		}
	case o.Terms.Provider == swap.Intent:
		m.checkHandedEnd(o, f)
	case o.State != swap.Filled:
		if f.taken != 0 {
			m.t.Fatalf("ended %s and was paid", o.State)
		}
	case f.taken == 0 || f.depth < modelDepth:
		m.t.Fatalf("filled without proof")
	case f.out < o.Terms.MinOut.Uint64():
		m.t.Fatalf("filled below the floor")
	}
}

// checkDistinct checks that a transaction or a payment belongs to one order only.
func (m *model) checkDistinct(orders []swap.Order) {
	by, proof := map[common.Hash]string{}, map[swap.LogRef]string{}
	for _, o := range orders {
		if o.Verdict != nil {
			for _, ref := range o.Verdict.Logs {
				if proof[ref] != "" {
					m.t.Fatalf("one payment ended two orders")
				}
				proof[ref] = o.ID
			}
		}
		for _, r := range o.Results {
			if r.Tx == (common.Hash{}) {
				continue
			}
			if by[r.Tx] != "" {
				m.t.Fatalf("one transaction stands for two orders")
			}
			by[r.Tx] = o.ID
		}
	}
}

// checkHolders checks that one plan at a time is between approval and pull.
func (m *model) checkHolders(orders []swap.Order) {
	held := map[journal.AllowanceKey]bool{}
	for _, o := range orders {
		if o.State.Final() || !o.AllowanceLocked || o.Step >= len(o.Plan.Steps) {
			continue
		}
		k := allowanceKeyOf(o)
		if held[k] {
			m.t.Fatalf("two plans between approval and pull")
		}
		held[k] = true
	}
}

// checkForeign checks that what is mined for our accounts is recorded, or is another
// wallet's.
func (m *model) checkForeign(records []*chain.Tx) {
	ours := map[common.Hash]bool{}
	for _, r := range records {
		for _, a := range r.Attempts {
			ours[a.Hash] = true
		}
	}
	for _, c := range m.chains {
		for _, b := range c.blocks {
			for _, r := range b.receipts {
				if !ours[r.tx.Hash()] && !m.foreign[r.tx.Hash()] {
					m.t.Fatalf("mined what nobody recorded")
				}
			}
		}
	}
}

// checkQuiet checks what must hold when everything has ended: no nonce is left open, and
// each remaining allowance is listed.
func (m *model) checkQuiet(records []*chain.Tx) {
	for _, r := range records {
		c, _ := m.chainOf(r.Call.ChainID)
		used := c.state()[slices.Index(m.who[:], r.Call.From)].nonce
		taken := slices.ContainsFunc(r.Attempts, func(a chain.Attempt) bool { return c.reorged[a.Hash] })
		if r.State != chain.TxRejected && r.Nonce >= used && !taken {
			m.t.Fatalf("a nonce is left open by a transaction that is %s", r.State)
		}
	}
	for _, c := range m.chains {
		for i, who := range m.who {
			m.checkListed(c, i, who)
		}
	}
}

func (m *model) checkListed(c *modelChain, i int, who common.Address) {
	m.faults.quiet = true
	listed, _, err := m.service.Allowances(context.Background(), AllowancesRequest{Account: who, Chain: c.net.ID, Tokens: c.tokens[:]})
	m.faults.quiet = false
	if err != nil {
		m.t.Fatal(err)
	}
	find := func(token common.Address, k swap.AllowanceKind, spender common.Address) *Allowance {
		j := slices.IndexFunc(listed, func(a Allowance) bool { return a.Token == token && a.Kind == k && a.Spender == spender })
		if j < 0 {
			return nil
		}
		return &listed[j]
	}
	now := c.state()[i]
	for j, token := range c.tokens {
		if n := now.tokens[j].allowed; n > 0 {
			a := find(token, swap.ByToken, swap.Permit2Contract)
			if a == nil || a.Amount.Uint64() != n {
				m.t.Fatalf("an allowance is left over and not listed")
			}
			if a.Leftover == "" && !m.touched[c.net.ID] && len(c.reorged)+len(c.bids) == 0 {
				m.t.Fatalf("an allowance is listed without the order that left it")
			}
		}
		if n := now.tokens[j].vault; n > 0 {
			if a := find(token, swap.ByToken, depot); (a == nil || a.Amount.Uint64() != n) && !m.touched[c.net.ID] {
				m.t.Fatalf("what the vault may take is left over and not listed")
			}
		}
		if p := now.permits[j]; p.amount > 0 && p.until >= uint64(time.Now().Unix()) && find(token, swap.ByPermit2, router) == nil {
			m.t.Fatalf("an allowance of Permit2 is not listed")
		}
	}
}
