package protocol

// Access is the set of connections that a method is served to.
type Access string

// The levels of access, widest first.
const (
	Reads    Access = "any"      // every attached connection, including read-only ones
	Writes   Access = "client"   // extensions and terminals
	Terminal Access = "terminal" // a terminal only, never a browser
)

// A Method is one row of the method table. Params and Result are zero values of the wire
// structs. A field of Params without omitempty or omitzero is required; unknown
// parameters are refused.
type Method struct {
	Name    string
	Access  Access
	Session bool // requires the connection's own open session (keys.unlock)
	Acting  bool // carries a request uuid; repeating it returns the first result
	Params  any
	Result  any
	Does    string
}

// Methods is the method table.
var Methods = []Method{
	{"host.attach", Reads, false, false, AttachParams{}, AttachResult{}, "Says who is calling. The first message of every connection, sent by the relay or a command, never by an extension."},
	{"host.hello", Reads, false, false, HelloParams{}, Hello{}, "Says what the daemon is and can do, and agrees on a protocol version."},
	{"host.status", Terminal, false, false, None{}, StatusResult{}, "Shows the daemon's health, its connections and its problems, each with a remedy."},
	{"host.diagnose", Terminal, false, false, DiagnoseParams{}, Diagnosis{}, "Examines what only the daemon can: its state directory, databases and keychain (by an item of its own, written, read and deleted), the price port and the clock; and the networks, if asked to. It changes nothing else."},
	{"host.stop", Terminal, false, false, None{}, StopResult{}, "Stops the daemon. Accepted orders go on at its next start."},

	{"keys.status", Reads, false, false, None{}, KeysStatus{}, "Shows the wallets and whether they are unlocked."},
	{"keys.create", Writes, false, true, CreateParams{}, CreateResult{}, "Makes a wallet and returns its words, this once: a repeat of the same uuid returns the wallet without them."},
	{"keys.import", Writes, false, true, ImportParams{}, CreateResult{}, "Makes a wallet from the words of another, from a private key or from a key file."},
	{"keys.unlock", Writes, false, false, UnlockParams{}, KeysStatus{}, "Unlocks the wallet and opens this connection's session. Also with the wallet already unlocked, the password opens the session."},
	{"keys.lock", Writes, false, false, None{}, KeysStatus{}, "Locks the wallet: every session ends, offers and prepared plans are forgotten. Accepted orders go on, and wait where they need a signature."},
	{"keys.accounts", Reads, false, false, None{}, AccountsResult{}, "Lists the accounts, locked or not."},
	{"keys.add", Writes, true, true, AddParams{}, AddResult{}, "Adds the next account of a wallet."},
	{"keys.discover", Writes, true, true, DiscoverParams{}, Discovery{}, "Looks for accounts of a wallet that were used on any network, and adds them; also begun by itself after an import of words. Takes up to a minute; how far it is arrives as keys.changed."},
	{"keys.rename", Writes, true, true, RenameParams{}, WalletResult{}, "Gives a wallet another name, or an account another label."},
	{"keys.remove", Writes, false, true, RemoveParams{}, WalletResult{}, "Removes a wallet and its keys for good; asks for the password each time, locked or not. Refused while an account of it has an open order. Removing the last wallet locks."},
	{"keys.clear", Terminal, false, false, None{}, None{}, "Removes all that is left in the keychain when there is no wallet: their list and the providers' keys. Refused while there is a wallet, listed or not. For an uninstall: the daemon is stopped next."},
	{"keys.export", Terminal, false, false, ExportParams{}, ExportResult{}, "Shows a wallet's words, or an account's key as digits or as a key file; asks for the password each time. Never in the sandbox."},

	{"networks.list", Reads, false, false, None{}, NetworksResult{}, "Lists the networks and names the active one."},
	{"networks.select", Writes, false, false, SelectParams{}, SelectResult{}, "Makes a network the active one, for every window. Offers and prepared plans are forgotten when it changes."},

	{"gas.watch", Reads, false, false, GasWatchParams{}, GasWatchResult{}, "Returns a network's gas price and pushes it to this connection as gas.price at every new head, until stop or the connection's end. Repeating it asks again and watches once."},

	{"tokens.list", Reads, false, false, TokensParams{}, TokensResult{}, "Lists the known tokens of a network, a page at a time: built in, on a configured list, or imported. With a provider, those that it says it trades there, for display: its names are nobody's here, and a token is its address."},
	{"tokens.search", Reads, false, false, SearchParams{}, SearchResult{}, "Finds known tokens of a network by symbol, name or address, best first, a page at a time."},
	{"tokens.import", Writes, false, false, ImportTokenParams{}, ImportTokenResult{}, "Reads a token from its contract and keeps it, unverified. Repeating it changes nothing."},
	{"tokens.remove", Writes, false, false, RemoveTokenParams{}, RemoveTokenResult{}, "Forgets an imported token. Repeating it changes nothing."},
	{"tokens.balances", Reads, false, false, BalancesParams{}, BalancesResult{}, "Reads balances of an account from the chain, with what the tokens are."},
	{"tokens.incoming", Reads, false, false, IncomingParams{}, IncomingResult{}, "Looks for tokens that an account was sent and that are not known here, in the blocks since the last look, at most once a minute. The first look only notes where to begin. Nothing is asked of their contracts but symbol and decimals."},

	{"prices.list", Reads, false, false, PricesParams{}, PricesResult{}, "Shows prices of a network's tokens with 24 hours of comparison, a page at a time, as last fetched. It asks nobody."},
	{"prices.history", Reads, false, false, PriceHistoryParams{}, PriceHistory{}, "Returns the candles of a token's price chart over a day, a week or a month."},

	{"settings.get", Reads, false, false, SettingsParams{}, SettingsResult{}, "Shows settings: what holds, where it comes from, and what changing it takes. Secrets are not among them."},
	{"settings.set", Writes, false, false, SetParams{}, SetResult{}, "Changes one setting, or forgets the change. Needs a session, or the password each time, as the setting's right says; an RPC URL must prove its network first."},

	{"providers.set_key", Writes, false, false, SetKeyParams{}, SetKeyResult{}, "Keeps a provider's key in the keychain, for the host of its address and no other, or forgets it; asks for the wallet's password each time. No method shows one."},
	{"swap.providers", Reads, false, false, None{}, ProvidersResult{}, "Says what each provider supports here and whether it is set up."},
	{"swap.destinations", Reads, false, false, DestinationsParams{}, DestinationsResult{}, "Lists the chains that a provider pays out on, as it says itself: those of networks.list first, then the others by name. A swap may go to any of them; for what can be received there see tokens.list with the provider."},
	{"swap.fees", Reads, false, false, None{}, FeesResult{}, "Returns the wallet's fee and its receiver."},
	{"swap.quote", Writes, false, false, QuoteParams{}, QuoteResult{}, "Asks the providers for offers, exact input. They are also pushed as swap.quoted as they come. With watch each provider is asked again at its own cadence afterwards, in place of what this connection asked for with watch before, until the wallet is locked or switched, the connection ends or swap.watch stops it. Another recipient or refund address than the account needs the password, once a session for each."},
	{"swap.watch", Writes, false, false, WatchParams{}, WatchResult{}, "Says that somebody still looks at the quote that this connection watches: without it the refresh pauses after a minute, and goes on at the next. With stop it ends the watch, and quotes under way, that were asked for before."},
	{"swap.prepare", Writes, false, false, PrepareParams{}, Review{}, "Turns an offer into the plan the user is shown: decoded, checked, simulated and judged. Consent is its digest."},
	{"swap.execute", Writes, true, true, ExecuteParams{}, Order{}, "Carries out the plan of that digest, once, whichever window or uuid asks. Returns when consent is on disk; the rest arrives as swap.order."},
	{"swap.order", Reads, false, false, OrderParams{}, OrderResult{}, "Shows one order and its history."},
	{"swap.orders", Reads, false, false, OrdersParams{}, OrdersResult{}, "Lists orders, newest first, a page at a time."},
	{"swap.cancel", Writes, true, true, CancelParams{}, Order{}, "Withdraws an order that has not been signed, or starts its cancelling transaction: one that closes the nonce of a pending one, or invalidates a signed order where its contract can. An order that the wallet cannot cancel any more is refused (cannot_cancel), with the time at which a signed order expires."},
	{"swap.close", Writes, true, true, CloseParams{}, Order{}, "Ends the wait for an order whose input is with its provider and whose end nothing proves. It signs nothing, and is refused (cannot_close) before the time that the order says. The daemon looks for a proof for 30 days from the deposit; one makes it filled or refunded after all. On a network that was shut down it ends any open order, at once; what is no deposit is then asked about no more."},
	{"swap.speedup", Writes, true, true, SpeedupParams{}, Order{}, "Sends the order's pending transaction again, the same but for more, never above its gas ceiling. Returns when the wish is on disk; the rest arrives as swap.order. One uuid bumps once."},
	{"swap.accept", Writes, true, true, AcceptParams{}, Order{}, "Consents to what an order in need of consent proposes, named by the proposal's digest. A proposal that changed meanwhile is refused."},

	{"confirm.pending", Writes, false, false, None{}, PendingResult{}, "Lists what waits for a person's confirmation outside the browser: for a browser what it asked itself, for a terminal everything, with its lines."},
	{"confirm.decide", Terminal, false, false, DecideParams{}, DecideResult{}, "Confirms or declines what a browser asked for. Confirming takes the wallet's password each time."},

	{"approvals.list", Reads, false, false, ApprovalsParams{}, ApprovalsResult{}, "Lists what an account has allowed others to pull, a page at a time: known tokens, those of its orders, and the contracts that providers or orders named. Allowances that nobody here knows of are not found."},
	{"approvals.revoke", Writes, true, true, RevokeParams{}, Order{}, "Takes one allowance away, named by the digest that approvals.list showed, by an order of kind wallet: one transaction that sets it to zero. Refused while an open order needs it."},
}

