package keyproxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// An upstream is the provider. Each call is sent once: the wallet decides whether it is
// safe to repeat, and a failure is reported as it is.
type upstream struct {
	base      string
	key       string
	limits    Limits
	transport *http.Transport
	now       func() time.Time
}

func newUpstream(c Config) (*upstream, error) {
	base, err := upstreamBase(c.Upstream, c.Sandbox)
	if err != nil {
		return nil, err
	}
	return &upstream{base: base, key: c.Key, limits: c.Limits, now: c.Now, transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment, // never used for loopback
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    c.Limits.ReplyTime,
		MaxResponseHeaderBytes: 64 << 10,
		MaxConnsPerHost:        c.Limits.Running,
		MaxIdleConnsPerHost:    c.Limits.Running,
		IdleConnTimeout:        time.Minute,
	}}, nil
}

// upstreamBase checks where the key will be sent: to an https URL, or in the sandbox to a
// service on loopback.
func upstreamBase(raw string, sandbox bool) (string, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errors.New("upstream: must have the form https://host/path")
	}
	own := isLoopback(u.Hostname())
	switch {
	case sandbox && !own:
		return "", errors.New("upstream: must be on this machine: the sandbox reaches nothing else")
	case !sandbox && (own || u.Scheme != "https"):
		return "", errors.New("upstream: must be https and not this machine; only --sandbox may do otherwise")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("upstream: must be http or https")
	}
	return u.String(), nil
}

// isLoopback judges by the text alone: nothing is resolved.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost"
}

// A reply is the provider's reply, with the headers that clients need.
type reply struct {
	status int
	body   []byte
	date   string        // the provider's clock decides how old a quote is
	after  time.Duration // Retry-After, 0 = none
}

func (r *reply) write(w http.ResponseWriter) {
	if r.date != "" {
		w.Header().Set("Date", r.date)
	}
	if r.after > 0 {
		w.Header().Set("Retry-After", seconds(r.after))
	}
	send(w, r.status, r.body)
}

// do sends one call. It uses the bare transport, which follows no redirect, keeps no cookie
// and repeats a POST only if none of it was sent.
func (u *upstream) do(ctx context.Context, c *call) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, u.limits.ReplyTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.method, u.base+c.path, bytes.NewReader(c.body))
	if err != nil {
		return nil, refuse(upstreamLost, "the provider cannot be asked")
	}
	if c.method == http.MethodGet {
		req.Body, req.GetBody = nil, nil
	}
	req.Header = c.header
	req.Header.Set(keyHeader, u.key)
	res, err := u.transport.RoundTrip(req)
	if err != nil {
		return nil, transportRefusal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, u.limits.Reply+1))
	if err != nil {
		return nil, transportRefusal(err)
	}
	return u.checkReply(res, body)
}

// transportRefusal converts a failed exchange. The transport's own text is dropped, since it can repeat
// what was sent.
func transportRefusal(err error) *refusal {
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return refuse(upstreamTimeout, "the provider did not answer in time; what was asked may still be done")
	}
	return refuse(upstreamLost, "the connection to the provider failed; what was asked may still be done")
}

// checkReply passes a reply on only if it is JSON and does not contain the key.
func (u *upstream) checkReply(res *http.Response, body []byte) (*reply, error) {
	after := retryAfter(res.Header.Get("Retry-After"), u.now())
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, refuse(upstreamRedirect, "the provider answered with a redirect, which is never followed")
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return nil, refuse(upstreamKey, "the provider answered %d: it does not accept this proxy's key; tell the wallet's vendor", res.StatusCode)
	case res.StatusCode < 200 || res.StatusCode > 599,
		err != nil, kind != jsonType, int64(len(body)) > u.limits.Reply, !json.Valid(body), u.leaksKey(body):
		r := refuse(upstreamReply, "the provider answered %d with something that is not passed on", res.StatusCode)
		if res.StatusCode >= 400 && res.StatusCode <= 599 {
			r.status, r.after = res.StatusCode, after
		}
		return nil, r
	}
	out := &reply{status: res.StatusCode, body: body, after: after}
	if t, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		out.date = t.UTC().Format(http.TimeFormat)
	}
	return out, nil
}

// leaksKey reports whether the JSON contains the key, in any escaping.
func (u *upstream) leaksKey(body []byte) bool {
	if bytes.Contains(body, []byte(u.key)) {
		return true
	}
	if !bytes.ContainsRune(body, '\\') {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // a number too large for float64 would stop the search
	for {
		t, err := d.Token()
		if err != nil {
			return !errors.Is(err, io.EOF) // what cannot be searched is refused
		}
		if s, ok := t.(string); ok && strings.Contains(s, u.key) {
			return true
		}
	}
}

// retryAfter parses both forms of the header; any other value means no wait.
func retryAfter(v string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, 24*time.Hour)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(t.Sub(now), 0), 24*time.Hour)
	}
	return 0
}
