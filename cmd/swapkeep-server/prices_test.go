//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/web"
	"swapkeep/providers/keyproxy"

	"github.com/rs/zerolog"
)

// TestPricesRefusesToStart: an invalid configuration is reported at once, with what to do
// and without a password.
func TestPricesRefusesToStart(t *testing.T) {
	const hidden = "hidden-password"
	postgresURL, redisURL := "postgres://u:"+hidden+"@127.0.0.1:1/db", "redis://:"+hidden+"@127.0.0.1:1/0"
	both := []string{postgresVariable + "=" + postgresURL, redisVariable + "=" + redisURL}
	only := func(variable, value string) []string { return []string{variable + "=" + value} }
	open := write(t, "open", postgresURL, 0o644)
	empty := write(t, "empty", "\n", 0o600)
	for name, c := range map[string]struct {
		config string
		env    []string
		says   string
	}{
		"no postgres":        {"", only(redisVariable, redisURL), "no postgres: set " + postgresVariable},
		"no redis":           {"", only(postgresVariable, postgresURL), "no redis: set " + redisVariable},
		"postgres is down":   {"", both, "postgresql: failed to connect"},
		"plain password":     {"[postgres]\nurl = \"" + postgresURL + "\"", only(redisVariable, redisURL), "postgres.url has a password: move the URL into a file"},
		"words":              {"[postgres]\nurl = \"host=127.0.0.1 password=" + hidden + "\"", only(redisVariable, redisURL), "postgres.url has a password"},
		"plain redis":        {"[redis]\nurl = \"" + redisURL + "\"", only(postgresVariable, postgresURL), "redis.url has a password"},
		"twice":              {"[postgres]\nurl = \"postgres://u@127.0.0.1/db\"", both, "the postgres url is set twice"},
		"url and file":       {"[redis]\nurl = \"unix:///a\"\nurl_file = \"b\"", only(postgresVariable, postgresURL), "set url or url_file, not both"},
		"open file":          {"[postgres]\nurl_file = \"" + open + "\"", only(redisVariable, redisURL), "must be 0600"},
		"empty file":         {"[postgres]\nurl_file = \"" + empty + "\"", only(redisVariable, redisURL), "empty"},
		"bad url":            {"", []string{postgresVariable + "=postgres://u:" + hidden + "%zz@127.0.0.1/db", redisVariable + "=" + redisURL}, "the PostgreSQL URL cannot be read"},
		"far away, plain":    {"", []string{postgresVariable + "=postgres://u:" + hidden + "@db.example/db", redisVariable + "=" + redisURL}, "add sslmode=verify-full"},
		"unknown key":        {"postgres_url = \"x\"", both, "unknown key postgres_url"},
		"unknown source":     {"[sources.prophet]\nbase_url = \"https://a.example\"", both, "unknown key sources.prophet"},
		"key of no use":      {"[sources.defillama]\nkey_file = \"x\"", both, "sources.defillama takes no key"},
		"source outside":     {"[sources.defillama]\nbase_url = \"https://a.example\"", both, "the sandbox reaches nothing else"},
		"unknown network":    {"[networks.7]\nrpc = [\"http://127.0.0.1:1\"]", both, "networks.7"},
		"everybody trusted":  {"trusted_proxies = [\"0.0.0.0/0\"]", both, "includes everyone"},
		"no network trusted": {"trusted_proxies = [\"10.0.0.1\"]", both, "is not a network"},
		"anonymous":          {"anonymous = true", both, "requires keys_file"},
		"rate":               {"[limits]\nrate = 0.0", both, "a rate is"},
		"half of tls":        {"[tls]\ncert = \"a\"", both, "both cert and key"},
		"no keys":            {"keys_file = \"" + write(t, "keys", "", 0o600) + "\"", both, "no tokens configured"},
		"keys of others":     {"keys_file = \"" + write(t, "keys", entryOf("a", testToken), 0o666) + "\"", both, "chmod go-w"},
		"bad list":           {"lists = [\"" + write(t, "list", "{}", 0o600) + "\"]", both, "token list"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary, "prices", "--sandbox", "--config", write(t, "c.toml", "listen = \"127.0.0.1:0\"\n"+c.config, 0o644))
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.says) || strings.Contains(string(out), hidden) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// FuzzPricesConfig: no file crashes the parser, and an accepted file is within its
// limits.
func FuzzPricesConfig(f *testing.F) {
	for _, s := range []string{
		"", "listen = \"127.0.0.1:0\"\nhosts = [\"a\"]\npoll = false\n", "[limits]\nrate = 1e400\nburst = -1", "[networks.1]\nrpc = [\"a\"]\n[sources.coingecko]\nplan = \"pro\"\n",
		"trusted_proxies = [\"10.0.0.0/8\", \"::/0\"]", "[postgres]\nurl = \"postgres://u:p@h/d\"\nconnections = 5", "lists = [\"/a\"]\nanonymous = true\nkeys_file = \"b\"", "[[networks]]", "\x00",
	} {
		f.Add(s)
	}
	path := f.TempDir() + "/prices.toml"
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := readPricesConfig(path)
		if err != nil {
			return
		}
		if err := errors.Join(c.keyed().Check(), c.keyless().Check(), c.check()); err != nil || c.Limits.Connections < 1 || c.Limits.Drain <= 0 {
			t.Fatalf("%q is taken as %+v: %v", text, c, err)
		}
		if _, err := c.hub(true); err == nil && len(c.Networks) > 32 {
			t.Fatalf("%d networks", len(c.Networks))
		}
	})
}

