package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"
)

// checkQueryForm is huma middleware that rejects queries that could be understood differently than
// the client meant. Unknown parameters are rejected after it.
func checkQueryForm(c huma.Context, next func(huma.Context)) {
	r, w := humamux.Unwrap(c)
	wrong := checkQuery(r.URL.RawQuery)
	if len(wrong) == 0 {
		next(c)
		return
	}
	p := badParameter.problem("invalid query for this resource")
	p.Errors = wrong
	p.write(w, r)
}

// checkQuery finds parameters that are repeated, have no value, or are badly encoded. A
// client that writes "chain_id=" meant one chain and must not get all of them.
func checkQuery(raw string) (wrong []ProblemField) {
	seen := map[string]bool{}
	for more := raw != ""; more; {
		var pair string
		pair, raw, more = strings.Cut(raw, "&")
		name, value, valued := strings.Cut(pair, "=")
		name, malformed := unescape(name)
		_, malformedValue := unescape(value)
		message := ""
		switch {
		case malformed || malformedValue:
			message = "malformed query encoding: use UTF-8 text, percent signs before two hex digits, no semicolons"
		case !valued || value == "":
			message = "parameter without a value"
		case seen[name]:
			message = "given more than once"
		}
		if seen[name] = true; message != "" {
			wrong = append(wrong, ProblemField{Location: shorten("query." + name), Message: message})
		}
	}
	return wrong
}

func unescape(text string) (plain string, malformed bool) {
	plain, err := url.QueryUnescape(text)
	if err != nil || strings.Contains(text, ";") || !utf8.ValidString(plain) || strings.ContainsFunc(plain, unicode.IsControl) {
		return "?", true
	}
	return plain, false
}

// ambiguousPath reports a path that different software may interpret differently: one with
// escapes, empty segments or dot segments. No resource has such a path.
func ambiguousPath(path string) bool {
	if path == "/" {
		return false
	}
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "%") {
		return true
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// headKey marks a request that was a HEAD.
type headKey struct{}

// headToGet turns a HEAD into a GET for the router; net/http drops the body.
func headToGet(r *http.Request) *http.Request {
	if r.Method != http.MethodHead {
		return r
	}
	r = r.WithContext(context.WithValue(r.Context(), headKey{}, true)) // a copy
	r.Method = http.MethodGet
	return r
}

func wasHead(r *http.Request) bool { return r.Context().Value(headKey{}) != nil }
