package refused

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// A redaction takes out of text what is the user's. The order and the equality of what is
// left are the text's own.
type redaction struct {
	secrets  func(text string) string // takes them out, as [rest.Recorder].Hide
	accounts []common.Address
	hashes   map[string]string
}

// standIn is what stands for the first account; the next ones follow it.
const standIn = 0xA11cE

var (
	hashForm      = regexp.MustCompile(`(?i)\b0x[0-9a-f]{64}\b`)
	signatureForm = regexp.MustCompile(`(?i)\b0x(?:[0-9a-f]{130}|[0-9a-f]{128})\b`)
)

// names takes out secrets, and replaces each account by the same every time.
func (d *redaction) names(s string) string {
	s = d.secrets(s)
	seen := map[common.Address]bool{}
	for _, a := range d.accounts {
		if a == (common.Address{}) || seen[a] {
			continue
		}
		digits := regexp.MustCompile("(?i)" + hex.EncodeToString(a[:]))
		s = digits.ReplaceAllLiteralString(s, fmt.Sprintf("%040x", standIn+len(seen)))
		seen[a] = true
	}
	return s
}

// text is names, takes out signatures and replaces hashes, which lead to transactions, each
// by the same every time.
func (d *redaction) text(s string) string {
	s = d.names(s)
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
