package main

import (
	"reflect"
	"slices"
	"strings"

	"swapkeep/host/protocol"
)

// met collects the objects of the wire in the order in which they are met, each
// once. Types that have a word of their own are none.
type met struct {
	seen   map[reflect.Type]bool
	shapes []reflect.Type
}

// visit adds t, if it is an object, and what it holds.
func (m *met) visit(t reflect.Type) {
	t = elem(t)
	if t.Kind() != reflect.Struct || m.seen[t] || words[t] != "" {
		return
	}
	if m.seen == nil {
		m.seen = map[reflect.Type]bool{}
	}
	m.seen[t] = true
	m.shapes = append(m.shapes, t)
	m.within(t)
}

// within adds what the object t holds.
func (m *met) within(t reflect.Type) {
	for i := range t.NumField() {
		m.visit(t.Field(i).Type)
	}
}

// elem is what lists, objects of one kind and pointers of t are of.
func elem(t reflect.Type) reflect.Type {
	for words[t] == "" && slices.Contains([]reflect.Kind{reflect.Slice, reflect.Pointer, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	return t
}

// named is a field's name on the wire, and whether it may be absent.
func named(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options != ""
}

// vocabularyOf is the list of words that a field says, if there is one.
func vocabularyOf(f reflect.StructField) (protocol.Vocabulary, bool) {
	name := f.Tag.Get("of")
	if name == "" {
		return protocol.Vocabulary{}, false
	}
	i := slices.IndexFunc(protocol.Vocabularies, func(v protocol.Vocabulary) bool { return v.Name == name })
	if i < 0 {
		panic("gen: no vocabulary " + name)
	}
	return protocol.Vocabularies[i], true
}

// nullable reports a list that the daemon writes as null when it is empty.
func nullable(f reflect.StructField) bool { return f.Tag.Get("null") == "list" }
