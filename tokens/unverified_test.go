package tokens

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestForeign checks that a token named by an outside service is cleaned for display and
// not verified.
func TestForeign(t *testing.T) {
	at := common.HexToAddress("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359")
	got, ok := Unverified(137, at, "US\u202eDC", strings.Repeat("n", 99), 6, "intent")
	if want := (Token{Chain: 137, Address: at, Symbol: "USDC", Name: strings.Repeat("n", 59) + "…", Decimals: 6, List: "intent"}); !ok || got != want {
		t.Errorf("Unverified = %+v, %t; want %+v", got, ok, want)
	}
	if _, ok := Unverified(137, Native, "POL", "Polygon", MaxDecimals, "intent"); !ok {
		t.Error("the chain's own coin is no token")
	}
	for name, bad := range map[string]func() (Token, bool){
		"too fine":        func() (Token, bool) { return Unverified(1, at, "A", "A", MaxDecimals+1, "x") },
		"256 decimals":    func() (Token, bool) { return Unverified(1, at, "A", "A", 256, "x") },
		"no symbol":       func() (Token, bool) { return Unverified(1, at, "", "A", 6, "x") },
		"an unseen name":  func() (Token, bool) { return Unverified(1, at, "A", "\u2800\u200b", 6, "x") },
		"the placeholder": func() (Token, bool) { return Unverified(1, nativePlaceholder, "A", "A", 6, "x") },
	} {
		if got, ok := bad(); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
