package main

import (
	"context"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/config"
	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

const passphrase = "seven purple llamas dance"

// A terminal is a command-line connection to a daemon in this process.
type terminal struct {
	t *testing.T
	*client.Client
}

// begin starts a sandbox daemon on a new home, or on an earlier one, and attaches to it
// as a terminal. end stops it.
func begin(t *testing.T, world *sandbox.Sandbox, dir string, change func(*config.Config)) (d *daemon, term terminal, end func()) {
	t.Helper()
	cfg := config.Default()
	cfg.Home, cfg.Sandbox, cfg.Keys.Backend = dir, true, "file"
	cfg.Networks = map[string]config.Network{}
	for _, id := range []uint64{1, 8453} {
		n := world.Chain(id)
		cfg.Networks[strconv.FormatUint(id, 10)] = config.Network{RPC: []string{n.RPC()}, Depth: 1}
	}
	if change != nil {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(t.Context())
	d = &daemon{cfg: cfg, stop: stop, log: zerolog.Nop()}
	if err := d.build(); err != nil {
		_ = d.close()
		t.Fatal(err)
	}
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(ctx, there) }()
	c, err := client.Terminal(ctx, here, version)
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		_ = c.Close()
		<-served
		d.server.Close()
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return d, terminal{t, c}, end
}

func (term terminal) must(method string, params, result any) {
	term.t.Helper()
	if err := term.Call(term.t.Context(), method, params, result); err != nil {
		term.t.Fatalf("%s: %v", method, err)
	}
}

func (term terminal) refused(name, method string, params any) *protocol.Error {
	term.t.Helper()
	err := term.Call(term.t.Context(), method, params, nil)
	var e *protocol.Error
	if !errors.As(err, &e) || e.Name != name {
		term.t.Fatalf("%s: %v, want %s", method, err, name)
	}
	return e
}

func (term terminal) setting(key string, reveal bool) protocol.Setting {
	term.t.Helper()
	var got protocol.SettingsResult
	term.must("settings.get", protocol.SettingsParams{Keys: []string{key}, Reveal: reveal}, &got)
	return got.Settings[0]
}

// pairOf returns the V2 pool of two tokens, which is an ERC-20 token on no list.
func pairOf(t *testing.T, n *sandbox.Chain, a, b common.Address) common.Address {
	t.Helper()
	data := append([]byte{0xe6, 0xa4, 0x39, 0x05}, append(common.LeftPadBytes(a[:], 32), common.LeftPadBytes(b[:], 32)...)...) // getPair
	out, err := n.Client().CallContract(t.Context(), ethereum.CallMsg{To: &n.Network.Contracts.V2Factory, Data: data}, nil)
	if err != nil || len(out) != 32 {
		t.Fatalf("getPair: %x, %v", out, err)
	}
	return common.BytesToAddress(out)
}

// Tokens of real contracts: import, refusals, balances, and a restart.
func TestTokensOfTheChain(t *testing.T) {
	world := sandboxtest.Start(t)
	dir := filepath.Join(t.TempDir(), "home")
	n := world.Chain(1)
	pair := pairOf(t, n, n.Network.Wrapped.Address, n.Network.Tokens[0].Address)
	wire := func(a common.Address) protocol.Address { return protocol.Address(a.Hex()) }
	d, term, end := begin(t, world, dir, nil)

	var found protocol.SearchResult
	term.must("tokens.search", protocol.SearchParams{Query: strings.ToLower(pair.Hex())}, &found)
	if len(found.Tokens) != 0 || found.Importable != wire(pair) {
		t.Fatalf("search: %+v", found)
	}
	var got protocol.ImportTokenResult
	term.must("tokens.import", protocol.ImportTokenParams{Address: wire(pair)}, &got)
	want := protocol.Token{ChainID: 1, Address: wire(pair), Symbol: "UNI-V2", Name: "Uniswap V2", Decimals: 18, Imported: true}
	if got.Token != want || got.Known {
		t.Fatalf("import: %+v", got)
	}
	for _, c := range []struct {
		name string
		at   common.Address
	}{
		{"not_a_token", common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")}, // an account of the public test mnemonic
		{"not_a_token", n.Network.Contracts.V2Router},
		{"not_a_token", n.Network.Contracts.PositionManager},
		{"not_a_token", n.Network.Contracts.Permit2},
		{"not_importable", n.Network.Contracts.Multicall3},
		{"not_a_token", n.Network.Contracts.QuoterV2},
		{"not_importable", common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")},
	} {
		term.refused(c.name, "tokens.import", protocol.ImportTokenParams{Address: wire(c.at)})
	}
	holder := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	usdc := n.Network.Tokens[0]
	if err := n.Fund(t.Context(), holder, usdc.Address, big.NewInt(5_000_000)); err != nil {
		t.Fatal(err)
	}
	var held protocol.BalancesResult
	term.must("tokens.balances", protocol.BalancesParams{Account: wire(holder), WithBalance: true}, &held)
	if len(held.Balances) != 2 || held.Balances[0].Token != protocol.Native || held.Balances[0].Amount != "0" ||
		held.Balances[1].Token != wire(usdc.Address) || held.Balances[1].Amount != "5000000" || held.Balances[1].Known.Symbol != "USDC" {
		t.Errorf("what there is: %+v", held)
	}
	var came []common.Address
	await.Until(t, 30*time.Second, "the transfer is seen", func() bool {
		all, through, err := contracts{d.hub}.Incoming(t.Context(), 1, holder, 1)
		if err != nil {
			t.Fatal(err)
		}
		came = all
		return through > 0 && len(all) > 0
	})
	described, err := contracts{d.hub}.Describe(t.Context(), 1, []common.Address{usdc.Address, holder})
	if !slices.Equal(came, []common.Address{usdc.Address}) || err != nil || len(described[0].Decimals) != 32 || described[0].Decimals[31] != 6 || len(described[0].Symbol) == 0 || len(described[1].Symbol) != 0 {
		t.Errorf("came in: %v; described as %+v, %v", came, described, err)
	}
	term.refused("unknown_account", "tokens.incoming", protocol.IncomingParams{Account: wire(holder)})
	held = protocol.BalancesResult{}
	term.must("tokens.balances", protocol.BalancesParams{Account: wire(holder)}, &held)
	if len(held.Balances) < 60 || held.Balances[1].Token != wire(usdc.Address) || !slices.ContainsFunc(held.Balances, func(b protocol.Balance) bool { return b.Token == wire(pair) && b.Amount == "0" }) {
		t.Errorf("all: %d, second %+v", len(held.Balances), held.Balances[1])
	}
	end()

	_, term, _ = begin(t, world, dir, nil)
	term.must("tokens.search", protocol.SearchParams{Query: "uni-v2"}, &found)
	if len(found.Tokens) != 1 || found.Tokens[0] != want {
		t.Errorf("after a restart: %+v", found)
	}
	var removed protocol.RemoveTokenResult
	term.must("tokens.remove", protocol.RemoveTokenParams{Address: wire(pair)}, &removed)
	if !removed.Removed {
		t.Error("not removed")
	}
}

// Lists that are invalid, missing or not files do not keep a daemon from starting; they
// are left out and reported.
func TestListsThatAreWrong(t *testing.T) {
	world := sandboxtest.Start(t)
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	row := `{"chainId":1,"address":"0x00000000000000000000000000000000000a11ce","symbol":"FOO","name":"Foo","decimals":6}`
	list := `{"name":"Mine","timestamp":"2026-01-02T03:04:05Z","version":{"major":1,"minor":0,"patch":0},"tokens":[` + row + `]}`
	for path, text := range map[string]string{good: list, bad: list + "\x1b[2J"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, term, _ := begin(t, world, filepath.Join(t.TempDir(), "home"), func(c *config.Config) {
		c.Tokens.Lists = []string{bad, filepath.Join(dir, "none.json"), dir, good}
	})
	var found protocol.SearchResult
	term.must("tokens.search", protocol.SearchParams{Query: "foo"}, &found)
	if len(found.Tokens) == 0 || found.Tokens[0].List != "Mine" {
		t.Errorf("the good list: %+v", found)
	}
	var status protocol.StatusResult
	term.must("host.status", nil, &status)
	told := 0
	for _, p := range status.Problems {
		if p.Name == "tokens" {
			told++
		}
	}
	if told != 3 {
		t.Errorf("problems: %+v", status.Problems)
	}
}

// Required rights and effects of settings in a daemon with real parts.
func TestSettingsOfADaemon(t *testing.T) {
	world := sandboxtest.Start(t)
	dir := filepath.Join(t.TempDir(), "home")
	d, term, end := begin(t, world, dir, nil)
	rpc := func(id uint64) string { return world.Chain(id).RPC() + "/ACCESSKEY" }
	host := strings.TrimPrefix(world.Chain(1).RPC(), "http://")
	const key = "networks.1.rpc"

	term.refused("no_wallet", "settings.set", protocol.SetParams{Key: key, Values: []string{rpc(1)}, Password: protocol.Secret(passphrase)})
	term.must("keys.create", protocol.CreateParams{Request: "0b8c6f3e-7c1f-4d55-9d3c-6f1f0a6f7d11", Password: protocol.Secret(passphrase)}, nil)
	term.must("keys.unlock", protocol.UnlockParams{Password: protocol.Secret(passphrase)}, nil)
	value := func(s string) *string { return &s }
	term.must("settings.set", protocol.SetParams{Key: "keys.auto_lock", Value: value("3m")}, nil)
	if d.vault.AutoLock() != 3*time.Minute {
		t.Errorf("auto-lock is %s", d.vault.AutoLock())
	}
	if l := d.limits(); l.Hour.Int64() != 5_000e6 || l.Unpriced.Int64() != 100e6 {
		t.Errorf("limits %+v", l)
	}
	term.must("settings.set", protocol.SetParams{Key: "limits.hourly_worth", Value: value("250"), Password: protocol.Secret(passphrase)}, nil)
	if l := d.limits(); l.Hour.Int64() != 250e6 {
		t.Errorf("limits %+v", l)
	}

	// An open session does not replace the password.
	term.refused("bad_params", "settings.set", protocol.SetParams{Key: key, Values: []string{rpc(1)}})
	e := term.refused("rpc_refused", "settings.set", protocol.SetParams{Key: key, Values: []string{rpc(1), rpc(8453)}, Password: protocol.Secret(passphrase)})
	if strings.Contains(e.Message, "ACCESSKEY") {
		t.Errorf("the path is told: %s", e.Message)
	}
	term.refused("setting_refused", "settings.set", protocol.SetParams{Key: key, Values: []string{"https://outside.example"}, Password: protocol.Secret(passphrase)})
	var changed protocol.SetResult
	term.must("settings.set", protocol.SetParams{Key: key, Values: []string{rpc(1)}, Password: protocol.Secret(passphrase)}, &changed)
	if !slices.Equal(changed.Setting.Values, []string{host}) || changed.Setting.Source != protocol.FromSetting {
		t.Errorf("%+v", changed.Setting)
	}
	if n, err := d.hub.Network(1); err != nil || n.RPC[0] != rpc(1) || n.Depth != 1 {
		t.Errorf("not in effect: %+v, %v", n, err)
	}
	var networks protocol.NetworksResult
	term.must("networks.list", nil, &networks)
	if n := networks.Networks[0]; len(n.RPC) != 1 || n.RPC[0].Host != host || n.WrappedNative == "" || n.Fees == "" || n.BlockTimeSeconds == 0 {
		t.Errorf("%+v", n)
	}
	if whole := term.setting(key, true); whole.Values[0] != rpc(1) {
		t.Errorf("%+v", whole)
	}

	term.must("providers.set_key", protocol.SetKeyParams{Provider: "dex", Key: protocol.Secret("token-of-this-test"), Password: protocol.Secret(passphrase)}, nil)
	if got, err := d.provided.Get(t.Context(), "dex"); err != nil || got != "token-of-this-test" {
		t.Errorf("%q, %v", got, err)
	}
	end()

	d, term, _ = begin(t, world, dir, func(c *config.Config) { c.Providers.DEX.Token = strings.Repeat("t", 22) })
	if n, err := d.hub.Network(1); err != nil || n.RPC[0] != rpc(1) || d.vault.AutoLock() != 3*time.Minute {
		t.Errorf("after a restart: %+v, %v", n, err)
	}
	if got, err := d.provided.Get(t.Context(), "dex"); err != nil || got != "token-of-this-test" {
		t.Errorf("after a restart: %q, %v", got, err)
	}
	setKey := protocol.SetKeyParams{Provider: "dex", Key: protocol.Secret("x"), Password: protocol.Secret(passphrase)}
	term.refused("setting_overridden", "providers.set_key", setKey) // the environment's token has precedence
	term.must("settings.set", protocol.SetParams{Key: key, Reset: true, Password: protocol.Secret(passphrase)}, nil)
	if n, _ := d.hub.Network(1); n.RPC[0] != world.Chain(1).RPC() {
		t.Errorf("not reset: %+v", n)
	}
	// Wrong passwords count towards the throttle in any method.
	for range 3 {
		term.refused("wrong_password", "settings.set", protocol.SetParams{Key: key, Reset: true, Password: protocol.Secret("not the password")})
	}
	for _, c := range []struct {
		method string
		params any
	}{
		{"settings.set", protocol.SetParams{Key: key, Reset: true, Password: protocol.Secret(passphrase)}},
		{"providers.set_key", setKey},
	} {
		term.refused("backing_off", c.method, c.params)
	}
}
