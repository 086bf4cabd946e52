// Package form is the JSON of the simulated APIs: how a request's body is read and
// an answer written. What fits a request, and in which words one that does not is
// refused, each API says itself.
package form

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

// maxRequest bounds a request's body; the largest real one is a few kilobytes.
const maxRequest = 1 << 20

// Read reads the body of a request. The error means that it is too large, or cut
// short.
func Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
}

// A Type is one of JSON's; "" is that of no value at all.
type Type string

// The types.
const (
	String  Type = "string"
	Object  Type = "object"
	Array   Type = "array"
	Boolean Type = "boolean"
	Null    Type = "null"
	Number  Type = "number"
)

var types = map[byte]Type{'"': String, '{': Object, '[': Array, 't': Boolean, 'f': Boolean, 'n': Null}

// TypeOf is the type of a value that is valid JSON.
func TypeOf(raw json.RawMessage) Type {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return ""
	}
	if t, ok := types[trimmed[0]]; ok {
		return t
	}
	return Number
}

// Text reads a string; ok is false for a value of another type.
func Text(raw json.RawMessage) (text string, ok bool) {
	ok = TypeOf(raw) == String && json.Unmarshal(raw, &text) == nil
	return text, ok
}

// OneOf reports a string that is among those allowed.
func OneOf(raw json.RawMessage, allowed []string) bool {
	text, ok := Text(raw)
	return ok && slices.Contains(allowed, text)
}
