//go:build faults && linux

package torture

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
	"swapkeep/test/witness"
)

// unpaid are the intent provider's ways of ending an order of which nobody is paid,
// though it may not be over; unnamed those whose payment is not named to anybody.
var (
	unpaid  = []string{"fail", "never", "claim", "borrow"}
	unnamed = []string{"fail_refund", "fill_unnamed", "fail_fill"}
)

// book is what a provider has.
func (w *world) book(kind string) []witness.Entry {
	all, err := witness.Books[kind](w.ctx, w.Sandbox)
	if err != nil {
		w.find("the book of %s: %v", kind, err)
	}
	return all
}

// inBook finds an order in its provider's book, nil if it is not there, and how often.
func (w *world) inBook(o protocol.Order) (found *witness.Entry, times int) {
	if witness.Books[o.Terms.Provider] == nil {
		return nil, 0
	}
	for _, e := range w.book(o.Terms.Provider) {
		if o.Ref != "" && strings.EqualFold(e.Ref, o.Ref) {
			found, times = &e, times+1
		}
	}
	return found, times
}

// endless says why an order that is open may stay so: its input is with a provider that
// in truth pays nobody, or in a way that proves nothing. "" is no reason.
func (w *world) endless(o protocol.Order) string {
	if o.State != "settling" && o.State != "submitting" || o.Terms.Provider != bridge && o.Terms.Provider != intent {
		return ""
	}
	e, _ := w.inBook(o)
	paid := e != nil && e.Payment != (common.Hash{}) && (w.mined(o.Terms.DstChainID, e.Payment) || w.mined(o.Terms.SrcChainID, e.Payment))
	switch {
	case e == nil || !e.Over && !paid && !slices.Contains(unpaid, e.Ending): // it is about to pay, or pays again
		return ""
	case e.Payment == (common.Hash{}):
		return "the provider keeps the input"
	case !paid:
		return "the chain forgot the provider's payment"
	case o.Condition == "settled, and what arrived is unclear" && addr(o.Terms.TokenOut) == native && w.crowded(o.Terms.SrcChainID, e.Payment):
		return "the same block changed the account's coin in another way too"
	case (slices.Contains(unnamed, e.Ending) || o.Claim != nil && o.Claim.Tx == "") && (addr(o.Terms.TokenOut) == native && !e.Back || addr(o.Terms.TokenIn) == native && e.Back):
		return "a payment of the coin leaves no log, and the provider does not name it"
	}
	return ""
}

// crowded reports whether a transaction shares its block with others, so that what it
// brought of the coin cannot be told from what they did.
func (w *world) crowded(chain uint64, tx common.Hash) bool {
	r, err := w.Chain(chain).Client().TransactionReceipt(w.ctx, tx)
	if err != nil {
		return false
	}
	n, err := w.Chain(chain).Client().TransactionCount(w.ctx, r.BlockHash)
	return err == nil && n > 1
}

// mined reports whether a transaction is on a chain, and passed.
func (w *world) mined(chain uint64, tx common.Hash) bool {
	c := w.Chain(chain)
	if c == nil {
		return false
	}
	r, err := c.Client().TransactionReceipt(w.ctx, tx)
	return err == nil && r.Status == types.ReceiptStatusSuccessful
}
