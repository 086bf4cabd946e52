package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Kind says how a call failed.
type Kind string

// The kinds of failure.
const (
	BadStatus     Kind = "answered"    // a status other than 2xx; see Status, Code, Detail
	Unreachable   Kind = "unreachable" // no connection, or it broke
	TimedOut      Kind = "timed out"   // no complete reply in time; the service may have acted
	Redirected    Kind = "redirected"  // 3xx, not followed
	TooLarge      Kind = "too large"   // reply above the limit
	NotJSON       Kind = "not json"    // 2xx with another content type
	CircuitOpen   Kind = "suspended"   // not sent: the circuit is open
	Throttled     Kind = "throttled"   // not sent: our rate limit, or a pause that the service asked for
	NoCredentials Kind = "no secret"   // not sent: the secret headers could not be obtained
)

// An Error is a failed call. Its text and fields contain no secret: the values of secret
// headers are removed from whatever the service said.
type Error struct {
	Service      string
	Method, Path string
	Kind         Kind
	Status       int           // 0 when nothing was received
	JSON         bool          // an error status came with a JSON body
	Code         string        // the service's stable name for the error, if any
	Detail       string        // free text: printable, bounded
	RetryAfter   time.Duration // as the service asked; 0 = not given
	Err          error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s %s: %s", e.Service, e.Method, e.Path, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" %d", e.Status)
	}
	for _, t := range []string{e.Code, e.Detail} {
		if t != "" {
			s += ": " + t
		}
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool {
	switch e.Kind {
	case Unreachable, TimedOut, CircuitOpen, Throttled:
		return true
	case BadStatus:
		return temporaryStatus[e.Status]
	}
	return false
}

var temporaryStatus = map[int]bool{
	http.StatusRequestTimeout: true, http.StatusTooEarly: true, http.StatusTooManyRequests: true,
	http.StatusInternalServerError: true, http.StatusBadGateway: true,
	http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
}

// failed completes an error with the call.
func (c *Client) failed(call Call, e Error) *Error {
	e.Service, e.Method, e.Path = c.config.Name, call.Method, call.Path
	return &e
}

// transportError classifies the transport's error. Its text repeats the URL, which is
// left out.
func transportError(ctx context.Context, err error) *Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var n net.Error
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &n) && n.Timeout() {
		return &Error{Kind: TimedOut, Err: err}
	}
	return &Error{Kind: Unreachable, Err: err}
}

// redacted replaces a secret that a service repeated. Its length does not tell the
// secret's.
const redacted = "[redacted]"

// scrub removes secret values from text from outside, before anything is read from it.
func scrub(text string, secrets http.Header) string {
	for _, values := range secrets {
		for _, v := range values {
			_, credential, _ := strings.Cut(v, " ") // the token after a scheme
			for _, s := range []string{v, credential} {
				if s != "" {
					text = strings.ReplaceAll(text, s, redacted)
				}
			}
		}
	}
	return text
}

// codeKeys and detailKeys are where services put the stable name and the text of an
// error, best first. An "error" object is searched in the same way.
var (
	codeKeys   = []string{"errorCode", "code", "name"}
	detailKeys = []string{"detail", "message", "description", "error"}
)

// readFailure decodes an error body leniently: it decides nothing that the status does
// not decide too.
func readFailure(body []byte, secrets http.Header) (code, detail string) {
	var m map[string]any
	if _, err := Decode(body, &m); err != nil {
		return "", ""
	}
	if inner, ok := m["error"].(map[string]any); ok {
		m = inner
	}
	return firstText(m, codeKeys, secrets), firstText(m, detailKeys, secrets)
}

func firstText(m map[string]any, keys []string, secrets http.Header) string {
	for _, k := range keys {
		switch v := m[k].(type) {
		case string:
			return clean(v, secrets)
		case float64:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// maxDetail bounds text from outside.
const maxDetail = 300

// clean makes text from outside safe to print and log: one line, no control or direction
// characters, no secret, bounded. Secrets are removed last: removed characters, and JSON
// escapes, may have separated the letters of one.
func clean(s string, secrets http.Header) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = scrub(s, secrets)
	if r := []rune(s); len(r) > maxDetail {
		return string(r[:maxDetail]) + "…"
	}
	return s
}
