package engine

import (
	"math/big"
	"reflect"
	"testing"
	"time"

	"swapkeep/swap"
)

// unjournaled are the fields of an order whose change alone is not journaled, and why.
var unjournaled = map[string]string{
	"Updated":    "says when something else changed",
	"Cause":      "goes with Reason; its figures may change with every poll",
	"Unfinished": "not stored",
	"Checked":    "not stored",
	"ChainEnded": "not stored",
}

// TestEveryChangeIsJournaled checks that a change of any field of an order is journaled,
// unless the field is declared not to be.
func TestEveryChangeIsJournaled(t *testing.T) {
	fields, seen := reflect.TypeFor[swap.Order](), 0
	for _, f := range reflect.VisibleFields(fields) {
		name := f.Name
		if f.Anonymous { // a part, whose fields follow
			continue
		}
		seen++
		before := soundOrder()
		now := before.Clone()
		if !same(before, now) {
			t.Fatal("a copy differs")
		}
		alter(t, reflect.ValueOf(&now).Elem().FieldByIndex(f.Index))
		if _, declared := unjournaled[name]; same(before, now) != declared {
			t.Errorf("a change of %s is journaled: %t, want %t", name, declared, !declared)
		}
	}
	if seen < 40 {
		t.Errorf("only %d fields of an order were altered", seen)
	}
	for name := range unjournaled {
		if _, ok := fields.FieldByName(name); !ok {
			t.Errorf("an order has no %s", name)
		}
	}
}

// alter changes a value in place.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(x.Add(time.Second)))
		return
	case *big.Int:
		v.Set(reflect.ValueOf(big.NewInt(77)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		alter(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	case reflect.Array:
		alter(t, v.Index(0))
	case reflect.Struct:
		alter(t, v.Field(0))
	default:
		t.Fatalf("cannot alter a %s", v.Type())
	}
}
