package tokens

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestBuiltinLists checks that every token of the built-in list can be shown, stands once,
// and looks like no other token of its network, so that a symbol names one token.
func TestBuiltinLists(t *testing.T) {
	seen, looks := map[id]bool{}, map[uint64]map[string]Token{}
	for _, x := range Builtin().Tokens() {
		if seen[x.id()] || x.Decimals > MaxDecimals || !x.Recognized || x.List != "Swapkeep" || x.Imported ||
			clean(x.Symbol, maxSymbol) != x.Symbol || clean(x.Name, maxName) != x.Name || x.Symbol == "" || x.Name == "" {
			t.Errorf("%d %s: %+v", x.Chain, x.Address, x)
		}
		if !x.Verified && (x.Address == Native || x.DecimalsFrom == FromOneHost || x.DecimalsFrom == FromHosts) {
			t.Errorf("of a published list: %+v", x)
		}
		seen[x.id()] = true
		if looks[x.Chain] == nil {
			looks[x.Chain] = map[string]Token{}
		}
		look := Skeleton(x.Symbol)
		if other, taken := looks[x.Chain][look]; taken && !(x.Verified && other.Verified) {
			t.Errorf("on %d, %s (%s) looks like %s (%s)", x.Chain, x.Symbol, x.Address, other.Symbol, other.Address)
		}
		looks[x.Chain][look] = x
	}
}

