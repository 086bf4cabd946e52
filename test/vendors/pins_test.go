//go:build vendors

package vendors_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/test/vendors"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// TestVendorsTokens compares the built-in token list and the wrapped coins. Package
// aave-address-book names assets in its own way, so where it is the only source just the
// decimals are compared.
func TestVendorsTokens(t *testing.T) {
	known, c := vendors.Known(t), vendors.NewCount(t, "token lists")
	var nowhere []string
	for _, x := range tokens.Builtin().Tokens() {
		if x.Address == (common.Address{}) {
			continue
		}
		theirs, ok := known.Tokens[fmt.Sprintf("%d:%s", x.Chain, strings.ToLower(x.Address.Hex()))]
		if !ok {
			nowhere = append(nowhere, fmt.Sprint(x.Chain, " ", x.Symbol))
			continue
		}
		c.Same(x.Symbol, "decimals", x.Decimals, theirs.Decimals)
		if !theirs.Aave && !(x.Symbol == "USDT" && theirs.Symbol == "USDT0") { // the issuer renamed the bridged token
			c.Same(x.Symbol, "symbols", strings.ToLower(x.Symbol), strings.ToLower(theirs.Symbol))
		}
	}
	for _, n := range chain.Networks() {
		if theirs := known.Addresses[n.ID]["WETH9"]; theirs != "" {
			c.Same(n.Name, "wrapped native coins", strings.ToLower(n.WrappedNative.Hex()), theirs)
		}
	}
	t.Logf("in no list: %s", strings.Join(nowhere, ", "))
}

var (
	literal  = regexp.MustCompile(`0x[0-9a-fA-F]{40}\b`)
	function = regexp.MustCompile(`\{0x([0-9a-f]{2}), 0x([0-9a-f]{2}), 0x([0-9a-f]{2}), 0x([0-9a-f]{2})\}`)
	// definedName matches the name that a line defines: a token's symbol, or its first word.
	definedName = regexp.MustCompile(`"symbol": "(\w+)"|^\W*(?:var )?(\w+)`)
)

// unpublished lists addresses and selectors that no package knows, with file and name.
const unpublished = "testdata/unpublished.txt"

// TestVendorsLiterals checks that every address and selector in the shipped source is known
// to a package or listed in unpublished.
func TestVendorsLiterals(t *testing.T) {
	known, c := vendors.Known(t), vendors.NewCount(t, "our source")
	addresses := map[string]bool{}
	for _, names := range known.Addresses {
		for _, a := range names {
			addresses[a] = true
		}
	}
	for at := range known.Tokens {
		_, a, _ := strings.Cut(at, ":")
		addresses[a] = true
	}
	strange := map[string]bool{}
	for _, file := range shippedFiles(t) {
		raw, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			names := definedName.FindAllStringSubmatch(line, -1)
			seen := func(what string, known bool, it string) {
				if known {
					c.Same(file, what, true, true)
				} else {
					last := names[len(names)-1]
					strange[fmt.Sprint(it, " ", file, " ", last[1]+last[2])] = true
				}
			}
			for _, a := range literal.FindAllString(line, -1) {
				seen("addresses known", addresses[strings.ToLower(a)], a)
			}
			for _, m := range function.FindAllStringSubmatch(line, -1) {
				selector := "0x" + strings.Join(m[1:], "")
				seen("selectors known", known.Hashes[selector] != "", selector)
			}
		}
	}
	list := []byte(strings.Join(slices.Sorted(maps.Keys(strange)), "\n") + "\n")
	if os.Getenv("SWAPKEEP_BLESS") != "" {
		if err := os.WriteFile(unpublished, list, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(unpublished)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		c.Same(strings.TrimSpace(line), "known to no package, by name", true, true)
		if !bytes.Contains(want, []byte(line)) {
			t.Errorf("no package knows %s: look it up at its source, then SWAPKEEP_BLESS=1", strings.TrimSpace(line))
		}
	}
	for line := range strings.Lines(string(want)) {
		if !bytes.Contains(list, []byte(line)) {
			t.Errorf("%s is stale: %s", unpublished, line)
		}
	}
}

// shippedFiles returns the files that may hold pinned addresses and selectors.
func shippedFiles(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "../../*.go", "../../*.json", "--full-name").Output()
	if err != nil {
		t.Fatal(err)
	}
	not := regexp.MustCompile(`_test\.go$|_sandbox\.go$|testdata/|package|^(sandbox|test|bench|extension|tokens/gen)/|^tokens/(listed|marks)\.json|test/|^cmd/swapkeep-sandbox/`)
	return slices.DeleteFunc(strings.Fields(string(out)), not.MatchString)
}
