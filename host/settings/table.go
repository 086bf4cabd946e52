package settings

import (
	"fmt"
	"strings"

	"swapkeep/config"
	"swapkeep/host/protocol"
)

// A row is one setting: a configuration key and how it may be changed. The bounds are for
// display; values are checked by the configuration and, for RPC URLs, against the
// network.
type row struct {
	key      string // {chain} is replaced by every network's id
	does     string
	kind     string // one of the protocol's types
	right    string
	applies  string
	min, max string
	choices  []string
	fixed    string                    // with RightNone: the reason
	mask     func(value string) string // the part of a value that is shown; nil: all of it

	passwordAbove string // with RightSession: a value above it requires the password from a browser; of a choice, one earlier in the list
	terminalAbove string // likewise: a value above it is refused from a browser
}

const (
	anyChain = "{chain}"

	session  = protocol.RightSession
	password = protocol.RightPassword
	none     = protocol.RightNone
	now      = protocol.AppliesNow
	restart  = protocol.AppliesRestart

	atHome    = "it is fixed for this home; use another home for the other mode"
	byFile    = "it controls access to the wallet; change it in the configuration file, then restart"
	byVendor  = "it is set by the wallet's vendor in the configuration file"
	keysStay  = "it does not move existing wallets; change it in the configuration file, restart, and import them again"
	localFile = "it is a local file path; change it in the configuration file, then restart"
)

