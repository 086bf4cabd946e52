package dex

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"

	"swapkeep/swap"
)

// The API ends its calldata in a tag: tagMark, then either the integrator's id (4 bytes) or
// the quote's id (16). Recorded calldata has both forms; the four bytes differ by
// integrator, so any are accepted. The contracts called read arguments by their offsets,
// never from the end of the calldata, and ignore a tag.
var tagMark = []byte{0x75, 0x6e, 0x69, 0x78, 0, 0} // "unix", 0, 0

const (
	wordLen         = 32
	integratorIDLen = 4
	quoteIDLen      = 16
)

// splitTag splits what follows a selector into whole words and at most one tag. All other
// trailing bytes, and a second tag, are refused here or by [unpackStrict].
func splitTag(data []byte) (args, tag []byte, err error) {
	args, tag = data[:len(data)/wordLen*wordLen], data[len(data)/wordLen*wordLen:]
	if len(tag) == 0 {
		return args, nil, nil
	}
	if id, ok := bytes.CutPrefix(tag, tagMark); !ok || len(id) != integratorIDLen && len(id) != quoteIDLen {
		return nil, nil, refuse(swap.Undecodable, "data", "the calldata ends in %d bytes that are no tag", len(tag))
	}
	return args, tag, nil
}

// hasForeignTag reports whether calldata, which was decoded before, has the id of another
// quote in its tag than the one it was built from. This decides nothing: a deferred call may
// carry the id of a quote that the service refreshed.
func (e envelope) hasForeignTag(data []byte) bool {
	_, tag, err := splitTag(data[len(selector{}):])
	if err != nil || len(tag) != len(tagMark)+quoteIDLen {
		return false
	}
	var q struct {
		ID string `json:"quoteId"`
	}
	if json.Unmarshal(e.Quote, &q) != nil {
		return true
	}
	return hex.EncodeToString(tag[len(tagMark):]) != strings.ToLower(strings.ReplaceAll(q.ID, "-", ""))
}
