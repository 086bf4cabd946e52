package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"swapkeep/host/protocol"
)

// sections are the parts of the reference, each with what it says before its table.
var sections = []struct {
	title, intro string
	write        func(*bytes.Buffer)
}{
	{"", "", versions},
	{"Methods", "Served to: `any` attached connection, read-only ones too; a `client`, that is an extension or a terminal; a `terminal` only.", methods},
	{"Parameters and results", "", parameters},
	{"Notifications", "", notifications},
	{"Errors", "", errorTable},
	{"Limits", "", limits},
	{"Types", "", shapes},
}

// markdown returns the reference.
func markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# Protocol reference\n\nWritten from the Go source by `go generate ./host/protocol`; [PROTOCOL.md](../PROTOCOL.md) explains it.\n\n")
	for _, s := range sections {
		if s.title != "" {
			fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		}
		if s.intro != "" {
			fmt.Fprintf(&b, "%s\n\n", s.intro)
		}
		s.write(&b)
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n')
}

func versions(b *bytes.Buffer) {
	fmt.Fprintf(b, "This build speaks versions %d to %d.\n", protocol.MinVersion, protocol.MaxVersion)
}

func limits(b *bytes.Buffer) {
	b.WriteString("| What | At most | Over it |\n|---|---|---|\n")
	for _, l := range protocol.Limits {
		fmt.Fprintf(b, "| %s | %d %s | %s |\n", l.Name, l.Value, l.Unit, l.Over)
	}
}

func methods(b *bytes.Buffer) {
	b.WriteString("| Method | Served to | Session | Request uuid | What it does |\n|---|---|---|---|---|\n")
	for _, m := range protocol.Methods {
		fmt.Fprintf(b, "| [`%s`](#%s) | %s | %s | %s | %s |\n", m.Name, anchor(m.Name), m.Access, mark(m.Session), mark(m.Acting), m.Does)
	}
}

func parameters(b *bytes.Buffer) {
	for _, m := range protocol.Methods {
		fmt.Fprintf(b, "\n### %s\n\nParameters:", m.Name)
		fields(b, reflect.TypeOf(m.Params))
		b.WriteString("\nResult:")
		fields(b, reflect.TypeOf(m.Result))
	}
	b.WriteString("\n")
}

func notifications(b *bytes.Buffer) {
	b.WriteString("| Notification | Params | Sent to | When |\n|---|---|---|---|\n")
	for _, e := range protocol.Events {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", e.Name, typeName(reflect.TypeOf(e.Params)), e.To, e.When)
	}
}

func errorTable(b *bytes.Buffer) {
	b.WriteString("| Code | Name | Retryable | Meaning | Remedy |\n|---|---|---|---|---|\n")
	for _, r := range protocol.Errors {
		fmt.Fprintf(b, "| %d | `%s` | %s | %s | %s |\n", r.Code, r.Name, mark(r.Retryable), r.Means, r.Remedy)
	}
}

// shapes lists every object in parameters, results and notifications in order of first
// use, and then the vocabularies.
func shapes(b *bytes.Buffer) {
	for _, t := range shown() {
		fmt.Fprintf(b, "\n### %s\n", t.Name())
		fields(b, t)
	}
	for _, v := range protocol.Vocabularies {
		fmt.Fprintf(b, "\n### %s\n\n`%s`\n", v.Name, strings.Join(v.Words, "`, `"))
	}
	b.WriteString("\n")
}

// shown returns the objects in parameters, results and notifications.
func shown() []reflect.Type {
	var m shapeCollector
	for _, row := range protocol.Methods {
		m.within(reflect.TypeOf(row.Params))
		if isShape(row.Result) {
			m.visit(reflect.TypeOf(row.Result))
		}
		m.within(reflect.TypeOf(row.Result))
	}
	for _, e := range protocol.Events {
		m.visit(reflect.TypeOf(e.Params))
	}
	return m.shapes
}

// isShape reports whether a result is also used elsewhere (Order, Review, …). A result of
// a single method is listed only with that method.
func isShape(v any) bool {
	for _, e := range protocol.Events {
		if reflect.TypeOf(e.Params) == reflect.TypeOf(v) {
			return true
		}
	}
	return false
}

func fields(b *bytes.Buffer, t reflect.Type) {
	if t.NumField() == 0 {
		b.WriteString(" none.\n")
		return
	}
	b.WriteString("\n\n| Field | Type | |\n|---|---|---|\n")
	for i := range t.NumField() {
		f := t.Field(i)
		name, optional := named(f)
		note := f.Tag.Get("doc")
		if optional {
			note = strings.TrimSuffix("optional; "+note, "; ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, fieldType(f), note)
	}
}

// words names the types that the text of PROTOCOL.md explains.
var words = map[reflect.Type]string{
	reflect.TypeFor[protocol.Amount]():  "amount",
	reflect.TypeFor[protocol.Address](): "address",
	reflect.TypeFor[protocol.Hash]():    "hash",
	reflect.TypeFor[protocol.UUID]():    "uuid",
	reflect.TypeFor[protocol.Percent](): "percent",
	reflect.TypeFor[protocol.Secret]():  "secret",
	reflect.TypeFor[protocol.Error]():   "error object",
	reflect.TypeFor[time.Time]():        "time",
	reflect.TypeFor[json.RawMessage]():  "JSON",
}

// kinds names the basic types.
var kinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean",
	reflect.Int: "number", reflect.Uint64: "number", reflect.Float64: "number",
}

// fieldType returns a field's type, with its vocabulary and with "or null" if an empty
// list is null.
func fieldType(f reflect.StructField) string {
	text := typeName(f.Type)
	if v, ok := vocabularyOf(f); ok {
		link := "[" + v.Name + "](#" + anchor(v.Name) + ")"
		if elem(f.Type).Kind() == reflect.String {
			text = strings.Replace(text, "string", link, 1)
		} else {
			text += " by " + link
		}
	}
	if nullable(f) {
		text += " or null"
	}
	return text
}

func typeName(t reflect.Type) string {
	if w := words[t]; w != "" {
		return w
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.Slice:
		return typeName(t.Elem()) + "[]"
	case reflect.Map:
		return "object of " + typeName(t.Elem())
	case reflect.Struct:
		return "[" + t.Name() + "](#" + anchor(t.Name()) + ")"
	}
	if w := kinds[t.Kind()]; w != "" {
		return w
	}
	panic("gen: no word for " + t.String()) // a type that the wire does not have
}

func anchor(heading string) string { return strings.ToLower(strings.ReplaceAll(heading, ".", "")) }

func mark(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}
