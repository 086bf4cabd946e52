// Package wire reads exact values from the JSON of the providers' APIs: numbers without
// floats, addresses, objects in which no member may be left unread. It also turns failed
// calls into the messages that a person is shown.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// An Amount is a decimal string of base units: digits only, below 2^256.
type Amount struct{ *big.Int }

// UnmarshalJSON refuses every other form.
func (a *Amount) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("amount: %w", err)
	}
	n, err := ParseNumber(s, 10)
	a.Int = n
	return err
}

// Is reports whether the amount is there and equal.
func (a *Amount) Is(want *big.Int) bool {
	return a != nil && a.Int != nil && want != nil && a.Cmp(want) == 0
}

// A Number is a JSON integer or a decimal string, below 2^256: APIs write ids, times and
// packed fields in both ways.
type Number struct{ *big.Int }

// UnmarshalJSON refuses every other form.
func (n *Number) UnmarshalJSON(b []byte) error {
	s, _, err := digitsOf(b)
	if err == nil {
		n.Int, err = ParseNumber(s, 10)
	}
	return err
}

// Is reports whether the number is there and equal.
func (n *Number) Is(want *big.Int) bool {
	return n != nil && n.Int != nil && want != nil && n.Cmp(want) == 0
}

// IsID reports whether the number is there and equal.
func (n *Number) IsID(want uint64) bool { return n.Is(new(big.Int).SetUint64(want)) }

// A Quantity is a Number that may also be a hex string after 0x.
type Quantity struct{ *big.Int }

// UnmarshalJSON refuses every other form.
func (q *Quantity) UnmarshalJSON(b []byte) error {
	s, quoted, err := digitsOf(b)
	if err != nil {
		return err
	}
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok && quoted {
		s, base = hex, 16
	}
	q.Int, err = ParseNumber(s, base)
	return err
}

// IsID reports whether the quantity is there and equal.
func (q *Quantity) IsID(want uint64) bool { return q != nil && (*Number)(q).IsID(want) }

// digitsOf removes the quotes of a number that has them.
func digitsOf(b []byte) (s string, quoted bool, err error) {
	if len(b) == 0 || b[0] != '"' {
		return string(b), false, nil
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return "", true, fmt.Errorf("number: %w", err)
	}
	return s, true, nil
}

// ParseNumber parses an unsigned number below 2^256, in base 10 or 16, without sign, space,
// prefix or underscore.
func ParseNumber(s string, base int) (*big.Int, error) {
	digits := "0123456789"
	if base == 16 {
		digits += "abcdefABCDEF"
	}
	if s == "" || len(s) > 78 || strings.Trim(s, digits) != "" {
		return nil, fmt.Errorf("not an unsigned number in base %d", base)
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok || n.BitLen() > 256 {
		return nil, errors.New("number of more than 256 bits")
	}
	return n, nil
}

// An Address is 0x and 40 hex digits in any case.
type Address struct{ common.Address }

// UnmarshalJSON refuses every other form.
func (a *Address) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("address: %w", err)
	}
	v, err := ParseAddress(s)
	a.Address = v
	return err
}

// Is reports whether the address is there and equal.
func (a *Address) Is(want common.Address) bool { return a != nil && a.Address == want }

// ParseAddress parses 0x and 40 hex digits in any case.
func ParseAddress(s string) (common.Address, error) {
	if !strings.HasPrefix(s, "0x") || !common.IsHexAddress(s) {
		return common.Address{}, errors.New("not an address")
	}
	return common.HexToAddress(s), nil
}

// A Ratio is a JSON number read exactly.
type Ratio struct{ *big.Rat }

// UnmarshalJSON refuses strings, and exponents, which could ask for unbounded memory.
func (r *Ratio) UnmarshalJSON(b []byte) error {
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil || b[0] == '"' {
		return errors.New("not a number")
	}
	s := n.String()
	v, ok := new(big.Rat), len(s) <= 40 && !strings.ContainsAny(s, "eE")
	if ok {
		_, ok = v.SetString(s)
	}
	if !ok {
		return errors.New("malformed number")
	}
	r.Rat = v
	return nil
}

// IsNull reports whether a JSON value is absent or null.
func IsNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
