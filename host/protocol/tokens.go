package protocol

// A Token is a currency on one chain. Symbol and name are sanitized for display: one
// line, without invisible characters or ones that reverse the text direction.
type Token struct {
	ChainID  uint64  `json:"chainId"`
	Address  Address `json:"address" doc:"zero address = the native coin"`
	Symbol   string  `json:"symbol"`
	Name     string  `json:"name"`
	Decimals int     `json:"decimals"`
	Verified bool    `json:"verified" doc:"on the built-in list; others may bear any name"`
	List     string  `json:"list,omitempty" doc:"name of the list it is on; absent: on none"`
	Mark     string  `json:"mark,omitempty" doc:"name of its drawing among those that ship with the extension; of built-in tokens alone"`
	Imported bool    `json:"imported,omitempty" doc:"was imported by its address; tokens.remove takes it out"`
	Imitates Address `json:"imitates,omitempty" doc:"the verified token of this network whose symbol or name it bears: to be warned of"`
}

type TokensParams struct {
	ChainID  uint64 `json:"chainId,omitempty" doc:"default: the active network"`
	Provider string `json:"provider,omitempty" of:"ProviderKind" doc:"bridge or intent: what that provider says it trades on the network, which may be one that it alone reaches; default: the known tokens"`
	Cursor   string `json:"cursor,omitempty" doc:"of the page before"`
	Limit    int    `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

type TokensResult struct {
	Tokens []Token `json:"tokens"`
	Cursor string  `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

type SearchParams struct {
	Query   string `json:"query" doc:"part of a symbol or name, or an address; upper and lower case are the same"`
	ChainID uint64 `json:"chainId,omitempty" doc:"default: the active network"`
	Cursor  string `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int    `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

// SearchResult is a page of search results, best first: exact symbols, then prefixes,
// then the rest; verified tokens before others.
type SearchResult struct {
	Tokens     []Token `json:"tokens"`
	Cursor     string  `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
	Importable Address `json:"importable,omitempty" doc:"the query is an address that is not known here: tokens.import can look at it"`
}

// ImportTokenParams identify a token by its address.
type ImportTokenParams struct {
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
	Address Address `json:"address"`
	Preview bool    `json:"preview,omitempty" doc:"only show what it is: nothing is kept"`
}

// ImportTokenResult is the token as its contract describes it.
type ImportTokenResult struct {
	Token Token `json:"token"`
	Known bool  `json:"known" doc:"it was known before; nothing changed"`
}

// RemoveTokenParams identify an imported token.
type RemoveTokenParams struct {
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
	Address Address `json:"address"`
}

type RemoveTokenResult struct {
	Removed bool `json:"removed" doc:"false: it was not imported"`
}

type BalancesParams struct {
	Account     Address   `json:"account"`
	ChainID     uint64    `json:"chainId,omitempty" doc:"default: the active network"`
	Tokens      []Address `json:"tokens,omitempty" doc:"default: the native coin and the known tokens of the network"`
	WithBalance bool      `json:"withBalance,omitempty" doc:"leave out tokens of which the account has none; the native coin stays, and verified and imported tokens of which that is not known"`
}

type BalancesResult struct {
	ChainID  uint64    `json:"chainId"`
	Account  Address   `json:"account"`
	Balances []Balance `json:"balances" doc:"in the order asked for; by default the native coin, then tokens of which there are some, then the others"`
	Omitted  int       `json:"omitted,omitempty" doc:"known tokens that were left out, for there are too many: those without a balance, then those of other lists"`
}

// IncomingParams name an account of this wallet.
type IncomingParams struct {
	Account Address `json:"account"`
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
}

type IncomingResult struct {
	ChainID uint64  `json:"chainId"`
	Account Address `json:"account"`
	Tokens  []Token `json:"tokens" doc:"that came in since the first look and are not known, newest first, at most 50: anybody can send anybody a token with any name"`
}

// A Balance is an account's balance of one token.
type Balance struct {
	Token  Address `json:"token"`
	Amount Amount  `json:"amount,omitempty" doc:"absent: its contract gives none"`
	Known  *Token  `json:"known,omitempty" doc:"what the token is; absent: not known here"`
}

// TokensChanged names the network whose list of tokens changed.
type TokensChanged struct {
	ChainID uint64 `json:"chainId"`
}
