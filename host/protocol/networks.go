package protocol

// A Network is an EVM chain the daemon has an RPC endpoint for.
type Network struct {
	ChainID       uint64  `json:"chainId"`
	Name          string  `json:"name"`
	Symbol        string  `json:"symbol" doc:"of the native coin"`
	Decimals      int     `json:"decimals" doc:"of the native coin"`
	WrappedNative Address `json:"wrappedNative,omitempty"`
	Explorer      string  `json:"explorer,omitempty" doc:"URL of a block explorer"`
	Depth         uint64  `json:"depth" doc:"blocks until a receipt counts as final"`
}

// NetworksResult lists networks.
type NetworksResult struct {
	Active   uint64    `json:"active" doc:"chain id of the active network"`
	Networks []Network `json:"networks"`
}

// SelectParams choose the active network.
type SelectParams struct {
	ChainID uint64 `json:"chainId"`
}

// SelectResult is the active network.
type SelectResult struct {
	Active uint64 `json:"active" doc:"chain id of the active network"`
}

// NetworksChanged names the new active network.
type NetworksChanged struct {
	Active uint64 `json:"active" doc:"chain id of the active network"`
}

// A Token is a currency on one chain.
type Token struct {
	ChainID  uint64  `json:"chainId"`
	Address  Address `json:"address" doc:"zero address = the native coin"`
	Symbol   string  `json:"symbol"`
	Name     string  `json:"name"`
	Decimals int     `json:"decimals"`
	Verified bool    `json:"verified" doc:"built in or on a list; others may bear any name"`
}

// TokensParams choose a page of tokens.
type TokensParams struct {
	ChainID uint64 `json:"chainId,omitempty" doc:"default: the active network"`
	Cursor  string `json:"cursor,omitempty" doc:"of the page before"`
	Limit   int    `json:"limit,omitempty" doc:"entries, 1 to 200; default 50"`
}

// TokensResult is a page of tokens.
type TokensResult struct {
	Tokens []Token `json:"tokens"`
	Cursor string  `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

// BalancesParams choose what to read.
type BalancesParams struct {
	Account Address   `json:"account"`
	ChainID uint64    `json:"chainId,omitempty" doc:"default: the active network"`
	Tokens  []Address `json:"tokens,omitempty" doc:"default: the native coin and the known tokens of the network"`
}

// BalancesResult are an account's balances.
type BalancesResult struct {
	ChainID  uint64    `json:"chainId"`
	Account  Address   `json:"account"`
	Balances []Balance `json:"balances" doc:"in the order asked for"`
}

// A Balance is how much of a token an account has.
type Balance struct {
	Token  Address `json:"token"`
	Amount Amount  `json:"amount,omitempty" doc:"absent: its contract gives none"`
}