// An Event is one row of the notification table.
type Event struct {
	Name   string
	To     string // the connections that receive it
	Params any
	When   string
}

// Events is the notification table.
var Events = []Event{
	{"host.hello", "the connection", Hello{}, "After every successful host.attach, so also when the relay has come back to a restarted daemon: ask for open orders then."},
	{"keys.changed", "all", KeysChanged{}, "The wallet was unlocked or locked (also by itself), wallets, accounts or names changed, or a search for used accounts has come further."},
	{"networks.changed", "all", NetworksChanged{}, "Another network became the active one."},
	{"tokens.changed", "all", TokensChanged{}, "A token was imported or removed."},
	{"prices.changed", "all", PricesChanged{}, "Prices were fetched, about once a minute, or have become stale: ask prices.list for what is shown."},
	{"settings.changed", "all", SettingsChanged{}, "A setting was changed: settings are the daemon's, and every window shows the same."},
	{"gas.price", "connections that watch the network", GasPrice{}, "A network watched by gas.watch has a new head; about once a second at the most. A client that is slow misses some."},
	{"swap.quoted", "the asking connection", Quoted{}, "A provider has offers for a swap.quote that is under way, or watched."},
	{"confirm.changed", "browsers", PendingResult{}, "What the connection's extension asked for and waits for a person's confirmation has changed: something was asked, shown, decided, or given up."},
	{"swap.order", "all", Order{}, "After every recorded change of an order."},
}

func MethodOf(name string) (Method, bool) {
	for _, m := range Methods {
		if m.Name == name {
			return m, true
		}
	}
	return Method{}, false
}

// None is an empty parameter list.
type None struct{}
