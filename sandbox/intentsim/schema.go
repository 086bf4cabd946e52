package intentsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/form"
)

// An issue is one violation in a request, in the wording of the API's validator.
type issue struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Code    string `json:"code"`
}

// A rule returns what is wrong with a value, nil if nothing. The caller sets the issue's
// field.
type rule func(raw json.RawMessage) *issue

// A field is one member of a request. Unknown members are ignored, as in the API.
type field struct {
	name     string
	required bool
	rule     rule
}

// parse decodes a request. The error lists all violations of its fields.
func parse[T any](body []byte, fields []field) (T, error) {
	var to T
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return to, fail("ValidationException", "", []issue{{"", "Invalid input: expected object", "invalid_type"}})
	}
	known := map[string]json.RawMessage{}
	var issues []issue
	for _, f := range fields {
		raw, present := members[f.name]
		if !present && !f.required {
			continue
		}
		if problem := f.rule(raw); problem != nil {
			problem.Field = f.name
			issues = append(issues, *problem)
			continue
		}
		known[f.name] = raw
	}
	if issues != nil {
		return to, fail("ValidationException", "", issues)
	}
	clean, err := json.Marshal(known)
	if err != nil {
		return to, err
	}
	return to, json.Unmarshal(clean, &to)
}

// kind names a value's JSON type as the validator does.
func kind(raw json.RawMessage) form.Type {
	return cmp.Or(form.TypeOf(raw), "undefined")
}

func is(want form.Type, raw json.RawMessage) *issue {
	if got := kind(raw); got != want {
		return &issue{Message: fmt.Sprintf("Invalid input: expected %s, received %s", want, got), Code: "invalid_type"}
	}
	return nil
}

// text accepts strings for which good returns true.
func text(message string, good func(string) bool) rule {
	return func(raw json.RawMessage) *issue {
		if problem := is(form.String, raw); problem != nil {
			return problem
		}
		if s, ok := form.Text(raw); !ok || !good(s) {
			return &issue{Message: message, Code: "custom"}
		}
		return nil
	}
}

const badAddress = "Must be a valid EVM, Solana, BTC, CKB, or Tron address"

var (
	isAddress = text(badAddress, wellFormed)
	isAmount  = text("Must be a positive amount in smallest units", func(s string) bool {
		n := amount(s)
		return n != nil && n.Sign() > 0
	})
	isID   = text("Must have 1 to 160 characters", func(s string) bool { return len(s) >= 1 && len(s) <= 160 })
	isHash = text("Must be a transaction hash", regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`).MatchString)

	isChainID = number(true, 1, 1<<53)
	isFeeBps  = number(true, 0, 9999)
	// isSlippage accepts a fraction: 0.005 is half a percent.
	isSlippage = number(false, 0, 1)

	isTradeType = oneOf("EXACT_INPUT", "EXACT_OUTPUT")
	isMethod    = oneOf(methods...)
)

var evmAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// wellFormed reports whether s is an EVM address in lower case or with a valid checksum.
func wellFormed(s string) bool {
	return evmAddress.MatchString(s) && (s == strings.ToLower(s) || s == common.HexToAddress(s).Hex())
}

var quantity = regexp.MustCompile(`^([0-9]{1,78}|0x[0-9a-fA-F]{1,64})$`)

// amount parses base units, decimal or hex; nil if invalid or larger than a uint256.
func amount(s string) *big.Int {
	if !quantity.MatchString(s) {
		return nil
	}
	digits, base := s, 10
	if rest, found := strings.CutPrefix(s, "0x"); found {
		digits, base = rest, 16
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > 256 {
		return nil
	}
	return n
}

// number accepts numbers between low and high, inclusive.
func number(whole bool, low, high float64) rule {
	return func(raw json.RawMessage) *issue {
		if problem := is(form.Number, raw); problem != nil {
			return problem
		}
		v, err := strconv.ParseFloat(string(raw), 64)
		_, notInt := strconv.ParseInt(string(raw), 10, 64)
		switch {
		case err != nil || (whole && notInt != nil):
			return &issue{Message: "Invalid input: expected int, received number", Code: "invalid_type"}
		case v < low:
			return &issue{Message: fmt.Sprintf("Too small: expected number to be >=%v", low), Code: "too_small"}
		case v > high:
			return &issue{Message: fmt.Sprintf("Too big: expected number to be <=%v", high), Code: "too_big"}
		}
		return nil
	}
}

func oneOf(allowed ...string) rule {
	return func(raw json.RawMessage) *issue {
		if !form.OneOf(raw, allowed) {
			return &issue{Message: `Invalid option: expected one of "` + strings.Join(allowed, `"|"`) + `"`, Code: "invalid_value"}
		}
		return nil
	}
}

func isMethods(raw json.RawMessage) *issue {
	if problem := is(form.Array, raw); problem != nil {
		return problem
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > len(methods) {
		return &issue{Message: fmt.Sprintf("Must have 1 to %d items", len(methods)), Code: "custom"}
	}
	for _, m := range list {
		if problem := isMethod(m); problem != nil {
			return problem
		}
	}
	return nil
}

// A query parses query parameters and collects violations.
type query struct {
	url.Values
	issues []issue
}

// list returns the values of a parameter, which may be repeated or separated by commas.
func (q *query) list(name string) []string {
	var all []string
	for _, v := range q.Values[name] {
		for _, item := range strings.Split(v, ",") {
			if item != "" {
				all = append(all, item)
			}
		}
	}
	return all
}

// number returns an integer parameter within bounds, or the fallback if it is absent.
func (q *query) number(name string, fallback, low, high int) int {
	if !q.Has(name) {
		return fallback
	}
	n, err := strconv.Atoi(q.Get(name))
	switch {
	case err != nil:
		q.issues = append(q.issues, issue{name, "Invalid input: expected number, received NaN", "invalid_type"})
	case n < low:
		q.issues = append(q.issues, issue{name, fmt.Sprintf("Too small: expected number to be >=%d", low), "too_small"})
	case n > high:
		q.issues = append(q.issues, issue{name, fmt.Sprintf("Too big: expected number to be <=%d", high), "too_big"})
	}
	return n
}

// chains returns a list of chain ids; nil means all.
func (q *query) chains(name string) []uint64 {
	var ids []uint64
	for _, item := range q.list(name) {
		id, err := strconv.ParseUint(item, 10, 64)
		if err != nil {
			q.issues = append(q.issues, issue{name, "Invalid input: expected number, received NaN", "invalid_type"})
		}
		ids = append(ids, id)
	}
	return ids
}

// err returns the violations as one error.
func (q *query) err() error {
	if q.issues == nil {
		return nil
	}
	return fail("ValidationException", "", q.issues)
}
