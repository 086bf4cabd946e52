package price

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestRedeemables checks that every token with a price to follow is on the built-in list and
// has none to follow itself, that a listed token is of the same kind as its canonical one and
// has the table's decimals, and that every address is written with its EIP-55 checksum, which
// catches typos.
func TestRedeemables(t *testing.T) {
	type token struct {
		ChainID  uint64
		Address  common.Address
		Symbol   string
		Decimals uint8
	}
	known := make(map[ID]token)
	for _, file := range []string{"seed.json", "listed.json"} {
		var list struct{ Tokens []token }
		raw, err := os.ReadFile("../../tokens/" + file)
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list.Tokens {
			known[ID{one.ChainID, one.Address}] = one
		}
	}
	// Superseed symbols and the asset that each stands for.
	kinds := map[string]string{"ETH": "ETH", "WETH": "WETH", "USDC": "USDC", "USDT": "USDT", "oUSDT": "USDT", "cbBTC": "cbBTC"}
	left := maps.Clone(kinds)
	for id, follows := range redeemables {
		a, listed := known[id]
		b, there := known[follows.Of]
		kind, special := kinds[a.Symbol]
		if !special {
			kind = a.Symbol
		}
		if !there || id.Chain == follows.Of.Chain || listed && (kind != b.Symbol || a.Decimals != follows.Decimals) {
			t.Errorf("%v %s of %d decimals follows %v %s of %d", id, a.Symbol, a.Decimals, follows.Of, b.Symbol, follows.Decimals)
		}
		if !listed && (b.Symbol != "USDC" && b.Symbol != "USDT" || follows.Decimals != 6) {
			t.Errorf("%v follows %s with %d decimals", id, b.Symbol, follows.Decimals)
		}
		if again, ok := CanonicalOf(follows.Of); ok {
			t.Errorf("%v, which is followed by %v, follows %v", follows.Of, id, again.Of)
		}
		delete(left, a.Symbol)
	}
	if len(left) != 0 {
		t.Errorf("that follow none: %v", left)
	}
	if follows, ok := CanonicalOf(on(superseed, "0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")); ok {
		t.Errorf("SUPR follows %v", follows.Of)
	}
	source, err := os.ReadFile("canonical.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range regexp.MustCompile(`0x[0-9a-fA-F]+`).FindAllString(string(source), -1) {
		if got := common.HexToAddress(written).Hex(); got != written && strings.Trim(written, "0x") != "" {
			t.Errorf("%s is written without its checksum, %s", written, got)
		}
	}
}
