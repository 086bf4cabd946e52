package swap

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// A Proof describes what on the chain would prove the end of an order that somebody else
// settles. It is plain data: a provider derives it from the signed bytes, and only
// swap/engine searches for it and gives the verdict.
type Proof struct {
	// Fill is the event, or the exact transfers, of a complete fill on the source chain.
	// All of these logs are in one transaction, and the first one is searched for. It is
	// for signed orders, whose contract enforces their terms.
	Fill []LogPattern `json:"fill,omitempty"`
	// Trace is what every fill leaves, complete or partial, all in one transaction. Each
	// pattern covers one of Fill, and the first is searched for instead of Fill's. An
	// order whose trace was found is never called unfilled. Empty = there are only
	// complete fills.
	Trace []LogPattern `json:"trace,omitempty"`
	// Arrival is the payment that fills a deposit.
	Arrival *Arrival `json:"arrival,omitempty"`
	// Refund is the payment that returns a deposit on the source chain.
	Refund *Arrival `json:"refund,omitempty"`
	// Own means that the fill is in the transaction of the plan's own last call, on the
	// source chain: a swap in one call that could not be decoded.
	Own bool `json:"own,omitempty"`
	// Ends is the last second at which the order can be filled on chain; zero = no end (a
	// deposit).
	Ends time.Time `json:"ends,omitzero"`
	// Nonce is the unordered nonce that a fill uses up, if a contract shows it.
	Nonce *NonceBit `json:"nonce,omitempty"`
}

// A LogPattern is a condition on one log.
type LogPattern struct {
	Address common.Address `json:"address"` // the contract that emits it; zero = any
	// Topics must match one by one and in number; the zero hash matches any.
	Topics []common.Hash `json:"topics"`
	// Amount must equal the first word of the data or, with AtLeast, be at most it.
	Amount  *big.Int `json:"amount,omitempty"`
	AtLeast bool     `json:"atLeast,omitempty"`
}

// An Arrival is a payment of at least Least base units to an address.
type Arrival struct {
	Chain uint64         `json:"chainId"`
	Token common.Address `json:"token"` // zero address = native coin
	To    common.Address `json:"to"`
	Least *big.Int       `json:"least"`
	// From are the accounts whose payment is proof if there is no link. One from any other is
	// at most [LikelyPaid]. With a link, only these can pay less than Least.
	From []common.Address `json:"from"`
	Link *Link            `json:"link,omitempty"`
}

// A Link is how the transaction of a payment names the order that it is for. Whoever sends it
// chooses its input, so the link says which order a payment is for, not that there is one. The
// rule is that of the bridge's own settlement oracle (testdata/live/FACTS.md, "How fills name
// their order"). With Relay, a log names the order instead.
type Link struct {
	InputEnd common.Hash      `json:"inputEnd,omitzero"` // the last 32 bytes of its input; for a plain payment of the coin the whole input
	CoinPaid common.Hash      `json:"coinPaid,omitzero"` // topic of the event, with data (address to, uint256 amount), of a payment of the coin by one of Payers
	Payers   []common.Address `json:"payers,omitempty"`  // built-in contracts
	Relay    *Relay           `json:"relay,omitempty"`
}

// A Relay is the rule of Across (testdata/live/FACTS.md, "Across"): if the receipt of our own
// deposit has exactly one FundsDeposited of Source, and that promises the awaited payment, a
// FilledRelay of Destination with the same members, together with the payment itself, is the
// fill. Both are built-in contracts. Package proof evaluates it.
type Relay struct {
	Source      common.Address `json:"source"`        // on the source chain
	Destination common.Address `json:"destination"`   // on the destination chain
	Coin        common.Address `json:"coin,omitzero"` // the wrapped coin there, which Destination pays out as the coin
}

// A NonceBit is one bit of a Permit2-style nonce bitmap on the source chain:
// nonceBitmap(owner, nonce >> 8), bit nonce & 255.
type NonceBit struct {
	Contract common.Address `json:"contract"`
	Owner    common.Address `json:"owner"`
	Nonce    *big.Int       `json:"nonce"`
}

