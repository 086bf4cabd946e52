package protocol

import "time"

// States of the keys.
const (
	KeysNone     = "none"
	KeysLocked   = "locked"
	KeysUnlocked = "unlocked"
)

// A Wallet is a set of accounts from one mnemonic. One vault password opens all
// wallets.
type Wallet struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind" doc:"mnemonic"`
	Created  time.Time `json:"created,omitzero"`
	Accounts []Account `json:"accounts"`
}

// An Account is an address that the wallet can sign for.
type Account struct {
	Address Address `json:"address"`
	Name    string  `json:"name"`
	Wallet  string  `json:"wallet" doc:"id of its wallet"`
	Path    string  `json:"path,omitempty" doc:"BIP-44 path of a derived account"`
}

// KeysStatus is what there is and whether it is unlocked.
type KeysStatus struct {
	State           string    `json:"state" doc:"none, locked or unlocked"`
	Backend         string    `json:"backend" doc:"os (the system's keychain) or file"`
	Wallets         []Wallet  `json:"wallets"`
	Session         bool      `json:"session" doc:"this connection's session is open"`
	AutoLockSeconds int       `json:"autoLockSeconds" doc:"idle seconds until it locks by itself"`
	LocksAt         time.Time `json:"locksAt,omitzero" doc:"when it will, if nothing happens"`
}

// CreateParams make a new wallet.
type CreateParams struct {
	Request  UUID   `json:"request" doc:"names this act; repeating it makes no second wallet"`
	Password Secret `json:"password" doc:"the vault's; the first wallet sets it: at least 10 characters, hard to guess"`
	Name     string `json:"name,omitempty" doc:"for people"`
	Words    int    `json:"words,omitempty" doc:"12 (default) or 24"`
}

// CreateResult is the new wallet.
type CreateResult struct {
	Wallet  Wallet `json:"wallet"`
	Words   Secret `json:"words,omitempty" doc:"keys.create's first answer only: to be written down now; they are never shown again"`
	Warning string `json:"warning,omitempty" doc:"to be shown with the words"`
}

// ImportParams make a wallet from the words of another.
type ImportParams struct {
	Request  UUID   `json:"request" doc:"names this act"`
	Mnemonic Secret `json:"mnemonic" doc:"BIP-39 words, separated by spaces"`
	Password Secret `json:"password" doc:"the vault's; the first wallet sets it: at least 10 characters, hard to guess"`
	Name     string `json:"name,omitempty" doc:"for people"`
}

// UnlockParams open a session.
type UnlockParams struct {
	Password Secret `json:"password" doc:"of the vault"`
}

// AccountsResult lists accounts.
type AccountsResult struct {
	Accounts []Account `json:"accounts"`
}

// AddParams add the next account of a wallet.
type AddParams struct {
	Request UUID   `json:"request" doc:"names this act"`
	Wallet  string `json:"wallet,omitempty" doc:"id; may be left out when there is one wallet"`
	Name    string `json:"name,omitempty" doc:"for people"`
}

// AddResult is the new account.
type AddResult struct {
	Account Account `json:"account"`
}

// Causes of keys.changed.
const (
	CauseUnlocked = "unlocked"
	CauseLocked   = "locked"
	CauseListed   = "listed"
)

// KeysChanged says what happened to the keys.
type KeysChanged struct {
	State string `json:"state" doc:"none, locked or unlocked"`
	Cause string `json:"cause" doc:"unlocked, locked (every session has ended) or listed (wallets, accounts or names)"`
	Idle  bool   `json:"idle,omitempty" doc:"it locked by itself"`
}
