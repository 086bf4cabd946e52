package main

import (
	"maps"
	"slices"
	"testing"

	"swapkeep/config"
	"swapkeep/keys"
	"swapkeep/keys/keystest"
	"swapkeep/swap"
)

// TestProvidersOpen: which providers a configuration opens. Those with a default URL need
// none outside the sandbox.
func TestProvidersOpen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Config)
		has    map[swap.Kind]bool
	}{
		"by default":             {func(*config.Config) {}, map[swap.Kind]bool{swap.DEX: false, swap.Bridge: true, swap.Intent: true, swap.Gasless: true}},
		"switched off":           {func(c *config.Config) { c.Providers.Gasless.Disabled = true }, map[swap.Kind]bool{swap.Gasless: false}},
		"a key proxy":            {func(c *config.Config) { c.Providers.DEX.BaseURL = "https://dex.example/v1" }, map[swap.Kind]bool{swap.DEX: true}},
		"the sandbox":            {func(c *config.Config) { c.Sandbox = true }, map[swap.Kind]bool{swap.DEX: false, swap.Bridge: false, swap.Intent: false, swap.Gasless: false}},
		"the sandbox's own":      {func(c *config.Config) { c.Sandbox, c.Providers.Gasless.BaseURL = true, "http://127.0.0.1:1" }, map[swap.Kind]bool{swap.Gasless: true}},
		"another partner's name": {func(c *config.Config) { c.Providers.Gasless.Source = "vendor" }, map[swap.Kind]bool{swap.Gasless: true}},
	} {
		cfg := config.Default()
		c.change(&cfg)
		got, err := openProviders(cfg, nil, providerDeps{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for k, want := range c.has {
			if p := got[k]; (p != nil) != want || p != nil && p.Kind() != k {
				t.Errorf("%s: %s among %v", name, k, slices.Collect(maps.Keys(got)))
			}
		}
	}
	cfg := config.Default()
	cfg.Providers.Gasless.Source = "a\nb"
	if _, err := openProviders(cfg, nil, providerDeps{}); err == nil {
		t.Error("a partner id with a line break is accepted")
	}
}

// TestIntentAddresses: the URLs of the intent provider for the daemon and for windows are
// two settings. The second defaults to the first, and the first to the built-in URL.
func TestIntentAddresses(t *testing.T) {
	for _, c := range []struct{ base, frontend, wantBase, wantFrontend string }{
		{"", "", "https://api.hyperstream.dev", "https://api.hyperstream.dev"},
		{"https://intent.example", "", "https://intent.example", "https://intent.example"},
		{"", "https://tokens.example", "https://api.hyperstream.dev", "https://tokens.example"},
		{"https://intent.example", "https://tokens.example", "https://intent.example", "https://tokens.example"},
	} {
		cfg := config.Default()
		cfg.Providers.Intent.BaseURL, cfg.Providers.Intent.FrontendBaseURL = c.base, c.frontend
		got, err := openProviders(cfg, nil, providerDeps{})
		if err != nil {
			t.Fatal(err)
		}
		at := got[swap.Intent].(swap.Endpointer).Endpoint()
		if at.Base != c.wantBase || at.Frontend != c.wantFrontend || len(at.Networks) != len(swap.SupportedChains()) {
			t.Errorf("%+v, want %s and %s", at, c.wantBase, c.wantFrontend)
		}
	}
}

// TestKeyStaysWithItsHost: a key that was set for one URL of a provider is not sent to
// another, neither at once nor after a restart; a key set after the change belongs to the
// new URL.
func TestKeyStaysWithItsHost(t *testing.T) {
	store, err := keys.NewStore(&keystest.Memory{}, "of.this.test", keys.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	k := providerKeys{keys.NewProviderKeys(store), func() config.Config { return cfg }}
	sent := func(kind swap.Kind, cfg config.Config) string {
		got, err := k.Get(t.Context(), keyItem(string(kind), cfg))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	set := func(kind swap.Kind, key string) {
		if err := k.SetProviderKey(t.Context(), string(kind), []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	set(swap.Bridge, "ours")
	set(swap.Gasless, "makers")
	before := cfg
	cfg.Providers.Bridge.BaseURL = "https://stranger.example/v1"
	if got := sent(swap.Bridge, cfg); got != "" {
		t.Errorf("a stranger's host gets %q", got)
	}
	set(swap.Bridge, "theirs")
	if sent(swap.Bridge, cfg) != "theirs" || sent(swap.Bridge, before) != "ours" || sent(swap.Gasless, cfg) != "makers" {
		t.Error("keys are mixed up")
	}
	cfg.Providers.Bridge.BaseURL = "https://STRANGER.example/v2"
	if sent(swap.Bridge, cfg) != "theirs" {
		t.Error("another path of the same host is another address")
	}
	for _, kind := range []swap.Kind{swap.DEX, swap.Gasless} {
		other := cfg
		other.Providers.DEX.BaseURL, other.Providers.Gasless.BaseURL = "https://stranger.example", "https://stranger.example"
		if got := sent(kind, other); got != "" {
			t.Errorf("%s: a stranger's host gets %q", kind, got)
		}
	}
	if err := k.SetProviderKey(t.Context(), string(swap.Intent), []byte("x")); err == nil {
		t.Error("a key that nobody uses is kept")
	}
}

// TestFrontendAddress: windows get no URL of the intent provider that the daemon itself
// would refuse.
func TestFrontendAddress(t *testing.T) {
	for _, c := range []struct {
		sandbox bool
		url     string
	}{
		{true, "javascript://127.0.0.1/%0aalert(1)"}, {true, "http://127.0.0.1:1/?"}, {true, "https://tokens.example"},
		{false, "https://127.0.0.2"}, {false, "https://wallet.localhost"}, {false, "http://tokens.example"}, {false, "https://user@tokens.example"},
	} {
		cfg := config.Default()
		cfg.Sandbox = c.sandbox
		cfg.Providers.Intent.FrontendBaseURL = c.url
		if c.sandbox {
			cfg.Providers.Intent.BaseURL = "http://127.0.0.1:1"
		}
		if _, err := openProviders(cfg, nil, providerDeps{}); err == nil {
			t.Errorf("sandbox %v: %s is accepted", c.sandbox, c.url)
		}
	}
}