// TestBuiltinCoverage checks that people find what they hold: enough tokens on each network
// that published lists know, and the dollars, wrapped coins and staked coins.
func TestBuiltinCoverage(t *testing.T) {
	r := registry(t, nil, Options{})
	for chain, least := range map[uint64]int{1: 200, 10: 200, 56: 200, 8453: 200, 42161: 200, 143: 50, 43114: 50} {
		if n := len(r.On(chain)); n < least {
			t.Errorf("%d tokens on %d, want at least %d", n, chain, least)
		}
	}
	for chain, wanted := range map[uint64]map[string]string{
		1:     {"USDe": "0x4c9EDD5852cd905f086C759E8383e09bff1E68B3", "PYUSD": "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8", "stETH": "0xae7ab96520DE3A18E5e111B5EaAb095312D7fE84", "PEPE": "0x6982508145454Ce325dDbE47a25d4ec3d2311933"},
		10:    {"USDC": "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "VELO": "0x9560e827aF36c94D2Ac33a39bCE1Fe78631088Db"},
		56:    {"DAI": "0x1AF3F329e8BE154074D8769D1FFa4eE058B1DBc3", "XRP": "0x1D2F0da169ceB9fC7B3144628dB156f3F6c60dBE"},
		143:   {"USDC": "0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDT": "0xe7cd86e13AC4309349F30B3435a9d337750fC82D", "shMON": "0x1B68626dCa36c7fE922fD2d55E4f631d962dE19c"},
		43114: {"USDC": "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USDT": "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", "sAVAX": "0x2b2C81e08f1Af8835a78Bb2A90AE924ACE0eA4bE"},
		8453:  {"USDT": "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2", "DAI": "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", "AERO": "0x940181a94A35A4569E4529A3CDfB74e38FD98631"},
		42161: {"USDT": "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", "ARB": "0x912CE59144191C1204E64559FE8253a0e49E6548", "USDC.e": "0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8", "wstETH": "0x5979D7b546E38E414F7E9822514be443A4800529"},
	} {
		for symbol, address := range wanted {
			if x, ok := r.Lookup(chain, common.HexToAddress(address)); !ok || x.Symbol != symbol || r.Search(chain, symbol)[0] != x {
				t.Errorf("on %d, %s at %s: %+v, %t", chain, symbol, address, x, ok)
			}
		}
	}
}

// TestBuiltinChecksums checks that every address is written with its EIP-55 checksum, which
// a mistyped one would not have.
func TestBuiltinChecksums(t *testing.T) {
	for _, file := range []string{"seed.json", "listed.json", "gen/monad.json"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range regexp.MustCompile(`0x[0-9a-fA-F]{40}\b`).FindAll(raw, -1) {
			if checked := common.HexToAddress(string(a)); checked != Native && checked.Hex() != string(a) {
				t.Errorf("%s: %s, want %s", file, a, checked.Hex())
			}
		}
	}
}

// TestBuiltinIsBounded checks the limits that other parts rely on: what one multicall of all
// tokens of a network takes, and what is embedded in the program.
func TestBuiltinIsBounded(t *testing.T) {
	const perNetwork, embedded = 430, 320 << 10
	count := map[uint64]int{}
	for _, x := range Builtin().Tokens() {
		count[x.Chain]++
	}
	for chain, n := range count {
		if n > perNetwork {
			t.Errorf("%d tokens on %d", n, chain)
		}
	}
	if n := len(seed) + len(listed); n > embedded {
		t.Errorf("%d bytes are embedded", n)
	}
	var file struct {
		Sources []struct{ Letter, Name, Version, License, SHA256 string }
	}
	if err := json.NewDecoder(bytes.NewReader(listed)).Decode(&file); err != nil {
		t.Fatal(err)
	}
	for _, s := range file.Sources {
		if len(s.Letter) != 1 || s.Name == "" || s.Version == "" || s.License == "" || len(s.SHA256) != 64 {
			t.Errorf("source %+v", s)
		}
	}
}

// TestMarks checks that every mark has its drawing in the extension and every drawing a token,
// that together they stay small, and that tokens of one symbol and name have the same mark on
// every network.
func TestMarks(t *testing.T) {
	const folder, most = "../extension/logos", 600 << 10
	used, same := map[string]bool{}, map[string]string{}
	marked := 0
	for _, x := range Builtin().Tokens() {
		if x.Mark == "" {
			continue
		}
		marked++
		used[x.Mark+".svg"] = true
		look := x.Symbol + " " + x.Name
		if other, ok := same[look]; ok && other != x.Mark {
			t.Errorf("%s is %s and %s", look, x.Mark, other)
		}
		same[look] = x.Mark
	}
	files, err := os.ReadDir(folder)
	if err != nil || marked < 500 {
		t.Fatalf("%d tokens have a mark, %v", marked, err)
	}
	size := 0
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		size += len(raw)
		if !used[f.Name()] || !bytes.HasPrefix(raw, []byte("<svg ")) || bytes.Contains(raw, []byte("href")) || bytes.Contains(raw, []byte("<script")) {
			t.Errorf("%s is used: %t", f.Name(), used[f.Name()])
		}
		delete(used, f.Name())
	}
	if size > most || len(used) > 0 {
		t.Errorf("%d bytes; without a drawing: %v", size, used)
	}
}

// TestRecognizedIsNotVerified checks that a token of a published list is neither taken for an
// imitation nor valued like one chosen by hand, and that strangers who look like it are marked.
func TestRecognizedIsNotVerified(t *testing.T) {
	r := registry(t, nil, Options{})
	arb, ok := r.Lookup(42161, common.HexToAddress("0x912CE59144191C1204E64559FE8253a0e49E6548"))
	if !ok || !arb.Recognized || arb.Verified || !r.DecimalsConfirmed(arb.Chain, arb.Address) {
		t.Fatalf("%+v, %t", arb, ok)
	}
	if of, bad := r.Imitated(arb); bad {
		t.Errorf("%s imitates %s", arb.Symbol, of)
	}
	if of, bad := r.Imitated(Token{Chain: 42161, Address: other, Symbol: "АRB", Name: "Free"}); !bad || of != arb.Address {
		t.Errorf("a stranger with its symbol imitates %s, %t", of, bad)
	}
	if _, bad := r.Imitated(Token{Chain: math.MaxInt64, Address: other, Symbol: "ARB", Name: "Free"}); bad {
		t.Error("a name means nothing on another network")
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		readBuiltin()
	}
}
