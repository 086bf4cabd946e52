//go:build !linux

package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/zalando/go-keyring"
)

var systemNames = map[string]string{
	"darwin":  "the macOS Keychain",
	"windows": "the Windows Credential Manager",
}

func openSystemKeychain(context.Context) (keychain, error) {
	name, ok := systemNames[runtime.GOOS]
	if !ok {
		return keychain{}, errors.New("no keychain is known on " + runtime.GOOS)
	}
	return keychain{name: name, env: []string{"SWAPKEEP_KEYS_BACKEND=os"}, system: true}, nil
}

// deleteItems deletes the items of a service name.
func deleteItems(ctx context.Context, service string) error {
	deleted := make(chan error, 1)
	go func() { deleted <- keyring.DeleteAll(service) }()
	select {
	case err := <-deleted:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// itemsOf would count a service name's items; these keychains cannot be searched.
func itemsOf(context.Context, string) (int, error) { return uncounted, nil }
