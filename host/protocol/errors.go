package protocol

import (
	"encoding/json"
	"fmt"
)

// A Row is one row of the error table. Numbers and names are permanent: rows are added,
// but never renumbered, removed or changed in meaning.
type Row struct {
	Code      int
	Name      string
	Retryable bool // the same request may succeed later, unchanged
	Means     string
	Remedy    string // what a person can do; lower case, no full stop
}

// Errors is the error table, the source of truth for daemon, clients and docs/protocol-reference.md.
// Negative codes are JSON-RPC's own.
var Errors = []Row{
	{-32700, "bad_json", false, "the message is not a single JSON value in UTF-8", "send one JSON object per frame"},
	{-32600, "invalid_request", false, "the message is not a valid JSON-RPC 2.0 request", "send jsonrpc, id, method and params; no batches"},
	{-32601, "unknown_method", false, "unknown method", "see the capabilities in host.hello, or update swapkeep"},
	{-32602, "bad_params", false, "a parameter is missing, unknown or malformed", "correct the named parameter"},
	{-32603, "internal", true, "internal error in the daemon", "try again; if it persists, see the daemon's log"},

	// Connection.
	{1000, "frame_zero", false, "empty frame", "send frames that contain a message"},
	{1001, "frame_too_long", false, "the frame is too long", "send messages of at most 1 MiB"},
	{1002, "busy", true, "too many pending requests", "wait for pending requests, then try again"},
	{1003, "result_too_large", false, "the result does not fit in one message", "request fewer items"},
	{1004, "attach_required", false, "the first message was not host.attach, or came too late", "connect through the swapkeep program"},
	{1005, "origin_refused", false, "this extension is not allowed to use the wallet", "add the extension's id to extensions in the configuration"},
	{1006, "read_only", false, "this connection is read-only", "use the extension or the terminal"},
	{1007, "terminal_only", false, "this method is only available at a terminal", "use the swapkeep command"},
	{1008, "version_mismatch", false, "client and daemon support no common protocol version", "update the named side"},
	{1009, "daemon_lost", true, "connection to the daemon lost", "try again with the same request uuid; see swapkeep status"},
	{1010, "daemon_starting", true, "the daemon is starting", "wait a moment, then try again"},
	{1011, "timed_out", true, "the request timed out", "try again"},
	{1012, "stopping", true, "the daemon is stopping", "connect again"},
	{1013, "request_conflict", false, "the request uuid was already used for another request", "use a new uuid for each new request"},
	{1014, "daemon_stopped", false, "the daemon was stopped by the user", "open the wallet again to start it"},

	// Keys.
	{1100, "session_required", false, "no unlocked session on this connection", "unlock the wallet (keys.unlock)"},
	{1101, "locked", false, "the wallet is locked", "unlock the wallet (keys.unlock)"},
	{1102, "wrong_password", false, "wrong password", "try again; every failed attempt makes the next wait longer"},
	{1103, "backing_off", true, "too many wrong passwords", "wait for the given time, then try again"},
	{1104, "weak_password", false, "the password is too short or too easy to guess", "choose at least 10 characters that are hard to guess"},
	{1105, "bad_mnemonic", false, "invalid recovery phrase (BIP-39 mnemonic)", "check the spelling, order and number of the words"},
	{1106, "published_test_key", false, "this is a published test key, known to everyone", "use a wallet of your own; use test keys only in the sandbox"},
	{1107, "unknown_account", false, "unknown account", "choose one of keys.accounts"},
	{1108, "duplicate_wallet", false, "this wallet already exists", "use the named wallet"},
	{1109, "no_wallet", false, "no such wallet", "create or import one (keys.create, keys.import)"},
	{1110, "password_required", false, "paying or refunding to another address needs the password", "try again with the wallet's password"},
	{1111, "keychain_no_bus", true, "cannot reach the system's keychain: no D-Bus session bus", "log in to a desktop session, or set keys.backend = \"file\""},
	{1112, "keychain_disabled_bus", true, "the D-Bus session bus is disabled in this environment", "start swapkeep from a desktop session"},
	{1113, "keychain_locked", true, "the system's keychain is locked", "unlock it: log in, or answer its prompt"},
	{1114, "keychain_missing_item", false, "an item of this wallet is missing in the keychain", "restore the keychain, or import the wallet again"},
	{1115, "keychain_too_large", false, "the item is too large for the keychain", "use a smaller import"},
	{1116, "keychain_timeout", true, "the keychain did not answer in time", "answer the system's prompt, then try again"},
	{1117, "keychain_denied", false, "the keychain refused access", "allow swapkeep in the system's prompt"},
	{1118, "keychain_broken", false, "an item in the keychain is corrupt", "restore it from a backup, or import the wallet again"},
	{1119, "sandbox_only", false, "the sandbox accepts only its own keys and exports none", "create a wallet in the sandbox"},
	{1120, "bad_private_key", false, "invalid private key: not 64 hex digits, or out of range", "check it against your copy"},
	{1121, "bad_keystore", false, "invalid key file", "choose a version 3 keystore file, as written by geth and other wallets"},
	{1122, "keystore_password", false, "wrong password for the key file", "enter the password with which the file was created"},
	{1123, "not_exportable", false, "this wallet cannot be exported in that form", "export the recovery phrase only of a wallet that has one; otherwise export an account's privateKey or keystore"},
	{1124, "open_orders", false, "an account of the wallet has an open order", "wait until it ends, or cancel it (swap.cancel)"},
	{1125, "account_exhausted", false, "the wallet has no more accounts", "create another wallet"},
	{1126, "keychain_leftover", false, "the wallet was removed, but its encrypted item is still in the keychain", "unlock the wallet when the keychain is writable; this deletes the item"},
	{1127, "wallet_left", false, "the keychain still holds a wallet", "remove the wallet first (keys.remove)"},

	// Networks.
	{1200, "network_unknown", false, "the network is not configured", "choose one of networks.list"},
	{1201, "network_unreachable", true, "cannot reach the network", "check the internet connection or configure another RPC URL"},
	{1202, "wrong_chain", false, "an RPC endpoint serves another chain and is not used", "correct the network's RPC URL"},
	{1203, "network_not_active", false, "the source chain is not the active network", "select it first (networks.select)"},
	{1204, "gas_ceiling", false, "the network fee would exceed the fee limit", "wait for a lower gas price, or raise the fee limit"},
	{1205, "too_late", false, "too late to sign: the deadline has passed", "get a new quote"},
	{1206, "tx_rejected", false, "every RPC endpoint rejected the transaction; nothing was sent", "prepare the swap again"},
	{1207, "rpc_disagree", true, "the network's RPC endpoints disagree", "wait and try again, or configure other RPC URLs"},
	{1208, "nonce_blocked", true, "waiting for an earlier transaction of the account (nonce)", "wait until it is mined, or cancel its order"},
	{1209, "nonce_used", false, "too late: the transaction is already mined", "see the order"},
	{1210, "node_error", true, "the RPC endpoint returned an error", "try again; if it persists, configure another RPC URL"},
	{1211, "network_ended", false, "the network was shut down", "choose another network"},

	// Storage. Nothing is signed while it fails.
	{1300, "journal_failed", true, "cannot write to the database: nothing is signed", "see swapkeep status for the reason"},
	{1301, "database_readonly", false, "the database is read-only: nothing is signed", "make the state directory writable, then restart"},
	{1302, "database_full", true, "the disk is full: nothing is signed", "free disk space"},
	{1303, "database_locked", true, "another process uses the database", "stop the other swapkeepd"},
	{1304, "database_newer", false, "the database was written by a newer version", "install that version or a newer one"},

	// Swaps.
	{1400, "bad_request", false, "a parameter of the swap is missing or malformed", "correct the named field"},
	{1401, "unsupported_network", false, "the provider does not support this network", "choose another provider or network"},
	{1402, "unsupported_route", false, "the provider does not support this kind of route", "choose another provider"},
	{1403, "same_token", false, "the two tokens are the same", "choose two different tokens"},
	{1404, "amount_zero", false, "amount must be positive", "enter an amount above zero"},
	{1405, "amount_too_small", false, "the amount is below the provider's minimum", "enter a larger amount"},
	{1406, "insufficient_funds", false, "insufficient balance", "enter a smaller amount or add funds"},
	{1407, "insufficient_gas", false, "insufficient balance for the network fee", "add the missing amount of the network's native coin"},
	{1408, "slippage_bounds", false, "slippage must be above 0 and at most 50 percent", "choose a slippage in this range; the default is 0.5"},
	{1409, "quote_unknown", false, "unknown or expired offer", "get a new quote"},
	{1410, "quote_expired", false, "the quote has expired", "get a new quote"},
	{1411, "plan_unknown", false, "no review has this digest", "prepare the swap again and show the new review"},
	{1412, "plan_executed", false, "this review was already accepted", "find its order in swap.orders"},
	{1413, "consent_needed", false, "the new quote is outside the accepted terms", "review the new terms"},
	{1414, "needs_acknowledge", false, "a warning must be acknowledged", "read the warning, then try again with its code in acknowledge"},
	{1415, "order_unknown", false, "unknown order", "choose one of swap.orders"},
	{1416, "order_final", false, "the order has already ended", "nothing to do"},
	{1417, "too_many_orders", true, "too many open orders", "wait for orders to end, or cancel some"},
	{1418, "not_as_accepted", false, "the provider's transaction does not match the accepted terms: nothing was signed", "get a new quote or choose another provider"},
	{1419, "undecodable", false, "the provider's transaction cannot be fully decoded: nothing was signed", "choose another offer or provider"},
	{1420, "not_pinned", false, "the contract is not on the built-in allow-list: nothing was signed", "choose another route or provider, or update swapkeep"},
	{1421, "would_revert", false, "simulation failed: the transaction would revert", "get a new quote"},
	{1422, "simulation_unsupported", false, "the RPC endpoint cannot simulate token transfers", "configure an RPC URL that supports eth_simulateV1"},
	{1423, "price_refused", false, "the price differs from the market by half or more", "choose another offer"},
	{1424, "no_route", true, "the provider has no offer", "choose another amount, token or provider"},
	{1425, "provider_busy", true, "the provider's rate limit is reached", "wait a moment, then try again"},
	{1426, "provider_down", true, "the provider does not answer", "try again later or choose another provider"},
	{1427, "provider_invalid_response", true, "invalid response from the provider", "try again later or update swapkeep"},
	{1428, "provider_refused", false, "the provider refused the request", "change the swap according to the reason"},
	{1429, "provider_key", false, "the provider's API key is missing or refused", "set a valid API key (providers.set_key), then try again"},
	{1430, "clock_skew", false, "this machine's clock and the provider's differ by over 60 s", "set this machine's clock"},
	{1431, "consent_declined", false, "declined: nothing was signed", "confirm it if you want the swap"},
	{1432, "allowance_in_use", false, "an open order uses this approval", "wait until the named order ends, or cancel it (swap.cancel)"},
	{1433, "nothing_pending", false, "the order has no pending transaction", "see the order"},
	{1434, "cancel_in_progress", false, "the order is being cancelled", "wait until it ends"},
	{1435, "cannot_cancel", false, "the order can no longer be cancelled", "wait until it ends; a signed order expires at the given time"},
	{1436, "record_changed", false, "the order's record was changed outside Swapkeep: nothing is signed for it", "cancel the order (swap.cancel) and swap again; check which programs can write to Swapkeep's home"},
	{1437, "record_damaged", false, "the order's record in the database is corrupt: it is not processed", "check the account on a block explorer; restore orders.db from a backup"},
	{1438, "index_damaged", false, "an index in the database is corrupt; no orders are lost", "run swapkeep stop: the next start rebuilds the index"},
	{1439, "consent_password", false, "the amount or slippage needs the wallet's password each time", "try again with the wallet's password; see details.reasons"},
	{1440, "amount_again", false, "a token of the swap has no known price: enter its amount again", "try again with the swapped amount (swapkeep swap --amount-again)"},
	{1441, "slippage_terminal", false, "slippage above 15 percent is only allowed at a terminal", "choose at most 15 percent, for this swap or as swap.slippage, or use the swapkeep command"},
	{1442, "no_minimum", false, "the transaction enforces no minimum received: nothing was signed", "choose another offer or provider"},
	{1443, "cannot_close", false, "the order cannot be closed", "wait until the given time, or until it ends by itself"},
	{1444, "confirmation_pending", true, "waiting for a person to confirm it outside the browser", "confirm it in the dialog, or with swapkeep approve; the same request uuid waits on"},
	{1445, "confirmation_expired", false, "nobody confirmed it in time: nothing was signed", "try again, and confirm it in the dialog or with swapkeep approve"},
	{1446, "confirmations_full", true, "too many requests wait for a confirmation", "decide on those that wait: swapkeep approve"},
	{1447, "confirmation_unknown", false, "nothing waits for a confirmation under this id", "see swapkeep approve for what waits"},

	// Tokens.
	{1500, "token_unknown", false, "unknown token on this network", "import it by its address (tokens.import)"},
	{1501, "not_a_token", false, "no ERC-20 token at this address on this network", "check the address and the network"},
	{1502, "not_importable", false, "this contract belongs to the network or a provider and is not a token", "check the address"},
	{1503, "too_many_tokens", false, "too many imported tokens", "remove some (tokens.remove)"},
	{1504, "no_wrapped_native", false, "no wrapped native token is known for that network", "choose another token or network"},

	// Settings.
	{1600, "setting_unknown", false, "unknown setting", "choose one of settings.get"},
	{1601, "setting_refused", false, "invalid value for this setting", "see settings.get for its type and range"},
	{1602, "setting_overridden", false, "the environment or a flag overrides this setting", "change or remove it there, then restart"},
	{1603, "setting_fixed", false, "this setting can only be changed in the configuration file", "change it there, then restart"},
	{1604, "rpc_refused", false, "cannot verify that the RPC endpoint serves this network; nothing was changed", "correct the URL, or try again later"},
}

