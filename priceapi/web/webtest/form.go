package webtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// A form checks one value of a record in its JSON form.
type form func(raw string) error

// forms are the spec's names for value formats. An unknown name fails the contract, so that
// nothing in the spec goes unchecked.
var forms = map[string]form{
	"string": text(`[^\x00-\x1f]+`),
	"string, ISO 8601 UTC with fractional seconds and Z": text(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`),
	"string, ISO 8601 without a timezone suffix":         text(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}`),
	"string (cache status)":                              text(`[a-z-]+: .+`),
	"string, EVM address":                                address,
	"string, decimal with 18 fraction digits":            text(`-?(0|[1-9]\d*)\.\d{18}`),
	"string, decimal with 2 fraction digits":             text(`(0|[1-9]\d*)\.\d{2}`),
	"integer":                                            literal(`0|[1-9]\d*`),
	"integer, number of items with has_24h_data true":    literal(`0|[1-9]\d*`),
	"number":                     literal(`(0|[1-9]\d*)(\.\d+)?`),
	"number, percent":            literal(`-?(0|[1-9]\d*)(\.\d{1,6})?`),
	"boolean":                    literal(`true|false`),
	"array of token price items": literal(`\[.*\]`),
}

// literal matches a raw JSON value.
func literal(pattern string) form {
	whole := regexp.MustCompile(`(?s)^(` + pattern + `)$`)
	return func(raw string) error {
		if !whole.MatchString(raw) {
			return fmt.Errorf("%.80s is not of the form %s", raw, pattern)
		}
		return nil
	}
}

// text matches the content of a JSON string.
func text(pattern string) form {
	whole := regexp.MustCompile(`^(` + pattern + `)$`)
	return func(raw string) error {
		s, err := stringOf(raw)
		if err == nil && !whole.MatchString(s) {
			err = fmt.Errorf("%q is not of the form %s", s, pattern)
		}
		return err
	}
}

func address(raw string) error {
	s, err := stringOf(raw)
	if err == nil && (!strings.HasPrefix(s, "0x") || !common.IsHexAddress(s) || common.HexToAddress(s).Hex() != s) {
		err = fmt.Errorf("%q is no address with the checksum of EIP-55", s)
	}
	return err
}

func stringOf(raw string) (s string, err error) {
	if !strings.HasPrefix(raw, `"`) {
		return "", fmt.Errorf("%.80s is no string", raw)
	}
	return s, json.Unmarshal([]byte(raw), &s)
}
