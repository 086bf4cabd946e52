//go:build faults && linux

package torture

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/host/protocol"
)

// An entry is an order in a provider's book: what the provider knows in truth.
type entry struct {
	ref     string
	deposit common.Hash // zero: none, it was signed
	payment common.Hash // zero: none
	back    bool        // the payment gives the input back
	over    bool        // nothing more will come of it
	never   bool        // nothing will be paid, though it may not be over
	mute    bool        // the payment is not named to anybody
}

// books read every provider's.
var books = map[string]func(*world) ([]entry, error){
	dex: func(w *world) (all []entry, err error) {
		orders, err := w.DEX().Orders(w.ctx)
		for _, o := range orders {
			all = append(all, entry{ref: o.OrderID.Hex(), payment: orNone(o.TxHash), over: o.Status != "open"})
		}
		return all, err
	},
	bridge: func(w *world) (all []entry, err error) {
		for _, o := range w.Bridge().Orders() {
			if o.Deposit != (common.Hash{}) { // the others are quotes
				all = append(all, entry{ref: o.RequestID.Hex(), deposit: o.Deposit, payment: o.Payment, back: o.Refund, over: slices.Contains([]string{"success", "failure", "refund"}, o.Status)})
			}
		}
		return all, nil
	},
	intent: func(w *world) (all []entry, err error) {
		for _, o := range w.Intent().Orders() {
			ways := intentEndings[o.Ending]
			all = append(all, entry{o.ID, o.Deposit, o.Payment, ways.back, o.Over, ways.never, ways.mute})
		}
		return all, nil
	},
	gasless: func(w *world) (all []entry, err error) {
		orders, err := w.Gasless().Orders(w.ctx)
		for _, o := range orders {
			all = append(all, entry{ref: o.QuoteID, payment: orNone(o.TxHash), over: o.TxHash != nil})
		}
		return all, err
	},
}

// intentEndings say what the intent provider's ways of ending an order come to.
var intentEndings = map[string]struct{ back, never, mute bool }{
	"refund":       {back: true},
	"fail_refund":  {back: true, mute: true},
	"fill_unnamed": {mute: true},
	"fail_fill":    {mute: true},
	"fail":         {never: true},
	"never":        {never: true},
	"claim":        {never: true},
	"borrow":       {never: true},
}

func orNone(h *common.Hash) common.Hash {
	if h == nil {
		return common.Hash{}
	}
	return *h
}

// inBook finds an order in its provider's book, nil if it is not there, and how often.
func (w *world) inBook(o protocol.Order) (found *entry, times int) {
	read := books[o.Terms.Provider]
	if read == nil {
		return nil, 0
	}
	all, err := read(w)
	if err != nil {
		w.find("the book of %s: %v", o.Terms.Provider, err)
	}
	for _, e := range all {
		if o.Ref != "" && strings.EqualFold(e.ref, o.Ref) {
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
	switch {
	case e == nil || !e.over && e.payment == (common.Hash{}) && !e.never:
		return ""
	case e.payment == (common.Hash{}):
		return "the provider keeps the input"
	case !w.mined(o.Terms.DstChainID, e.payment) && !w.mined(o.Terms.SrcChainID, e.payment):
		return "the chain forgot the provider's payment"
	case o.Condition == "settled, and what arrived is unclear" && addr(o.Terms.TokenOut) == native && w.crowded(o.Terms.SrcChainID, e.payment):
		return "the same block changed the account's coin in another way too"
	case e.mute && addr(o.Terms.TokenOut) == native && !e.back, e.mute && addr(o.Terms.TokenIn) == native && e.back:
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
