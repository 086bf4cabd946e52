package keys

import (
	"errors"
	"fmt"

	"github.com/zalando/go-keyring"
)

// System returns the operating system's keychain: Secret Service on Linux, Keychain on
// macOS, Credential Manager on Windows. It does not access the keychain before the first
// call.
func System() Keychain { return system{} }

type system struct{}

func (system) Set(service, item, value string) error {
	if err := ensureBus(); err != nil {
		return err
	}
	return mapKeychainError(keyring.Set(service, item, value))
}

func (system) Get(service, item string) (string, error) {
	if err := ensureBus(); err != nil {
		return "", err
	}
	value, err := keyring.Get(service, item)
	return value, mapKeychainError(err)
}

func (system) Delete(service, item string) error {
	if err := ensureBus(); err != nil {
		return err
	}
	return mapKeychainError(keyring.Delete(service, item))
}

func (system) DeleteAll(service string) error {
	if err := ensureBus(); err != nil {
		return err
	}
	return mapKeychainError(keyring.DeleteAll(service))
}

// Prompts reports whether the system will prompt a person before it answers.
func (system) Prompts() bool { return ensureBus() == nil && prompts() }

// mapKeychainError maps errors of the library and the system to this package's errors. No error
// carries a stored value.
func mapKeychainError(err error) error {
	if err == nil {
		return nil
	}
	known := map[error]error{
		keyring.ErrNotFound:      ErrMissingItem,
		keyring.ErrSetDataTooBig: ErrTooLarge,
	}
	for theirs, ours := range known {
		if errors.Is(err, theirs) {
			return ours
		}
	}
	return fmt.Errorf("%w: %w", classify(err), err)
}
