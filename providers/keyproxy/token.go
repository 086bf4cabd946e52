package keyproxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A Token allows one installation. The proxy knows only its hash.
type Token struct {
	Name   string // for the log, never sent
	SHA256 string // of the token's text, 64 hex digits
}

// maxTokens bounds the cost of comparing a token on each request.
const maxTokens = 10_000

// Bounds on a token's length in characters. Tokens have at least 128 bits.
const (
	minToken = 22
	maxToken = 256
)

// An install is one token with its own rate limiter.
type install struct {
	name   string
	hash   [sha256.Size]byte
	bucket *rate.Limiter
	window int64 // the last shareWindow in which it called
}

// A gate checks tokens and shares the provider's rate limit among them.
type gate struct {
	installs atomic.Pointer[[]*install] // the lists themselves are immutable
	limits   Limits

	mu     sync.Mutex
	global *rate.Limiter
	paused time.Time // the provider answered 429: no calls before this time
	window int64
	active [2]int // installs that called in the last window, and in this one
}

func newGate(tokens []Token, l Limits) (*gate, error) {
	if len(tokens) == 0 {
		return nil, errors.New("tokens: there are none: nobody would be let in")
	}
	g := &gate{limits: l, global: rate.NewLimiter(rate.Limit(l.Rate), l.Burst)}
	g.installs.Store(&[]*install{})
	return g, g.setTokens(tokens)
}

// setTokens replaces the allowed tokens; an empty list withdraws them all. A token that stays
// keeps its rate limiter. On error nothing changes.
func (g *gate) setTokens(tokens []Token) error {
	if len(tokens) > maxTokens {
		return fmt.Errorf("tokens: there are %d: must be at most %d", len(tokens), maxTokens)
	}
	before := map[[sha256.Size]byte]*install{}
	for _, i := range *g.installs.Load() {
		before[i.hash] = i
	}
	seen := map[[sha256.Size]byte]bool{}
	installs := make([]*install, 0, len(tokens))
	for _, t := range tokens {
		hash, err := t.Hash()
		if err == nil && seen[hash] {
			err = fmt.Errorf("token %q: every token needs a different hash", t.Name)
		}
		if err != nil {
			return err
		}
		seen[hash] = true
		i := before[hash]
		if i == nil || i.name != t.Name {
			i = g.newInstall(t.Name, hash)
		}
		installs = append(installs, i)
	}
	g.installs.Store(&installs)
	return nil
}

func (g *gate) newInstall(name string, hash [sha256.Size]byte) *install {
	burst := max(1, int(math.Ceil(float64(g.limits.Burst)*g.limits.Share)))
	return &install{name: name, hash: hash, window: -1, bucket: rate.NewLimiter(rate.Limit(g.limits.Rate*g.limits.Share), burst)}
}

// Hash decodes the token's hash. It refuses a malformed one, an empty name and the hash of
// the empty text.
func (t Token) Hash() (sum [sha256.Size]byte, err error) {
	n, err := hex.Decode(sum[:], []byte(fit(t.SHA256)))
	switch {
	case err != nil || n != sha256.Size:
		return sum, fmt.Errorf("token %q: sha256 must be 64 hex digits", t.Name)
	case t.Name == "":
		return sum, errors.New("every token needs a name")
	case sum == sha256.Sum256(nil):
		return sum, fmt.Errorf("token %q: its hash is that of the empty text", t.Name)
	}
	return sum, nil
}

// fit returns "" for a hash of the wrong length, which must not be decoded past its array.
func fit(s string) string {
	if len(s) != 2*sha256.Size {
		return ""
	}
	return s
}

// authenticate returns the install whose token the request carries. It compares every hash, in
// constant time.
func (g *gate) authenticate(r *http.Request) (*install, *refusal) {
	v := r.Header.Values("Authorization")
	if len(v) != 1 {
		return nil, refuse(unauthorized, "send authorization: Bearer and the token of this installation")
	}
	scheme, token, ok := strings.Cut(v[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || len(token) < minToken || len(token) > maxToken {
		return nil, refuse(unauthorized, "send authorization: Bearer and the token of this installation")
	}
	hash := sha256.Sum256([]byte(token))
	found := -1
	installs := *g.installs.Load()
	for i, in := range installs {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], in.hash[:]), i, found)
	}
	if found < 0 {
		return nil, refuse(unauthorized, "this token is not known here; it may have been withdrawn")
	}
	return installs[found], nil
}

// shareWindow is how long an install counts as active after a call.
const shareWindow = 10 * time.Second

// reserveCall reserves one call now. An install's rate is Limits.Share of the global rate, but at
// most an equal part among the active installs. If place refuses, no quota is used.
func (g *gate) reserveCall(in *install, now time.Time, place func(*install) *refusal) *refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.countActive(in, now)
	if wait := g.paused.Sub(now); wait > 0 {
		return limited(wait, "the provider asked for a pause")
	}
	part := min(g.limits.Share, 1/float64(max(g.active[0], g.active[1], 1)))
	in.bucket.SetLimitAt(now, rate.Limit(g.limits.Rate*part))
	own := in.bucket.ReserveN(now, 1)
	if wait := own.DelayFrom(now); wait > 0 {
		own.CancelAt(now)
		return limited(wait, "this installation has used its share")
	}
	all := g.global.ReserveN(now, 1)
	if wait := all.DelayFrom(now); wait > 0 {
		all.CancelAt(now)
		own.CancelAt(now)
		return limited(wait, "all installations together have used the provider's limit")
	}
	if full := place(in); full != nil {
		all.CancelAt(now)
		own.CancelAt(now)
		return full
	}
	return nil
}

func limited(wait time.Duration, why string) *refusal {
	r := refuse(rateLimited, "%s; try again in %s s", why, seconds(wait))
	r.after = wait
	return r
}

// countActive tracks the number of active installs without a list of them.
func (g *gate) countActive(in *install, now time.Time) {
	window := now.UnixNano() / int64(shareWindow)
	switch {
	case window == g.window+1:
		g.active = [2]int{g.active[1], 0}
	case window != g.window:
		g.active = [2]int{}
	}
	g.window = window
	if in.window != window {
		in.window = window
		g.active[1]++
	}
}

// maxPause bounds how long the provider's Retry-After is obeyed.
const maxPause = time.Minute

// pause stops all calls after the provider answered 429.
func (g *gate) pause(now time.Time, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until := now.Add(min(max(wait, time.Second), maxPause))
	if until.After(g.paused) {
		g.paused = until
	}
}
