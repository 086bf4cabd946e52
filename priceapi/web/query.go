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

// strict is huma middleware: it refuses what would be read as something else than the
// client meant. Names that a resource does not know are refused after it.
func strict(c huma.Context, next func(huma.Context)) {
	r, w := humamux.Unwrap(c)
	wrong := checkQuery(r.URL.RawQuery)
	if len(wrong) == 0 {
		next(c)
		return
	}
	p := badParameter.says("the query is not one that this resource takes")
	p.Errors = wrong
	p.write(w, r)
}

// checkQuery says what is wrong with the form of a query: a parameter that is there
// twice, has no value, or is not encoded as a query is. A client that writes
// "chain_id=" meant a chain, and must not get all of them.
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
			message = "not encoded as a query is: UTF-8 text, percent signs before two hex digits, no semicolons"
		case !valued || value == "":
			message = "a parameter without a value"
		case seen[name]:
			message = "given more than once"
		}
		if seen[name] = true; message != "" {
			wrong = append(wrong, ProblemField{Location: short("query." + name), Message: message})
		}
	}
	return wrong
}

// unescape decodes a name or a value of a query.
func unescape(text string) (plain string, malformed bool) {
	plain, err := url.QueryUnescape(text)
	if err != nil || strings.Contains(text, ";") || !utf8.ValidString(plain) || strings.ContainsFunc(plain, unicode.IsControl) {
		return "?", true
	}
	return plain, false
}

// oddPath reports a path that means another one to somebody: with escapes, or with
// segments that are empty or dots. No resource has one.
func oddPath(path string) bool {
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

// asGet makes a GET of a HEAD for the router; net/http keeps the body back.
func asGet(r *http.Request) *http.Request {
	if r.Method != http.MethodHead {
		return r
	}
	r = r.WithContext(context.WithValue(r.Context(), headKey{}, true)) // a copy
	r.Method = http.MethodGet
	return r
}

func wasHead(r *http.Request) bool { return r.Context().Value(headKey{}) != nil }
