//go:build !linux

package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/zalando/go-keyring"
)

var systemNames = map[string]string{
	"darwin":  "the Keychain of macOS",
	"windows": "the Credential Manager of Windows",
}

func openSystemKeychain(context.Context, string) (keychain, error) {
	name, ok := systemNames[runtime.GOOS]
	if !ok {
		return keychain{}, errors.New("no keychain is known on " + runtime.GOOS)
	}
	return keychain{name: name, env: []string{"SWAPKEEP_KEYS_BACKEND=os"}, end: forget}, nil
}

func openPrivateKeychain(context.Context, string) (keychain, error) {
	return keychain{}, errors.New("a private Secret Service is for Linux only")
}

func forget(ctx context.Context, service string) (string, error) {
	if service == "" {
		return "nothing was kept in it", nil
	}
	deleted := make(chan error, 1)
	go func() { deleted <- keyring.DeleteAll(service) }()
	select {
	case err := <-deleted:
		return "the items of " + service + " deleted", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
