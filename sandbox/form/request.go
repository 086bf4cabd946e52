// Package form reads request bodies and writes JSON responses for the simulated APIs.
// Each API validates requests and words its errors itself.
package form

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
)

// maxRequest limits a request's body, in bytes; the largest real one is a few kilobytes.
const maxRequest = 1 << 20

// Read reads the body of a request. The error means that it is too large or incomplete.
func Read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
}

// A Type is a JSON type; "" means that there is no value.
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

// TypeOf returns the type of a valid JSON value.
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

// Text decodes a string; ok is false for a value of another type.
func Text(raw json.RawMessage) (text string, ok bool) {
	ok = TypeOf(raw) == String && json.Unmarshal(raw, &text) == nil
	return text, ok
}

// OneOf reports whether the value is a string among those allowed.
func OneOf(raw json.RawMessage, allowed []string) bool {
	text, ok := Text(raw)
	return ok && slices.Contains(allowed, text)
}
