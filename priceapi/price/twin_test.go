package price

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestTwins: each token and its twin are on the built-in list, of the same kind and
// with as many decimals, and no twin needs another.
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
	// What a token is called on Superseed, and what it is.
	kinds := map[string]string{"ETH": "ETH", "WETH": "WETH", "USDC": "USDC", "USDT": "USDT", "oUSDT": "USDT", "cbBTC": "cbBTC"}
	for id := range twins {
		twin, _ := TwinOf(id)
		a, b := known[id], known[twin]
		if a.Symbol == "" || kinds[a.Symbol] != b.Symbol || a.Decimals != b.Decimals || id.Chain == twin.Chain {
			t.Errorf("%v %s of %d decimals has the twin %v %s of %d", id, a.Symbol, a.Decimals, twin, b.Symbol, b.Decimals)
		}
		if again, ok := TwinOf(twin); ok {
			t.Errorf("%v, the twin of %v, has the twin %v", twin, id, again)
		}
		delete(kinds, a.Symbol)
	}
	if len(kinds) != 0 {
		t.Errorf("without a twin: %v", kinds)
	}
	if twin, ok := TwinOf(onSuperseed("0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")); ok {
		t.Errorf("SUPR has the twin %v", twin)
	}
}
