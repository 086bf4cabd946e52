package refused

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// A redaction removes the user's data from text. The order of the rest is kept, and equal
// values stay equal.
type redaction struct {
	secrets  func(text string) string // removes them, as [rest.Recorder].Hide does
	accounts []common.Address
	hashes   map[string]string
}

// firstStandIn replaces the first account; further accounts get the following numbers.
const firstStandIn = 0xA11cE

var (
	hashForm      = regexp.MustCompile(`(?i)\b0x[0-9a-f]{64}\b`)
	signatureForm = regexp.MustCompile(`(?i)\b0x(?:[0-9a-f]{130}|[0-9a-f]{128})\b`)
)

// redactNames removes secrets and replaces each account, always by the same stand-in.
func (d *redaction) redactNames(s string) string {
	s = d.secrets(s)
	seen := map[common.Address]bool{}
	for _, a := range d.accounts {
		if a == (common.Address{}) || seen[a] {
			continue
		}
		digits := regexp.MustCompile("(?i)" + hex.EncodeToString(a[:]))
		s = digits.ReplaceAllLiteralString(s, fmt.Sprintf("%040x", firstStandIn+len(seen)))
		seen[a] = true
	}
	return s
}

// redactAll does the same as names. It also removes signatures and replaces each hash, always by
// the same stand-in, since hashes lead to transactions.
func (d *redaction) redactAll(s string) string {
	s = d.redactNames(s)
	s = signatureForm.ReplaceAllLiteralString(s, "0x[signature]")
	if d.hashes == nil {
		d.hashes = map[string]string{}
	}
	return hashForm.ReplaceAllStringFunc(s, func(h string) string {
		h = strings.ToLower(h)
		if d.hashes[h] == "" {
			d.hashes[h] = fmt.Sprintf("0x%064x", 0x4A54<<16+len(d.hashes)+1)
		}
		return d.hashes[h]
	})
}