// A ProofRow is one way in which an order can end.
type ProofRow struct {
	By    string // name that a verdict carries
	End   State
	Of    string // which orders it is for
	Means string // what proves it, for a person
}

// proofs lists every possible end and what proves it. A log, or a payment of the native
// coin, counts for one order only. What is read from a chain is at the chain's depth, and
// two RPC hosts must agree on it where two are configured.
var proofs = []ProofRow{
	{ProvenByOwnCall, Filled, "a swap in one call of our own", "our own call succeeded, its checked bytes enforce the minimum, and no other order of ours ended in it"},
	{ProvenByOpaqueCall, Filled, "one call of our own that cannot be decoded", "our own call succeeded, no other order of ours ended in it, and its logs show what arrived (for the native coin: the balance after a block in which nothing else could have paid the account); below the minimum it is marked short"},
	{ProvenByFill, Filled, "a signed order", "one transaction emits every event of a fill of exactly what was signed"},
	{ProvenByPartialFill, Filled, "a signed order", "one transaction emits the events of a fill that differs from what was signed: a partial fill, or a token that takes a fee on transfers; below the minimum it is marked short"},
	{ProvenByArrival, Filled, "a deposit", "after our deposit, a transaction that names the order, or in which a built-in contract logs the fill of exactly the relay that our deposit's receipt names, paid the recipient at least the minimum and fills no other order of ours; a smaller payment, by a built-in filler, counts only in the transaction that the provider's final status names, and is marked short"},
	{ProvenByRefund, Refunded, "a deposit", "after our deposit, a transaction that names the order, or the built-in contract that took the input, paid the agreed refund on the source chain, which without a name is no more than the input, and fills no other order of ours; a smaller payment counts only in the transaction that the provider's final status names, and is marked short"},
	{ProvenByRevoke, Filled, "a revoke", "our own call succeeded, and its log or the chain shows an allowance of zero"},
	{ProvenByRevert, Failed, "any transaction of ours", "it was mined and reverted; only its network fee was paid"},
	{ProvenByTxReplaced, Failed, "any transaction of ours", "another transaction used its nonce"},
	{ProvenByKept, Failed, "a revoke", "our own call succeeded, but the allowance is still there"},
	{ProvenByOrderNonceUsed, Failed, "a signed order", "its nonce was used without a fill: two searches of every block since it was signed found none"},
	{ProvenByAbsence, Expired, "a signed order", "its deadline has passed on-chain, two searches of every block since it was signed found no fill, and its nonce is unused where a contract records it"},
	{ProvenByNeverSigned, Expired, "any order", "the deadline passed, and nothing that spends was ever signed"},
	{ProvenByNeverSent, Expired, "any transaction of ours", "the deadline passed, and no RPC endpoint ever accepted it"},
	{ProvenByInvalidated, Cancelled, "a signed order", "our own cancelling call succeeded, and two searches of every block until now found no fill"},
	{ProvenByCancel, Cancelled, "any transaction of ours", "our cancelling transaction was mined in its place"},
	{ProvenByWithdrawn, Cancelled, "any order", "it was cancelled or refused before anything that spends was signed"},
	{ProvenByNeverSentCancelled, Cancelled, "any transaction of ours", "it was cancelled, and no RPC endpoint ever accepted it"},
}

// The values of ProofRow.By.
const (
	ProvenByOwnCall            = "own_call"
	ProvenByOpaqueCall         = "opaque_call"
	ProvenByFill               = "fill"
	ProvenByPartialFill        = "partial_fill"
	ProvenByArrival            = "arrival"
	ProvenByRefund             = "refund"
	ProvenByRevoke             = "revoke"
	ProvenByRevert             = "revert"
	ProvenByTxReplaced         = "tx_replaced"
	ProvenByKept               = "allowance_kept"
	ProvenByOrderNonceUsed     = "order_nonce_used"
	ProvenByAbsence            = "absence"
	ProvenByNeverSigned        = "never_signed"
	ProvenByNeverSent          = "never_sent"
	ProvenByInvalidated        = "invalidated"
	ProvenByCancel             = "cancel"
	ProvenByWithdrawn          = "withdrawn"
	ProvenByNeverSentCancelled = "never_sent_cancelled"
)

