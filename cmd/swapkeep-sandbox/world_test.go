package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"swapkeep/cmd/internal/screen"
	"swapkeep/providers/dex"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/swap"
)

// A wiretap is a proxy between a wallet and the key proxy that records all traffic.
type wiretap struct {
	url string

	mu   sync.Mutex
	seen bytes.Buffer
}

func tap(t *testing.T, to string) *wiretap {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &wiretap{}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: u.Scheme, Host: u.Host})
			r.Out.Header.Del("X-Forwarded-For")
			dump, _ := httputil.DumpRequest(r.In, true)
			w.keep(dump)
			r.Out.Body = r.In.Body // DumpRequest replaced it
		},
		ModifyResponse: func(r *http.Response) error {
			dump, err := httputil.DumpResponse(r, true)
			w.keep(dump)
			return err
		},
	}
	s := httptest.NewServer(forward)
	t.Cleanup(s.Close)
	w.url = s.URL + u.Path
	return w
}

func (w *wiretap) keep(dump []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Write(dump)
}

// carries reports whether the text was in the traffic.
func (w *wiretap) carries(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Contains(w.seen.Bytes(), []byte(text))
}

func openTestWorld(t *testing.T) (*world, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "world")
	w, err := openWorld(t.Context(), sandbox.Options{Chains: []uint64{1}, Instant: true}, dir, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, dir
}

// asked quotes through base with a token, including the wallet's fee.
func asked(t *testing.T, w *world, base, token string) error {
	t.Helper()
	p, err := dex.New(dex.Config{Base: base, Sandbox: true, Token: func(context.Context) (string, error) { return token, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	who := w.Accounts()[0].Address
	offers, err := p.Quote(t.Context(), swap.QuoteRequest{
		Account: who, Recipient: who, RefundTo: who, SrcChain: 1, DstChain: 1, TokenOut: w.Chain(1).Network.Tokens[0].Address,
		AmountIn: big.NewInt(1e17), SlippageBps: 50, FeeBps: proxyFee, FeeReceiver: sandbox.FeeReceiver,
	})
	if err == nil && len(offers) == 0 {
		err = errors.New("no offer")
	}
	return err
}

func refusedAs(err error) swap.Code {
	var r *swap.Refusal
	if !errors.As(err, &r) {
		return ""
	}
	return r.Code
}

// The DEX accepts only its API key. The wallet gets answers with its token, and the key
// never passes between wallet and proxy.
func TestKeyStaysInTheProxy(t *testing.T) {
	w, dir := openTestWorld(t)
	raw, err := os.ReadFile(filepath.Join(dir, "dex-token"))
	if err != nil {
		t.Fatal(err)
	}
	token, wire := strings.TrimSpace(string(raw)), tap(t, w.url)
	if err := asked(t, w, wire.url, token); err != nil {
		t.Errorf("with the token: %v", err)
	}
	for name, c := range map[string]struct{ base, token string }{
		"no token":              {w.url, ""},
		"another token":         {w.url, strings.Repeat("x", len(token))},
		"no key":                {w.DEXURL(), token},
		"the key is no token":   {w.url, w.key},
		"the token is no key":   {w.DEXURL(), ""},
		"a token of one letter": {w.url, "x"},
	} {
		if err := asked(t, w, c.base, c.token); refusedAs(err) != swap.ProviderKey {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Reset() // the DEX still requires the key
	if err := asked(t, w, w.DEXURL(), token); refusedAs(err) != swap.ProviderKey {
		t.Errorf("after a reset: %v", err)
	}
	if _, err := w.DEX().Faults.Add(inject.Rule{Target: "/quote", Kind: inject.HTTP, Status: 401}); err != nil {
		t.Fatal(err)
	}
	if err := asked(t, w, wire.url, token); refusedAs(err) != swap.ProviderKey || !strings.Contains(err.Error(), "its key proxy") {
		t.Errorf("a proxy whose key is refused: %v", err)
	}
	nothingOf(t, dir, w.key)
	if !wire.carries("Bearer "+token) || wire.carries(w.key) {
		t.Error("the wire carries no token, or the key")
	}
}

// nothingOf fails if a file below dir contains the secret.
func nothingOf(t *testing.T, dir, secret string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if files++; bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// The real daemon swaps through the proxy. If the proxy does not know its token, the
// daemon tells the user; a new token takes effect at once; and neither its home nor its
// log contains the key.
func TestDaemonKnowsATokenOnly(t *testing.T) {
	s := &demoRun{demoOptions: quick(t, programs(t)), out: screen.New(io.Discard, os.Getenv)}
	t.Cleanup(func() {
		if s.clean(context.WithoutCancel(t.Context())) {
			t.Error("something is left")
		}
	})
	for _, act := range []func(context.Context) error{s.directory, s.sandbox, s.chooseKeychain, s.startDaemon, s.wallet, s.fund} {
		if err := act(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(s.dir, "dex-token")
	right, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	quote := func() (exit int, out string) {
		t.Helper()
		exit, lines, err := s.execute(t.Context(), step{line: "swapkeep quote 0.1 ETH USDC --provider dex"})
		if err != nil {
			t.Fatal(err)
		}
		return exit, oneLine(strings.Join(lines, "\n"))
	}
	if exit, out := quote(); exit != 0 {
		t.Fatalf("no offer: %s", out)
	}
	if err := os.WriteFile(file, bytes.Repeat([]byte("x"), 30), 0o600); err != nil {
		t.Fatal(err)
	}
	if exit, out := quote(); exit != exitSwap || !strings.Contains(out, "provider_key") || !strings.Contains(out, "token") {
		t.Errorf("with a wrong token: exit status %d, %s", exit, out)
	}
	if err := os.WriteFile(file, right, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit, out := quote(); exit != 0 {
		t.Errorf("with the right token again: %s", out)
	}
	key := s.box.DEX().Settings().APIKey
	if len(key) < 20 {
		t.Fatalf("the DEX demands %q", key)
	}
	nothingOf(t, s.dir, key)
	nothingOf(t, filepath.Join(s.dir, "home"), strings.TrimSpace(string(right)))
}
