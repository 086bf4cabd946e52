package rest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxRecorded is how many exchanges a recorder keeps: the last ones.
const maxRecorded = 4

// An Exchange is an answer as it came, without what must not be shown ([Recorder.Redact]).
// Of the URL it has only the call's path.
type Exchange struct {
	Method, Path string
	Status       int
	Body         []byte
}

// A Recorder keeps the last answers to the calls made under its context, and what must
// not be shown of all these calls.
type Recorder struct {
	mu      sync.Mutex
	last    []Exchange
	secrets []string // regular expressions
}

type recorderKey struct{}

// Record returns a recorder, and the context whose calls it records.
func Record(ctx context.Context) (context.Context, *Recorder) {
	r := &Recorder{}
	return context.WithValue(ctx, recorderKey{}, r), r
}

// recorderOf returns the recorder of a context, or nil, which records nothing.
func recorderOf(ctx context.Context) *Recorder {
	r, _ := ctx.Value(recorderKey{}).(*Recorder)
	return r
}

// Last returns the recorded answers, oldest first.
func (r *Recorder) Last() []Exchange {
	r.mu.Lock()
	last := slices.Clone(r.last)
	r.mu.Unlock()
	for i, x := range last {
		last[i].Path, last[i].Body = r.Redact(x.Path), []byte(r.Redact(string(x.Body)))
	}
	return last
}

// Redact removes from text, in any case of letters, what must not be shown of the calls so
// far: the values of secret headers, the parts of a base URL that are not published, and
// the signatures that the calls carried.
func (r *Recorder) Redact(text string) string {
	r.mu.Lock()
	patterns := slices.SortedFunc(slices.Values(r.secrets), func(a, b string) int { return len(b) - len(a) }) // longest first: one may contain another
	r.mu.Unlock()
	text = unescapeJSON(text)
	for _, p := range patterns {
		text = regexp.MustCompile("(?i)"+p).ReplaceAllLiteralString(text, redacted)
	}
	return text
}

func (r *Recorder) addSecrets(patterns []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range patterns {
		if !slices.Contains(r.secrets, p) {
			r.secrets = append(r.secrets, p)
		}
	}
}

func (r *Recorder) record(call Call, status int, body []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) == maxRecorded {
		r.last = slices.Delete(r.last, 0, 1)
	}
	r.last = append(r.last, Exchange{call.Method, call.Path, status, body})
}

// secretPatterns returns patterns for what must not be shown of a call.
func (c *Client) secretPatterns(call Call, secrets http.Header) []string {
	out := slices.Clone(c.basePatterns)
	for _, values := range secrets {
		for _, v := range values {
			_, credential, _ := strings.Cut(v, " ") // the token after a scheme
			for _, s := range []string{v, credential, url.QueryEscape(v), url.QueryEscape(credential)} {
				if s != "" {
					out = append(out, regexp.QuoteMeta(s))
				}
			}
		}
	}
	for _, signature := range signatures.FindAllString(string(call.Body)+" "+call.Query.Encode(), -1) {
		out = append(out, strings.TrimPrefix(signature, "0x"))
	}
	return out
}

// shortWord is the length, in bytes, below which a word of a URL is hidden only where it
// stands alone: hidden everywhere it would break answers apart.
const shortWord = 8

// privatePatterns returns patterns for what a base URL has beyond the published one: its host,
// that host's labels, and the parts of its path. [parseBase] allows no user info and no
// query.
func privatePatterns(base *url.URL, published string) (patterns []string) {
	var public []string
	if u, err := url.Parse(published); err == nil {
		public = wordsOf(u)
	}
	for _, word := range wordsOf(base) {
		if word == "" || slices.Contains(public, word) {
			continue
		}
		p := regexp.QuoteMeta(word)
		if len(word) < shortWord && letters.MatchString(word) {
			p = `\b` + p + `\b`
		}
		patterns = append(patterns, p)
	}
	return patterns
}

func wordsOf(u *url.URL) []string {
	words := strings.Split(u.Path+"/"+u.EscapedPath(), "/")
	switch ip := net.ParseIP(u.Hostname()); {
	case ip == nil:
		names := strings.Split(u.Hostname(), ".")
		return append(append(words, u.Host, u.Hostname()), names[:len(names)-1]...) // the last label is public
	case ip.IsLoopback(): // the same for everybody
		return words
	}
	return append(words, u.Host, u.Hostname())
}

var (
	signatures = regexp.MustCompile(`0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})\b`)
	letters    = regexp.MustCompile(`^\w+$`)
	escapes    = regexp.MustCompile(`\\(?:\\|/|u00[2-7][0-9a-fA-F])`)
)

// unescapeJSON replaces JSON's escapes of letters, digits and marks by what they stand for, so
// that nothing hides behind them from a search. Quotes and backslashes stay escaped.
func unescapeJSON(text string) string {
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
