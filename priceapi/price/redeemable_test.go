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

// TestRedeemableTokens checks that every token with a price to follow is on the built-in list and is
// not redeemable itself, that a listed token is of the same kind as its own and has the table's
// decimals, and that every address is written with its EIP-55 checksum, which catches
// typos.
func TestRedeemableTokens(t *testing.T) {
	type listed struct {
		ChainID  uint64
		Address  common.Address
		Symbol   string
		Decimals uint8
	}
	var list struct{ Tokens []listed }
	raw, err := os.ReadFile("../../tokens/seed.json")
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[ID]listed)
	for _, one := range list.Tokens {
		known[ID{one.ChainID, one.Address}] = one
	}
	// Superseed symbols and the asset that each stands for.
	kinds := map[string]string{"ETH": "ETH", "WETH": "WETH", "USDC": "USDC", "USDT": "USDT", "oUSDT": "USDT", "cbBTC": "cbBTC"}
	left := maps.Clone(kinds)
	for id, token := range redeemable {
		a, isListed := known[id]
		b, there := known[token.Of]
		if !there || id.Chain == token.Of.Chain || isListed && (kinds[a.Symbol] != b.Symbol || a.Decimals != token.Decimals) {
			t.Errorf("%v %s of %d decimals follows %v %s, the table has %d decimals", id, a.Symbol, a.Decimals, token.Of, b.Symbol, token.Decimals)
		}
		if !isListed && (b.Symbol != "USDC" && b.Symbol != "USDT" || token.Decimals != 6) {
			t.Errorf("%v follows %s with %d decimals", id, b.Symbol, token.Decimals)
		}
		if again, ok := RedeemableFor(token.Of); ok {
			t.Errorf("%v, which %v follows, follows %v itself", token.Of, id, again.Of)
		}
		delete(left, a.Symbol)
	}
	if len(left) != 0 {
		t.Errorf("follow no token: %v", left)
	}
	if token, ok := RedeemableFor(on(superseed, "0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")); ok {
		t.Errorf("SUPR follows %v, want none", token.Of)
	}
	source, err := os.ReadFile("redeemable.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range regexp.MustCompile(`0x[0-9a-fA-F]+`).FindAllString(string(source), -1) {
		if got := common.HexToAddress(written).Hex(); got != written && strings.Trim(written, "0x") != "" {
			t.Errorf("%s is written without its checksum, %s", written, got)
		}
	}
}
