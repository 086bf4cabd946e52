// Package transport connects relays, commands and the daemon of one user on one machine.
// It defines where a home keeps its files, and a byte stream between processes of that
// user only, which both ends verify before anything is sent.
package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// Errors that callers handle.
var (
	// ErrNoDaemon means that nobody listens at this place. Dialing may be repeated.
	ErrNoDaemon = errors.New("no daemon is listening")
	// ErrForeignPeer means that the other process belongs to another user. Nothing was sent.
	ErrForeignPeer = errors.New("the other process belongs to another user")
	// ErrUnsafeDirectory means a directory that others could change.
	ErrUnsafeDirectory = errors.New("unsafe directory")
	// ErrNoHome means that neither SWAPKEEP_HOME nor the system names a state directory.
	ErrNoHome = errors.New("no state directory: set SWAPKEEP_HOME to an absolute path")
)

// UnsafeDirectoryError gives the refused directory, the reason and a remedy. It is an
// ErrUnsafeDirectory.
type UnsafeDirectoryError struct {
	Dir    string
	Reason string
	Remedy string
}

func (e *UnsafeDirectoryError) Error() string {
	return fmt.Sprintf("%s: %s %s; %s", ErrUnsafeDirectory, e.Dir, e.Reason, e.Remedy)
}

// Is makes errors.Is(err, ErrUnsafeDirectory) true.
func (e *UnsafeDirectoryError) Is(target error) bool { return target == ErrUnsafeDirectory }

// HomeVariable is the environment variable that sets the state directory.
const HomeVariable = "SWAPKEEP_HOME"

// A Instance is one instance of the product, identified by the absolute path of its state
// directory.
type Instance struct {
	Home string
}

// LockPath returns the file whose lock decides which process is the daemon.
func (p Instance) LockPath() string { return filepath.Join(p.Home, "daemon.lock") }

// SpawnLockPath returns the file whose lock decides which process starts the daemon.
func (p Instance) SpawnLockPath() string { return filepath.Join(p.Home, "spawn.lock") }

// LogPath returns the log file, which also gets a spawned daemon's standard error.
func (p Instance) LogPath() string { return filepath.Join(p.Home, "swapkeepd.log") }

// RunDir returns the directory for files that live only as long as the daemon.
func (p Instance) RunDir() string { return filepath.Join(p.Home, "run") }

// StoppedPath returns the file that marks a daemon as stopped on purpose, not crashed.
func (p Instance) StoppedPath() string { return filepath.Join(p.RunDir(), "stopped") }

// shortHash returns a short hash of the home, for names where its path does not fit.
func (p Instance) shortHash() string {
	sum := sha256.Sum256([]byte(filepath.Clean(p.Home)))
	return hex.EncodeToString(sum[:8])
}

// A homeRule is one candidate for a system's state directory: a variable with an absolute
// path, and the path below it. The first that applies is used.
type homeRule struct {
	variable string
	below    []string
}

var homeRules = map[string][]homeRule{
	"linux":   {{"XDG_STATE_HOME", []string{"swapkeep"}}, {"HOME", []string{".local", "state", "swapkeep"}}},
	"darwin":  {{"HOME", []string{"Library", "Application Support", "swapkeep"}}},
	"windows": {{"LOCALAPPDATA", []string{"swapkeep"}}},
}

// DefaultHome returns $SWAPKEEP_HOME, or the system's state directory for this product.
// getenv is os.Getenv or a substitute. A relative path is refused, because relay, daemon
// and terminal have different working directories.
func DefaultHome(getenv func(string) string) (string, error) {
	return homeOn(runtime.GOOS, getenv)
}

func homeOn(system string, getenv func(string) string) (string, error) {
	if home := getenv(HomeVariable); home != "" {
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("%w (it is %q)", ErrNoHome, home)
		}
		return filepath.Clean(home), nil
	}
	for _, rule := range homeRules[system] {
		// Relative values are ignored, as the XDG base directory specification requires.
		if base := getenv(rule.variable); filepath.IsAbs(base) {
			return filepath.Join(append([]string{base}, rule.below...)...), nil
		}
	}
	return "", ErrNoHome
}
