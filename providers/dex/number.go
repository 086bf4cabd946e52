package dex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// An amount is a decimal string of base units, as the schema has it for every
// sum of tokens: digits only, below 2^256.
type amount struct{ *big.Int }

func (a *amount) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("amount: %w", err)
	}
	n, err := parseDigits(s, 10)
	a.Int = n
	return err
}

// A quantity is a number in any form that the API uses for gas, values and chain
// ids: a JSON integer, a decimal string, or a hex string with 0x.
type quantity struct{ *big.Int }

func (q *quantity) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return fmt.Errorf("number: %w", err)
		}
	}
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok && b[0] == '"' {
		s, base = hex, 16
	}
	n, err := parseDigits(s, base)
	q.Int = n
	return err
}

// parseDigits reads an unsigned number below 2^256 without sign, space or
// underscore.
func parseDigits(s string, base int) (*big.Int, error) {
	digits := "0123456789abcdefABCDEF"[:10]
	if base == 16 {
		digits = "0123456789abcdefABCDEF"
	}
	if s == "" || len(s) > 78 || strings.Trim(s, digits) != "" {
		return nil, fmt.Errorf("not an unsigned number in base %d", base)
	}
	n, ok := new(big.Int).SetString(s, base)
	if !ok || n.BitLen() > 256 {
		return nil, fmt.Errorf("number of more than 256 bits")
	}
	return n, nil
}

// An address is 40 hex digits with or without 0x, in any case.
type address struct{ common.Address }

func (a *address) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("address: %w", err)
	}
	if !common.IsHexAddress(s) {
		return fmt.Errorf("not an address")
	}
	a.Address = common.HexToAddress(s)
	return nil
}

// A ratio is a JSON number read exactly. The API writes percent and bips so.
type ratio struct{ *big.Rat }

func (r *ratio) UnmarshalJSON(b []byte) error {
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil || b[0] == '"' {
		return fmt.Errorf("not a number")
	}
	v, err := parseRatio(n.String())
	r.Rat = v
	return err
}

// parseRatio refuses exponents, which could ask for unbounded memory.
func parseRatio(s string) (*big.Rat, error) {
	if len(s) > 40 || strings.ContainsAny(s, "eE") {
		return nil, fmt.Errorf("number out of form")
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("not a number")
	}
	return v, nil
}

// isNull reports an absent or null JSON value.
func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || bytes.Equal(raw, []byte("null"))
}
