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

// allowedImports lists, for each package, every package of ours that it may import. A name ending
// in /... stands for all packages below it.
var allowedImports = map[string][]string{
	// lowest level: nothing of ours but the failpoints and the clock
	"internal/clock":      {},
	"internal/failpoint":  {},
	"internal/zeroize":    {},
	"config":              {},
	"internal/atomicfile": {},
	"home":                {"internal/atomicfile"},
	"listen":              {},
	"manifest":            {},
	"internal/procmem":    {},
	"keys":                {"internal/atomicfile", "internal/zeroize", "internal/clock", "internal/failpoint"},
	"tokens":              {"internal/clock", "internal/failpoint"},
	"tokens/gen":          {"tokens"},
	"rest":                {"internal/clock"},
	"chain":               {"internal/clock", "internal/failpoint"},

	"manifest/gen":          {"manifest"},
	"manifest/manifesttest": {"manifest"},

	"installer":               {"internal/atomicfile", "internal/failpoint", "manifest"},
	"installer/installertest": {"installer", "manifest"},
	"installer/doctor":        {"config", "extension/messages", "host/client", "host/frame", "host/owner", "host/protocol", "host/transport", "installer", "manifest"},
	"packaging/build":         {"installer", "manifest"},

	"keys/keystest": {"keys"},

	"swap":           {"chain", "tokens"},
	"swap/journal":   {"chain", "internal/failpoint", "swap"},
	"confirm":        {"internal/clock", "swap"},
	"confirm/dialog": {"confirm", "extension/messages", "internal/clock", "swap", "swap/lines"},
	"swap/lines":     {"chain", "extension/messages", "swap"},
	"swap/proof":     {"chain", "swap"},
	"swap/plan":      {"chain", "internal/clock", "swap", "swap/journal", "tokens"},
	"swap/engine":    {"chain", "internal/clock", "internal/failpoint", "swap", "swap/journal", "swap/plan", "swap/proof", "tokens"},
	"live":           {"chain", "swap", "tokens", "priceapi/onchain", "swap/plan"},

	"providers/bridge":       {"swap", "chain", "tokens", "rest", "internal/clock", "internal/failpoint", "providers/wire"},
	"providers/dex":          {"swap", "chain", "tokens", "rest", "internal/clock", "providers/wire"},
	"providers/gasless":      {"swap", "chain", "rest", "internal/clock", "providers/wire"},
	"providers/intent":       {"swap", "chain", "tokens", "rest", "internal/clock", "providers/wire"},
	"providers/keyproxy":     {"chain"},
	"providers/refused":      {"internal/atomicfile", "rest", "swap"},
	"providers/providertest": {"swap", "chain", "rest"},
	"providers/wire":         {"swap", "rest"},

	"priceapi":                  {"priceapi/onchain", "priceapi/poll", "priceapi/price", "priceapi/source", "rest", "tokens"},
	"priceapi/price":            {"tokens"},
	"priceapi/pricetable":       {"priceapi/price", "tokens"},
	"priceapi/poll":             {"rest", "priceapi/price", "priceapi/pricetable", "tokens", "internal/clock"},
	"priceapi/series":           {"priceapi/price", "priceapi/poll", "internal/atomicfile", "internal/clock", "internal/failpoint"},
	"priceapi/postgres":         {"priceapi/price", "priceapi/poll", "internal/clock"},
	"priceapi/shared":           {"priceapi/pricetable", "priceapi/price", "priceapi/web", "tokens", "internal/clock"},
	"priceapi/poll/historytest": {"priceapi/price", "priceapi/poll"},
	"priceapi/source":           {"priceapi/price", "rest", "tokens"},
	"priceapi/onchain":          {"priceapi/price", "chain", "tokens", "internal/clock"},
	"priceapi/valuation":        {"priceapi/price", "priceapi/pricetable", "internal/clock"},
	"priceapi/web":              {"priceapi/price", "priceapi/pricetable", "priceapi/poll", "tokens", "listen", "internal/clock"},
	"priceapi/web/webtest":      {}, // the contract, for the tests of anything that serves it

	"host/frame":        {"internal/zeroize"},
	"host/protocol":     {},
	"host/protocol/gen": {"host/protocol", "chain", "manifest"},
	"host/settings":     {"config", "internal/failpoint", "host/protocol"},
	"host/transport":    {},
	"host/owner":        {"host/transport"},
	"host/relay":        {"host/frame", "host/protocol", "manifest"},
	"host/client":       {"host/frame", "host/protocol"},
	"host":              {"confirm", "host/frame", "host/protocol", "swap", "chain", "tokens", "priceapi/pricetable", "priceapi/price", "internal/zeroize", "internal/clock", "swap/engine", "swap/journal", "swap/plan"},

	"sandbox/...": {"sandbox/...", "internal/clock"}, // its clock can run fast too

	"extension/messages":        {}, // the English words for codes
	"cmd/internal/...":          {}, // terminal input and output
	"cmd/swapkeep/internal/...": {},

	"cmd/swapkeep":         {"extension/messages", "cmd/internal/...", "cmd/swapkeep/internal/...", "config", "internal/atomicfile", "internal/clock", "internal/failpoint", "host/client", "host/frame", "host/owner", "host/protocol", "host/relay", "host/transport", "installer", "installer/doctor", "manifest", "internal/procmem"},
	"cmd/swapkeepd":        {"live", "priceapi", "priceapi/pricetable", "priceapi/poll", "priceapi/price", "priceapi/series", "priceapi/web", "priceapi/valuation", "rest", "chain", "config", "confirm", "confirm/dialog", "internal/atomicfile", "internal/clock", "home", "host", "host/owner", "host/protocol", "host/settings", "host/transport", "installer", "keys", "manifest", "internal/procmem", "providers/bridge", "providers/dex", "providers/gasless", "providers/intent", "providers/refused", "providers/wire", "swap", "tokens", "swap/engine", "swap/journal", "swap/lines", "extension/messages"},
	"cmd/swapkeep-server":  {"chain", "internal/clock", "listen", "internal/procmem", "priceapi", "priceapi/pricetable", "priceapi/poll", "priceapi/postgres", "priceapi/price", "priceapi/shared", "priceapi/web", "providers/keyproxy", "rest", "tokens"},
	"cmd/swapkeep-sandbox": {"extension/messages", "cmd/internal/...", "sandbox/...", "providers/keyproxy", "host/protocol", "test/audit"},

	// not linked into anything that ships
	"bench":           {"priceapi/pricetable", "priceapi/poll", "priceapi/price", "priceapi/series", "priceapi/source", "priceapi/web", "rest", "tokens", "chain", "home", "host/client", "host/frame", "host/protocol", "host/transport", "keys", "providers/dex", "providers/gasless", "swap", "swap/engine", "swap/journal"},
	"bench/echohost":  {},
	"test/await":      {}, // any test may import it
	"test/fakedaemon": {"host/frame", "host/owner", "host/protocol", "host/transport"},
	"test/hostproxy":  {"host/frame"},
	"test/secretscan": {"sandbox"}, // derives a mnemonic's keys
	"test/programs":   {"internal/failpoint", "host/client", "host/protocol", "host/transport", "test/await"},
	"test/keychain":   {"test/await"},
	"test/processes":  {"test/await"},
	"test/requests":   {"host/protocol"}, // any test that plays a user may import it
	"test/servers":    {"test/await"},
	"test/audit":      {"sandbox"},                // judges the daemon, so it shares nothing with it
	"test/browser/ui": {"manifest", "test/await"}, // knows browsers, and nothing of the product
}

