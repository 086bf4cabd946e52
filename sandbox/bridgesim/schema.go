package bridgesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"swapkeep/sandbox/form"
)

// A rule says what is wrong with a member's value, "" for nothing, in the words
// of the validator behind the real API.
type rule func(raw json.RawMessage) string

// A field is one member of a request. Members beyond the fields are ignored, as
// are those that are null.
type field struct {
	name     string
	required bool
	rule     rule
}

var (
	digits   = regexp.MustCompile(`^[0-9]+$`)
	hash     = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)
	slippage = regexp.MustCompile(`^([0-9]{1,4}|10000)$`)
)

// decode holds a body against its fields, in their order, names the first that
// does not fit, and puts the fields, and nothing else of the body, into to.
func decode(raw []byte, fields []field, to any) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return invalid("body must be object")
	}
	kept := map[string]json.RawMessage{}
	for _, f := range fields {
		value, present := members[f.name]
		if !present || form.TypeOf(value) == form.Null {
			if f.required {
				return invalid(fmt.Sprintf("body must have required property '%s'", f.name))
			}
			continue
		}
		if problem := f.rule(value); problem != "" {
			return invalid(fmt.Sprintf("body/%s %s", f.name, problem))
		}
		kept[f.name] = value
	}
	again, err := json.Marshal(kept)
	if err == nil {
		err = json.Unmarshal(again, to)
	}
	if err != nil {
		return invalid("body: " + err.Error())
	}
	return nil
}

const notString = "must be string"

func isString(raw json.RawMessage) string {
	if _, ok := form.Text(raw); !ok {
		return notString
	}
	return ""
}

// text is a string that a pattern matches.
func text(pattern *regexp.Regexp) rule {
	return func(raw json.RawMessage) string {
		s, ok := form.Text(raw)
		if !ok {
			return notString
		}
		if !pattern.MatchString(s) {
			return fmt.Sprintf("must match pattern %q", pattern.String())
		}
		return ""
	}
}

// isCount is a number that fits into 53 bits and is neither negative nor broken.
func isCount(raw json.RawMessage) string {
	n, err := strconv.ParseUint(string(bytes.TrimSpace(raw)), 10, 64)
	if err != nil || n >= 1<<53 {
		return "must be number"
	}
	return ""
}

func isBoolean(raw json.RawMessage) string {
	if form.TypeOf(raw) != form.Boolean {
		return "must be boolean"
	}
	return ""
}

func isArray(raw json.RawMessage) string {
	if form.TypeOf(raw) != form.Array {
		return "must be array"
	}
	return ""
}

// each is an array of what a rule holds for, of a bounded length.
func each(most int, r rule) rule {
	return func(raw json.RawMessage) string {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return "must be array"
		}
		if len(list) > most {
			return fmt.Sprintf("must NOT have more than %d items", most)
		}
		for _, item := range list {
			if problem := r(item); problem != "" {
				return problem
			}
		}
		return ""
	}
}

// object is one whose members hold to their rules.
func object(fields ...field) rule {
	return func(raw json.RawMessage) string {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members == nil {
			return "must be object"
		}
		for _, f := range fields {
			value, present := members[f.name]
			if !present && f.required {
				return fmt.Sprintf("must have required property '%s'", f.name)
			}
			if present {
				if problem := f.rule(value); problem != "" {
					return problem
				}
			}
		}
		return ""
	}
}

func oneOf(allowed ...string) rule {
	return func(raw json.RawMessage) string {
		if !form.OneOf(raw, allowed) {
			return "must be equal to one of the allowed values"
		}
		return ""
	}
}
