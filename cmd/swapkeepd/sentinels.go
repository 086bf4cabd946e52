package main

import (
	"errors"
	"math"
	"strconv"

	"swapkeep/confirm"
	"swapkeep/home"
	"swapkeep/host"
	"swapkeep/keys"
)

// sentinels map the errors of the vault and of confirmations to the protocol's names.
var sentinels = []host.Sentinel{
	{Err: confirm.ErrExpired, Name: "confirmation_expired"},
	{Err: confirm.ErrFull, Name: "confirmations_full"},
	{Err: confirm.ErrNotWaiting, Name: "confirmation_unknown"},
	{Err: keys.ErrLocked, Name: "locked"},
	{Err: keys.ErrNoWallet, Name: "no_wallet"},
	{Err: keys.ErrUnknownWallet, Name: "no_wallet"},
	{Err: keys.ErrUnknownAccount, Name: "unknown_account"},
	{Err: keys.ErrDuplicateWallet, Name: "duplicate_wallet"},
	{Err: keys.ErrName, Name: "bad_params"},
	{Err: keys.ErrWordCount, Name: "bad_params"},
	{Err: keys.ErrBadMnemonic, Name: "bad_mnemonic"},
	{Err: keys.ErrBadKey, Name: "bad_private_key"},
	{Err: keys.ErrBadKeystore, Name: "bad_keystore"},
	{Err: keys.ErrKeystorePassword, Name: "keystore_password"},
	{Err: keys.ErrSandboxExport, Name: "sandbox_only"},
	{Err: keys.ErrExportForm, Name: "not_exportable"},
	{Err: keys.ErrCleared, Name: "stopping"},
	{Err: keys.ErrWalletLeft, Name: "wallet_left"},
	{Err: keys.ErrLeftover, Name: "keychain_leftover"}, // before the errors that it wraps
	{Err: keys.ErrWeakPassword, Name: "weak_password"},
	{Err: keys.ErrWrongPassword, Name: "wrong_password"},
	{Err: keys.ErrBackoff, Name: "backing_off", Details: backoffOf},
	{Err: keys.ErrTestKey, Name: "published_test_key"},
	{Err: keys.ErrSandboxImport, Name: "sandbox_only"},
	{Err: keys.ErrSandboxMismatch, Name: "keychain_broken"},
	{Err: keys.ErrDamaged, Name: "keychain_broken"},
	{Err: keys.ErrNewer, Name: "keychain_broken"},
	{Err: keys.ErrKeyDerivation, Name: "keychain_broken"},
	{Err: keys.ErrAccountExhausted, Name: "account_exhausted"},
	{Err: keys.ErrNoBus, Name: "keychain_no_bus"},
	{Err: keys.ErrBusDisabled, Name: "keychain_disabled_bus"},
	{Err: keys.ErrNoService, Name: "keychain_no_bus"},
	{Err: keys.ErrKeychainLocked, Name: "keychain_locked"},
	{Err: keys.ErrMissingItem, Name: "keychain_missing_item"},
	{Err: keys.ErrTooLarge, Name: "keychain_too_large"},
	{Err: keys.ErrHung, Name: "keychain_timeout"},
	{Err: keys.ErrDenied, Name: "keychain_denied"},
	{Err: keys.ErrNotKept, Name: "keychain_denied"},
	{Err: keys.ErrUnsafeFiles, Name: "keychain_broken"},
	{Err: keys.ErrKeychain, Name: "keychain_broken"},
}

// shortID distinguishes homes without revealing their paths.
func shortID(h *home.Home) string { return h.Namespace[:8] }

func backoffOf(err error) map[string]string {
	var b *keys.BackoffError
	if !errors.As(err, &b) {
		return nil
	}
	return map[string]string{"seconds": strconv.Itoa(int(math.Ceil(b.Left.Seconds())))}
}