// table lists every setting in display order.
var table = []row{
	{key: "swap.slippage", does: "default slippage, in percent", kind: protocol.SettingPercent, right: session, applies: now, min: "0.01", max: "50", passwordAbove: "5", terminalAbove: "15"},
	{key: "confirm", does: "where you confirm what a browser asks for: outside of it, in a dialog or at a terminal, or in its popup", kind: protocol.SettingChoice, right: session, applies: now, choices: []string{config.ConfirmPopup, config.ConfirmOutside}, terminalAbove: config.ConfirmOutside},
	{key: "keys.auto_lock", does: "auto-lock: idle time until the wallet locks", kind: protocol.SettingDuration, right: session, applies: now, min: "1m0s", max: "24h0m0s", passwordAbove: "1h0m0s"},
	{key: "ui.language", does: "language of windows, as a tag such as en or pt-BR", kind: protocol.SettingText, right: session, applies: now},
	{key: "ui.currency", does: "currency in which windows show values, as three letters; without a rate for it they show USD", kind: protocol.SettingText, right: session, applies: now},
	{key: "log.level", does: "level of the daemon's log", kind: protocol.SettingChoice, right: session, applies: restart, choices: []string{"debug", "info", "warn", "error"}, passwordAbove: "info"},
	{key: "limits.open_orders", does: "maximum number of open orders", kind: protocol.SettingNumber, right: password, applies: restart, min: "1", max: "100000"},
	{key: "limits.hourly_worth", does: "dollars that browsers may move per hour, network fees included, without the password; tokens of unknown value always need it", kind: protocol.SettingNumber, right: password, applies: now, min: "0", max: "1000000"},
	{key: "limits.unpriced_day", does: "dollars that swaps of tokens without a price may move per 24 hours before the password, or at a terminal the amount, is asked for again", kind: protocol.SettingNumber, right: password, applies: now, min: "0", max: "1000000"},

	{key: "networks." + anyChain + ".rpc", does: "RPC URLs of the network, tried in this order; two hosts must agree on the outcome of an order", kind: protocol.SettingURLs, right: password, applies: now, mask: hostOf},
	{key: "networks." + anyChain + ".depth", does: "confirmations until a transaction is final; 0 = the network's default", kind: protocol.SettingNumber, right: password, applies: restart, max: "10000"},
	{key: "providers.dex.base_url", does: "address of the DEX provider's key proxy", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "providers.dex.token_file", does: "file with this installation's token for the key proxy; empty: the keychain's", kind: protocol.SettingText, right: none, applies: restart, fixed: localFile, mask: nameOf},
	{key: "providers.dex.disabled", does: "whether the DEX provider is switched off", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "providers.bridge.base_url", does: "address of the bridge provider; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "providers.bridge.key_file", does: "file with the bridge provider's API key; empty: the keychain's", kind: protocol.SettingText, right: none, applies: restart, fixed: localFile, mask: nameOf},
	{key: "providers.bridge.disabled", does: "whether the bridge provider is switched off", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "providers.intent.base_url", does: "address of the intent provider, for the daemon; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "providers.intent.frontend_base_url", does: "address of the intent provider's token list, for windows; empty: the same", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "providers.intent.disabled", does: "whether the intent provider is switched off", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "providers.gasless.base_url", does: "address of the gasless provider; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "providers.gasless.disabled", does: "whether the gasless provider is switched off", kind: protocol.SettingSwitch, right: password, applies: restart},

	{key: "prices.disabled", does: "whether prices are disabled", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.listen", does: "loopback address and port of the price API for programs of this machine, or off", kind: protocol.SettingText, right: password, applies: restart},
	{key: "prices.history_days", does: "days that hourly prices are kept", kind: protocol.SettingNumber, right: password, applies: restart, min: "31", max: "366"},
	{key: "prices.imported", does: "whether the price API shows imported tokens to every program of this machine", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.ask_imported", does: "whether to request prices of imported tokens from services, which reveals them; on-chain oracles are always used", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.defillama.base_url", does: "address of DefiLlama's price API, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.defillama.disabled", does: "whether to disable prices from DefiLlama's price API", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.geckoterminal.base_url", does: "address of GeckoTerminal, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.geckoterminal.disabled", does: "whether to disable prices from GeckoTerminal", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.dexscreener.base_url", does: "address of DexScreener, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.dexscreener.disabled", does: "whether to disable prices from DexScreener", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.blockscout.base_url", does: "address of Blockscout, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.blockscout.disabled", does: "whether to disable prices from Blockscout", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.goplus.base_url", does: "address of GoPlus, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.goplus.disabled", does: "whether to disable prices from GoPlus", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.coingecko.base_url", does: "address of CoinGecko, a source of prices; empty: its own", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.coingecko.disabled", does: "whether to disable prices from CoinGecko", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.hosted.base_url", does: "address of another Swapkeep's price API, a source of prices; empty: none", kind: protocol.SettingURL, right: password, applies: restart, mask: hostOf},
	{key: "prices.sources.hosted.disabled", does: "whether to disable prices from another Swapkeep's price API", kind: protocol.SettingSwitch, right: password, applies: restart},
	{key: "prices.sources.coingecko.plan", does: "CoinGecko plan of the API key", kind: protocol.SettingChoice, right: password, applies: restart, choices: []string{"demo", "pro"}},
	{key: "prices.sources.onchain.disabled", does: "whether to disable prices from on-chain oracles", kind: protocol.SettingSwitch, right: password, applies: restart},

	{key: "sandbox", does: "whether this is a sandbox with local chains and no real money", kind: protocol.SettingSwitch, right: none, applies: restart, fixed: atHome},
	{key: "keys.backend", does: "where wallets are stored: the system's keychain or files", kind: protocol.SettingChoice, right: none, applies: restart, choices: []string{"os", "file"}, fixed: keysStay},
	{key: "tokens.lists", does: "files of additional token lists", kind: protocol.SettingText, right: none, applies: restart, fixed: localFile, mask: nameOf},
	{key: "extensions.chromium", does: "additional Chromium extensions allowed to use the wallet", kind: protocol.SettingText, right: none, applies: restart, fixed: byFile},
	{key: "extensions.firefox", does: "additional Firefox extensions allowed to use the wallet", kind: protocol.SettingText, right: none, applies: restart, fixed: byFile},
	{key: "extensions.allow_unknown", does: "whether to allow unidentified clients (read only)", kind: protocol.SettingSwitch, right: none, applies: restart, fixed: byFile},
	{key: "chains.allow_loopback", does: "chains whose RPC may be on this machine", kind: protocol.SettingText, right: none, applies: restart, fixed: byFile},
	{key: "chains.revived", does: "networks that were shut down and run in this sandbox", kind: protocol.SettingText, right: none, applies: restart, fixed: byFile},
	{key: "providers.gasless.source", does: "partner id for the gasless provider; empty: none", kind: protocol.SettingText, right: none, applies: restart, fixed: byVendor},
	{key: "fees.fee_bps", does: "the wallet's fee, in basis points", kind: protocol.SettingNumber, right: none, applies: restart, fixed: byVendor},
	{key: "fees.receiver", does: "address that receives the wallet's fee; empty: no fee", kind: protocol.SettingText, right: none, applies: restart, fixed: byVendor},
}

// expand replaces the rows for any chain by one row per chain.
func expand(chains []uint64) []row {
	var all []row
	for _, r := range table {
		if !strings.Contains(r.key, anyChain) {
			all = append(all, r)
			continue
		}
		for _, id := range chains {
			of := r
			of.key = strings.Replace(r.key, anyChain, fmt.Sprint(id), 1)
			all = append(all, of)
		}
	}
	return all
}
