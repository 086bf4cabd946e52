// Package graph pins which of our packages may import which (the import graph of
// docs/architecture.md). Each new edge is decided here.
package graph

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed lists, for each package, every package of ours that it may import. A name ending
// in /... stands for all packages below it.
var allowed = map[string][]string{
	// lowest level: nothing of ours but the fault points and the clock
	"fault":     {},
	"registers": {},
	"config":    {},
	"durable":   {},
	"home":      {"durable"},
	"listen":    {},
	"manifest":  {},
	"memory":    {},
	"keys":      {"durable", "registers", "fault"},
	"tokens":    {"fault"},
	"rest":      {"fault"},
	"chain":     {"fault"},

	"manifest/gen":          {"manifest"},
	"manifest/manifesttest": {"manifest"},

	"installer":               {"durable", "fault", "manifest"},
	"installer/installertest": {"installer", "manifest"},
	"installer/doctor":        {"config", "host/client", "host/frame", "host/owner", "host/protocol", "host/transport", "installer", "manifest"},
	"packaging/build":         {"installer", "manifest"},

	"keys/keystest": {"keys"},

	"swap": {"chain", "tokens", "fault"},
	"live": {"chain", "swap", "tokens", "priceapi/onchain"},

	"providers/bridge":       {"swap", "chain", "tokens", "rest", "fault", "providers/wire"},
	"providers/dex":          {"swap", "chain", "tokens", "rest", "fault", "providers/wire"},
	"providers/gasless":      {"swap", "chain", "rest", "fault", "providers/wire"},
	"providers/intent":       {"swap", "chain", "tokens", "rest", "fault", "providers/wire"},
	"providers/keyproxy":     {"chain"},
	"providers/refused":      {"durable", "rest", "swap"},
	"providers/providertest": {"swap", "chain", "rest"},
	"providers/wire":         {"swap", "rest"},

	"priceapi":                  {"priceapi/onchain", "priceapi/poll", "priceapi/price", "priceapi/source", "rest", "tokens"},
	"priceapi/price":            {"tokens"},
	"priceapi/board":            {"priceapi/price", "tokens"},
	"priceapi/poll":             {"rest", "priceapi/price", "priceapi/board", "tokens", "fault"},
	"priceapi/series":           {"priceapi/price", "priceapi/poll", "durable", "fault"},
	"priceapi/postgres":         {"priceapi/price", "priceapi/poll", "fault"},
	"priceapi/shared":           {"priceapi/board", "priceapi/price", "priceapi/web", "tokens", "fault"},
	"priceapi/poll/historytest": {"priceapi/price", "priceapi/poll"},
	"priceapi/source":           {"priceapi/price", "rest", "tokens"},
	"priceapi/onchain":          {"priceapi/price", "chain", "tokens", "fault"},
	"priceapi/worth":            {"priceapi/price", "priceapi/board", "fault"},
	"priceapi/web":              {"priceapi/price", "priceapi/board", "priceapi/poll", "tokens", "listen", "fault"},
	"priceapi/web/webtest":      {}, // the contract, for the tests of anything that serves it

	"host/frame":        {"registers"},
	"host/protocol":     {},
	"host/protocol/gen": {"host/protocol", "chain", "manifest"},
	"host/settings":     {"config", "fault", "host/protocol"},
	"host/transport":    {},
	"host/owner":        {"host/transport", "fault"},
	"host/relay":        {"host/frame", "host/protocol", "manifest"},
	"host/client":       {"host/frame", "host/protocol"},
	"host":              {"host/frame", "host/protocol", "swap", "chain", "tokens", "priceapi/board", "priceapi/price", "registers", "fault"},

	"sandbox/...": {"sandbox/...", "fault"}, // its clock can run fast too

	"cmd/internal/...":          {}, // terminal input and output
	"cmd/swapkeep/internal/...": {},

	"cmd/swapkeep":         {"cmd/internal/...", "cmd/swapkeep/internal/...", "config", "durable", "fault", "host/client", "host/frame", "host/owner", "host/protocol", "host/relay", "host/transport", "installer", "installer/doctor", "manifest", "memory"},
	"cmd/swapkeepd":        {"live", "priceapi", "priceapi/board", "priceapi/poll", "priceapi/price", "priceapi/series", "priceapi/web", "priceapi/worth", "rest", "chain", "config", "durable", "fault", "home", "host", "host/owner", "host/protocol", "host/settings", "host/transport", "installer", "keys", "manifest", "memory", "providers/bridge", "providers/dex", "providers/gasless", "providers/intent", "providers/refused", "providers/wire", "swap", "tokens"},
	"cmd/swapkeep-server":  {"chain", "fault", "listen", "memory", "priceapi", "priceapi/board", "priceapi/poll", "priceapi/postgres", "priceapi/price", "priceapi/shared", "priceapi/web", "providers/keyproxy", "rest", "tokens"},
	"cmd/swapkeep-sandbox": {"cmd/internal/...", "sandbox/...", "providers/keyproxy", "host/client", "host/frame", "host/protocol"},

	// not linked into anything that ships
	"bench":           {"priceapi/board", "priceapi/poll", "priceapi/price", "priceapi/series", "priceapi/web", "tokens", "chain", "home", "host/client", "host/frame", "host/protocol", "host/transport", "keys", "providers/dex", "providers/gasless", "swap"},
	"bench/echohost":  {},
	"test/fakedaemon": {"host/frame", "host/owner", "host/protocol", "host/transport"},
	"test/loudhost":   {"host/frame"},
	"test/planted":    {"sandbox"}, // derives a mnemonic's keys
	"test/programs":   {"fault", "host/client", "host/protocol", "host/transport"},
	"test/witness":    {"sandbox"},
	"test/browser/ui": {"manifest"}, // knows browsers, and nothing of the product
}

