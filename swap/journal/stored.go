package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// ErrUnreadable is wrapped by the errors of an order record that cannot be decoded, or
// that says what no order can.
var ErrUnreadable = errors.New("the record of the order is damaged")

// decodeOrder decodes an order's stored snapshot. Errors wrap ErrUnreadable.
func decodeOrder(b []byte, id string, o *swap.Order) error {
	err := json.Unmarshal(b, o)
	if err == nil {
		err = sound(o, id)
	}
	if err != nil {
		return fmt.Errorf("order %s: %w: %w", id, ErrUnreadable, err)
	}
	return nil
}

// sound checks what the rest of this package, and every client, relies on in a record.
func sound(o *swap.Order, id string) error {
	switch {
	case o.ID != id:
		return fmt.Errorf("it is of order %.*q", maxID, o.ID)
	case len(o.Request) != len(uuid.Nil.String()) || uuid.Validate(o.Request) != nil:
		return errors.New("no request made it")
	case len(o.Plan.Steps) == 0:
		return errors.New("no steps")
	case o.Step < 0 || o.Step > len(o.Plan.Steps) || len(o.Results) > len(o.Plan.Steps):
		return fmt.Errorf("step %d with %d results, of %d", o.Step, len(o.Results), len(o.Plan.Steps))
	case o.Terms.Provider == swap.Wallet && len(o.Plan.Steps[0].Effect.Approves) == 0:
		return errors.New("a revoke of nothing")
	}
	return encodable(reflect.ValueOf(o))
}

// maxID bounds an order's id, in bytes; ours are uuids.
const maxID = 64

// isID reports whether an order can have that id.
func isID(key []byte) bool {
	return len(key) > 0 && len(key) <= maxID && !slices.ContainsFunc(key, func(c byte) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// requiredAmounts are the fields that must be set in every record, by type.
var requiredAmounts = map[reflect.Type][]string{
	reflect.TypeFor[swap.Terms]():            {"AmountIn", "MinOut", "GasCeiling"},
	reflect.TypeFor[swap.QuoteRequest]():     {"AmountIn"},
	reflect.TypeFor[swap.Offer]():            {"AmountOut", "MinOut"},
	reflect.TypeFor[swap.Spend]():            {"Amount"},
	reflect.TypeFor[swap.Approval]():         {"Amount"},
	reflect.TypeFor[swap.Receive]():          {"Min"},
	reflect.TypeFor[swap.Attempt]():          {"FeeCap", "TipCap"},
	reflect.TypeFor[swap.CandidatePayment](): {"Amount"},
	reflect.TypeFor[swap.Gas]():              {"Expected", "Max", "Balance"},
	reflect.TypeFor[chain.Cost]():            {"Expected", "Max"},
	reflect.TypeFor[chain.Call]():            {"Value"},
	reflect.TypeFor[chain.Evidence]():        {"FeePaid"},
}

// encodable refuses values, anywhere in v, that no message can carry: an amount that is
// missing, below zero or above 256 bits, a slippage out of bounds, and a time whose year
// in UTC is not within 0 to 9999. A record may have a time in another zone.
func encodable(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if n, ok := v.Interface().(*big.Int); ok && n != nil && (n.Sign() < 0 || n.BitLen() > 256) {
			return errors.New("an amount out of bounds")
		}
		if !v.IsNil() {
			return encodable(v.Elem())
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && mayContain(v.Type().Elem()); i++ {
			if err := encodable(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return encodableStruct(v)
	}
	return nil
}

func encodableStruct(v reflect.Value) error {
	switch x := v.Interface().(type) {
	case time.Time:
		if at := x.UTC(); at.Year() < 0 || at.Year() > 9999 {
			return fmt.Errorf("a time in the year %d", at.Year())
		}
		return nil
	case swap.QuoteRequest:
		if x.SlippageBps < 0 || x.SlippageBps > swap.MaxSlippageBps {
			return fmt.Errorf("a slippage of %d", x.SlippageBps)
		}
	}
	for _, name := range requiredAmounts[v.Type()] {
		if v.FieldByName(name).IsNil() {
			return fmt.Errorf("%s without %s", v.Type().Name(), name)
		}
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || f.Name == "Net" { // an offer's Net is negative where gas costs more
			continue
		}
		if err := encodable(v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// mayContain reports whether values of a type can contain what encodable checks.
func mayContain(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer
}

// UnreadableOrder returns a placeholder for an order whose record cannot be read, so that
// lists show it in a form that every client accepts. unfinished keeps it among the open
// ones.
func UnreadableOrder(id string, unfinished bool, why error) swap.Order {
	none := new(big.Int)
	return swap.Order{
		ID: id,
		Consent: swap.Consent{Request: uuid.Nil.String(), Terms: swap.Terms{AmountIn: none, MinOut: none, GasCeiling: none},
			Offer: swap.Offer{Request: swap.QuoteRequest{AmountIn: none}, AmountOut: none, MinOut: none}},
		Progress:   swap.Progress{State: swap.Unreadable},
		Outcome:    swap.Outcome{Reason: swap.Printable(why.Error(), maxShownError)},
		Unfinished: unfinished,
	}
}

// maxShownError bounds, in runes, what is shown of a damaged record, which may say anything.
const maxShownError = 400

// placeholderFor returns the placeholder for an order that could not be read.
func placeholderFor(tx *bolt.Tx, id string, why error) swap.Order {
	return UnreadableOrder(id, tx.Bucket(openBucket).Get([]byte(id)) != nil, why)
}
