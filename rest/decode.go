package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// Decode decodes a document into to, as encoding/json does except for names. That package
// matches names in any case and takes the last of several. Here a name must match
// exactly, and no object may have a name twice, or two that differ in case alone, even
// where nothing is decoded. It returns the paths of members that to has no field for,
// such as quote.route[].hooks or byToken{}.fee, once each and in the document's order.
// The paths may be shown and sent: [reportableName] limits what they contain of the document's own
// text.
func Decode(raw []byte, to any) (added []string, err error) {
	form := json.Unmarshal(raw, to)
	if broken := new(json.SyntaxError); errors.As(form, &broken) {
		return nil, form
	}
	m := members{raw: raw, seen: map[string]bool{}}
	if err := m.value(decodedType(reflect.TypeOf(to)), ""); err != nil {
		return nil, err
	}
	return m.added, form
}

// DecodeRow is Decode for one entry of a list. It does not report unknown members.
func DecodeRow(raw []byte, to any) error {
	_, err := Decode(raw, to)
	return err
}

// DecodeStrict is Decode that refuses members which to has no field for.
func DecodeStrict(raw []byte, to any) error {
	added, err := Decode(raw, to)
	if err == nil && len(added) > 0 {
		err = fmt.Errorf("unknown member %q", added[0])
	}
	return err
}

var (
	errDuplicate = errors.New("an object has a name twice")
	errCase      = errors.New("an object has a name in another case")
)

// members walks a document that is valid JSON, along with the type it is decoded into.
type members struct {
	raw   []byte
	i     int // offset of the next byte
	added []string
	seen  map[string]bool // the paths in added
}

// next skips white space and returns the byte that follows, 0 at the end.
func (m *members) next() byte {
	for ; m.i < len(m.raw); m.i++ {
		if c := m.raw[m.i]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// value walks one value; t is its [decodedType].
func (m *members) value(t reflect.Type, at string) error {
	switch m.next() {
	case '{':
		return m.object(t, at)
	case '[':
		of, inside := elementOf(t), ""
		if of != nil { // else the path is not needed, and one for each of many levels would take much memory
			inside = at + "[]"
		}
		for m.i++; m.next() != ']'; m.comma() {
			if err := m.value(of, inside); err != nil {
				return err
			}
		}
		m.i++
	case '"':
		m.text()
	default:
		for m.i < len(m.raw) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(m.raw[m.i])) {
			m.i++
		}
	}
	return nil
}

// comma skips one comma between members or elements.
func (m *members) comma() {
	if m.next() == ',' {
		m.i++
	}
}

// name walks a member's name.
func (m *members) name() (string, error) {
	text := m.text()
	if plain := text[1 : len(text)-1]; !bytes.ContainsFunc(plain, func(r rune) bool { return r == '\\' || r > unicode.MaxASCII }) {
		return string(plain), nil
	}
	var name string
	err := json.Unmarshal(text, &name)
	return name, err
}

// text walks a string and returns it with its quotes.
func (m *members) text() []byte {
	begin := m.i
	for m.i++; m.raw[m.i] != '"'; m.i++ {
		if m.raw[m.i] == '\\' {
			m.i++
		}
	}
	m.i++
	return m.raw[begin:m.i]
}

func (m *members) object(t reflect.Type, at string) error {
	known := fieldsOf(t)
	names := map[string]bool{}
	for m.i++; m.next() != '}'; m.comma() {
		name, err := m.name()
		if err != nil {
			return err
		}
		m.next()
		m.i++ // the colon
		like := folded(name)
		if names[like] {
			return errDuplicate
		}
		names[like] = true
		f, ok := known[like]
		if ok && f.name != name {
			return errCase
		}
		of, inside := f.of, ""
		switch {
		case ok:
			inside = strings.TrimPrefix(at+"."+name, ".")
		case known != nil:
			m.add(strings.TrimPrefix(at+"."+reportableName(name), "."))
		case t != nil: // a map, whose names are data
			of, inside = elementOf(t), at+"{}"
		}
		if err := m.value(of, inside); err != nil {
			return err
		}
	}
	m.i++
	return nil
}

// unnamed replaces a name that does not have the form of one.
const unnamed = "(another name)"

var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	dataForm = regexp.MustCompile(`(?:[0-9a-fA-F][_-]?){16}`) // as in an address, a hash or a key
)

// reportableName returns how an unknown member's name is reported: as it is if it has the form of
// a name and does not look like data.
func reportableName(name string) string {
	if !nameForm.MatchString(name) || dataForm.MatchString(name) {
		return unnamed
	}
	return name
}

// add notes a member that is not decoded.
func (m *members) add(at string) {
	if !m.seen[at] {
		m.seen[at] = true
		m.added = append(m.added, at)
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodedType returns the type whose fields, elements or values are decoded; nil if the
// value is kept as it came, or decoded by its own method.
func decodedType(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if t == nil || t.Kind() == reflect.Interface || t.Implements(unmarshaler) || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	return t
}

// elementOf returns the [decodedType] of a list's elements, or of a map's values.
func elementOf(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map) {
		return decodedType(t.Elem())
	}
	return nil
}

type readField struct {
	name string
	of   reflect.Type // its decodedType
}

var fields sync.Map // results of fieldsOf by type

// fieldsOf returns a struct's members by their folded names; nil for any other type.
func fieldsOf(t reflect.Type) map[string]readField {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := fields.Load(t); ok {
		return known.(map[string]readField)
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
		out[folded(name)] = readField{name, decodedType(f.Type)}
	}
	fields.Store(t, out)
	return out
}

// folded returns one spelling for all names that encoding/json takes for the same.
func folded(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return strings.ToUpper(name) // the same, and much faster
	}
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
