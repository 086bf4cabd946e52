package host

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"swapkeep/host/protocol"
)

type field struct {
	index    int
	required bool
}

// fieldsOf returns a struct's fields by JSON name. A field without omitempty or omitzero
// is required.
func fieldsOf(t reflect.Type) map[string]field {
	out := make(map[string]field, t.NumField())
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out[name] = field{index: i, required: options == ""}
	}
	return out
}

// decode decodes parameters into the struct that into points to. Parameters must be
// known, of their type and within the limits, and required ones must be given; the error
// names the first that is wrong. With tolerant, unknown parameters are skipped, because
// greetings must be understood across versions.
func decode(params []byte, into any, tolerant bool) *protocol.Error {
	return decodeStruct(params, reflect.ValueOf(into).Elem(), "", tolerant)
}

func decodeStruct(object []byte, to reflect.Value, path string, tolerant bool) *protocol.Error {
	var given []member
	if object != nil {
		var twice *duplicateError
		if given, twice = members(object); twice != nil {
			return badParam(path+twice.name, "is there twice")
		}
	}
	known := fieldsOf(to.Type())
	for _, m := range given {
		f, ok := known[m.name]
		switch {
		case !ok && tolerant:
			continue
		case !ok:
			return badParam(path+shorten(m.name), "is not a parameter of this method")
		case string(m.value) == "null" && !f.required:
			continue // same as absent
		}
		if e := decodeField(m.value, to.Field(f.index), path+m.name, tolerant); e != nil {
			return e
		}
		delete(known, m.name)
	}
	for i := range to.NumField() { // in struct order, so that errors are deterministic
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		if known[name].required {
			return badParam(path+name, "is missing")
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func decodeField(value []byte, to reflect.Value, path string, tolerant bool) *protocol.Error {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if to.Kind() == reflect.Struct && !to.Addr().Type().Implements(unmarshaler) {
		if value[0] != '{' {
			return badParam(path, "must be an object")
		}
		return decodeStruct(value, to, path+".", tolerant)
	}
	if string(value) == "null" {
		return badParam(path, "must not be null")
	}
	if err := json.Unmarshal(value, to.Addr().Interface()); err != nil {
		return badParam(path, wanted(err, to.Kind()))
	}
	return withinBounds(to, path)
}

// wants describes the wire form of basic types.
var wants = map[reflect.Kind]string{
	reflect.String: "must be a string",
	reflect.Bool:   "must be true or false",
	reflect.Int:    "must be a whole number",
	reflect.Uint64: "must be a whole number, not negative",
	reflect.Slice:  "must be a list of strings",
}

func wanted(err error, k reflect.Kind) string {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && wants[k] != "" {
		return wants[k]
	}
	return err.Error()
}

func withinBounds(v reflect.Value, path string) *protocol.Error {
	switch {
	case v.Type() == reflect.TypeFor[protocol.Secret]():
		return nil // limited when it was decoded
	case v.Kind() == reflect.String && v.Len() > protocol.MaxText:
		return badParam(path, "is too long").With("most", "256 bytes")
	case v.Kind() == reflect.Slice:
		if v.Len() > protocol.MaxList {
			return badParam(path, "has too many elements").With("most", "200 elements")
		}
		for i := range v.Len() {
			if e := withinBounds(v.Index(i), path); e != nil {
				return e
			}
		}
	}
	return nil
}

func badParam(name, what string) *protocol.Error {
	name = strings.TrimSuffix(name, ".")
	message := strings.TrimSpace("parameter " + name + " " + what)
	if name == "" {
		message = "params: " + what
	}
	return protocol.New("bad_params", message).With("parameter", name)
}

func wipe(params any) {
	v := reflect.ValueOf(params).Elem()
	for i := range v.NumField() {
		if s, ok := v.Field(i).Interface().(protocol.Secret); ok {
			s.Zero()
		}
	}
}
