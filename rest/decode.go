package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"unicode"
)

// Decode reads a document into to, as encoding/json does but for names. That package
// takes any case of a name for it and, of two, the last: here a name counts exactly as
// it is written, and no object may have one twice, or two that differ in case alone, be
// it read or not. It returns where members stand that to has no place for, such as
// quote.route[].hooks; once each, in the document's order.
func Decode(raw []byte, to any) (added []string, err error) {
	form := json.Unmarshal(raw, to)
	if broken := new(json.SyntaxError); errors.As(form, &broken) {
		return nil, form
	}
	m := members{d: json.NewDecoder(bytes.NewReader(raw)), seen: map[string]bool{}}
	m.d.UseNumber() // one too large for a float is no error here
	if err := m.value(reflect.TypeOf(to), ""); err != nil {
		return nil, err
	}
	return m.added, form
}

// ReadRow is Decode of one entry of a list, of which few members are read.
func ReadRow(raw []byte, to any) error {
	_, err := Decode(raw, to)
	return err
}

// DecodeWhole is Decode of what may have no member that to has no place for.
func DecodeWhole(raw []byte, to any) error {
	added, err := Decode(raw, to)
	if err == nil && len(added) > 0 {
		err = fmt.Errorf("unknown member %q", clean(added[0], nil))
	}
	return err
}

var (
	errTwice = errors.New("an object has a name twice")
	errCase  = errors.New("an object has a name in another case")
)

// members walks a document that is known to be sound, beside the type it is read into.
type members struct {
	d     *json.Decoder
	added []string
	seen  map[string]bool // what added holds
}

// value walks one value; t is nil where nobody reads what is in it.
func (m *members) value(t reflect.Type, at string) error {
	token, err := m.d.Token()
	if err != nil {
		return err
	}
	t = readInto(t)
	switch token {
	case json.Delim('{'):
		return m.object(t, at)
	case json.Delim('['):
		for m.d.More() {
			if err := m.value(elementOf(t), at+"[]"); err != nil {
				return err
			}
		}
		_, err = m.d.Token()
	}
	return err
}

func (m *members) object(t reflect.Type, at string) error {
	known := fieldsOf(t)
	names := map[string]bool{}
	for m.d.More() {
		token, err := m.d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		like := folded(name)
		if names[like] {
			return errTwice
		}
		names[like] = true
		inside := strings.TrimPrefix(at+"."+name, ".")
		f, ok := known[like]
		switch {
		case ok && f.name != name:
			return errCase
		case !ok && t != nil && t.Kind() == reflect.Struct && !m.seen[inside]:
			m.seen[inside] = true
			m.added = append(m.added, inside)
		}
		of := f.of
		if of == nil {
			of = elementOf(t)
		}
		if err := m.value(of, inside); err != nil {
			return err
		}
	}
	_, err := m.d.Token()
	return err
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// readInto is the type whose fields, elements or values are read; nil where the value is
// kept as it came, or read by its own method.
func readInto(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if t == nil || t.Kind() == reflect.Interface || t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	return t
}

// elementOf is the type of the elements of a list, or of the values of a map.
func elementOf(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map) {
		return t.Elem()
	}
	return nil
}

type readField struct {
	name string
	of   reflect.Type
}

// fieldsOf are a struct's members by their folded names.
func fieldsOf(t reflect.Type) map[string]readField {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	out := make(map[string]readField, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous: // its fields are the struct's own
			maps.Copy(out, fieldsOf(f.Type))
			continue
		case name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		out[folded(name)] = readField{name, f.Type}
	}
	return out
}

// folded is one spelling for all that encoding/json takes for the same name.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