// forbiddenLinks lists what each program must never link.
var forbiddenLinks = map[string][]string{
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
		may, ok := importsAllowedFor(name)
		if !ok {
			if len(ourPackages(p.Imports)) != 0 {
				t.Errorf("package %s has no row in the table", name)
			}
			continue
		}
		for _, i := range ourPackages(p.Imports) {
			if !slices.ContainsFunc(may, func(m string) bool { return covers(m, i) }) {
				t.Errorf("%s imports %s, which its row does not allow", name, i)
			}
		}
	}
}

func TestWhatProgramsLink(t *testing.T) {
	all := list(t)
	for name, never := range forbiddenLinks {
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
		for _, d := range ourPackages(p.Deps) {
			if d == "swap" || strings.HasPrefix(d, "swap/") || d == "priceapi" || strings.HasPrefix(d, "priceapi/") || strings.HasPrefix(d, "providers/") {
				t.Errorf("%s reaches %s", name, d)
			}
		}
	}
}

// TestAuditStandsAlone checks that the audit shares no code with the daemon that it judges: it
// reaches only the sandbox and its clock, go-ethereum and bbolt.
func TestAuditStandsAlone(t *testing.T) {
	p := list(t)["test/audit"]
	for _, d := range ourPackages(p.Deps) {
		if d != "sandbox" && d != "internal/clock" && !strings.HasPrefix(d, "sandbox/") {
			t.Errorf("test/audit reaches %s", d)
		}
	}
	for _, i := range p.Imports {
		host, _, _ := strings.Cut(i, "/")
		if strings.Contains(host, ".") && !strings.HasPrefix(i, "github.com/ethereum/go-ethereum/") && i != "github.com/ethereum/go-ethereum" && i != "go.etcd.io/bbolt" {
			t.Errorf("test/audit imports %s", i)
		}
	}
}

func ourPackages(paths []string) (out []string) {
	for _, p := range paths {
		if o, ok := strings.CutPrefix(p, "swapkeep/"); ok {
			out = append(out, o)
		}
	}
	return out
}

func importsAllowedFor(name string) ([]string, bool) {
	if may, ok := allowedImports[name]; ok {
		return may, true
	}
	for rule, may := range allowedImports {
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