var rowsByName = func() map[string]Row {
	m := make(map[string]Row, len(Errors))
	for _, r := range Errors {
		m[r.Name] = r
	}
	return m
}()

func RowOf(name string) (Row, bool) {
	r, ok := rowsByName[name]
	return r, ok
}

// An Error is the error object of a response. On the wire, name, retryable, remedy and
// details are in JSON-RPC's data member.
type Error struct {
	Code      int
	Name      string
	Message   string // for a person: lower case, no full stop
	Retryable bool
	Remedy    string
	Data      map[string]string // values a client may show; "details" on the wire
}

// New returns an error of the row name. If there is no such row, the error is internal.
// An empty message is replaced by the row's text.
func New(name, message string) *Error {
	r, ok := RowOf(name)
	if !ok {
		r, message = rowsByName["internal"], "unlisted error "+name
	}
	if message == "" {
		message = r.Means
	}
	return &Error{Code: r.Code, Name: r.Name, Message: message, Retryable: r.Retryable, Remedy: r.Remedy}
}

func Newf(name, format string, args ...any) *Error {
	return New(name, fmt.Sprintf(format, args...))
}

func (e *Error) With(key, value string) *Error {
	if e.Data == nil {
		e.Data = map[string]string{}
	}
	e.Data[key] = value
	return e
}

func (e *Error) Error() string {
	s := e.Name + ": " + e.Message
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is makes errors.Is(err, protocol.New(name, "")) compare names only.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Name == e.Name
}

type wireError struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    errorData `json:"data"`
}

type errorData struct {
	Name      string            `json:"name"`
	Retryable bool              `json:"retryable"`
	Remedy    string            `json:"remedy"`
	Details   map[string]string `json:"details,omitempty"`
}

// MarshalJSON encodes a JSON-RPC error object.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireError{e.Code, e.Message, errorData{e.Name, e.Retryable, e.Remedy, e.Data}})
}

// UnmarshalJSON decodes a JSON-RPC error object, also from a newer daemon: an unknown
// name is kept.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w wireError
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Error{w.Code, w.Data.Name, w.Message, w.Data.Retryable, w.Data.Remedy, w.Data.Details}
	return nil
}
