package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	bolt "go.etcd.io/bbolt/errors"
)

func TestPanicCostsOneRequest(t *testing.T) {
	r := newRig(t)
	p := r.attach("extension")
	r.swaps.panics = true
	p.refused("internal", "swap.providers", nil)
	r.swaps.panics = false
	p.must("swap.providers", nil)
	if !strings.Contains(r.log.String(), "fakeSwaps") {
		t.Error("the log does not say where it panicked")
	}
}

// TestEveryRefusalHasARow checks that every refusal code in the source has a row of its
// name.
func TestEveryRefusalHasARow(t *testing.T) {
	for _, code := range refusalCodes(t) {
		if _, ok := protocol.RowOf(code); !ok {
			t.Errorf("no row for swap code %s", code)
		}
	}
}

// TestDamagedIndex checks that a damaged index gets its own remedy, not that of a damaged
// order.
func TestDamagedIndex(t *testing.T) {
	e := newRig(t).server.errorOf(fmt.Errorf("allowances: %w", journal.ErrIndex))
	if e.Name != "index_damaged" || !strings.Contains(e.Remedy, "swapkeep stop") {
		t.Errorf("error = %+v, want index_damaged with swapkeep stop in the remedy", e)
	}
}

func refusalCodes(t *testing.T) (codes []string) {
	t.Helper()
	paths, err := filepath.Glob("../swap/*.go") // every code is declared there
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == "Code" {
				for _, v := range spec.Values {
					code, err := strconv.Unquote(v.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					codes = append(codes, code)
				}
			}
			return true
		})
	}
	if len(codes) < 30 {
		t.Fatalf("found %d codes only: has their declaration moved?", len(codes))
	}
	return codes
}

// elsewhere are rows that this package's tests do not send, with who sends them.
var elsewhere = map[string]string{
	"daemon_lost":           "the relay, when the daemon does not come back",
	"daemon_stopped":        "swapkeep as a relay: TestRelayReportsAStop",
	"daemon_starting":       "the relay, while the daemon starts",
	"weak_password":         "the vault, by Config.Errors",
	"bad_mnemonic":          "the vault, by Config.Errors",
	"published_test_key":    "the vault, by Config.Errors",
	"duplicate_wallet":      "the vault, by Config.Errors",
	"no_wallet":             "the vault, by Config.Errors",
	"keychain_disabled_bus": "the vault, by Config.Errors",
	"keychain_locked":       "the vault, by Config.Errors",
	"keychain_missing_item": "the vault, by Config.Errors",
	"keychain_too_large":    "the vault, by Config.Errors",
	"keychain_timeout":      "the vault, by Config.Errors",
	"no_wrapped_native":     "daemons of earlier versions",
	"database_newer":        "the relay, by the daemon's exit status",
	"keychain_denied":       "the vault, by Config.Errors",
	"keychain_broken":       "the vault, by Config.Errors",
	"sandbox_only":          "the vault, by Config.Errors",
	"bad_private_key":       "the vault, by Config.Errors",
	"bad_keystore":          "the vault, by Config.Errors",
	"keystore_password":     "the vault, by Config.Errors",
	"not_exportable":        "the vault, by Config.Errors",
	"account_exhausted":     "the vault, by Config.Errors",
	"keychain_leftover":     "the vault, by Config.Errors",
	"wallet_left":           "the vault, by Config.Errors",
	"confirmations_full":    "the desk of confirmations, by Config.Errors",
}

// TestEveryRowIsReachable checks that every row is sent by something: a fixture or test
// of this package, a refusal, a sentinel, or what elsewhere names.
func TestEveryRowIsReachable(t *testing.T) {
	r := newRig(t)
	reached := map[string]string{}
	for path, f := range readFixtures(t) {
		for _, c := range f.Cases {
			var reply message
			if err := json.Unmarshal(c.Reply, &reply); err != nil {
				t.Fatal(err)
			}
			if reply.Error != nil {
				reached[reply.Error.Name] = path
			}
		}
	}
	for _, name := range []string{"frame_zero", "frame_too_long", "busy", "result_too_large", "internal", "stopping", "session_required", "timed_out", "confirmation_pending"} {
		reached[name] = "the tests above"
	}
	mapped := map[string]error{
		"database_readonly": &swap.Refusal{Code: swap.JournalFailed, Err: fmt.Errorf("commit: %w", fs.ErrPermission)},
		"database_full":     &swap.Refusal{Code: swap.JournalFailed, Err: fmt.Errorf("commit: %w", syscall.ENOSPC)},
		"database_locked":   &swap.Refusal{Code: swap.JournalFailed, Err: fmt.Errorf("open: %w", bolt.ErrTimeout)},
		"journal_failed":    &swap.Refusal{Code: swap.JournalFailed, Err: errors.New("corrupt")},
	}
	for _, code := range refusalCodes(t) {
		if mapped[code] == nil {
			mapped[code] = fmt.Errorf("prepare: %w", swap.Refuse(swap.Code(code), "because"))
		}
	}
	for _, s := range slices.Concat(sentinels, fakeSentinels) {
		if mapped[s.Name] == nil {
			mapped[s.Name] = fmt.Errorf("secret path: %w", s.Err)
		}
	}
	for name, err := range mapped {
		got := r.server.errorOf(err)
		if got.Name != name || got.Remedy == "" || strings.Contains(got.Message, "secret path") {
			t.Errorf("%v became %+v, want %s", err, got, name)
		}
		reached[name] = "a mapped error"
	}
	for _, row := range protocol.Errors {
		_, other := elsewhere[row.Name]
		switch _, here := reached[row.Name]; {
		case !here && !other:
			t.Errorf("nothing sends %s", row.Name)
		case here && other:
			t.Errorf("%s is sent here (%s): take it out of elsewhere", row.Name, reached[row.Name])
		}
	}
}

func TestErrorsKeepTheirDetails(t *testing.T) {
	r := newRig(t)
	refused := r.server.errorOf(&swap.Refusal{Code: swap.InsufficientGas, Reason: "add 1 wei", Field: "gas", Data: map[string]string{"missing": "1"}})
	if refused.Code != 1407 || refused.Message != "add 1 wei" || refused.Data["missing"] != "1" || refused.Data["field"] != "gas" {
		t.Errorf("error = %+v, want 1407 with missing 1 and field gas", refused)
	}
	if e := r.server.errorOf(fmt.Errorf("unlock: %w", errBackoff)); e.Data["seconds"] != "4" {
		t.Errorf("error = %+v, want seconds 4", e)
	}
	if e := r.server.errorOf(errPassword); e.Remedy != "type the vault password again" {
		t.Errorf("error = %+v, want a remedy that asks for the password again", e)
	}
	if e := r.server.errorOf(errors.New("password is hunter2")); e.Name != "internal" || strings.Contains(e.Error(), "hunter2") {
		t.Errorf("error = %+v, want internal, without the password", e)
	}
	if e := r.server.errorOf(fmt.Errorf("dial https://rpc/key: %w", chain.ErrUnreachable)); strings.Contains(e.Message, "key") {
		t.Errorf("an RPC's URL got out: %+v", e)
	}
}
