package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
)

func TestProviderKind(t *testing.T) {
	for name, want := range map[string]string{"dex": "dex", "Uniswap": "dex", "RELAY": "bridge", "khalani": "intent", "Hyperstream": "intent", "bebop": "gasless"} {
		if got, err := providerKind(name); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := providerKind("sushi"); !errors.Is(err, errUsage) || err.Error() != `unknown provider "sushi"; use dex, bridge, intent or gasless` {
		t.Error(err)
	}
	if got, err := providerKinds([]string{"uniswap", "dex", "relay"}); err != nil || strings.Join(got, " ") != "dex bridge" {
		t.Error(got, err)
	}
}

func TestUnknownNetwork(t *testing.T) {
	known := map[uint64]string{1: "Ethereum", 10: "OP Mainnet", 56: "BNB Smart Chain", 137: "Polygon"}
	for wanted, want := range map[string]string{
		"bsc": `; did you mean "BNB Smart Chain" (56)?`, "etherium": `; did you mean "Ethereum" (1)?`, "poly": `; did you mean "Polygon" (137)?`,
		"atlantis": "", "x": "", "": "",
	} {
		if got := unknownNetwork(wanted, known).Message; !strings.HasSuffix(got, `"`+want) || want != "" && !strings.HasSuffix(got, want) {
			t.Errorf("%q: %s", wanted, got)
		}
	}
}

// TestProviderNamesInScripts: a script may use a name that we know, and a provider cannot
// take it over by calling another network so. A name that only a provider uses is refused.
func TestProviderNamesInScripts(t *testing.T) {
	l := &daemonConn{t: &terminal{json: true}, destinationNames: map[uint64]string{}}
	if _, err := l.destinationNetwork(protocol.Destination{ChainID: 666, Name: "Lookalike"}, "lookalike", false); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), "--to 666") {
		t.Error(err)
	}
	if n, err := l.destinationNetwork(protocol.Destination{ChainID: 137, Name: "Polygon"}, "polygon", true); err != nil || n.ChainID != 137 {
		t.Error(n, err)
	}
}

func TestRouteText(t *testing.T) {
	for route, want := range map[string]string{
		"[v3] 100.00% = [0.05%] 0xd0b53D9277642d899DF5C87A3966A349A798F224":                                 "Uniswap v3, 0.05 % pool",
		"[v3] 100.00% = [0.05%] 0xd0b53D9277642d899DF5C87A3966A349A798F224 -> [0.01%] 0x2dF380544B88AdB3ad": "Uniswap v3, 0.05 % and 0.01 % pools",
		"[v4] 100.00% = [0.0001%] [1] [0x0000000000000000000000000000000000000000] 0x636d":                  "Uniswap v4, 0.0001 % pool",
		"[v3] 60.00% = [0.05%], [v3] 25.50% = [0.3%] -- [0.01%], [v2] 14.50%":                               "60 % Uniswap v3, 0.05 % pool; 25.5 % Uniswap v3, 0.3 % and 0.01 % pools; 14.5 % Uniswap v2",
		"[V3] 85.00% = 4 -- 1% [0xeaB00687]USDT -- 0.01% [0x2C3c]USDC, [V4] 15.00% = 4 -- 0.98% [0xfd]USDT": "85 % Uniswap v3, 1 % and 0.01 % pools; 15 % Uniswap v4, 0.98 % pool",
		"[v3] 100.00%": "Uniswap v3", "by magic": "CLASSIC by magic", "": "CLASSIC", "[v9] 100% = [1%]": "CLASSIC [v9] 100% = [1%]",
	} {
		if got := routeText(protocol.Offer{Provider: "dex", Routing: "CLASSIC", Route: route}); got != want {
			t.Errorf("%s: %s, want %s", route, got, want)
		}
	}
	if got := routeText(protocol.Offer{Provider: "bridge", Routing: "fast", Route: "Relay"}); got != "fast Relay" {
		t.Error(got)
	}
}

