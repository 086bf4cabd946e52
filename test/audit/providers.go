package audit

import (
	"context"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
)

// An Entry is an order in a provider's records: what it really did, whatever it claims.
type Entry struct {
	Ref              string
	Deposit, Payment common.Hash // zero: no transaction
	Status           string      // the provider's own word
	Final            bool        // the provider will do nothing more
	PaymentNamed     bool        // the provider names the payment when asked
	IsRefund         bool        // the payment is a refund
	Ending           string      // the intent provider's own word for how it ends the order
}

// ProviderOrders reads each provider's records.
var ProviderOrders = map[string]func(context.Context, *sandbox.Sandbox) ([]Entry, error){
	"dex": func(ctx context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		orders, err := s.DEX().Orders(ctx)
		for _, o := range orders {
			all = append(all, Entry{Ref: o.OrderID.Hex(), Status: string(o.Status), Payment: orNone(o.TxHash), Final: o.Status != "open", PaymentNamed: true})
		}
		return all, err
	},
	"bridge": func(_ context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		for _, o := range s.Bridge().Orders() {
			if o.Deposit != (common.Hash{}) { // orders without a deposit are only quotes
				over := slices.Contains([]string{"success", "failure", "refund"}, o.Status)
				named := slices.Contains([]string{"submitted", "success", "refund"}, o.Status)
				all = append(all, Entry{Ref: o.RequestID.Hex(), Status: string(o.Status), Deposit: o.Deposit, Payment: o.Payment, Final: over, PaymentNamed: named, IsRefund: o.Refund})
			}
		}
		return all, nil
	},
	"intent": func(_ context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		for _, o := range s.Intent().Orders() {
			back := o.Ending == "refund" || o.Ending == "fail_refund"
			named := o.Over && (o.Ending == "fill" || o.Ending == "refund")
			all = append(all, Entry{Ref: o.ID, Status: string(o.Status), Deposit: o.Deposit, Payment: o.Payment, Final: o.Over, PaymentNamed: named, IsRefund: back, Ending: o.Ending})
		}
		return all, nil
	},
	"gasless": func(ctx context.Context, s *sandbox.Sandbox) (all []Entry, err error) {
		orders, err := s.Gasless().Orders(ctx)
		for _, o := range orders {
			all = append(all, Entry{Ref: o.QuoteID, Status: string(o.Status), Payment: orNone(o.TxHash), Final: o.TxHash != nil, PaymentNamed: true})
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
