package host

import (
	"bytes"
	"encoding/json"
	"regexp"
	"unicode/utf8"

	"swapkeep/host/protocol"
)

// A request is one inbound message. Its params point into body, so wiping body wipes
// them.
type request struct {
	id     json.RawMessage // as the client wrote it; nil if it could not be read
	name   string
	params []byte // nil: none
	body   []byte
	number uint64 // position among its connection's requests, from 1
}

var integer = regexp.MustCompile(`^-?[0-9]{1,18}$`)

// parseRequest parses a message. With an error, the id is set if it could be read.
func parseRequest(body []byte) (request, *protocol.Error) {
	r := request{body: body}
	if !utf8.Valid(body) || !json.Valid(body) {
		return r, protocol.New("bad_json", "")
	}
	switch bytes.TrimSpace(body)[0] {
	case '{':
	case '[':
		return r, protocol.New("invalid_request", "batches are not served: send one request a message")
	default:
		return r, protocol.New("invalid_request", "the message is not an object")
	}
	fields, twice := members(body)
	if twice != nil {
		return r, protocol.New("invalid_request", twice.Error())
	}
	bad := r.fill(fields)
	if bad == nil && r.id == nil {
		bad = protocol.New("invalid_request", "id is missing: every request is answered, so every request needs one")
	}
	return r, bad
}

// fill sets the fields of a request. It looks at all members even after an error, so that
// the error has the id.
func (r *request) fill(fields []member) (bad *protocol.Error) {
	version := false
	for _, f := range fields {
		var e *protocol.Error
		switch f.name {
		case "jsonrpc":
			version = true
			if string(f.value) != `"`+protocol.Version+`"` {
				e = protocol.New("invalid_request", `jsonrpc must be "2.0"`)
			}
		case "id":
			e = r.takeID(f.value)
		case "method":
			if json.Unmarshal(f.value, &r.name) != nil || r.name == "" {
				e = protocol.New("invalid_request", "method must be a name")
			}
		case "params":
			if r.params = f.value; f.value[0] != '{' {
				e = protocol.New("bad_params", "params must be an object: parameters are named")
			}
		default:
			e = protocol.Newf("invalid_request", "unknown member %s", shorten(f.name))
		}
		if bad == nil {
			bad = e
		}
	}
	switch {
	case bad != nil:
	case !version:
		bad = protocol.New("invalid_request", `jsonrpc is missing: must be "2.0"`)
	case r.name == "":
		bad = protocol.New("invalid_request", "method is missing")
	}
	return bad
}

func (r *request) takeID(value []byte) *protocol.Error {
	if len(value) > protocol.MaxID || value[0] != '"' && !integer.Match(value) {
		return protocol.Newf("invalid_request", "id must be a string or an integer of at most %d bytes", protocol.MaxID)
	}
	r.id = bytes.Clone(value) // may outlive the body
	return nil
}

// shorten truncates client text for an error message.
func shorten(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	for i := range s {
		if i > limit {
			return s[:i] + "…"
		}
	}
	return s
}
