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
	ErrUnknownWallet    = &Error{"unknown wallet", "list the accounts and use one of their wallets"}
	ErrUnknownAccount   = &Error{"unknown account", "list the accounts and use one of them"}
	ErrDuplicateWallet  = &Error{"wallet already exists", "use the existing wallet"}
	ErrName             = &Error{"unusable name", "use 1 to 32 printable characters, different from the names in use"}
	ErrWordCount        = &Error{"a new wallet has 12 or 24 words", "ask for 12 or 24"}
	ErrBadMnemonic      = &Error{"not a valid mnemonic", "check every word and their order against your copy (BIP-39, English, 12 to 24 words)"}
	ErrBadKey           = &Error{"not a valid private key", "enter its 64 hex digits, with or without 0x"}
	ErrBadKeystore      = &Error{"not a usable key file", "choose a keystore file of version 3, as geth and others write them"}
	ErrKeystorePassword = &Error{"wrong password of the key file", "enter the password with which the file was created"}
	ErrSandboxExport    = &Error{"the sandbox exports no keys", "its keys would also be valid on the real chains; use them only here"}
	ErrExportForm       = &Error{"wallet cannot be exported in this form", "export the recovery phrase only of a wallet that has one; otherwise export an account's privateKey or keystore"}
	ErrLeftover         = &Error{"wallet was removed, but its encrypted item is still in the keychain", "the next unlock or change deletes it; check that the keychain is writable"}
	ErrWalletLeft       = &Error{"the keychain still holds a wallet", "remove the wallet first; a wallet that is not listed can be restored from a keychain backup"}
	ErrCleared          = &Error{"the keychain was cleared for an uninstall", "start swapkeep again"}
	ErrWeakPassword     = &Error{"password is too weak", "use at least 10 characters that are hard to guess, for example four unrelated words"}
	ErrWrongPassword    = &Error{"wrong password", "try again; one password unlocks all wallets"}
	ErrBackoff          = &Error{"too many wrong passwords", "wait until the time given, then try again"}
	ErrTestKey          = &Error{"this is a published test key; anyone can take its funds", "use a wallet of your own; use test keys only in the sandbox"}
	ErrSandboxImport    = &Error{"the sandbox accepts no outside wallets", "create one in the sandbox or import the published test mnemonic"}
	ErrSandboxMismatch  = &Error{"vault was created in the other mode (sandbox or real)", "use the home it was created for; sandbox and real vaults are separate"}
	ErrChainID          = &Error{"transaction is not for this chain", "build it again for the chain it will be sent to"}
	ErrTransactionKind  = &Error{"unsupported transaction type", "use a legacy, access-list or fee-market transaction"}
	ErrTypedData        = &Error{"unsupported typed data", "its EIP-712 domain must contain chainId and verifyingContract"}
	ErrDamaged          = &Error{"stored item is damaged", "restore the keychain from a backup, or import the wallet from its recovery phrase"}
	ErrNewer            = &Error{"stored item was written by a newer Swapkeep", "update Swapkeep"}
	ErrKeyDerivation    = &Error{"key derivation parameters out of bounds", "use the defaults: argon2id, 64 MiB, 3 passes, 4 lanes"}
	ErrAccountExhausted = &Error{"wallet has no more accounts", "create another wallet"}
	ErrIsolatedTaken    = &Error{"isolated account is taken", "prepare the order again"}
)

// Errors of the keychain.
var (
	ErrNoBus          = &Error{"no session bus, so no keychain", "log in to a desktop session, start a Secret Service, or choose keys.backend = \"file\""}
	ErrBusDisabled    = &Error{"session bus is disabled in the environment, so no keychain", "start the daemon from your session, or choose keys.backend = \"file\""}
	ErrNoService      = &Error{"no keychain service on the session bus", "install and start gnome-keyring, KWallet or KeePassXC, or choose keys.backend = \"file\""}
	ErrKeychainLocked = &Error{"keychain is locked", "unlock your login keyring (or create one) and try again"}
	ErrMissingItem    = &Error{"item is not in the keychain", "restore the keychain from a backup, or import the wallet from its recovery phrase"}
	ErrTooLarge       = &Error{"item is too large for a keychain", "use fewer accounts or shorter names"}
	ErrHung           = &Error{"keychain did not answer in time", "answer the keychain's prompt; if there is none, restart the keychain and try again"}
	ErrDenied         = &Error{"keychain refused access", "allow Swapkeep in the system's prompt"}
	ErrNotKept        = &Error{"keychain did not save the item", "check that the keychain is writable, then try again"}
	ErrKeychain       = &Error{"keychain failed", "restart your keychain and try again"}
	ErrUnsafeFiles    = &Error{"key files are accessible to others", "run chmod 700 on the folder and chmod 600 on its files, and check who had access"}
	ErrNamespace      = &Error{"unusable keychain name", "use 1 to 64 of a-z, 0-9, dot, dash and underscore"}
)

// A BackoffError is ErrBackoff with the remaining wait.
type BackoffError struct{ Left time.Duration }

func (e *BackoffError) Error() string {
	return fmt.Sprintf("%s: wait %s", ErrBackoff.text, e.Left.Round(time.Second))
}

func (e *BackoffError) Unwrap() error { return ErrBackoff }
