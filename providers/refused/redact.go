package refused

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// A redaction removes the user's data from text and leaves the rest as it is. It replaces equal
// values by equal placeholders, also in different texts.
type redaction struct {
	secrets  func(text string) string // returns text without secrets, as [rest.Recorder].Hide does
	accounts []common.Address         // the accounts to replace
	hashes   map[string]string        // the placeholders of the hashes replaced so far
}

// firstPlaceholder is the address that replaces the first account; the next account gets the
// next number.
const firstPlaceholder = 0xA11cE

var (
	hashPattern      = regexp.MustCompile(`(?i)\b0x[0-9a-f]{64}\b`)
	signaturePattern = regexp.MustCompile(`(?i)\b0x(?:[0-9a-f]{130}|[0-9a-f]{128})\b`)
)

// redactAccounts removes secrets and replaces each account by its placeholder.
func (d *redaction) redactAccounts(s string) string {
	s = d.secrets(s)
	replaced := map[common.Address]bool{}
	for _, a := range d.accounts {
		if a == (common.Address{}) || replaced[a] {
			continue
		}
		digits := regexp.MustCompile("(?i)" + hex.EncodeToString(a[:]))
		s = digits.ReplaceAllLiteralString(s, fmt.Sprintf("%040x", firstPlaceholder+len(replaced)))
		replaced[a] = true
	}
	return s
}

// redactAll does what redactAccounts does, removes signatures, and replaces each 32-byte value by
// its placeholder, since it may be the hash of one of the user's transactions.
func (d *redaction) redactAll(s string) string {
	s = d.redactAccounts(s)
	s = signaturePattern.ReplaceAllLiteralString(s, "0x[signature]")
	if d.hashes == nil {
		d.hashes = map[string]string{}
	}
	return hashPattern.ReplaceAllStringFunc(s, func(h string) string {
		h = strings.ToLower(h)
		if d.hashes[h] == "" {
			d.hashes[h] = fmt.Sprintf("0x%064x", 0x4A54<<16+len(d.hashes)+1) // 4A54…, so that a reader recognizes it
		}
		return d.hashes[h]
	})
}
