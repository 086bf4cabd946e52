package dexsim

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"swapkeep/sandbox/form"
)

// A rule returns what is wrong with a field's value; "" if nothing. The wording is that
// of the validator of the real API.
type rule func(raw json.RawMessage) string

// A field is one member of a request.
type field struct {
	name     string
	required bool
	rule     rule
}

var (
	digits  = regexp.MustCompile(`^[0-9]{1,77}$`) // always fits into a uint256
	address = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{40}$`)
)

// check checks a request against its fields, in order, and returns the first violation.
func check(body []byte, fields []field) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return invalid(`"value" must be of type object`)
	}
	for _, f := range fields {
		raw, present := members[f.name]
		delete(members, f.name)
		if !present {
			if f.required {
				return invalid(fmt.Sprintf("%q is required", f.name))
			}
			continue
		}
		if problem := f.rule(raw); problem != "" {
			return invalid(fmt.Sprintf("%q %s", f.name, problem))
		}
	}
	for name := range members {
		return invalid(fmt.Sprintf("%q is not allowed", name))
	}
	return nil
}

const notString = "must be a string"

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
		switch {
		case !ok:
			return notString
		case !pattern.MatchString(s):
			return fmt.Sprintf("with value %q fails to match the required pattern: /%s/", s, pattern)
		}
		return ""
	}
}

func isPositive(raw json.RawMessage) string {
	if problem := text(digits)(raw); problem != "" {
		return problem
	}
	if s, _ := form.Text(raw); strings.Trim(s, "0") == "" {
		return "must be greater than 0"
	}
	return ""
}

func isNumber(raw json.RawMessage) string {
	if form.TypeOf(raw) != form.Number {
		return "must be a number"
	}
	return ""
}

func isInteger(raw json.RawMessage) string {
	if problem := isNumber(raw); problem != "" {
		return problem
	}
	if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
		return "must be an integer"
	}
	return ""
}

// between accepts numbers in a range with at most the given number of decimals.
func between(low, high float64, decimals int) rule {
	return func(raw json.RawMessage) string {
		if problem := isNumber(raw); problem != "" {
			return problem
		}
		v, err := strconv.ParseFloat(string(raw), 64)
		_, fraction, _ := strings.Cut(string(raw), ".")
		switch {
		case err != nil || strings.ContainsAny(string(raw), "eE"):
			return "must be a number"
		case v < low:
			return fmt.Sprintf("must be greater than or equal to %v", low)
		case v > high:
			return fmt.Sprintf("must be less than or equal to %v", high)
		case len(fraction) > decimals:
			return fmt.Sprintf("must have no more than %d decimal places", decimals)
		}
		return ""
	}
}

func isBoolean(raw json.RawMessage) string {
	if form.TypeOf(raw) != form.Boolean {
		return "must be a boolean"
	}
	return ""
}

func isObject(raw json.RawMessage) string {
	if form.TypeOf(raw) != form.Object {
		return "must be of type object"
	}
	return ""
}

func anything(json.RawMessage) string { return "" }

func oneOf(allowed ...string) rule {
	return func(raw json.RawMessage) string {
		if !form.OneOf(raw, allowed) {
			return fmt.Sprintf("must be one of [%s]", strings.Join(allowed, ", "))
		}
		return ""
	}
}

// either accepts a value that any of the rules accepts.
func either(rules ...rule) rule {
	return func(raw json.RawMessage) string {
		var problem string
		for _, r := range rules {
			if problem = r(raw); problem == "" {
				return ""
			}
		}
		return problem
	}
}
