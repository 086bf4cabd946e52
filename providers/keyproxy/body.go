package keyproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A field of a JSON object. raw is its value, byte for byte: the provider wants its quotes
// back exactly as it wrote them.
type field struct {
	name string
	raw  json.RawMessage
}

// An object is a JSON object with its fields in order and no name twice.
type object []field

var errObject = errors.New("not a json object with every name once")

// parseObject parses one JSON object and nothing after it. Names are compared exactly, and
// a repeated name, in any case, is an error: otherwise two parsers could read one body
// differently.
func parseObject(raw []byte) (object, error) {
	if !utf8.Valid(raw) {
		return nil, errObject
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errObject
	}
	o := object{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok || o.hasFold(name) || len(o) >= maxFields {
			return nil, errObject
		}
		f := field{name: name}
		if err := d.Decode(&f.raw); err != nil {
			return nil, errObject
		}
		o = append(o, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, errObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errObject
	}
	return o, nil
}

// maxFields is above the size of every API object that is parsed here.
const maxFields = 128

// get is the value of a name, nil if it is absent.
func (o object) get(name string) json.RawMessage {
	for _, f := range o {
		if f.name == name {
			return f.raw
		}
	}
	return nil
}

func (o object) has(name string) bool { return o.get(name) != nil }

func (o object) hasFold(name string) bool {
	return slices.ContainsFunc(o, func(f field) bool { return strings.EqualFold(f.name, name) })
}

// set replaces a value, or appends the field.
func (o object) set(name string, raw json.RawMessage) object {
	if i := slices.IndexFunc(o, func(f field) bool { return f.name == name }); i >= 0 {
		o[i].raw = raw
		return o
	}
	return append(o, field{name, raw})
}

// bytes encodes the object with its values unchanged. Names are on the allow-list by then
// and need no escaping.
func (o object) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + f.name + `":`)
		b.Write(f.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// filter checks a body against the endpoint's rules and returns the body to send upstream.
func (e *endpoint) filter(fee *Fee, raw []byte) ([]byte, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, refuse(bodyRefused, "the body must be one json object with every name once")
	}
	for _, f := range o {
		if !slices.Contains(e.fields, f.name) {
			return nil, refuse(fieldRefused, "a field of the body is not allowed here; allowed: %s", listed(e.fields))
		}
	}
	if e.check != nil {
		if o, err = e.check(fee, o); err != nil {
			return nil, err
		}
	}
	return o.bytes(), nil
}
