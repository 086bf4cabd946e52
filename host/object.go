package host

import (
	"bytes"
	"encoding/json"
)

// A member is one name and value of a JSON object. The value is a slice of the object's
// own bytes, so wiping those wipes a password.
type member struct {
	name  string
	value []byte
}

type duplicateError struct{ name string }

func (e *duplicateError) Error() string { return e.name + " is there twice" }

// members splits an object, which must be valid JSON, and refuses duplicate names,
// because two readers might each use a different one. (encoding/json takes the last, and
// treats "Password" as "password".)
func members(object []byte) ([]member, *duplicateError) {
	var out []member
	seen := map[string]bool{}
	for rest := skipSpace(bytes.TrimSpace(object)[1:]); rest[0] != '}'; {
		if rest[0] == ',' {
			rest = skipSpace(rest[1:])
		}
		var m member
		n := valueLength(rest)
		_ = json.Unmarshal(rest[:n], &m.name)     // a valid string
		rest = skipSpace(skipSpace(rest[n:])[1:]) // the colon
		n = valueLength(rest)
		m.value, rest = rest[:n:n], skipSpace(rest[n:])
		if seen[m.name] {
			return nil, &duplicateError{shorten(m.name)}
		}
		seen[m.name] = true
		out = append(out, m)
	}
	return out, nil
}

func skipSpace(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }

// valueLength returns the length of the valid JSON value at the start of b.
func valueLength(b []byte) int {
	switch b[0] {
	case '"':
		return stringLength(b)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch b[i] {
			case '"':
				i += stringLength(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := bytes.IndexAny(b, ",}] \t\r\n"); n >= 0 {
		return n
	}
	return len(b)
}

func stringLength(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}
