// Package journalreader reads, beside the daemon, what came of orders: the books of the
// sandbox's providers, and the database of a daemon that is gone.
package journalreader

import (
	"context"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
)

// An Entry is an order in a provider's book: what the provider knows in truth, whatever
// it claims.
type Entry struct {
	Ref              string
	Deposit, Payment common.Hash // zero: none
	Over             bool        // nothing more will come of it
	Named            bool        // whoever asks is told the payment
	Back             bool        // the payment gives the input back
	Ending           string      // how the intent provider ends it, in its own words
}

// Books read each provider's.
var Books = map[string]func(context.Context, *sandbox.Sandbox) ([]Entry, error){
	"dex": func(ctx context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		orders, err := s.DEX().Orders(ctx)
		for _, o := range orders {
			all = append(all, Entry{Ref: o.OrderID.Hex(), Payment: orNone(o.TxHash), Over: o.Status != "open", Named: true})
		}
		return all, err
	},
	"bridge": func(_ context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		for _, o := range s.Bridge().Orders() {
			if o.Deposit != (common.Hash{}) { // the others are quotes
				over := slices.Contains([]string{"success", "failure", "refund"}, o.Status)
				named := slices.Contains([]string{"submitted", "success", "refund"}, o.Status)
				all = append(all, Entry{Ref: o.RequestID.Hex(), Deposit: o.Deposit, Payment: o.Payment, Over: over, Named: named, Back: o.Refund})
			}
		}
		return all, nil
	},
	"intent": func(_ context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		for _, o := range s.Intent().Orders() {
			back := o.Ending == "refund" || o.Ending == "fail_refund"
			named := o.Over && (o.Ending == "fill" || o.Ending == "refund")
			all = append(all, Entry{Ref: o.ID, Deposit: o.Deposit, Payment: o.Payment, Over: o.Over, Named: named, Back: back, Ending: o.Ending})
		}
		return all, nil
	},
	"gasless": func(ctx context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		orders, err := s.Gasless().Orders(ctx)
		for _, o := range orders {
			all = append(all, Entry{Ref: o.QuoteID, Payment: orNone(o.TxHash), Over: o.TxHash != nil, Named: true})
		}
		return all, err
	},
}

func orNone(h *common.Hash) common.Hash {
	if h == nil {
		return common.Hash{}
	}
	return *h
}