// TestHealthTellsTheTruth: every combination of failures, and one check for all requests
// within a second.
func TestHealthTellsTheTruth(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	down := errors.New("down")
	for _, c := range []struct {
		database, redis error
		age             time.Duration
		want            web.Health
	}{
		{nil, nil, time.Minute, web.Health{Status: web.Healthy, Database: "postgresql: ok", Cache: "redis: ok"}},
		{nil, down, time.Minute, web.Health{Status: web.Degraded, Database: "postgresql: ok", Cache: "redis: failing"}},
		{down, nil, time.Minute, web.Health{Status: web.Degraded, Database: "postgresql: failing", Cache: "redis: ok"}},
		{down, down, time.Minute, web.Health{Status: web.Degraded, Database: "postgresql: failing", Cache: "redis: failing"}},
		{nil, nil, time.Hour, web.Health{Status: web.Degraded, Database: "postgresql: ok", Cache: "redis: ok"}},
		{nil, down, time.Hour, web.Health{Status: web.Degraded, Database: "postgresql: ok", Cache: "redis: failing"}},
		{down, nil, time.Hour, web.Health{Status: web.Unhealthy, Database: "postgresql: failing", Cache: "redis: ok"}},
		{down, down, time.Hour, web.Health{Status: web.Unhealthy, Database: "postgresql: failing", Cache: "redis: failing"}},
	} {
		asked, clock := 0, now
		h := health{
			now: func() time.Time { return clock }, fetched: func() time.Time { return now.Add(-c.age) }, served: func() bool { return true },
			database: func(context.Context) error { asked++; return c.database }, redis: func(context.Context) error { return c.redis },
			failures: &failureLog{log: zerolog.New(io.Discard)},
		}
		for range 5 {
			if got := h.check(t.Context()); got != c.want {
				t.Errorf("%+v: got %+v", c, got)
			}
		}
		clock = clock.Add(time.Second)
		h.check(t.Context())
		if asked != 2 {
			t.Errorf("looked %d times", asked)
		}
	}
	never := health{now: func() time.Time { return now }, fetched: func() time.Time { return time.Time{} }, served: func() bool { return false }, failures: &failureLog{log: zerolog.New(io.Discard)},
		database: func(context.Context) error { return down }, redis: func(context.Context) error { return nil }}
	if got := never.check(t.Context()); got.Status != web.Unhealthy {
		t.Errorf("without any prices: %+v", got)
	}
	oracles := health{now: func() time.Time { return now }, fetched: func() time.Time { return now }, served: func() bool { return false }, failures: never.failures,
		database: func(context.Context) error { return nil }, redis: func(context.Context) error { return nil }}
	if got := oracles.check(t.Context()); got.Status != web.Degraded {
		t.Errorf("by oracles alone: %+v", got)
	}
}

// TestContinuingFailureIsLoggedOnce: a continuing failure is logged once.
func TestContinuingFailureIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	h := failureLog{log: zerolog.New(&log)}
	for range 5 {
		h.record("a", errors.New("down"))
	}
	h.record("b", nil)
	h.record("a", nil)
	h.record("a", nil)
	h.record("a", errors.New("down again"))
	if lines := strings.Split(strings.TrimSpace(log.String()), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "works again") {
		t.Errorf("said %q", lines)
	}
}

func TestKeyring(t *testing.T) {
	k, err := newKeyring([]keyproxy.Token{tokenOf("one", "key-of-one"), tokenOf("two", "key-of-two")})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"key-of-one": "one", "key-of-two": "two", "key-of-three": "", "": ""} {
		if name, ok := k.owner(t.Context(), key); name != want || ok != (want != "") {
			t.Errorf("%q is of %q, %t", key, name, ok)
		}
	}
	if err := k.admit([]keyproxy.Token{tokenOf("a", "x"), tokenOf("b", "x")}); err == nil {
		t.Error("two with one hash are taken")
	}
	if err := k.admit([]keyproxy.Token{{Name: "a", SHA256: "00"}}); err == nil {
		t.Error("half a hash is taken")
	}
	if name, ok := k.owner(t.Context(), "key-of-one"); !ok || name != "one" {
		t.Error("what was refused changed something")
	}
	if err := k.admit(nil); err != nil {
		t.Error(err)
	}
	if _, ok := k.owner(t.Context(), "key-of-one"); ok {
		t.Error("one that was withdrawn is let in")
	}
}

func tokenOf(name, key string) keyproxy.Token {
	var parts [2]string
	if _, err := fmt.Sscanf(strings.ReplaceAll(entryOf(name, key), "\n", " "), "[[tokens]] name = %q sha256 = %q", &parts[0], &parts[1]); err != nil {
		panic(err)
	}
	return keyproxy.Token{Name: parts[0], SHA256: parts[1]}
}
