package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// jsonType is the media type of answers, problemType that of problems.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// StaleHeader says how many values of an answer are stale; absent = none. The Warning
// header, which served this purpose, is obsolete (RFC 9111), and Age is about caches.
const StaleHeader = "Swapkeep-Stale"

// An answer is a response that is encoded once and sent many times. Header values are
// slices, as in net/http, so that sending does not allocate.
type answer struct {
	body                    []byte
	kind, encoding          []string // Content-Type, Content-Encoding
	length, tag, stale, csp []string // Content-Length, ETag, StaleHeader, Content-Security-Policy
}

var (
	revalidate      = []string{"no-cache"} // may be stored, must be revalidated
	noSniff         = []string{"nosniff"}
	corpSameOrigin  = []string{"same-origin"} // Cross-Origin-Resource-Policy
	corpCrossOrigin = []string{"cross-origin"}
	jsonKind        = []string{jsonType}
)

// newAnswer returns a JSON answer with the given number of stale values. Its ETag is a hash
// of the bytes, so equal tags mean equal bytes across processes and restarts.
func newAnswer(body []byte, stale int) *answer {
	a := answerOf(body, jsonKind)
	if stale > 0 {
		a.stale = []string{strconv.Itoa(stale)}
	}
	return a
}

// answerOf returns the answer with this body and Content-Type, and an ETag over the body.
func answerOf(body []byte, kind []string) *answer {
	sum := sha256.Sum256(body)
	return &answer{
		body: body, kind: kind, length: []string{strconv.Itoa(len(body))},
		tag: []string{`"` + hex.EncodeToString(sum[:12]) + `"`},
	}
}

// encoded returns the answer for a record.
func encoded(record any, stale int) *answer { return newAnswer(encode(record), stale) }

// encode encodes a record of this package. It cannot fail: fields are strings, integers,
// and numbers formatted by this package.
func encode(record any) []byte {
	body, err := json.Marshal(record)
	if err != nil {
		panic(fmt.Errorf("encode %T: %w", record, err))
	}
	return body
}

// write sends the answer, or 304 if the client already has it.
func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Etag"], h["Cache-Control"], h["X-Content-Type-Options"] = a.tag, revalidate, noSniff
	if a.stale != nil {
		h[StaleHeader] = a.stale
	}
	if a.csp != nil {
		h["Content-Security-Policy"] = a.csp
	}
	if a.encoding != nil {
		h["Content-Encoding"] = a.encoding
	}
	if have := r.Header["If-None-Match"]; len(have) > 0 && matches(have, a.tag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"], h["Content-Length"] = a.kind, a.length
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a write error means that the client has gone
	}
}

// matches evaluates If-None-Match with weak comparison (RFC 9110, 13.1.2).
func matches(have []string, tag string) bool {
	for _, line := range have {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}