// kept lists what each program must never link.
var kept = map[string][]string{
	"cmd/swapkeep":        {"swapkeep/swap", "swapkeep/chain", "swapkeep/keys", "github.com/ethereum/go-ethereum", "go.etcd.io/bbolt"},
	"cmd/swapkeep-server": {"swapkeep/keys", "swapkeep/swap", "swapkeep/host", "swapkeep/sandbox"},
	"cmd/swapkeepd":       {"swapkeep/sandbox", "github.com/ethereum/go-ethereum/node", "github.com/ethereum/go-ethereum/eth/", "github.com/jackc/pgx", "github.com/redis"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T) map[string]pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "swapkeep/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(p.ImportPath, "swapkeep/")] = p
	}
}

func TestImportGraph(t *testing.T) {
	for name, p := range list(t) {
		may, ok := ruleOf(name)
		if !ok {
			if len(ours(p.Imports)) != 0 {
				t.Errorf("package %s has no row in the table", name)
			}
			continue
		}
		for _, i := range ours(p.Imports) {
			if !slices.ContainsFunc(may, func(m string) bool { return covers(m, i) }) {
				t.Errorf("%s imports %s, which its row does not allow", name, i)
			}
		}
	}
}

func TestWhatProgramsLink(t *testing.T) {
	all := list(t)
	for name, never := range kept {
		p, ok := all[name]
		if !ok {
			t.Fatalf("no program %s", name)
		}
		for _, d := range p.Deps {
			for _, n := range never {
				if d == n || strings.HasPrefix(d, strings.TrimSuffix(n, "/")+"/") {
					t.Errorf("%s links %s", name, d)
				}
			}
		}
	}
}

// TestSandboxStandsAlone checks that the sandbox shares no code with the providers, so that
// a misunderstanding of a provider is not made on both sides.
func TestSandboxStandsAlone(t *testing.T) {
	for name, p := range list(t) {
		if name != "sandbox" && !strings.HasPrefix(name, "sandbox/") {
			continue
		}
		for _, d := range ours(p.Deps) {
			if d == "swap" || d == "priceapi" || strings.HasPrefix(d, "priceapi/") || strings.HasPrefix(d, "providers/") {
				t.Errorf("%s reaches %s", name, d)
			}
		}
	}
}

func ours(paths []string) (out []string) {
	for _, p := range paths {
		if o, ok := strings.CutPrefix(p, "swapkeep/"); ok {
			out = append(out, o)
		}
	}
	return out
}

func ruleOf(name string) ([]string, bool) {
	if may, ok := allowed[name]; ok {
		return may, true
	}
	for rule, may := range allowed {
		if strings.HasSuffix(rule, "/...") && covers(rule, name) {
			return may, true
		}
	}
	return nil, false
}

func covers(rule, name string) bool {
	base, tree := strings.CutSuffix(rule, "/...")
	return name == base || tree && strings.HasPrefix(name, base+"/")
}