// A SourceCode is the code of what a verdict rests on.
type SourceCode string

// The first two are about what was read from a chain; the others about what the wallet itself
// recorded.
const (
	OneHost       SourceCode = "one_host"        // one RPC host
	TwoHosts      SourceCode = "two_hosts"       // at least two RPC hosts agree
	NothingSigned SourceCode = "nothing_signed"  // no step was signed
	NoSpendSigned SourceCode = "no_spend_signed" // at most approvals were signed
	WrappedOnly   SourceCode = "wrapped_only"    // the coin was wrapped, and nothing that spends it was signed
	IsolatedOnly  SourceCode = "isolated_only"   // the input was moved to the isolated account, and nothing that spends it was signed
	NonceReplaced SourceCode = "nonce_used"      // another transaction used the nonce of ours
	NeverSent     SourceCode = "never_sent"      // no RPC endpoint accepted our transaction
)

// A ReceiptCode is the code of what the receipts behind a verdict were held against.
type ReceiptCode string

// The codes, each worse than the one before. A verdict without a receipt has none, like one that
// an older version gave.
const (
	Recomputed      ReceiptCode = "recomputed"       // the roots and the hash of the block, which the chain above it has
	NotRecomputable ReceiptCode = "not_recomputable" // nothing: it cannot be done on the network
	NotRecomputed   ReceiptCode = "not_recomputed"   // nothing: for a long time no host served what is needed
)

// ReceiptCodes are the codes in that order.
var ReceiptCodes = []ReceiptCode{"", Recomputed, NotRecomputable, NotRecomputed}

// Proofs returns the table of ends and what proves them.
func Proofs() []ProofRow { return slices.Clone(proofs) }

// VerdictBy returns a verdict of the row with that name.
func VerdictBy(by string) Verdict {
	i := slices.IndexFunc(proofs, func(r ProofRow) bool { return r.By == by })
	return Verdict{State: proofs[i].End, ProvenBy: by}
}

// unprovenEnds describes the conditions of an order with an end that was reported or seen, but
// not proven; the texts are for the documentation.
var unprovenEnds = map[Condition]string{
	AwaitingRefund: "the provider reports that it failed, which proves nothing; waiting for a fill or refund on-chain",
	AwaitingProof:  "the provider reports that it is done, but no chain shows it yet; still watching",
	AmountUnclear:  "a transaction settled the order, but it does not show how much was paid or received; check the account",
	LikelyPaid:     "the transaction that the provider names paid the recipient at least the minimum after our deposit, at two hosts, and counts for no other order; it is not linked to this one",
	PaymentSeen:    "a matching payment arrived, but it may belong to something else: nothing links it to the order, or another order matches too",
}

// Unproven reports whether o has an end that was reported or seen, but not proven. The order
// is still polled, at growing intervals, and no longer counts toward the limit of open orders.
func (o Order) Unproven() bool {
	_, ok := unprovenEnds[o.Condition]
	return ok && (o.State == Settling || o.State == Closed)
}

