//go:build !linux

package keys

import (
	"errors"
	"io/fs"
	"os/exec"
	"runtime"
	"syscall"
)

// reach: these systems always have their keychain.
func reach() error { return nil }

// prompts: macOS may ask a person at any call and does not say so beforehand;
// Windows never asks.
func prompts() bool { return runtime.GOOS == "darwin" }

// What the security tool of macOS exits with: the low byte of the status.
var exitErrors = map[int]error{
	36:  ErrKeychainLocked, // interaction not allowed
	44:  ErrMissingItem,
	51:  ErrDenied, // authorization failed
	128: ErrDenied, // cancelled by the user
}

// classify names an error of the security tool or of Credential Manager.
func classify(err error) error {
	const noSuchLogonSession = syscall.Errno(1312)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if named, ok := exitErrors[exit.ExitCode()]; ok {
			return named
		}
	case errors.Is(err, fs.ErrPermission):
		return ErrDenied
	case errors.Is(err, noSuchLogonSession):
		return ErrKeychainLocked
	}
	return ErrKeychain
}
