package bridgesim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"swapkeep/sandbox/form"
)

// A rule returns what is wrong with a member's value, in the wording of the real API's
// validator; "" if nothing.
type rule func(raw json.RawMessage) string

// A field is one member of a request. Other members, and null ones, are ignored.
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

// decode checks a body against its fields, in order, and returns the first violation. It
// decodes only the fields into to.
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

// text accepts strings that match a pattern.
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

// isCount accepts non-negative integers of up to 53 bits.
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

// each accepts arrays of at most the given length whose elements pass a rule.
func each(maximum int, r rule) rule {
	return func(raw json.RawMessage) string {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return "must be array"
		}
		if len(list) > maximum {
			return fmt.Sprintf("must NOT have more than %d items", maximum)
		}
		for _, item := range list {
			if problem := r(item); problem != "" {
				return problem
			}
		}
		return ""
	}
}

// object accepts objects whose members pass their rules.
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
