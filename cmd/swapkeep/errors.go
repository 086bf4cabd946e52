package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// amountMessages are the messages with amounts that say more of an error than its title; the
// first whose values there are counts.
var amountMessages = map[string][]string{
	"insufficient_funds": {"err_funds_promised", "err_funds_missing"}, "insufficient_gas": {"err_gas_missing", "err_gas_over"}, "gas_ceiling": {"err_gas_over"},
	"price_refused": {"err_price_impact"},
}

// inCoins puts an error about amounts into words; coins are those of the forms tokenIn, tokenOut
// and coin. With --json amounts stay in base units.
func (t *terminal) inCoins(err error, coins map[string]amount.Coin) error {
	var wire *protocol.Error
	if t.json || !errors.As(err, &wire) {
		return err
	}
	data := wire.Data
	if wire.Name == "gas_ceiling" {
		data = map[string]string{"max": wire.Data["needed"], "ceiling": wire.Data["ceiling"]}
	}
	for _, key := range amountMessages[wire.Name] {
		text, ok := messages.Filled(key, data, func(form, value, _ string) string {
			coin, known := coins[form]
			if n := protocol.Amount(value).Int(); n != nil && known {
				return coin.Exact(n)
			}
			return ""
		})
		if ok {
			title, _ := messages.Text("err_" + wire.Name)
			told := *wire
			told.Message, told.Data = strings.TrimSuffix(title, ".")+". "+strings.TrimSuffix(text, "."), nil
			return &told
		}
	}
	return err
}

// figures returns an error's name and data as text.
func figures(e *protocol.Error) string {
	said := []string{e.Name}
	for _, key := range slices.Sorted(maps.Keys(e.Data)) {
		said = append(said, screen.Printable(key+" "+e.Data[key]))
	}
	return strings.Join(said, ", ")
}

// keptMessages and keptRemedies are the errors whose text in the message table is not for the
// terminal, and why. The terminal prints the daemon's.
var (
	keptMessages = map[string]string{
		"attach_required": "speaks of the browser", "origin_refused": "speaks of the extension", "version_mismatch": "speaks of the extension",
		"session_required": "speaks of the window", "no_wallet": "is for no wallet at all, not for one that was named", "plan_unknown": "is not for a digest that was typed wrong",
		"sandbox_only": "omits that nothing is exported", "keychain_no_bus": "omits D-Bus", "keychain_disabled_bus": "omits D-Bus",
		"confirmation_pending": "speaks of the browser", "not_importable": "omits whose contract it is", "record_changed": "leaves it to its remedy that nothing is signed", "record_damaged": "omits that it is not processed",
	}
	keptRemedies = map[string]string{
		"bad_json": "speaks of the extension", "invalid_request": "speaks of the extension", "frame_zero": "speaks of the extension", "frame_too_long": "speaks of the extension",
		"origin_refused": "speaks of the extension", "read_only": "speaks of the extension", "attach_required": "speaks of the browser", "busy": "speaks of windows",
		"version_mismatch": "speaks of the window", "daemon_stopped": "speaks of a button", "wrong_chain": "speaks of the settings page", "needs_acknowledge": "speaks of a box to tick",
		"nothing_pending": "speaks of the order's page", "nonce_used": "speaks of the order's page", "amount_again": "omits the command",
		"daemon_lost": "promises the same request uuid, and a second command has another", "timed_out": "promises the same request uuid, and a second command has another",
		"backing_off": "omits to wait", "cannot_cancel": "omits that a signed order expires", "keychain_no_bus": "omits the setting", "not_exportable": "omits the forms",
		"published_test_key": "omits the sandbox", "record_damaged": "omits the file's name", "insufficient_gas": "speaks of a smaller amount, which does not help a revoke",
	}
)

// inWords returns an error's message, without a full stop, and its remedy, for people: in the
// words of the message table where the daemon's are only those of its table of errors. Others
// say more, and a remedy with a command is for the terminal.
func inWords(e *protocol.Error) (message, remedy string) {
	message, remedy = e.Message, inCommands(e.Remedy)
	row, _ := protocol.RowOf(e.Name)
	if text, ok := messages.Text("err_" + e.Name); ok && message == row.Means && keptMessages[e.Name] == "" {
		message = strings.TrimSuffix(text, ".")
	}
	if text, ok := messages.Text("err_" + e.Name + "_do"); ok && remedy == row.Remedy && keptRemedies[e.Name] == "" {
		remedy = text
	}
	return message, remedy
}

// commandOf replaces the method names in remedies of the error table by command lines.
var commandOf = strings.NewReplacer(
	"keys.accounts", "swapkeep keys accounts", "keys.create", "swapkeep keys create", "keys.import", "swapkeep keys import",
	"keys.unlock", "swapkeep keys unlock", "networks.list", "swapkeep networks", "networks.select", "swapkeep networks select",
	"tokens.import", "swapkeep tokens import", "tokens.remove", "swapkeep tokens remove", "swap.orders", "swapkeep orders",
	"swap.cancel", "swapkeep orders cancel", "swap.close", "swapkeep orders close", "swap.accept", "swapkeep orders accept", "swap.speedup", "swapkeep orders speedup",
	"approvals.list", "swapkeep approvals", "approvals.revoke", "swapkeep approvals revoke",
	"settings.get", "swapkeep settings", "settings.set", "swapkeep settings set", "providers.set_key", "swapkeep providers set-key",
)

func inCommands(remedy string) string { return commandOf.Replace(remedy) }
