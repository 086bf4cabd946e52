package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"swapkeep/swap"
	"swapkeep/test/await"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// fitToShow checks what must hold for the display of every chain, whatever the API says.
func fitToShow(id uint64, l listedChain) error {
	d := l.display
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if d.ChainID != id || d.Name == "" || strings.ContainsFunc(d.Name+d.Symbol, odd) || len([]rune(d.Name)) > 61 ||
		d.Explorer != "" && !strings.HasPrefix(strings.ToLower(d.Explorer), "https://") || len(l.tokens) > maxTokens {
		return fmt.Errorf("a chain that may not be shown: %+v", d)
	}
	seen := map[common.Address]bool{}
	for _, t := range l.tokens {
		if t.Chain != id || t.Verified || t.List != "bridge" || t.Symbol == "" || t.Name == "" || strings.ContainsFunc(t.Symbol+t.Name, odd) || seen[t.Address] {
			return fmt.Errorf("a token that may not be shown: %+v", t)
		}
		seen[t.Address] = true
	}
	return nil
}

// polygon is an element of the list as the API writes it, with replacements.
func polygon(replaced ...string) []byte {
	entry := `{"id":137,"name":"polygon","displayName":"Polygon","vmType":"evm","disabled":false,"depositEnabled":true,"tokenSupport":"All",
		"explorerUrl":"https://polygonscan.com","protocol":{"v2":{"depository":"` + depository.Hex() + `"}},
		"currency":{"id":"pol","symbol":"POL","name":"POL","address":"0x0000000000000000000000000000000000000000","decimals":18,"supportsBridging":true},
		"featuredTokens":[{"symbol":"USDC","name":"USD Coin","address":"0x3c499c542cef5e3811e1192ce70d8cc03d5c3359","decimals":6,"supportsBridging":true}],
		"erc20Currencies":[{"symbol":"USDC","name":"USD Coin","address":"0x3c499c542cef5e3811e1192ce70d8cc03d5c3359","decimals":6,"supportsBridging":true},
			{"symbol":"USDT","name":"Tether","address":"0xc2132d05d31c914a87c6611c10748aeb04b58e8f","decimals":6,"supportsBridging":false}]}`
	return fmt.Appendf(nil, `{"chains":[%s]}`, strings.NewReplacer(replaced...).Replace(entry))
}

// TestDestinationIsDescribed checks that a chain is shown as the list describes it, and
// that no lie in the display data removes the chain.
func TestDestinationIsDescribed(t *testing.T) {
	whole := swap.Destination{ChainID: 137, Name: "Polygon", Symbol: "POL", Decimals: 18, Explorer: "https://polygonscan.com"}
	without := func(change func(*swap.Destination)) swap.Destination { d := whole; change(&d); return d }
	for name, c := range map[string]struct {
		replaced []string
		want     swap.Destination
		tokens   string
	}{
		"unchanged":                            {nil, whole, "POL USDC USDT"},
		"limited support":                      {[]string{`"All"`, `"Limited"`}, whole, "POL USDC"},
		"no display name":                      {[]string{`"Polygon"`, `null`}, without(func(d *swap.Destination) { d.Name = "polygon" }), "POL USDC USDT"},
		"no name at all":                       {[]string{`"Polygon"`, `7`, `"polygon"`, `"\u202e\u200b"`}, without(func(d *swap.Destination) { d.Name = "chain 137" }), "POL USDC USDT"},
		"a name with bidirectional controls":   {[]string{`"Polygon"`, `"Poly\u202egon\n"`}, whole, "POL USDC USDT"},
		"a native coin with a token's address": {[]string{"0x0000000000000000000000000000000000000000", "0x0000000000000000000000000000000000001010"}, without(func(d *swap.Destination) { d.Symbol, d.Decimals = "", 0 }), "USDC USDT"},
		"a native coin without decimals":       {[]string{`"decimals":18`, `"decimals":-1`}, without(func(d *swap.Destination) { d.Symbol, d.Decimals = "", 0 }), "USDC USDT"},
		"no address":                           {[]string{"0x3c499c542cef5e3811e1192ce70d8cc03d5c3359", "lie"}, whole, "POL USDT"},
		"a script for explorer":                {[]string{"https://polygonscan.com", "javascript:alert(1)"}, without(func(d *swap.Destination) { d.Explorer = "" }), "POL USDC USDT"},
		"a plain explorer":                     {[]string{"https://polygonscan.com", "http://polygonscan.com"}, without(func(d *swap.Destination) { d.Explorer = "" }), "POL USDC USDT"},
		"an explorer on this machine":          {[]string{"https://polygonscan.com", "https://127.0.0.1/x"}, without(func(d *swap.Destination) { d.Explorer = "" }), "POL USDC USDT"},
		"an explorer with non-ASCII letters":   {[]string{"https://polygonscan.com", "https://polуgonscan.com"}, without(func(d *swap.Destination) { d.Explorer = "" }), "POL USDC USDT"},
		"an unreadable entry":                  {[]string{`"featuredTokens":[`, `"featuredTokens":7,"x":[`, `"erc20Currencies":[`, `"erc20Currencies":"x","y":[`}, whole, "POL"},
	} {
		p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, polygon(c.replaced...))})
		got, err := p.Destinations(t.Context())
		if err != nil || !slices.Equal(got, []swap.Destination{c.want}) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
		list, err := p.Tokens(t.Context(), 137)
		var symbols []string
		for _, token := range list {
			symbols = append(symbols, token.Symbol)
		}
		if listed := strings.Join(symbols, " "); err != nil || listed != c.tokens {
			t.Errorf("%s: tokens %s, %v, want %s", name, listed, err, c.tokens)
		}
	}
}

