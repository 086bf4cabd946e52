package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"swapkeep/host/protocol"
)

// TestProvidersFitTheScreen: everything known about the providers is printed, and no line
// is wider than eighty columns.
func TestProvidersFitTheScreen(t *testing.T) {
	on, out := onPaper()
	l := &daemonConn{t: on, networks: map[uint64]protocol.Network{1: {Name: "Ethereum"}, 56: {Name: "BNB Smart Chain"}, 5330: {Name: "Superseed"}}}
	none := protocol.Support{Support: "not_supported"}
	bridged := protocol.Support{Support: "active", CrossChain: true}
	v := protocol.ProvidersResult{Providers: []protocol.Provider{
		{Kind: "dex", Reason: "needs the address of a key proxy: set providers.dex.base_url", Support: map[string]protocol.Support{"1": {Support: "active", Pools: []string{"V3", "V2", "V4"}, Auction: true}, "56": none, "5330": none},
			Can: protocol.Capabilities{SameChain: "yes", CrossChain: "no", Intents: "no", Gasless: "only through the auction-style route", Tracking: "yes"}, Fee: protocol.ProviderFee{FeeBps: 20, MakerBps: 20}},
		{Kind: "bridge", Ready: true, Support: map[string]protocol.Support{"1": bridged, "56": bridged, "5330": bridged},
			Can: protocol.Capabilities{SameChain: "yes", CrossChain: "yes", Intents: "no", Gasless: "no", Tracking: "yes"}, Fee: protocol.ProviderFee{FeeBps: 40}},
		{Kind: "intent", Ready: true, Support: map[string]protocol.Support{"1": bridged, "56": bridged, "5330": {Support: "disabled"}},
			Can:  protocol.Capabilities{SameChain: "route-dependent", CrossChain: "yes", Intents: "yes", Gasless: "no (a source-chain deposit transaction is required)", Tracking: "yes"},
			Host: "api.hyperstream.dev", FrontendURL: "https://api.hyperstream.dev", Networks: map[string]protocol.ProviderNetwork{
				"5330": {HyperstreamChainID: 5330, DisplayName: "Superseed"}, "56": {Enabled: true, HyperstreamChainID: 56, DisplayName: "BNB Smart Chain", CrossChainEnabled: true}}},
		{Kind: "gasless", Ready: true, Support: map[string]protocol.Support{"1": {Support: "active", Note: "two protocol versions"}, "56": {Support: "active", Note: "two protocol versions"},
			"5330": {Support: "active", Note: "single protocol version, custom contract deployment"}},
			Can: protocol.Capabilities{SameChain: "yes", CrossChain: "no", Intents: "yes, for its own orders", Gasless: "yes, after the token approval", Tracking: "yes"}},
	}}
	l.printProviders(v, protocol.FeesResult{})
	want := `  network          dex                  bridge       intent           gasless
  (set up)         no (1)               ready        ready            ready
  Ethereum         V3, V2, V4, auction  cross-chain  cross-chain      active (2)
  BNB Smart Chain  -                    cross-chain  cross-chain      active (2)
  Superseed        -                    cross-chain  disabled         active (3)
  same chain       yes                  yes          route-dependent  yes
  cross-chain      no                   yes          yes              no
  intent routing   no                   no           yes              yes (4)
  gasless          in part (5)          no           no (6)           yes (7)
  order tracking   yes                  yes          yes              yes
  wallet fee       0.2 %                0.4 %        0 %              0 %
  maker fee        at most 0.2 %        none         none             none

  (1)        needs the address of a key proxy: set providers.dex.base_url
  (2)        two protocol versions
  (3)        single protocol version, custom contract deployment
  (4)        for its own orders
  (5)        only through the auction-style route
  (6)        a source-chain deposit transaction is required
  (7)        after the token approval
  no wallet fee: no receiver is configured

The intent provider
  API host   api.hyperstream.dev
  popup API  https://api.hyperstream.dev

  chain  provider's id  provider's name  enabled  cross-chain
     56             56  BNB Smart Chain  yes      yes
   5330           5330  Superseed        no       no
`
	if out.String() != want {
		t.Errorf("%s", out)
	}
	for _, text := range strings.Split(out.String(), "\n") {
		if utf8.RuneCountInString(text) > 80 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(text), text)
		}
	}
}
