package keys

import (
	"errors"
	"fmt"
	"time"
)

// An Error is a refusal that callers match with errors.Is. It carries its own remedy and
// never a secret.
type Error struct{ text, remedy string }

func (e *Error) Error() string { return e.text }

// Remedy returns what a person can do about the error.
func (e *Error) Remedy() string { return e.remedy }

// Remedy returns the remedy of the first Error in err's tree, or "".
func Remedy(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.remedy
	}
	return ""
}

// Errors of the vault.
var (
	ErrLocked           = &Error{"vault is locked", "unlock it with the vault password"}
	ErrNoWallet         = &Error{"vault holds no wallet", "create a wallet or import one"}
	ErrUnknownWallet    = &Error{"unknown wallet", "list the accounts and use a wallet named there"}
	ErrUnknownAccount   = &Error{"unknown account", "list the accounts and use one of them"}
	ErrDuplicateWallet  = &Error{"wallet is already in the vault", "use the wallet that is there"}
	ErrName             = &Error{"unusable name", "use 1 to 32 printable characters, different from the names in use"}
	ErrWordCount        = &Error{"a new wallet has 12 or 24 words", "ask for 12 or 24"}
	ErrBadMnemonic      = &Error{"not a valid mnemonic", "check every word and their order against your copy (BIP-39, English, 12 to 24 words)"}
	ErrBadKey           = &Error{"not a valid private key", "enter its 64 hex digits, with 0x or not"}
	ErrBadKeystore      = &Error{"not a usable key file", "choose a keystore file of version 3, as geth and others write them"}
	ErrKeystorePassword = &Error{"wrong password of the key file", "type the password that the file was made with"}
	ErrSandboxExport    = &Error{"the sandbox gives no key away", "its keys would be valid on the real chains; use them here only"}
	ErrExportForm       = &Error{"wallet is not exported in this form", "export words of a wallet made from words, else a privateKey or keystore of an account"}
	ErrLeftover         = &Error{"wallet is removed, but its encrypted item is still in the keychain", "it is deleted with the next unlock or change; check that the keychain can be written"}
	ErrWalletLeft       = &Error{"the keychain still holds a wallet", "remove the wallet first; one that is not listed comes back with a backup of the keychain"}
	ErrCleared          = &Error{"the keychain was cleared for an uninstall", "start swapkeep again"}
	ErrWeakPassword     = &Error{"password is too weak", "use at least 10 characters that are hard to guess, for example four unrelated words"}
	ErrWrongPassword    = &Error{"wrong password", "type the vault password again; one password opens all wallets of this vault"}
	ErrBackoff          = &Error{"too many wrong passwords", "wait until the time given, then try again"}
	ErrTestKey          = &Error{"this key is published and anyone can take what it holds", "use a wallet of your own; test keys belong into the sandbox"}
	ErrSandboxImport    = &Error{"the sandbox takes no outside wallet", "create one in the sandbox or import the published test mnemonic"}
	ErrSandboxMismatch  = &Error{"vault was made in the other mode", "start with the home it was made for; sandbox and real vaults never mix"}
	ErrChainID          = &Error{"transaction is not for this chain", "build it again for the chain it will be sent to"}
	ErrTransactionKind  = &Error{"transaction kind is not signed", "use a legacy, access-list or fee-market transaction"}
	ErrTypedData        = &Error{"typed data is not signed", "its domain must name chain id and verifying contract and hash both"}
	ErrDamaged          = &Error{"stored item is damaged", "restore the keychain from a backup or import the wallet from its words"}
	ErrNewer            = &Error{"stored item was written by a newer Swapkeep", "update Swapkeep"}
	ErrKeyDerivation    = &Error{"key derivation parameters out of bounds", "use the defaults: argon2id, 64 MiB, 3 passes, 4 lanes"}
	ErrAccountExhausted = &Error{"wallet has no further account", "create another wallet"}
)

// Errors of the keychain.
var (
	ErrNoBus          = &Error{"no session bus, so no keychain", "log in to a desktop session, start a Secret Service, or choose keys.backend = \"file\""}
	ErrBusDisabled    = &Error{"session bus is disabled in the environment, so no keychain", "start the daemon from your session, or choose keys.backend = \"file\""}
	ErrNoService      = &Error{"no keychain service on the session bus", "install and start gnome-keyring, KWallet or KeePassXC, or choose keys.backend = \"file\""}
	ErrKeychainLocked = &Error{"keychain is locked", "unlock your login keyring (or create one) and try again"}
	ErrMissingItem    = &Error{"item is not in the keychain", "restore the keychain from a backup or import the wallet from its words"}
	ErrTooLarge       = &Error{"item is too large for a keychain", "use fewer accounts or shorter names"}
	ErrHung           = &Error{"keychain did not answer in time", "look for a prompt of your keychain; if there is none restart it, then try again"}
	ErrDenied         = &Error{"keychain refused access", "allow Swapkeep in the prompt of your system"}
	ErrNotKept        = &Error{"keychain did not keep what was stored", "check that the keychain can be written, then try again"}
	ErrKeychain       = &Error{"keychain failed", "restart your keychain and try again"}
	ErrUnsafeFiles    = &Error{"key files are open to others", "make the folder 0700 and its files 0600, and look who had access"}
	ErrNamespace      = &Error{"unusable keychain name", "use 1 to 64 of a-z, 0-9, dot, dash and underscore"}
)

// A BackoffError is ErrBackoff with the remaining wait.
type BackoffError struct{ Left time.Duration }

func (e *BackoffError) Error() string {
	return fmt.Sprintf("%s: wait %s", ErrBackoff.text, e.Left.Round(time.Second))
}

func (e *BackoffError) Unwrap() error { return ErrBackoff }