// Check refuses a proof that anybody's transaction could meet, or none could.
func (p Proof) Check(t Terms) error {
	kinds := 0
	for _, some := range []bool{len(p.Fill) > 0, p.Arrival != nil, p.Own} {
		if some {
			kinds++
		}
	}
	switch {
	case kinds == 0 || len(p.Fill) > 0 && kinds > 1:
		return errors.New("a proof must be for exactly one of: a signed order, a deposit, a call")
	case len(p.Trace) > 0 && len(p.Fill) == 0:
		return errors.New("only a signed order leaves a trace")
	case len(p.Fill) > 0 && (p.Refund != nil || p.TracePatterns()[0].Address == common.Address{}):
		return errors.New("a fill event needs a contract address, and a signed order has no refund")
	case p.Nonce != nil && (p.Nonce.Nonce == nil || len(p.Fill) == 0 || p.Nonce.Owner != t.Account):
		return errors.New("a nonce needs a signed order, and must be the account's")
	}
	for _, l := range slices.Concat(p.Fill, p.Trace) {
		if len(l.Topics) == 0 || len(l.Topics) > 4 || l.Topics[0] == (common.Hash{}) || l.Amount != nil && l.Amount.Sign() < 0 {
			return errors.New("a pattern needs an event")
		}
	}
	for _, l := range p.Trace {
		if !slices.ContainsFunc(p.Fill, l.covers) {
			return errors.New("a trace pattern matches no log of the fill")
		}
	}
	if err := p.Arrival.check(t.DstChain, t.TokenOut, t.Recipient); err != nil {
		return fmt.Errorf("arrival: %w", err)
	}
	if p.Arrival != nil && p.Arrival.Least.Cmp(t.MinOut) < 0 {
		return errors.New("arrival: accepts less than the minimum")
	}
	if p.Refund != nil {
		if err := p.Refund.check(t.SrcChain, p.Refund.Token, t.RefundTo); err != nil {
			return fmt.Errorf("refund: %w", err)
		}
		if l := p.Refund.Link; l != nil && l.Relay != nil {
			return errors.New("refund: no relay pays one")
		}
	}
	return nil
}

// check refuses an arrival of another token, on another chain or to another account.
func (a *Arrival) check(chainID uint64, token, to common.Address) error {
	switch {
	case a == nil:
		return nil
	case a.Chain != chainID || a.Token != token || a.To != to:
		return errors.New("differs from the accepted payment")
	case a.Least == nil || a.Least.Sign() <= 0:
		return errors.New("no amount")
	case slices.Contains(a.From, common.Address{}) || slices.Contains(a.From, a.To):
		return errors.New("a filler must be neither the zero address nor the recipient")
	case a.Link != nil && !a.Link.binds(a.Token):
		return errors.New("a link that any transaction has")
	}
	return nil
}

// binds reports whether exactly one rule is set, and in full.
func (l *Link) binds(token common.Address) bool {
	if r := l.Relay; r != nil {
		contracts := []common.Address{r.Source, r.Destination}
		if token == chain.Native {
			contracts = append(contracts, r.Coin)
		}
		return l.InputEnd == common.Hash{} && !slices.Contains(contracts, common.Address{})
	}
	return l.InputEnd != common.Hash{} && !slices.Contains(l.Payers, common.Address{})
}

// TracePatterns returns the logs that every fill leaves; the first is searched for.
func (p Proof) TracePatterns() []LogPattern {
	if len(p.Trace) > 0 {
		return p.Trace
	}
	return p.Fill
}

// covers reports whether every log that matches q also matches p.
func (p LogPattern) covers(q LogPattern) bool {
	if p.Address != (common.Address{}) && p.Address != q.Address || len(p.Topics) != len(q.Topics) {
		return false
	}
	for i, t := range p.Topics {
		if t != (common.Hash{}) && t != q.Topics[i] {
			return false
		}
	}
	switch {
	case p.Amount == nil:
		return true
	case q.Amount == nil:
		return false
	case p.AtLeast:
		return q.Amount.Cmp(p.Amount) >= 0
	}
	return !q.AtLeast && q.Amount.Cmp(p.Amount) == 0
}

// Matches reports whether l meets p.
func (p LogPattern) Matches(l *types.Log) bool {
	if l == nil || p.Address != (common.Address{}) && l.Address != p.Address || len(l.Topics) != len(p.Topics) {
		return false
	}
	for i, t := range p.Topics {
		if t != (common.Hash{}) && l.Topics[i] != t {
			return false
		}
	}
	if p.Amount == nil {
		return true
	}
	if len(l.Data) < 32 {
		return false
	}
	c := new(big.Int).SetBytes(l.Data[:32]).Cmp(p.Amount)
	return c == 0 || p.AtLeast && c > 0
}
