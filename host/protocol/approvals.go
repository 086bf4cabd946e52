package protocol

import "time"

type ApprovalsParams struct {
	Account Address `json:"account" doc:"one of keys.accounts"`
	ChainID uint64  `json:"chainId,omitempty" doc:"default: the active network"`
	Cursor  string  `json:"cursor,omitempty" doc:"of the page before"`
}

type ApprovalsResult struct {
	ChainID    uint64      `json:"chainId"`
	Account    Address     `json:"account"`
	Allowances []Allowance `json:"allowances" doc:"those above zero; a page may have none and still a cursor"`
	Cursor     string      `json:"cursor,omitempty" doc:"for the next page; absent at the end"`
}

// Kinds of allowance.
const (
	AllowanceERC20   = "erc20"
	AllowancePermit2 = "permit2"
)

// An Allowance is the amount a spender may currently pull from an account.
type Allowance struct {
	ChainID   uint64    `json:"chainId"`
	Token     Address   `json:"token"`
	Symbol    string    `json:"symbol,omitempty" doc:"of a known token"`
	Decimals  *int      `json:"decimals,omitempty" doc:"of a known token"`
	Spender   Address   `json:"spender"`
	Name      string    `json:"name,omitempty" doc:"the spender's; absent: it is not built in"`
	Provider  string    `json:"provider,omitempty" of:"ProviderKind" doc:"whose built-in contract the spender is"`
	Kind      string    `json:"kind" of:"AllowanceKind" doc:"erc20: kept by the token; permit2: kept inside Permit2"`
	Amount    Amount    `json:"amount"`
	Unlimited bool      `json:"unlimited,omitempty" doc:"more than the token will ever have"`
	Expires   time.Time `json:"expires,omitzero" doc:"absent: it does not expire"`
	Reserved  Amount    `json:"reserved" doc:"what open orders still need of it; not 0: it cannot be revoked yet"`
	Leftover  string    `json:"leftover,omitempty" doc:"id of the ended order that left it behind"`
	Digest    Hash      `json:"digest,omitempty" doc:"what revoking it would be consented to, for approvals.revoke; absent: not of the active network, this connection may only read, or revoking it would fail now"`
	Gas       *Gas      `json:"gas,omitempty" doc:"what revoking it would cost; with the digest"`
	Findings  []Finding `json:"findings,omitempty" doc:"of the revoke; one that blocks is what approvals.revoke refuses with"`
}

// RevokeParams are the consent to revoke one allowance.
type RevokeParams struct {
	Request  UUID   `json:"request" doc:"names this act; repeating it returns the order it made"`
	Digest   Hash   `json:"digest" doc:"of the allowance, as approvals.list showed it"`
	Password Secret `json:"password,omitempty" doc:"the wallet's password, if a browser's request was refused with consent_password; valid for this request only"`
}
