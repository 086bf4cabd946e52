package protocol

import "time"

// States of the keys.
const (
	KeysNone     = "none"
	KeysLocked   = "locked"
	KeysUnlocked = "unlocked"
)

// A Wallet is the accounts of one mnemonic, or the account of one private key. One vault
// password opens all wallets.
type Wallet struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind" doc:"mnemonic or key"`
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

// KeysStatus lists the wallets and whether they are unlocked.
type KeysStatus struct {
	State           string    `json:"state" of:"KeysState" doc:"none, locked or unlocked"`
	Backend         string    `json:"backend" doc:"os (the system's keychain) or file"`
	Wallets         []Wallet  `json:"wallets"`
	Session         bool      `json:"session" doc:"this connection's session is open"`
	AutoLockSeconds int       `json:"autoLockSeconds" doc:"idle seconds until it locks by itself"`
	LocksAt         time.Time `json:"locksAt,omitzero" doc:"when it will, if nothing happens"`
}

type CreateParams struct {
	Request  UUID   `json:"request" doc:"names this act; repeating it makes no second wallet"`
	Password Secret `json:"password" doc:"the vault's; the first wallet sets it: at least 10 characters, hard to guess"`
	Name     string `json:"name,omitempty" doc:"for people"`
	Words    int    `json:"words,omitempty" doc:"12 (default) or 24"`
}

type CreateResult struct {
	Wallet  Wallet `json:"wallet"`
	Words   Secret `json:"words,omitempty" doc:"keys.create's first answer only: to be written down now; they are never shown again"`
	Warning string `json:"warning,omitempty" doc:"to be shown with the words"`
}

func (r CreateResult) Zero() { r.Words.Zero() }

// ImportParams import a wallet: exactly one of Mnemonic, PrivateKey and Keystore is
// given.
type ImportParams struct {
	Request          UUID   `json:"request" doc:"names this act"`
	Mnemonic         Secret `json:"mnemonic,omitempty" doc:"BIP-39 words, separated by spaces"`
	PrivateKey       Secret `json:"privateKey,omitempty" doc:"or one private key: 64 hex digits, with 0x or not"`
	Keystore         Secret `json:"keystore,omitempty" doc:"or the text of a key file: Web3 Secret Storage version 3"`
	KeystorePassword Secret `json:"keystorePassword,omitempty" doc:"of the key file"`
	Password         Secret `json:"password" doc:"the vault's; the first wallet sets it: at least 10 characters, hard to guess"`
	Name             string `json:"name,omitempty" doc:"for people"`
}

type UnlockParams struct {
	Password Secret `json:"password" doc:"of the vault"`
}

type AccountsResult struct {
	Accounts []Account `json:"accounts"`
}

type AddParams struct {
	Request UUID   `json:"request" doc:"names this act"`
	Wallet  string `json:"wallet,omitempty" doc:"id; may be left out when there is one wallet"`
	Name    string `json:"name,omitempty" doc:"for people"`
}

type AddResult struct {
	Account Account `json:"account"`
}

// RenameParams rename a wallet or an account: exactly one of the two is given.
type RenameParams struct {
	Request UUID    `json:"request" doc:"names this act"`
	Wallet  string  `json:"wallet,omitempty" doc:"id of the wallet to name"`
	Account Address `json:"account,omitempty" doc:"or the account to label"`
	Name    string  `json:"name" doc:"1 to 32 printable characters; empty gives an account its number back"`
}

type RemoveParams struct {
	Request  UUID   `json:"request" doc:"names this act"`
	Wallet   string `json:"wallet" doc:"id"`
	Password Secret `json:"password" doc:"the vault's, each time"`
	Damaged  bool   `json:"damaged,omitempty" doc:"also with open orders whose record is damaged, which may be of this wallet: without it that is refused"`
}

// WalletResult is a wallet after a change, or before its removal.
type WalletResult struct {
	Wallet Wallet `json:"wallet"`
}

// Export formats.
const (
	ExportWords    = "words"
	ExportKey      = "privateKey"
	ExportKeystore = "keystore"
)

type ExportParams struct {
	Format           string  `json:"format" doc:"words (of a wallet), privateKey or keystore (of an account)"`
	Wallet           string  `json:"wallet,omitempty" doc:"id, for words"`
	Account          Address `json:"account,omitempty" doc:"for privateKey and keystore"`
	Password         Secret  `json:"password" doc:"the vault's, each time"`
	KeystorePassword Secret  `json:"keystorePassword,omitempty" doc:"for keystore: of the new file; at least 10 characters, hard to guess"`
}

type ExportResult struct {
	Format string `json:"format"`
	Secret Secret `json:"secret" doc:"the words, 0x and 64 hex digits, or the text of the key file"`
}

func (r ExportResult) Zero() { r.Secret.Zero() }

// DiscoverParams select the wallet whose accounts to search for.
type DiscoverParams struct {
	Request UUID   `json:"request" doc:"names this act"`
	Wallet  string `json:"wallet,omitempty" doc:"id; may be left out when there is one wallet"`
}

// A Discovery is the progress of a search for used accounts.
type Discovery struct {
	Wallet      string    `json:"wallet" doc:"id"`
	Checked     int       `json:"checked" doc:"accounts checked so far"`
	Found       []Account `json:"found" doc:"accounts that were used and have been added"`
	Unreachable []uint64  `json:"unreachable" doc:"chain ids of networks that did not answer: what was used there alone is not found"`
	Done        bool      `json:"done"`
	Error       string    `json:"error,omitempty" doc:"name of the error that ended it before it was through"`
}

// Causes of keys.changed.
const (
	CauseUnlocked   = "unlocked"
	CauseLocked     = "locked"
	CauseListed     = "listed"
	CauseDiscovered = "discovered"
)

// KeysChanged reports a change of the keys.
type KeysChanged struct {
	State string `json:"state" of:"KeysState" doc:"none, locked or unlocked"`
	Cause string `json:"cause" of:"KeysCause" doc:"unlocked, locked (every session has ended), listed (wallets, accounts or names) or discovered (a search for used accounts has come further)"`
	Idle  bool   `json:"idle,omitempty" doc:"it locked by itself"`

	Discovery *Discovery `json:"discovery,omitempty" doc:"with discovered; list the accounts again if any were found"`
}