// TestTokensOfNoDestination checks that tokens are listed only for chains that can receive.
func TestTokensOfNoDestination(t *testing.T) {
	for name, c := range map[string]struct {
		replaced []string
		chain    uint64
	}{
		"not on the list":             {nil, 8453},
		"not a network of the wallet": {[]string{`"id":137`, `"id":39`}, 39},
		"disabled":                    {[]string{`"disabled":false`, `"disabled":true`}, 137},
		"nothing received":            {[]string{`"depositEnabled":true`, `"depositEnabled":false`}, 137},
		"another depository":          {[]string{depository.Hex(), solver.Hex()}, 137},
	} {
		p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, polygon(c.replaced...))})
		if list, err := p.Tokens(t.Context(), c.chain); len(list) != 0 || !errors.Is(err, &swap.Refusal{Code: swap.UnsupportedNetwork}) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

// TestTokensAreBounded checks that the first entries of a long list are kept, and that a
// caller cannot change what the next one gets.
func TestTokensAreBounded(t *testing.T) {
	var rows []json.RawMessage
	for i := range maxTokens + 10 {
		rows = append(rows, fmt.Appendf(nil, `{"symbol":"T%d","name":"T","address":"%s","decimals":6}`, i, common.BigToAddress(units(int64(i+1)))))
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, polygon(`"featuredTokens":[`, `"featuredTokens":`+string(raw)+`,"x":[`))})
	for range 2 {
		list, err := p.Tokens(t.Context(), 137)
		if err != nil || len(list) != maxTokens || list[0].Symbol != "POL" || list[maxTokens-1].Symbol != fmt.Sprintf("T%d", maxTokens-2) {
			t.Fatalf("%d tokens, %v", len(list), err)
		}
		list[0] = tokens.Token{}
	}
}

// TestFailureIsShared checks that those who wait for a request of the list get its error,
// and that whoever comes later requests it again.
func TestFailureIsShared(t *testing.T) {
	var asked atomic.Int32
	p := providerOf(t, map[string]http.HandlerFunc{"/chains": func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		replying(200, []byte(`{"chains":[]}`))(w, r)
	}})
	var clock atomic.Int64
	p.chains.now = func() time.Time { return testNow.Add(time.Duration(clock.Add(1))) }
	p.chains.lock <- struct{}{} // a request is under way
	const waiting = 5
	ended := make(chan error, waiting)
	for range waiting {
		go func() { _, err := p.chains.get(context.Background()); ended <- err }()
	}
	await.Until(t, 10*time.Second, "all wait", func() bool { return clock.Load() >= waiting })
	<-p.chains.lock
	for range waiting {
		if err := <-ended; !errors.Is(err, &swap.Refusal{Code: swap.ProviderInvalidResponse}) {
			t.Error(err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	if _, err := p.Destinations(t.Context()); err == nil || asked.Load() != 2 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}

// TestRecordedChains reads the whole example in the API's documentation.
func TestRecordedChains(t *testing.T) {
	p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, example(t, "chains_resp"))})
	list, err := p.Tokens(t.Context(), 8453)
	if err != nil || len(list) != 2 || list[0].Address != nativeCoin || list[0].Symbol != "ETH" || list[1].Address != usdcOnBase || list[1].Decimals != 6 {
		t.Errorf("Tokens = %+v, %v, want ETH and USDC", list, err)
	}
}
