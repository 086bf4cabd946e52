package rest

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxRecorded is how many exchanges a recorder remembers: the last.
const maxRecorded = 4

// An Exchange is an answer as it came, but for what nobody else may see: the values of
// secret headers are cut out of it, and the signatures that the call bore. Of the URL it
// has the call's path alone.
type Exchange struct {
	Method, Path string
	Status       int
	Body         []byte
}

// A Recorder remembers the last answers to the calls that are made under its context.
type Recorder struct {
	mu   sync.Mutex
	last []Exchange
}

type recorderKey struct{}

// Record returns a recorder and the context whose calls it remembers.
func Record(ctx context.Context) (context.Context, *Recorder) {
	r := &Recorder{}
	return context.WithValue(ctx, recorderKey{}, r), r
}

// recorderOf is the recorder of a context, or nil.
func recorderOf(ctx context.Context) *Recorder {
	r, _ := ctx.Value(recorderKey{}).(*Recorder)
	return r
}

// Last are the answers that are remembered, oldest first.
func (r *Recorder) Last() []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.last)
}

// record remembers an answer, if somebody asked for that.
func record(ctx context.Context, call Call, status int, body []byte, secrets http.Header) {
	r := recorderOf(ctx)
	if r == nil {
		return
	}
	text := scrub(plain(string(body)), secrets)
	for _, signature := range signatures.FindAllString(string(call.Body)+" "+call.Query.Encode(), -1) {
		text = replaceFold(text, strings.TrimPrefix(signature, "0x"), redacted)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == maxRecorded {
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, Exchange{call.Method, call.Path, status, []byte(text)})
}

var (
	signatures = regexp.MustCompile(`0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})\b`)
	escapes    = regexp.MustCompile(`\\(?:\\|/|u00[2-7][0-9a-fA-F])`)
)

// plain writes JSON's escapes of letters, digits and marks as what they stand for, so
// that nothing hides behind them from a search. Quotes and backslashes stay.
func plain(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		switch {
		case escape == `\/`:
			return "/"
		case escape == `\\`:
			return escape
		}
		var c byte
		for _, digit := range bytes.ToLower([]byte(escape[4:])) {
			c = c<<4 | digit&15
			if digit >= 'a' {
				c += 9
			}
		}
		if c == '"' || c == '\\' || c == 0x7f {
			return escape
		}
		return string(rune(c))
	})
}

// replaceFold replaces a word of hexadecimal digits, in whatever case.
func replaceFold(text, word, by string) string {
	return regexp.MustCompile("(?i)"+regexp.QuoteMeta(word)).ReplaceAllLiteralString(text, by)
}
