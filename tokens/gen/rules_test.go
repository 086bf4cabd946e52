package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestListedFollowsTheRules checks that the committed file is what the rules make: applied to
// it again they leave every row, order and byte as it is.
func TestListedFollowsTheRules(t *testing.T) {
	seed, err := seedOf("../seed.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Sources []source
		Tokens  []token
	}
	if err := readJSON("../listed.json", &file); err != nil {
		t.Fatal(err)
	}
	kept, out := choose(file.Tokens, seed)
	for _, l := range out {
		t.Error(l)
	}
	for i, s := range file.Sources {
		if i >= len(sources) || s.Letter != sources[i].Letter || s.Name != sources[i].Name || s.Version != sources[i].Version {
			t.Errorf("source %d is %s %s: run go generate ./tokens", i, s.Name, s.Version)
		}
	}
	for _, x := range file.Tokens {
		for _, letter := range x.Lists {
			if !slices.ContainsFunc(sources, func(s source) bool { return s.Letter == string(letter) }) {
				t.Errorf("%s is on list %c", x.Symbol, letter)
			}
		}
	}
	want, err := encode(file.Sources, kept)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../listed.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("listed.json is not what its rules make: run go generate ./tokens")
	}
	raw, err := os.ReadFile(monadFile)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(file.Sources, func(s source) bool { return s.Letter == "m" }); file.Sources[i].SHA256 != hashOf(raw) {
		t.Error("monad.json is another one than listed.json was made of")
	}
}

func at(n byte) common.Address { return common.BytesToAddress([]byte{1, n}) }

// TestChoose checks each rule.
func TestChoose(t *testing.T) {
	row := func(n byte, symbol, lists string) token {
		return token{Chain: 1, Address: at(n), Symbol: symbol, Name: symbol + " Token", Decimals: 18, Lists: lists}
	}
	elsewhere, twelve := row(1, "REACHED", "u"), row(2, "ODD", "u")
	elsewhere.Chain, twelve.Decimals = 137, 12
	named := func(x token, name string) token { x.Name = name; return x }
	kept, out := choose([]token{
		elsewhere,
		row(2, "ODD", "a"), twelve, // decimals differ
		row(3, "MEME", "u"),
		row(4, "RARE", "o"), row(5, "POPULAR", "o"), row(5, "POP", "a"),
		row(6, "USDe", "o"), row(7, "stETH", "u"), row(8, "WBTC", "u"),
		row(9, "OLDLIST", "s"),              // on no list that counts
		row(10, "PT-sUSDe", "a"),            // matures
		named(row(11, "X", "u"), "X (old)"), // replaced
		row(12, "UST", "u"),                 // dead
		row(13, "USDC", "u"),                // looks like one of the seed
		row(14, "MEМE", "u"),                // looks like MEME, with a Cyrillic letter
		row(15, "SEEDED", "u"),
		row(16, "\u202eEVIL", "u"),
		row(17, "TWICE", "u"), row(18, "TWICE", "p"), // the exchange's is taken
		row(19, "REACHED", "o"),
	}, []token{{Chain: 1, Address: at(99), Symbol: "USDC"}, {Chain: 1, Address: at(15), Symbol: "SEEDED"}})
	var got []string
	for _, x := range kept {
		got = append(got, x.Symbol+" "+x.Lists)
	}
	if want := "USDe o,WBTC u,stETH u,POPULAR oa,TWICE p,MEME u,REACHED o,RARE o"; strings.Join(got, ",") != want {
		t.Errorf("kept %s, want %s", strings.Join(got, ","), want)
	}
	if len(out) != 9 {
		t.Errorf("left out: %v", out)
	}
}

// TestChooseIsBounded checks that a network gets no more than its share, the seed included.
func TestChooseIsBounded(t *testing.T) {
	var many []token
	for i := range 2 * most[143] {
		many = append(many, token{Chain: 143, Address: common.BytesToAddress([]byte{1, byte(i >> 8), byte(i)}), Symbol: "T" + strings.Repeat("X", i%17) + string(rune('A'+i%26)) + string(rune('A'+i/26)), Name: "N", Decimals: 6, Lists: "m"})
	}
	kept, _ := choose(many, []token{{Chain: 143, Address: at(1), Symbol: "MON"}})
	if len(kept) != most[143]-1 {
		t.Errorf("%d are kept", len(kept))
	}
}
