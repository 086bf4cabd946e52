package audit

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// unpaid lists the endings of the intent provider after which nobody is paid, though the
// order may not be over.
var unpaid = []string{"fail", "never", "claim", "claim_refund", "borrow"}

// book returns a provider's records.
func (r *Audit) book(kind string) []Entry {
	all, err := r.Books(kind)
	if err != nil {
		r.Find("the book of %s: %v", kind, err)
	}
	return all
}

// inBook finds an order in its provider's records and counts how often it is there; the
// entry is nil if it is missing. It matches the provider's name for the order or, if the
// order ended on the chain before the provider named it, the payment.
func (r *Audit) inBook(o Order) (*Entry, int) {
	if ProviderOrders[o.Terms.Provider] == nil {
		return nil, 0
	}
	return entryOf(o, r.book(o.Terms.Provider))
}

func entryOf(o Order, book []Entry) (found *Entry, times int) {
	for _, e := range book {
		if o.ProviderOrderID != "" && strings.EqualFold(e.Ref, o.ProviderOrderID) || o.ProviderOrderID == "" && endedBy(o, e) {
			found, times = &e, times+1
		}
	}
	return found, times
}

// endedBy reports whether an order's verdict names a provider's payment.
func endedBy(o Order, e Entry) bool {
	v := o.Verdict
	return e.Payment != (common.Hash{}) && v != nil && v.Evidence != nil && v.Evidence.Tx == e.Payment
}

// mustBeInBook reports whether an order must be in its provider's records: the provider named it
// or paid it. The others were swaps by a call of their own, revokes, or never reached their
// provider.
func mustBeInBook(o Order) bool {
	return o.ProviderOrderID != "" || o.Verdict != nil && proofRules[o.Verdict.ProvenBy].tx == "another's"
}

// WhyOpen says why an open order may stay open: the provider really pays nobody, or pays in
// a way that proves nothing. "" means that there is no reason.
func (r *Audit) WhyOpen(o Order) string {
	e, _ := r.inBook(o)
	if e == nil {
		return ""
	}
	paid := e.Payment != (common.Hash{}) && (r.mined(o.Terms.DstChainID, e.Payment) || r.mined(o.Terms.SrcChainID, e.Payment))
	if paid && e.Final && r.paidBefore(o, *e) {
		return "by the two chains' clocks the payment was made before the deposit"
	}
	if paid && e.Final && o.Terms.Provider == "intent" && (o.State == "settling" || o.State == "closed") {
		_, plain := r.paymentOf(o, *e)
		if !e.IsRefund && r.fillsRelay(o, e.Deposit, e.Payment) {
			return whyUnproven(*e, r.paysLess(o, e.Payment))
		}
		if why := whyUnlinked(o, *e, plain); why != "" {
			return why
		}
	}
	return whyOpenFor(o, *e, paid, paid && r.sharesBlock(o, e.Payment))
}

// maxSkew is how much earlier than the deposit, by the clock of its own chain, a payment may be.
const maxSkew = 15 // seconds

// paidBefore reports whether the payment is older than that: blocks that a sandbox makes at
// once move the clock of their chain alone.
func (r *Audit) paidBefore(o Order, e Entry) bool {
	deposited, paid := r.timeOf(o.Terms.SrcChainID, e.Deposit), r.timeOf(o.Terms.DstChainID, e.Payment)
	return !e.IsRefund && paid > 0 && deposited > paid+maxSkew
}

// timeOf returns the time of a transaction's block, in Unix seconds; 0 if there is none.
func (r *Audit) timeOf(chain uint64, tx common.Hash) uint64 {
	c := r.Chains[chain]
	if c == nil {
		return 0
	}
	receipt, err := c.Receipt(r.Context, tx)
	if err != nil || receipt == nil || receipt.BlockNumber == nil {
		return 0
	}
	head, err := c.Header(r.Context, receipt.BlockNumber.Uint64())
	if err != nil {
		return 0
	}
	return head.Time
}

// whyUnproven says why an order may be open though a payment fills the relay of its deposit.
func whyUnproven(e Entry, less bool) string {
	if less && !e.PaymentNamed {
		return "the payment is less, and the provider does not name it"
	}
	return ""
}

