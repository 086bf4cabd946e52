package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestHide checks that everything in a base URL that is not published is hidden, in any
// case and escaping, and short words only where they stand alone.
func TestHide(t *testing.T) {
	const public = "https://api.example.org/v1"
	for _, c := range []struct{ base, published, text, want string }{
		{public, public, "api.example.org/v1", "api.example.org/v1"},
		{public, "", "api.example.org/v1 of v10", "[redacted]/[redacted] of v10"},
		{"https://keys.example.org/v1/s3cr3t-token", public, "HTTPS:\\/\\/KEYS.example.org\\/v1\\/S3CR3T-TOKEN", "HTTPS://[redacted]/v1/[redacted]"},
		{"https://my-token-1.proxy.example.com:8443/v1", public, "my-token-1.proxy.example.com:8443 my-token-1.proxy.example.com xmy-token-1 .com", "[redacted] [redacted] x[redacted] .com"},
		{"https://api.example.org/v1/a%2Fb+c=d%20/e", public, "a/b+c=d  a%2Fb+c=d%20 e ee", "[redacted]/[redacted] [redacted] [redacted] ee"},
		{"http://127.0.0.1:8545/v1/s3cr3t-token", public, "127.0.0.1:8545/v1/s3cr3t-token", "127.0.0.1:8545/v1/[redacted]"},
		{"https://198.51.100.7/v1", public, "198.51.100.7 of 198", "[redacted] of 198"},
	} {
		client, err := New(Config{Name: "x", Base: c.base, Published: c.published, Reach: PublicOrLoopback})
		if err != nil {
			t.Fatal(err)
		}
		var r Recorder
		r.addSecrets(client.secretPatterns(Call{}, nil))
		if got := r.Redact(c.text); got != c.want {
			t.Errorf("%s: %q is hidden as %q, want %q", c.base, c.text, got, c.want)
		}
	}
}

// TestHideBefore checks that what a call carries is hidden even if its answer never came.
func TestHideBefore(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c, err := New(Config{Name: "x", Base: s.URL, Reach: LoopbackOnly, Limits: Limits{Attempts: 1}, Secrets: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer s3cr3t"}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, r := Record(t.Context())
	if _, err := c.WithOwnBreaker().Do(ctx, Call{Method: http.MethodPost}); err == nil || len(r.Last()) != 0 {
		t.Fatal(err, r.Last())
	}
	if got := r.Redact("of S3CR3T"); got != "of [redacted]" {
		t.Errorf("Redact = %q, want of [redacted]", got)
	}
}
