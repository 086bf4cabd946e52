package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"

	"swapkeep/internal/clock"
)

const (
	maxResponse  = 8 << 20 // bytes of one response
	maxErrorText = 300     // characters of a node's text that are passed on
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = time.Minute
)

// An endpoint is one RPC URL of a network. Every use goes through do, which returns no
// result until the endpoint's chain id is known to be right.
type endpoint struct {
	chain   uint64
	host    string // never the path, which often holds an access key
	rpc     *rpc.Client
	eth     *ethclient.Client
	timeout time.Duration

	conns atomic.Uint64 // new connections so far

	mu       sync.Mutex
	checked  bool   // the chain id was right …
	upTo     uint64 // … on all connections up to this count
	failures int
	failed   string // the last failure, without the URL; "" = the last use succeeded
	retryAt  time.Time
	lie      string    // what it forged last …
	lieUntil time.Time // … and until when it is asked last for that, however well it answers
	seen     seenHead

	noSimulate atomic.Int64 // when it said that it has no eth_simulateV1, in Unix nanoseconds
	width      logWidth
}

func newEndpoint(chain uint64, u *url.URL, client *http.Client, timeout time.Duration) (*endpoint, error) {
	c, err := rpc.DialOptions(context.Background(), u.String(), rpc.WithHTTPClient(client))
	if err != nil {
		return nil, fmt.Errorf("rpc endpoint %s: %w", u.Host, stripURL(err))
	}
	return &endpoint{chain: chain, host: hostOf(u), rpc: c, eth: ethclient.NewClient(c), timeout: timeout}, nil
}

// hostOf normalizes u's host: two spellings are not two sources.
func hostOf(u *url.URL) string {
	name, port := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port()
	if port == "" || port == map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		return name
	}
	return net.JoinHostPort(name, port)
}

// A nodeError is a JSON-RPC error: the node was reached and answered with it.
type nodeError struct {
	host string
	code int
	text string
	data any
}

func (e *nodeError) Is(target error) bool { return target == ErrNode }

func (e *nodeError) Error() string { return fmt.Sprintf("%s: %s (code %d)", e.host, e.text, e.code) }

// A statusError is an HTTP error status in place of an answer.
type statusError struct {
	host   string
	status int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: http status %d", e.host, e.status) }

// do runs call against e under a deadline. It checks the chain id before the first use,
// after a failure, and again before it returns the result of a call that opened a new
// connection. reached reports whether call's request can have left this process.
func (e *endpoint) do(ctx context.Context, call func(context.Context) error) (reached bool, err error) {
	if err := e.check(ctx); err != nil {
		return false, err
	}
	x, err := e.exchange(ctx, call)
	if x.fresh.Load() > 0 && answered(err) {
		if cerr := e.check(ctx); cerr != nil {
			return x.reached.Load(), cerr
		}
	}
	return x.reached.Load(), err
}

// answered reports whether err, from exchange, is the node's own answer.
func answered(err error) bool {
	var ne *nodeError
	return err == nil || errors.Is(err, ethereum.NotFound) || errors.As(err, &ne)
}

// check makes sure that e serves its chain, and asks only if that is not known.
func (e *endpoint) check(ctx context.Context) error {
	before := e.conns.Load()
	e.mu.Lock()
	known := e.checked && e.upTo == before
	e.mu.Unlock()
	if known {
		return nil
	}
	var id hexutil.Uint64
	x, err := e.exchange(ctx, func(ctx context.Context) error {
		return e.rpc.CallContext(ctx, &id, "eth_chainId")
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if uint64(id) != e.chain {
		err := fmt.Errorf("%s: %w: %d instead of %d", e.host, ErrWrongChain, uint64(id), e.chain)
		e.checked, e.failures, e.failed, e.retryAt = false, e.failures+1, err.Error(), clock.Now().Add(maxBackoff)
		return err
	}
	// A connection that another call opened meanwhile stays unchecked.
	e.checked, e.upTo = true, before+uint64(x.fresh.Load())
	return nil
}

// An exchange records what happened to one request on the transport.
type exchange struct {
	reached atomic.Bool  // there was a connection: the request may have been sent
	fresh   atomic.Int32 // connections opened for it
}

func (e *endpoint) exchange(parent context.Context, call func(context.Context) error) (*exchange, error) {
	x := new(exchange)
	ctx, cancel := context.WithTimeout(parent, e.timeout)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		x.reached.Store(true)
		if !i.Reused {
			x.fresh.Add(1)
			e.conns.Add(1)
		}
	}})
	err := e.redactURL(call(ctx))
	if parent.Err() == nil { // the caller giving up says nothing about e
		e.note(err)
	}
	return x, err
}

