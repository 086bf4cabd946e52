package webtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A record is a JSON object with its values unparsed.
type record struct {
	names  []string // in order
	values map[string]string
}

// parse parses exactly one object; a repeated name is an error.
func parse(body []byte) (record, error) {
	r := record{values: map[string]string{}}
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return r, fmt.Errorf("no object: %.80s", body)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return r, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return r, err
		}
		key := name.(string) // guaranteed by the decoder
		if slices.Contains(r.names, key) {
			return r, fmt.Errorf("member %q comes twice", key)
		}
		r.names = append(r.names, key)
		r.values[key] = string(raw)
	}
	if _, err := d.Token(); err != nil {
		return r, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("something comes after the object")
	}
	return r, nil
}

// list returns the objects of an array member.
func (r record) list(name string) (all []record, err error) {
	var raws []json.RawMessage
	if err := json.Unmarshal([]byte(r.values[name]), &raws); err != nil || raws == nil {
		return nil, fmt.Errorf("member %q is no list: %.80s", name, r.values[name])
	}
	for _, raw := range raws {
		one, err := parse(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// text returns a string member, "" if it is not a string.
func (r record) text(name string) string {
	s, err := stringOf(r.values[name])
	if err != nil {
		return ""
	}
	return s
}

// check compares the members with a table of fields: exactly those names, each in the
// table's format.
func (r record) check(fields table) error {
	var wrong []error
	for _, row := range fields.rows {
		raw, ok := r.values[row[0]]
		form, known := forms[row[1]]
		switch {
		case !known:
			wrong = append(wrong, fmt.Errorf("%s: no form is known for %q", row[0], row[1]))
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s is missing", row[0]))
		default:
			if err := form(raw); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", row[0], err))
			}
		}
	}
	for _, name := range r.names {
		if !slices.ContainsFunc(fields.rows, func(row []string) bool { return row[0] == name }) {
			wrong = append(wrong, fmt.Errorf("%s is not in the spec", name))
		}
	}
	return errors.Join(wrong...)
}