// paysLess reports whether a fill paid less than an order's minimum.
func (r *Audit) paysLess(o Order, payment common.Hash) bool {
	const paidAt = 13 // place of the amount that was paid
	return slices.ContainsFunc(r.logsOf(o.Terms.DstChainID, payment, relayFilled), func(l *types.Log) bool {
		return len(l.Data) == 15*32 && new(big.Int).SetBytes(l.Data[paidAt*32:(paidAt+1)*32]).Cmp(o.Terms.MinimumReceived.Int()) < 0
	})
}

// whyUnlinked says why an order that the intent provider paid may stay without a proof: nothing
// in its payments names the order. A payment that it names, and that is plain (a transfer, or
// the value of its transaction, of at least the minimum), makes the order likely paid.
func whyUnlinked(o Order, e Entry, plain bool) string {
	switch {
	case e.IsRefund:
		return "nothing links the intent provider's refund to it"
	case !e.PaymentNamed:
		return "the intent provider does not name its payment"
	case !plain:
		return "the payment is less, or of the coin by a contract"
	case o.Condition == "likely_paid" && o.CandidatePayment != nil && o.CandidatePayment.Tx == e.Payment:
		return "likely paid"
	}
	return ""
}

// whyOpenFor is the same for an order with this entry in its provider's records. paid says
// that a chain has the provider's payment, crowded that something else in the payment's
// block changed the account's coin.
func whyOpenFor(o Order, e Entry, paid, crowded bool) string {
	if !slices.Contains([]string{"settling", "submitting", "closed"}, o.State) || o.Terms.Provider != "bridge" && o.Terms.Provider != "intent" {
		return ""
	}
	coin := o.Terms.TokenOut == native
	if e.IsRefund {
		coin = o.Terms.TokenIn == native
	}
	switch {
	case !e.Final && !paid && !slices.Contains(unpaid, e.Ending): // it is about to pay, or to pay again
		return ""
	case e.Payment == (common.Hash{}):
		return "the provider keeps the input"
	case !paid:
		return "the chain forgot the provider's payment"
	case (o.Condition == "amount_unclear" || o.State == "closed") && o.Terms.TokenOut == native && crowded: // closing drops the condition
		return "the same block changed the account's coin in another way too"
	case e.Final && !e.PaymentNamed && coin:
		return "a payment of the coin leaves no log, and the provider does not name it"
	}
	return ""
}

// sharesBlock reports whether a transaction's block has another one that may have changed the
// coin of the order's account: one by it, one to it, or a provider's payment.
func (r *Audit) sharesBlock(o Order, tx common.Hash) bool {
	c, account := r.Chains[o.Terms.SrcChainID], o.Terms.Account
	receipt, err := c.Receipt(r.Context, tx)
	if err != nil || receipt == nil {
		return false
	}
	block, err := c.Block(r.Context, receipt.BlockHash)
	if err != nil {
		return false
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(o.Terms.SrcChainID))
	return slices.ContainsFunc(block.Transactions(), func(other *types.Transaction) bool {
		from, err := types.Sender(signer, other)
		about := err == nil && from == account && !cannotReceive(account, other) || other.To() != nil && *other.To() == account || r.isPayment(other.Hash())
		return other.Hash() != tx && about
	})
}

// cannotReceive reports whether an account's own transaction cannot bring it any of the coin: an
// empty one that replaces another, an approval, or a wrap.
func cannotReceive(account common.Address, tx *types.Transaction) bool {
	if tx.To() == nil {
		return false
	}
	free, data := tx.Value().Sign() == 0, hex.EncodeToString(tx.Data())
	switch {
	case *tx.To() == account:
		return free && data == ""
	case strings.HasPrefix(data, "095ea7b3"): // approve(address,uint256)
		return free
	}
	return data == "d0e30db0" && !free // deposit()
}

// isPayment reports whether a transaction is a provider's payment.
func (r *Audit) isPayment(tx common.Hash) bool {
	for kind := range ProviderOrders {
		if slices.ContainsFunc(r.book(kind), func(e Entry) bool { return e.Payment == tx }) {
			return true
		}
	}
	return false
}

// mined reports whether a transaction is on a chain and succeeded.
func (r *Audit) mined(chain uint64, tx common.Hash) bool {
	c := r.Chains[chain]
	if c == nil {
		return false
	}
	receipt, err := c.Receipt(r.Context, tx)
	if err != nil {
		r.Find("chain %d: transaction %s: %v", chain, tx, err)
	}
	return receipt != nil && receipt.Status == types.ReceiptStatusSuccessful
}
