package main

import (
	"reflect"
	"slices"
	"strings"

	"swapkeep/host/protocol"
)

// shapeCollector collects the wire's objects in order of first use, each once. Types in words are
// not collected.
type shapeCollector struct {
	seen   map[reflect.Type]bool
	shapes []reflect.Type
}

// visit adds t, if it is an object, and the objects in it.
func (m *shapeCollector) visit(t reflect.Type) {
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

func (m *shapeCollector) within(t reflect.Type) {
	for i := range t.NumField() {
		m.visit(t.Field(i).Type)
	}
}

// elem returns the element type of lists, maps and pointers.
func elem(t reflect.Type) reflect.Type {
	for words[t] == "" && slices.Contains([]reflect.Kind{reflect.Slice, reflect.Pointer, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	return t
}

// named returns a field's name on the wire, and whether it is optional.
func named(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options != ""
}

// vocabularyOf returns the vocabulary of a field, if it has one.
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

// nullable reports whether the daemon encodes an empty list as null.
func nullable(f reflect.StructField) bool { return f.Tag.Get("null") == "list" }
