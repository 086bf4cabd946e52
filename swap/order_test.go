package swap

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"reflect"
	"testing"
	"time"
)

// TestStoredForm checks that an order with every field set is stored as it always was:
// records of earlier versions must be read, and their digests and seals must verify.
func TestStoredForm(t *testing.T) {
	var o Order
	fill(reflect.ValueOf(&o).Elem(), "order")
	got, err := json.MarshalIndent(o, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const path = "testdata/order.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("an order is stored as %s", got)
	}
	var back Order
	if err := json.Unmarshal(want, &back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(MustJSON(back), MustJSON(o)) {
		t.Error("an order that is read back differs")
	}
}

// fill sets every field of v to a value that follows from the field's name alone.
func fill(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, len(name), 12, 0, 0, 0, time.UTC)))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"a":1}`))
		return
	case big.Int:
		v.Addr().Interface().(*big.Int).SetInt64(int64(1000 + len(name)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint8, reflect.Uint, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(len(name)))
	case reflect.Float64:
		v.SetFloat(float64(len(name)) / 8)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Array:
		fill(v.Index(0), name)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, name)
		fill(value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	}
}
