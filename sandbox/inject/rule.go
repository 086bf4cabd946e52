// Package inject makes the sandbox's servers fail and lie on demand: the rules of a Book
// decide what happens to each request. A Book also counts requests.
package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A Kind is a kind of fault.
type Kind string

// The kinds. The first five act before the request is carried out, and all of them but
// Delay and Hold act in its place.
const (
	Delay    Kind = "delay"    // answer after delayMs
	Hold     Kind = "hold"     // answer once released
	HTTP     Kind = "http"     // answer with an HTTP status and an HTML page, or body
	Garbage  Kind = "garbage"  // answer 200 with something that is not JSON, or body
	Error    Kind = "error"    // JSON-RPC only: answer with an error of code and message
	Fail     Kind = "fail"     // carry out the request, then answer as HTTP does
	Stall    Kind = "stall"    // carry out, answer once released
	Drop     Kind = "drop"     // carry out, then close the connection unanswered
	Cut      Kind = "cut"      // carry out, send half of the response, close the connection
	Truncate Kind = "truncate" // carry out, send half of the response as if it were complete
	Trickle  Kind = "trickle"  // carry out, send the response in small pieces, which take delayMs together
	Oversize Kind = "oversize" // carry out, send the response behind this many bytes of white space
	Lie      Kind = "lie"      // carry out, replace one value of the response
)

// Limits of the fields.
const (
	maxDelay    = 10 * time.Minute
	maxOversize = 256 << 20
	maxRules    = 1000
	// maxRetryAfter is one day, in seconds.
	maxRetryAfter = 86400
)

// A Rule says what happens to the requests it matches. At most one fault applies to a
// request, the oldest that matches, and every lie that matches.
type Rule struct {
	ID int `json:"id"` // assigned by the Book

	Target string `json:"target"` // RPC method or endpoint path; a trailing * matches any rest
	Kind   Kind   `json:"kind"`
	Skip   int    `json:"skip,omitempty"`  // let this many matching requests pass first
	Times  int    `json:"times,omitempty"` // then act this many times; 0 = until removed

	DelayMS int    `json:"delayMs,omitempty"` // Delay, Trickle
	Status  int    `json:"status,omitempty"`  // HTTP, Fail; 0 = 500
	Body    string `json:"body,omitempty"`    // HTTP, Fail, Garbage
	// RetryAfter is the Retry-After header, in seconds: HTTP, Fail; 0 = none.
	RetryAfter int             `json:"retryAfter,omitempty"`
	Code       int             `json:"code,omitempty"`    // Error; 0 = -32000
	Message    string          `json:"message,omitempty"` // Error
	Pointer    string          `json:"pointer,omitempty"` // Lie: JSON pointer (RFC 6901) into the response
	Value      json.RawMessage `json:"value,omitempty"`   // Lie: the new value
	Bytes      int             `json:"bytes,omitempty"`   // Oversize; 0 = 16 MiB
}

var kinds = []Kind{Delay, Hold, HTTP, Garbage, Error, Fail, Stall, Drop, Cut, Truncate, Trickle, Oversize, Lie}

// ErrRule means that a rule is invalid.
var ErrRule = errors.New("bad rule")

func (r Rule) check() error {
	bad := []struct {
		when bool
		why  string
	}{
		{r.Target == "", "target is missing"},
		{!slices.Contains(kinds, r.Kind), fmt.Sprintf("kind is none of %v", kinds)},
		{r.Skip < 0 || r.Times < 0, "skip and times cannot be negative"},
		{(r.Kind == Delay || r.Kind == Trickle) && (r.DelayMS < 1 || r.DelayMS > int(maxDelay.Milliseconds())), "delayMs: want 1 to 600000"},
		{(r.Kind == HTTP || r.Kind == Fail) && r.Status != 0 && (r.Status < 200 || r.Status > 599), "status: want 200 to 599"},
		{r.RetryAfter < 0 || r.RetryAfter > maxRetryAfter, "retryAfter: want 0 to 86400 seconds"},
		{r.Kind == Lie && !json.Valid(r.Value), "value is not JSON"},
		{r.Kind == Lie && !pointerOK(r.Pointer), "pointer is none: it is empty or begins with /"},
		{r.Bytes < 0 || r.Bytes > maxOversize, "bytes: want 0 to 268435456"},
	}
	for _, b := range bad {
		if b.when {
			return fmt.Errorf("%w: %s", ErrRule, b.why)
		}
	}
	return nil
}

func pointerOK(p string) bool {
	return p == "" || (strings.HasPrefix(p, "/") && utf8.ValidString(p))
}

// Matches reports whether the rule applies to requests to target.
func (r Rule) Matches(target string) bool {
	if rest, found := strings.CutSuffix(r.Target, "*"); found {
		return strings.HasPrefix(target, rest)
	}
	return r.Target == target
}

// A Book holds the fault rules of one server and counts its requests. The zero Book is
// empty and ready to use. Its methods may be called concurrently.
type Book struct {
	mu       sync.Mutex
	next     int
	rules    []*entry
	requests map[string]int
	held     int
}

type entry struct {
	Rule
	seen    int
	release chan struct{} // closed to release held requests
}

// Add appends a rule and returns its id. The error is ErrRule if the rule is invalid or
// there are too many.
func (b *Book) Add(r Rule) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.rules) >= maxRules {
		return 0, fmt.Errorf("%w: there are %d already", ErrRule, maxRules)
	}
	b.next++
	r.ID = b.next
	b.rules = append(b.rules, &entry{Rule: r, release: make(chan struct{})})
	return r.ID, nil
}

// Remove removes a rule and releases the requests it holds. It reports whether the rule
// existed.
func (b *Book) Remove(id int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.rules, func(e *entry) bool { return e.ID == id })
	if i < 0 {
		return false
	}
	close(b.rules[i].release)
	b.rules = slices.Delete(b.rules, i, i+1)
	return true
}

// Reset removes all rules, releases the requests they hold and clears the counts.
func (b *Book) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.rules {
		close(e.release)
	}
	b.rules, b.requests = nil, nil
}

// Rules lists the rules, oldest first.
func (b *Book) Rules() []Rule {
	b.mu.Lock()
	defer b.mu.Unlock()
	rules := make([]Rule, len(b.rules))
	for i, e := range b.rules {
		rules[i] = e.Rule
	}
	return rules
}

// Counts returns the number of requests to each target, answered or not.
func (b *Book) Counts() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	counts := make(map[string]int, len(b.requests))
	for target, n := range b.requests {
		counts[target] = n
	}
	return counts
}

// Held returns the number of requests that are being held.
func (b *Book) Held() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Decide counts a request and returns what is to happen to it. A batch has several targets.
func (b *Book) Decide(targets ...string) Decision {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests == nil {
		b.requests = map[string]int{}
	}
	for _, t := range targets {
		b.requests[t]++
	}
	fate := Decision{book: b, targets: targets}
	for _, e := range b.rules {
		if !slices.ContainsFunc(targets, e.Matches) || (e.Kind != Lie && fate.fault != nil) {
			continue
		}
		if e.seen++; e.seen <= e.Skip || (e.Times > 0 && e.seen > e.Skip+e.Times) {
			continue
		}
		if e.Kind == Lie {
			fate.lies = append(fate.lies, e.Rule)
		} else {
			fate.fault = e
		}
	}
	return fate
}
