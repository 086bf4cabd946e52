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

// TestVendorsTokens: the built-in list and the wrapped coins. Package aave-address-book
// names assets in its own way, so of what only it knows the decimals are compared.
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
		if !theirs.Aave && !(x.Symbol == "USDT" && theirs.Symbol == "USDT0") { // renamed by its issuer where it is bridged
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
	called   = regexp.MustCompile(`(\w+)\W*(?:common\.HexToAddress\(|\[\]byte|\[selectorLen\]byte|selector)?\W*$`)
)

// unpublished are the addresses and selectors that no package knows, with the file and the
// name that they have there.
const unpublished = "testdata/unpublished.txt"

// TestVendorsLiterals: every address and selector that stands in what we ship is known to a
// package, or named in the list of those that are to none.
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
	for _, file := range shipped(t) {
		raw, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			named := func(at int) string {
				if m := called.FindStringSubmatch(line[:at]); m != nil {
					return m[1]
				}
				return "-"
			}
			for _, at := range literal.FindAllStringIndex(line, -1) {
				if a := line[at[0]:at[1]]; addresses[strings.ToLower(a)] {
					c.Same(file, "addresses known", true, true)
				} else {
					strange[fmt.Sprint(a, " ", file, " ", named(at[0]))] = true
				}
			}
			for _, at := range function.FindAllStringSubmatchIndex(line, -1) {
				selector := "0x" + line[at[2]:at[3]] + line[at[4]:at[5]] + line[at[6]:at[7]] + line[at[8]:at[9]]
				if signature := known.Hashes[selector]; signature != "" {
					c.Same(file, "selectors known", true, true)
				} else {
					strange[fmt.Sprint(selector, " ", file, " ", named(at[0]))] = true
				}
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
		c.Same(strings.TrimSpace(line), "known to no package, by name", bytes.Contains(want, []byte(line)), true)
	}
	if !bytes.Equal(list, want) {
		t.Errorf("%s is stale: look every new line up at its source, then SWAPKEEP_BLESS=1", unpublished)
	}
}

// shipped are the files with what the programs pin.
func shipped(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "../../*.go", "../../*.json", "--full-name").Output()
	if err != nil {
		t.Fatal(err)
	}
	not := regexp.MustCompile(`_test\.go$|_sandbox\.go$|testdata/|package|^(sandbox|test|bench|extension)/|test/|^cmd/swapkeep-sandbox/`)
	return slices.DeleteFunc(strings.Fields(string(out)), not.MatchString)
}
