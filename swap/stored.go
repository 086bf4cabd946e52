package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// ErrUnreadable is wrapped by what is wrong with an order's record that cannot be read,
// or says what no order can.
var ErrUnreadable = errors.New("the record of the order is damaged")

// Unreadable stands in lists for the state of an order whose record is. It is never
// stored, and nothing is done about the order but watching for a record that is sound.
const Unreadable State = "unreadable"

const unreadableMeans = "its record in the database is damaged: what became of it is not known here"

// decodeOrder reads the stored snapshot of an order of that id.
func decodeOrder(b []byte, id string, o *Order) error {
	err := json.Unmarshal(b, o)
	if err == nil {
		err = o.sound(id)
	}
	if err != nil {
		return fmt.Errorf("order %s: %w: %w", id, ErrUnreadable, err)
	}
	return nil
}

// sound checks what the rest of this package takes for granted of a record.
func (o *Order) sound(id string) error {
	switch {
	case o.ID != id:
		return fmt.Errorf("it is of order %q", o.ID)
	case o.Step < 0 || o.Step > len(o.Plan.Steps) || len(o.Results) > len(o.Plan.Steps):
		return fmt.Errorf("step %d with %d results, of %d", o.Step, len(o.Results), len(o.Plan.Steps))
	}
	return inCalendar(reflect.ValueOf(o))
}

var timeType = reflect.TypeFor[time.Time]()

// inCalendar refuses a time, anywhere in v, of a year that nothing can be written of in
// UTC. A record may say one in another zone.
func inCalendar(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return inCalendar(v.Elem())
		}
	case reflect.Slice:
		for i := 0; i < v.Len() && holdsMore(v.Type().Elem()); i++ {
			if err := inCalendar(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if v.Type() == timeType {
			if at := v.Interface().(time.Time).UTC(); at.Year() < 0 || at.Year() > 9999 {
				return fmt.Errorf("a time in the year %d", at.Year())
			}
			return nil
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				if err := inCalendar(v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// holdsMore reports whether values of a type can have a time in them.
func holdsMore(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer
}

// UnreadableOrder stands for an order whose record cannot be read, so that it is told
// wherever orders are listed, in a form that every client takes. One that had not come
// to its end stays among the open ones.
func UnreadableOrder(id string, unfinished bool, why error) Order {
	none := new(big.Int)
	return Order{
		ID: id, Request: uuid.Nil.String(), Terms: Terms{AmountIn: none, FloorOut: none, GasCeiling: none},
		Offer: Offer{Request: QuoteRequest{AmountIn: none}, AmountOut: none, MinOut: none},
		State: Unreadable, Unfinished: unfinished, Reason: why.Error(),
	}
}

// unread is what there is to show of an order that could not be read.
func unread(tx *bolt.Tx, id string, why error) Order {
	return UnreadableOrder(id, tx.Bucket(openBucket).Get([]byte(id)) != nil, why)
}
