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

// Decode reads a document into to, as encoding/json does but for names. That package
// takes any case of a name for it and, of two, the last: here a name counts exactly as
// it is written, and no object may have one twice, or two that differ in case alone, be
// it read or not. It returns where members stand that to has no place for, such as
// quote.route[].hooks or byToken{}.fee; once each, in the document's order. The places may
// be shown and sent: [named] says what they hold of a document's own words.
func Decode(raw []byte, to any) (added []string, err error) {
	form := json.Unmarshal(raw, to)
	if broken := new(json.SyntaxError); errors.As(form, &broken) {
		return nil, form
	}
	m := members{raw: raw, seen: map[string]bool{}}
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
		err = fmt.Errorf("unknown member %q", added[0])
	}
	return err
}

var (
	errTwice = errors.New("an object has a name twice")
	errCase  = errors.New("an object has a name in another case")
)

// members walks a document that is known to be sound, beside the type it is read into.
type members struct {
	raw   []byte
	i     int // what was walked
	added []string
	seen  map[string]bool // what added holds
}

// next skips space and returns the byte that follows, 0 at the end.
func (m *members) next() byte {
	for ; m.i < len(m.raw); m.i++ {
		if c := m.raw[m.i]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// value walks one value; t is nil where nobody reads what is in it.
func (m *members) value(t reflect.Type, at string) error {
	t = readInto(t)
	switch m.next() {
	case '{':
		return m.object(t, at)
	case '[':
		of, inside := elementOf(t), ""
		if of != nil { // else nobody needs to know where, and a path for each of many levels is not to be kept
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

// comma skips one between two members or elements.
func (m *members) comma() {
	if m.next() == ',' {
		m.i++
	}
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
		var name string
		if err := json.Unmarshal(m.text(), &name); err != nil {
			return err
		}
		m.next()
		m.i++ // the colon
		like := folded(name)
		if names[like] {
			return errTwice
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
			m.add(strings.TrimPrefix(at+"."+named(name), "."))
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

// unnamed stands for a name that is not of the form of one.
const unnamed = "(another name)"

var (
	nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	dataForm = regexp.MustCompile(`(?:[0-9a-fA-F][_-]?){16}`) // in an address, a hash or a key
)

// named is how a name that only the document has is told: as it is where it has the form
// of a name, and does not look like data.
func named(name string) string {
	if !nameForm.MatchString(name) || dataForm.MatchString(name) {
		return unnamed
	}
	return name
}

// add notes a member that nobody reads.
func (m *members) add(at string) {
	if !m.seen[at] {
		m.seen[at] = true
		m.added = append(m.added, at)
	}
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

var fields sync.Map // by type, as fieldsOf has them

// fieldsOf are a struct's members by their folded names; nil of what is none.
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
		out[folded(name)] = readField{name, f.Type}
	}
	fields.Store(t, out)
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
