//go:build !linux

package keys

import (
	"errors"
	"io/fs"
	"os/exec"
	"runtime"
	"syscall"
)

// ensureBus does nothing: these systems always have a keychain.
func ensureBus() error { return nil }

// prompts reports true on macOS, which may prompt a person at any call without saying so
// beforehand. Windows never prompts.
func prompts() bool { return runtime.GOOS == "darwin" }

// exitErrors maps exit codes of the macOS security tool, the low byte of its status.
var exitErrors = map[int]error{
	36:  ErrKeychainLocked, // interaction not allowed
	44:  ErrMissingItem,
	51:  ErrDenied, // authorization failed
	128: ErrDenied, // cancelled by the user
}

// classify maps an error of the security tool or of Credential Manager.
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
