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

// maxRecorded is how many exchanges a recorder remembers: the last.
const maxRecorded = 4

// An Exchange is an answer as it came, but for what nobody else may see ([Recorder.Hide]).
// Of the URL it has the call's path alone.
type Exchange struct {
	Method, Path string
	Status       int
	Body         []byte
}

// A Recorder remembers the last answers to the calls that are made under its context, and
// what of all of these calls nobody else may see.
type Recorder struct {
	mu     sync.Mutex
	last   []Exchange
	hidden []string // patterns
}

type recorderKey struct{}

// Record returns a recorder and the context whose calls it remembers.
func Record(ctx context.Context) (context.Context, *Recorder) {
	r := &Recorder{}
	return context.WithValue(ctx, recorderKey{}, r), r
}

// recorderOf is the recorder of a context, or nil, which records nothing.
func recorderOf(ctx context.Context) *Recorder {
	r, _ := ctx.Value(recorderKey{}).(*Recorder)
	return r
}

// Last are the answers that are remembered, oldest first.
func (r *Recorder) Last() []Exchange {
	r.mu.Lock()
	last := slices.Clone(r.last)
	r.mu.Unlock()
	for i, x := range last {
		last[i].Path, last[i].Body = r.Hide(x.Path), []byte(r.Hide(string(x.Body)))
	}
	return last
}

// Hide takes out of text, in whatever case it stands there, what of the calls so far nobody
// else may see: the values of secret headers, what of a base URL is not published, and the
// signatures that the calls bore.
func (r *Recorder) Hide(text string) string {
	r.mu.Lock()
	patterns := slices.SortedFunc(slices.Values(r.hidden), func(a, b string) int { return len(b) - len(a) }) // one may be in another
	r.mu.Unlock()
	text = plain(text)
	for _, p := range patterns {
		text = regexp.MustCompile("(?i)"+p).ReplaceAllLiteralString(text, redacted)
	}
	return text
}

func (r *Recorder) hide(patterns []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range patterns {
		if !slices.Contains(r.hidden, p) {
			r.hidden = append(r.hidden, p)
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

// secret are patterns of what of a call nobody else may see.
func (c *Client) secret(call Call, secrets http.Header) []string {
	out := slices.Clone(c.own)
	for _, values := range secrets {
		for _, v := range values {
			_, credential, _ := strings.Cut(v, " ") // of a scheme and a token
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

// shortWord is below what may be a secret wherever it stands, in bytes. Shorter words of a
// URL are hidden only where they stand alone: elsewhere they would take answers apart.
const shortWord = 8

// ownWords are patterns of what a base URL has beyond the published one: its host, that
// host's names, and the parts of its path. [parseBase] lets no user info and no query in.
func ownWords(base *url.URL, published string) (patterns []string) {
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
		return append(append(words, u.Host, u.Hostname()), names[:len(names)-1]...) // the last is everybody's
	case ip.IsLoopback(): // everybody has one
		return words
	}
	return append(words, u.Host, u.Hostname())
}

var (
	signatures = regexp.MustCompile(`0x(?:[0-9a-fA-F]{130}|[0-9a-fA-F]{128})\b`)
	letters    = regexp.MustCompile(`^\w+$`)
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
