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

// TestTwins checks that every token with a price to follow is on the built-in list and has
// no twin itself, that a listed token is of the same kind as its twin and has the table's
// decimals, and that every address is written with its EIP-55 checksum, which catches
// typos.
func TestTwins(t *testing.T) {
	type token struct {
		ChainID  uint64
		Address  common.Address
		Symbol   string
		Decimals uint8
	}
	var list struct{ Tokens []token }
	raw, err := os.ReadFile("../../tokens/seed.json")
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[ID]token)
	for _, one := range list.Tokens {
		known[ID{one.ChainID, one.Address}] = one
	}
	// Superseed symbols and the asset that each stands for.
	kinds := map[string]string{"ETH": "ETH", "WETH": "WETH", "USDC": "USDC", "USDT": "USDT", "oUSDT": "USDT", "cbBTC": "cbBTC"}
	left := maps.Clone(kinds)
	for id, twin := range twins {
		a, listed := known[id]
		b, there := known[twin.Of]
		if !there || id.Chain == twin.Of.Chain || listed && (kinds[a.Symbol] != b.Symbol || a.Decimals != twin.Decimals) {
			t.Errorf("%v %s of %d decimals has the twin %v %s of %d", id, a.Symbol, a.Decimals, twin.Of, b.Symbol, twin.Decimals)
		}
		if !listed && (b.Symbol != "USDC" && b.Symbol != "USDT" || twin.Decimals != 6) {
			t.Errorf("%v follows %s with %d decimals", id, b.Symbol, twin.Decimals)
		}
		if again, ok := TwinOf(twin.Of); ok {
			t.Errorf("%v, the twin of %v, has the twin %v", twin.Of, id, again.Of)
		}
		delete(left, a.Symbol)
	}
	if len(left) != 0 {
		t.Errorf("without a twin: %v", left)
	}
	if twin, ok := TwinOf(on(superseed, "0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")); ok {
		t.Errorf("SUPR has the twin %v", twin.Of)
	}
	source, err := os.ReadFile("twin.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, written := range regexp.MustCompile(`0x[0-9a-fA-F]+`).FindAllString(string(source), -1) {
		if got := common.HexToAddress(written).Hex(); got != written && strings.Trim(written, "0x") != "" {
			t.Errorf("%s is written without its checksum, %s", written, got)
		}
	}
}