// TestAmountsInErrors: an error about amounts says them in coins, unless one is missing.
func TestAmountsInErrors(t *testing.T) {
	usdc, eth := amount.Coin{Symbol: "USDC", Decimals: 6}, amount.Coin{Symbol: "ETH", Decimals: 18}
	coins := map[string]amount.Coin{"tokenIn": usdc, "tokenOut": {Symbol: "DAI", Decimals: 18}, "coin": eth}
	const milli = "1000000000000000"
	for _, c := range []struct {
		name string
		data map[string]string
		want string
	}{
		{"insufficient_funds", map[string]string{"balance": "99750000000", "missing": "99900249000000"}, "Insufficient balance. You need 99,900,249 USDC more: you have 99,750 USDC"},
		{"insufficient_funds", map[string]string{"balance": "7000000", "missing": "1000000", "promised": "5000000"}, "Insufficient balance. You need 1 USDC more: you have 7 USDC, and open orders reserve 5 USDC of it"},
		{"insufficient_gas", map[string]string{"balance": "0", "missing": milli, "needed": milli}, "Not enough for the network fee. You need 0.001 ETH more: up to 0.001 ETH is needed, you have 0 ETH"},
		{"insufficient_gas", map[string]string{"max": "2" + milli[1:], "ceiling": milli}, "Not enough for the network fee. It could cost up to 0.002 ETH; your limit is 0.001 ETH"},
		{"gas_ceiling", map[string]string{"needed": "2" + milli[1:], "ceiling": milli}, "The network fee exceeds your limit. It could cost up to 0.002 ETH; your limit is 0.001 ETH"},
		{"price_refused", map[string]string{"offered": milli, "own": "2" + milli[1:]}, "The price is off by 50 % or more. Swapkeep refuses this swap. You would receive 0.001 DAI; by Swapkeep's own price it should be 0.002 DAI"},
		{"insufficient_funds", map[string]string{"balance": "1"}, "so it is"},
		{"no_route", map[string]string{"balance": "1", "missing": "1"}, "so it is"},
	} {
		refused := protocol.New(c.name, "so it is")
		refused.Data = c.data
		if got := wireOf((&terminal{}).inCoins(refused, coins)); got.Message != c.want || got.Name != c.name {
			t.Errorf("%s %v: %s", c.name, c.data, got)
		}
		if got := wireOf((&terminal{json: true}).inCoins(refused, coins)); got.Message != "so it is" {
			t.Errorf("with --json: %s", got)
		}
	}
}

// TestErrorsInWords: an error is printed in the message table's words, unless the daemon says more
// or the words are for the popup.
func TestErrorsInWords(t *testing.T) {
	own := protocol.New("no_route", "no pool has both tokens")
	own.Remedy = "try a larger amount"
	for _, c := range []struct {
		err  *protocol.Error
		want string
	}{
		{protocol.New("database_full", ""), "The disk is full. Nothing is signed | Free some disk space."},
		{protocol.New("no_route", "no pool has both tokens"), "no pool has both tokens | Try another amount, token or provider."},
		{own, "no pool has both tokens | try a larger amount"},
		{protocol.New("order_unknown", ""), "Order not found | choose one of swapkeep orders"},
		{protocol.New("session_required", ""), "no unlocked session on this connection | unlock the wallet (swapkeep keys unlock)"},
		{protocol.New("timed_out", ""), "The answer took too long | try again"},
		{&protocol.Error{Name: "too_wet", Message: "so it is", Remedy: "see swap.orders"}, "so it is | see swapkeep orders"},
	} {
		if message, remedy := inWords(c.err); message+" | "+remedy != c.want {
			t.Errorf("%s: %s | %s", c.err.Name, message, remedy)
		}
	}
	forThePopup := regexp.MustCompile(`(?i)window|extension|browser|activity|in settings|tick |“try|nothing is done twice|open the order|\$[1-9]`)
	for _, row := range protocol.Errors {
		message, remedy := inWords(protocol.New(row.Name, ""))
		if message != row.Means && forThePopup.MatchString(message) || remedy != inCommands(row.Remedy) && forThePopup.MatchString(remedy) {
			t.Errorf("%s is said for the popup: %s; %s", row.Name, message, remedy)
		}
	}
	for _, kept := range []map[string]string{keptMessages, keptRemedies} {
		for name := range kept {
			if _, ok := protocol.RowOf(name); !ok {
				t.Errorf("there is no error %s", name)
			}
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	for typed, want := range map[string]string{
		"balance":        `unknown command "balance"; did you mean "tokens balances"?`,
		"tokens balance": `unknown command "balance"; did you mean "balances"?`,
		"statu":          `unknown command "statu"; did you mean "status"?`,
		"nonsense":       `unknown command "nonsense"; see swapkeep --help`,
		"quote -5 A B":   "amount must be positive",
		"swap -.5 A B":   "amount must be positive",
		"quote -z A B":   "unknown shorthand flag: 'z' in -z",
	} {
		var out strings.Builder
		root := newRoot(&out, &out)
		if status := runCommand(root, strings.Fields(typed)); status != exitUsage || strings.TrimSpace(out.String()) != "swapkeep: "+want {
			t.Errorf("%s: %d %s", typed, status, &out)
		}
	}
}
