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
	{-32700, "bad_json", false, "the message is not one JSON value in UTF-8", "send one JSON object a frame"},
	{-32600, "invalid_request", false, "the message is no JSON-RPC 2.0 request of this protocol", "send jsonrpc, id, method and params; no batches"},
	{-32601, "unknown_method", false, "no method of that name", "ask host.hello for the capabilities, or update swapkeep"},
	{-32602, "bad_params", false, "a parameter is missing, unknown or out of form", "correct the parameter that is named"},
	{-32603, "internal", true, "something went wrong inside the daemon; nothing more is known", "try again; if it stays, look into the daemon's log"},

	// Connection.
	{1000, "frame_zero", false, "a frame of zero length", "send a frame only with a message in it"},
	{1001, "frame_too_long", false, "a frame over its length limit", "send messages of at most 1 MiB"},
	{1002, "busy", true, "too much is waiting for an answer", "wait for the answers under way, then repeat"},
	{1003, "result_too_large", false, "the result does not fit one message", "ask for less"},
	{1004, "attach_required", false, "the first message was not host.attach, or came too late", "connect through the swapkeep program"},
	{1005, "origin_refused", false, "the caller is not one that may use this wallet", "add the extension's id to extensions in the configuration"},
	{1006, "read_only", false, "this connection may only read", "use the extension or the terminal"},
	{1007, "terminal_only", false, "the method is only served to a terminal", "use the swapkeep command"},
	{1008, "version_mismatch", false, "client and daemon have no protocol version in common", "update the side that is named"},
	{1009, "daemon_lost", true, "the daemon went away and did not come back", "repeat with the same request uuid; see swapkeep status"},
	{1010, "daemon_starting", true, "the daemon is not ready yet", "wait a moment, then repeat"},
	{1011, "timed_out", true, "the answer took too long", "try again"},
	{1012, "stopping", true, "the daemon is being stopped", "connect again"},
	{1013, "request_conflict", false, "the request uuid was used with other content", "use a new uuid for a new act"},
	{1014, "daemon_stopped", false, "the daemon was stopped by a person", "open the wallet again, which starts it"},

	// Keys.
	{1100, "session_required", false, "this connection has no open session", "unlock the wallet here (keys.unlock)"},
	{1101, "locked", false, "the wallet is locked", "unlock the wallet (keys.unlock)"},
	{1102, "wrong_password", false, "the password is wrong", "try again; each failure makes the next try wait longer"},
	{1103, "backing_off", true, "too many wrong passwords", "wait for the time that is named"},
	{1104, "weak_password", false, "the password is too short or too easy to guess", "choose at least 10 characters that are hard to guess"},
	{1105, "bad_mnemonic", false, "the words are not a BIP-39 mnemonic", "check spelling, order and number of the words"},
	{1106, "published_test_key", false, "the key is published and known to everyone", "use a wallet of your own; test keys belong in the sandbox"},
	{1107, "unknown_account", false, "no wallet here holds that account", "choose one of keys.accounts"},
	{1108, "duplicate_wallet", false, "that wallet is already here", "use the wallet that is named"},
	{1109, "no_wallet", false, "there is no wallet, or none of that id", "create or import one (keys.create, keys.import)"},
	{1110, "password_required", false, "recipient or refund address is not the swap's own account", "repeat with the wallet's password"},
	{1111, "keychain_no_bus", true, "no session bus, so the system's keychain cannot be reached", "log in to a desktop session, or set keys.backend = \"file\""},
	{1112, "keychain_disabled_bus", true, "the session bus is switched off in this environment", "start swapkeep from a desktop session"},
	{1113, "keychain_locked", true, "the system's keychain is locked", "unlock it (log in, or answer its prompt)"},
	{1114, "keychain_missing_item", false, "the keychain lacks an item of this wallet", "restore the keychain, or import the wallet again"},
	{1115, "keychain_too_large", false, "the item is too large for the keychain", "use a smaller import"},
	{1116, "keychain_timeout", true, "the keychain did not answer in time", "look for a prompt of the system, then try again"},
	{1117, "keychain_denied", false, "the keychain refused access", "allow swapkeep in the system's prompt"},
	{1118, "keychain_broken", false, "the keychain holds something that cannot be read", "restore it from a backup, or import the wallet again"},
	{1119, "sandbox_only", false, "the sandbox takes only its own keys, and gives none away", "create a wallet in the sandbox"},
	{1120, "bad_private_key", false, "the private key is not 64 hex digits, or none of the curve", "check it against your copy"},
	{1121, "bad_keystore", false, "the key file is not one of version 3 that can be opened", "choose a keystore file of version 3, as geth and others write them"},
	{1122, "keystore_password", false, "the password does not open the key file", "type the password that the file was made with"},
	{1123, "not_exportable", false, "the wallet is not exported in that form", "export words of a wallet made from words, else a privateKey or keystore of an account"},
	{1124, "open_orders", false, "an account of the wallet has an open order", "wait for its end, or cancel it (swap.cancel)"},
	{1125, "account_exhausted", false, "the wallet has no further account", "create another wallet"},
	{1126, "keychain_leftover", false, "the wallet is removed, but its encrypted item is still in the keychain", "unlock once the keychain can be written: it is deleted then"},
	{1127, "wallet_left", false, "the keychain still holds a wallet", "remove the wallet first (keys.remove)"},

	// Networks.
	{1200, "network_unknown", false, "the network is not configured", "choose one of networks.list"},
	{1201, "network_unreachable", true, "no RPC endpoint of the network answered", "check the connection or configure another RPC URL"},
	{1202, "wrong_chain", false, "an RPC endpoint serves another chain; it is not used", "correct the network's RPC URL"},
	{1203, "network_not_active", false, "the source chain is not the active network", "select it first (networks.select)"},
	{1204, "gas_ceiling", false, "the transaction would cost more than the gas ceiling", "wait for a lower gas price"},
	{1205, "too_late", false, "the last moment for signing has passed", "ask for a new quote"},
	{1206, "tx_rejected", false, "every node refused the transaction; nothing was sent", "prepare the swap again"},
	{1207, "rpc_disagree", true, "the network's RPC endpoints disagree", "wait, or configure endpoints that can be trusted"},
	{1208, "nonce_blocked", true, "an earlier transaction of the account has to be mined first", "wait for it, or cancel its order"},
	{1209, "nonce_used", false, "the transaction is mined: too late to cancel", "look at the order"},
	{1210, "node_error", true, "the network's node refused to answer", "try again; if it stays, configure another RPC URL"},

	// Storage. Nothing is signed while it fails.
	{1300, "journal_failed", true, "the database cannot be written: nothing is signed", "see swapkeep status for the reason"},
	{1301, "database_readonly", false, "the database is read-only: nothing is signed", "make the state directory writable, then restart"},
	{1302, "database_full", true, "the disk is full: nothing is signed", "free some space"},
	{1303, "database_locked", true, "another process holds the database", "stop the other swapkeepd"},
	{1304, "database_newer", false, "a newer swapkeep wrote the database", "install that version again, or a newer one"},

	// Swaps.
	{1400, "bad_request", false, "a parameter of the swap is missing or out of form", "correct the field that is named"},
	{1401, "unsupported_network", false, "the provider does not serve that network", "choose another provider or network"},
	{1402, "unsupported_route", false, "the provider does not serve that kind of route", "choose another provider"},
	{1403, "same_token", false, "token in is token out", "choose two different tokens"},
	{1404, "amount_zero", false, "the amount is not above zero", "enter an amount"},
	{1405, "amount_too_small", false, "the provider quotes only larger amounts", "enter a larger amount"},
	{1406, "insufficient_funds", false, "the amount is above the balance", "enter a smaller amount or add funds"},
	{1407, "insufficient_gas", false, "the native balance does not pay for gas", "add the native coin that is missing"},
	{1408, "slippage_bounds", false, "the slippage is not above 0 and at most 50 percent", "choose one between; 0.5 is the default"},
	{1409, "quote_unknown", false, "no offer of that id, or it is forgotten", "ask for a new quote"},
	{1410, "quote_expired", false, "the offer is too old to be carried out", "ask for a new quote"},
	{1411, "plan_unknown", false, "no prepared plan has that digest", "prepare the swap again and show the new review"},
	{1412, "plan_executed", false, "that plan was already carried out", "look for its order in swap.orders"},
	{1413, "consent_needed", false, "a fresh quote is outside the accepted terms", "review the swap again"},
	{1414, "needs_acknowledge", false, "a finding needs a second act", "show the finding; repeat with its code in acknowledge"},
	{1415, "order_unknown", false, "no order of that id", "choose one of swap.orders"},
	{1416, "order_final", false, "the order has ended", "nothing is left to do"},
	{1417, "too_many_orders", true, "the bound on open orders is reached", "wait for orders to end, or cancel some"},
	{1418, "not_as_accepted", false, "the provider returned something outside the terms: nothing was signed", "ask for a new quote or choose another provider"},
	{1419, "not_understood", false, "the provider's bytes cannot be fully decoded: nothing was signed", "choose another offer or provider"},
	{1420, "not_pinned", false, "a contract outside the built-in list: nothing was signed", "choose another route or provider, or update swapkeep"},
	{1421, "would_revert", false, "the simulation failed: the swap would not succeed", "ask for a new quote"},
	{1422, "movements_not_shown", false, "the RPC cannot show what would move", "configure an RPC that serves eth_simulateV1"},
	{1423, "price_refused", false, "the implied price is off by half or more", "choose another offer"},
	{1424, "no_route", true, "the provider has no offer", "choose another amount, token or provider"},
	{1425, "provider_busy", true, "the provider asks to slow down", "wait a moment, then try again"},
	{1426, "provider_down", true, "the provider does not answer", "try again later or choose another provider"},
	{1427, "provider_garbage", true, "the provider's reply has not the agreed form", "try again later or update swapkeep"},
	{1428, "provider_refused", false, "the provider refused the request", "see the reason, then change the swap"},
	{1429, "provider_key", false, "the provider's API key is missing or refused", "give it a key that it accepts (providers.set_key), then ask again"},
	{1430, "clock_skew", false, "this machine's clock and the provider's differ by over 60 s", "set this machine's clock"},
	{1431, "consent_declined", false, "the confirmation was declined: nothing was signed", "confirm it if you want the swap"},
	{1432, "allowance_in_use", false, "an open order needs the allowance", "wait for the end of the order that is named, or cancel it (swap.cancel)"},
	{1433, "nothing_pending", false, "no transaction of the order is on its way", "look at the order"},
	{1434, "being_cancelled", false, "the order is being cancelled", "wait for its end"},
	{1435, "cannot_cancel", false, "the order is out of the wallet's hands", "wait for its end; a signed order ends by itself at the time that is named"},
	{1436, "record_changed", false, "the order's record is not what was accepted: it was changed outside Swapkeep, and nothing is signed for it", "cancel the order (swap.cancel) and make it again; look which other programs can write to Swapkeep's home"},
	{1437, "record_damaged", false, "the order's record in the database cannot be read: nothing is done with it", "look at the account on the chain; what is in orders.db may be restored from a backup"},
	{1438, "index_damaged", false, "an index of the orders in the database cannot be read: nothing is lost, and what needs it is refused", "run swapkeep stop: the next start makes the index anew from the orders"},
	{1439, "consent_password", false, "what the act may move, or its slippage, takes the wallet's password each time", "repeat with the wallet's password; details.reasons says why"},
	{1440, "amount_again", false, "a token of the swap has no price of the wallet's own: its amount is to be typed again", "repeat with the amount that is swapped (swapkeep swap --amount-again)"},
	{1441, "slippage_terminal", false, "slippage above 15 percent is taken at a terminal only", "choose at most 15 percent, for this swap or as swap.slippage, or use the swapkeep command"},
	{1442, "no_minimum", false, "what would be signed holds no minimum: nothing was signed", "choose another offer or provider"},

	// Tokens.
	{1500, "token_unknown", false, "no token of that address is known on that network", "import it by its address (tokens.import)"},
	{1501, "not_a_token", false, "what is at that address is no ERC-20 token of that network", "check address and network"},
	{1502, "not_importable", false, "the contract is one of the network's or a provider's own, and no token", "check the address"},
	{1503, "too_many_tokens", false, "the bound on imported tokens is reached", "remove some that you do not need (tokens.remove)"},
	{1504, "no_wrapped_native", false, "no wrapped native token is known for that network", "choose another token or network"},

	// Settings.
	{1600, "setting_unknown", false, "no setting of that key", "choose one of settings.get"},
	{1601, "setting_refused", false, "the value is not one that the setting can have", "choose one of its type and within its bounds; settings.get tells them"},
	{1602, "setting_overridden", false, "the environment or a flag sets this, which goes before what is set here", "change it there, or take it away and restart"},
	{1603, "setting_fixed", false, "this is not changed over the wire", "change it in the configuration file, then restart"},
	{1604, "rpc_refused", false, "an RPC endpoint did not prove that it serves the network; nothing was changed", "correct its URL, or try again when it answers"},
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
