package tokens

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

func TestBuiltin(t *testing.T) {
	l := Builtin()
	for _, chain := range []uint64{1, 10, 56, 8453, 42161, 143, 5330, 39} {
		if n, ok := l.Lookup(chain, common.Address{}); !ok || n.Decimals != 18 {
			t.Errorf("chain %d has no native coin: %+v", chain, n)
		}
	}
	usdc := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	if c, ok := l.Lookup(1, usdc); !ok || c.Symbol != "USDC" || c.Decimals != 6 || !c.Verified {
		t.Errorf("USDC on 1: %+v, %t", c, ok)
	}
	if _, ok := l.Lookup(10, usdc); ok {
		t.Error("an address means nothing on another chain")
	}
	for _, q := range []string{"usdc", "USD Coin", strings.ToLower(usdc.Hex())} {
		if got := l.On(1, q); len(got) == 0 || got[0].Address != usdc {
			t.Errorf("search %q: %+v", q, got)
		}
	}
	if got := l.On(999, ""); len(got) != 0 {
		t.Errorf("unknown chain lists %d tokens", len(got))
	}
}

func TestParseRefuses(t *testing.T) {
	const good = `{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"USDC","name":"USD Coin","decimals":6}`
	if _, err := parse([]byte("[" + good + "]")); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]string{
		"twice":       "[" + good + "," + strings.ToLower(good[:70]) + good[70:] + "]",
		"no symbol":   strings.Replace("["+good+"]", `"USDC"`, `""`, 1),
		"no chain":    strings.Replace("["+good+"]", `"chainId":1`, `"chainId":0`, 1),
		"decimals":    strings.Replace("["+good+"]", `"decimals":6`, `"decimals":200`, 1),
		"not a list":  good,
		"bad address": strings.Replace("["+good+"]", "0xA0", "0xZZ", 1),
	} {
		if _, err := parse([]byte(list)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// FuzzParse: whatever parses can be looked up again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"USDC","name":"USD Coin","decimals":6}]`))
	f.Add([]byte(`[{}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parse(b)
		if err != nil {
			return
		}
		for _, tok := range l.tokens {
			if got, ok := l.Lookup(tok.Chain, tok.Address); !ok || got != tok {
				t.Fatalf("lost %+v", tok)
			}
		}
	})
}
