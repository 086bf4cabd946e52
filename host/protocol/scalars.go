package protocol

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/crypto/sha3"
)

// The scalar types of the wire. Each refuses a malformed value when it is decoded.
type (
	// Amount is a decimal string of base units, below 2^256: "1000000".
	Amount string
	// Address is an EVM address with its EIP-55 checksum. All lower case is also
	// accepted, as an address without a checksum. The zero address is the native coin.
	Address string
	// Hash is 32 bytes: "0x" and 64 lower-case hex digits.
	Hash string
	// UUID identifies a request, in canonical form, lower case.
	UUID string
	// Percent is a number with at most two decimals, stored in hundredths (basis points):
	// 0.5 is 50.
	Percent int
	// Secret is a password or the words of a wallet, a string on the wire. Call Zero
	// after use. It never prints.
	Secret []byte
)

// Native is the token address of a network's native coin.
const Native Address = "0x0000000000000000000000000000000000000000"

var (
	amountForm  = form(`^(0|[1-9][0-9]{0,77})$`)
	addressForm = form(`^0x[0-9a-fA-F]{40}$`)
	hashForm    = form(`^0x[0-9a-f]{64}$`)
	uuidForm    = form(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	percentForm = form(`^-?(0|[1-9][0-9]{0,3})(\.[0-9]{1,2})?$`)
	maxAmount   = new(big.Int).Lsh(big.NewInt(1), 256)
)

// form returns a matcher that compiles its pattern on first use. Relays start for every
// port of a browser and use few patterns.
func form(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(s string) bool { return compiled().MatchString(s) }
}

func ParseAmount(s string) (Amount, error) {
	if !amountForm(s) || Amount(s).Int().Cmp(maxAmount) >= 0 {
		return "", errors.New("must be a decimal string of base units, without sign or leading zeros, below 2^256")
	}
	return Amount(s), nil
}

// Int returns the amount as a number, or nil if it is malformed.
func (a Amount) Int() *big.Int {
	n, ok := new(big.Int).SetString(string(a), 10)
	if !ok {
		return nil
	}
	return n
}

// AmountOf returns the amount of n. A nil n gives the empty amount, which is omitted.
func AmountOf(n *big.Int) Amount {
	if n == nil {
		return ""
	}
	return Amount(n.String())
}

// ParseAddress parses an address and returns it with its checksum. Mixed case must match
// the EIP-55 checksum; all lower case has no checksum.
func ParseAddress(s string) (Address, error) {
	if !addressForm(s) {
		return "", errors.New("must be an address: 0x and 40 hex digits")
	}
	sum := Checksummed(s)
	if s != string(sum) && s != strings.ToLower(s) {
		return "", errors.New("has a wrong checksum (EIP-55): check it digit by digit, it may be mistyped")
	}
	return sum, nil
}

// Checksummed returns the 40 hex digits of s with their EIP-55 checksum. s must be "0x"
// and 40 hex digits.
func Checksummed(s string) Address {
	digits := []byte(strings.ToLower(s[2:]))
	h := sha3.NewLegacyKeccak256()
	h.Write(digits)
	sum := hex.EncodeToString(h.Sum(nil))
	for i, c := range digits {
		if c >= 'a' && sum[i] >= '8' {
			digits[i] = c - 'a' + 'A'
		}
	}
	return Address("0x" + string(digits))
}

// ParsePercent parses a number with at most two decimals.
func ParsePercent(s string) (Percent, error) {
	if !percentForm(s) {
		return 0, errors.New("must be a number with at most two decimals")
	}
	whole, part, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	n, err := strconv.Atoi(whole + (part + "00")[:2])
	if err != nil {
		return 0, err
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return Percent(n), nil
}

func (p Percent) String() string {
	s, n := "", int(p)
	if n < 0 {
		s, n = "-", -n
	}
	s += fmt.Sprintf("%d.%02d", n/100, n%100)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func (p Percent) MarshalJSON() ([]byte, error) { return []byte(p.String()), nil }

func (p *Percent) UnmarshalJSON(b []byte) (err error) {
	*p, err = ParsePercent(string(b))
	return err
}

func readText[T ~string](b []byte, to *T, parse func(string) (T, error)) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errors.New("must be a string")
	}
	v, err := parse(s)
	if err == nil {
		*to = v
	}
	return err
}

// matching returns a parser that only checks the form.
func matching[T ~string](matches func(string) bool, want string) func(string) (T, error) {
	return func(s string) (T, error) {
		if !matches(s) {
			return "", errors.New(want)
		}
		return T(s), nil
	}
}

var (
	parseHash = matching[Hash](hashForm, "must be 0x and 64 lower-case hex digits")
	parseUUID = matching[UUID](uuidForm, "must be a uuid in lower case, such as one of crypto.randomUUID()")
)

func (a *Amount) UnmarshalJSON(b []byte) error { return readText(b, a, ParseAmount) }

func (a *Address) UnmarshalJSON(b []byte) error { return readText(b, a, ParseAddress) }

func (h *Hash) UnmarshalJSON(b []byte) error { return readText(b, h, parseHash) }

func (u *UUID) UnmarshalJSON(b []byte) error { return readText(b, u, parseUUID) }

func (s Secret) Zero() { clear(s) }

// String returns a placeholder.
func (s Secret) String() string { return "[secret]" }

// GoString returns a placeholder for %#v.
func (s Secret) GoString() string { return "[secret]" }

// MarshalJSON encodes a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) {
	if !utf8.Valid(s) {
		return nil, errors.New("secret is not UTF-8")
	}
	out := make([]byte, 0, 2+6*len(s)) // capacity for the worst case, so that append leaves no copy behind
	out = append(out, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20 || c == '<' || c == '>' || c == '&':
			out = append(out, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"'), nil
}

var errSecret = errors.New("must be a string")

// UnmarshalJSON decodes a JSON string without making a Go string, which could not be
// wiped.
func (s *Secret) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' || !json.Valid(b) {
		return errSecret
	}
	b = b[1 : len(b)-1]
	out := make([]byte, 0, len(b)+utf8.UTFMax)
	for len(b) > 0 {
		if b[0] != '\\' {
			out, b = append(out, b[0]), b[1:]
			continue
		}
		r, n, ok := unescape(b)
		if !ok {
			clear(out)
			return errors.New("holds half a surrogate pair")
		}
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	if len(out) > MaxSecret {
		clear(out)
		return fmt.Errorf("is longer than %d bytes", MaxSecret)
	}
	*s = out
	return nil
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape decodes one escape of a valid JSON string and returns its length.
func unescape(b []byte) (r rune, n int, ok bool) {
	if r, ok := escapes[b[1]]; ok {
		return r, 2, true
	}
	r = hexRune(b[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6, true
	}
	if len(b) < 12 || b[6] != '\\' || b[7] != 'u' {
		return 0, 0, false
	}
	r = utf16.DecodeRune(r, hexRune(b[8:12]))
	return r, 12, r != utf8.RuneError
}

func hexRune(b []byte) (r rune) {
	for _, c := range b {
		switch {
		case c <= '9':
			c -= '0'
		case c <= 'F':
			c -= 'A' - 10
		default:
			c -= 'a' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