// note records whether a use of e succeeded. Each failure in a row doubles the backoff,
// during which e's siblings are asked first.
func (e *endpoint) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if answered(err) && !isRateLimit(err) {
		e.failures, e.failed, e.retryAt = 0, "", time.Time{}
		return
	}
	pause := min(firstBackoff<<min(e.failures, 10), maxBackoff)
	e.failures, e.failed, e.retryAt = e.failures+1, err.Error(), clock.Now().Add(pause)
	if !answered(err) {
		e.checked = false
	}
}

// isRateLimit reports whether err is a node's rate limit error.
func isRateLimit(err error) bool {
	var ne *nodeError
	return errors.As(err, &ne) && (ne.code == -32005 || ne.code == 429 || containsAny(ne.text, []string{"rate limit", "too many requests"}))
}

// backingOff returns when e's backoff ends, and whether that is still to come.
func (e *endpoint) backingOff() (time.Time, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.retryAt
	if e.lieUntil.After(at) {
		at = e.lieUntil
	}
	return at, clock.Now().Before(at)
}

// distrustTime is how long a host that forged something is asked after the others.
const distrustTime = 10 * time.Minute

// distrust makes e rest because it forged something.
func (e *endpoint) distrust(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lie, e.lieUntil = err.Error(), clock.Now().Add(distrustTime)
}

// redactURL rewrites an error so that it names the host and never the URL.
func (e *endpoint) redactURL(err error) error {
	if err == nil || errors.Is(err, ethereum.NotFound) {
		return err
	}
	var answer rpc.Error
	if errors.As(err, &answer) {
		ne := &nodeError{host: e.host, code: answer.ErrorCode(), text: sanitize(answer.Error())}
		var withData rpc.DataError
		if errors.As(err, &withData) {
			ne.data = withData.ErrorData()
		}
		return ne
	}
	var status rpc.HTTPError
	if errors.As(err, &status) {
		return &statusError{e.host, status.StatusCode}
	}
	return &transportError{e.host, stripURL(err)}
}

// A transportError is a failure without an answer. Its text may quote what a node sent.
type transportError struct {
	host string
	err  error
}

func (e *transportError) Error() string {
	return fmt.Sprintf("%s: %s", e.host, sanitize(e.err.Error()))
}
func (e *transportError) Unwrap() error { return e.err }

// stripURL strips the URL that net/http adds to its errors.
func stripURL(err error) error {
	var located *url.Error
	if errors.As(err, &located) {
		return located.Err
	}
	return err
}

// sanitize makes a node's text safe for a log or a screen.
func sanitize(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar { // includes characters that reverse the text's direction
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > maxErrorText {
		text = string(r[:maxErrorText]) + "…"
	}
	return text
}

// reverted reports whether err says that the call itself failed, and why.
func reverted(err error) (reason string, ok bool) {
	var ne *nodeError
	if !errors.As(err, &ne) {
		return "", false
	}
	if ne.code != 3 && ne.code != -32015 && !containsAny(ne.text, revertTexts) {
		return "", false
	}
	if data, isText := ne.data.(string); isText {
		if raw, err := hexutil.Decode(data); err == nil {
			return revertReason(raw, ne.text), true
		}
	}
	return ne.text, true
}

// revertReason decodes Error(string) and Panic(uint256), else names the selector of a
// custom error, else returns text.
func revertReason(data []byte, text string) string {
	if why, err := abi.UnpackRevert(data); err == nil {
		return sanitize(why)
	}
	if len(data) >= 4 {
		return fmt.Sprintf("%s, custom error %#x", text, data[:4])
	}
	return text
}

// wouldRevert maps a node's error on a call to ErrWouldRevert or ErrFunds, and returns
// any other error as it is.
func wouldRevert(err error) error {
	if reason, ok := reverted(err); ok {
		return fmt.Errorf("%w: %s", ErrWouldRevert, reason)
	}
	var ne *nodeError
	if errors.As(err, &ne) && containsAny(ne.text, []string{"insufficient funds", "insufficient balance", "upfront cost exceeds"}) {
		return fmt.Errorf("%w: %s", ErrFunds, ne.text)
	}
	return err
}
