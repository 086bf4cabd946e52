// Package transport joins relays, commands and the daemon of one user on one
// machine: where a home keeps its files, and a byte stream between processes
// of that user only, checked by both ends before anything is sent.
package transport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// Errors that a caller decides on.
var (
	// ErrNoDaemon: nobody listens at this place. Dialing may be repeated.
	ErrNoDaemon = errors.New("no daemon is listening")
	// ErrForeignPeer: the other end belongs to another user. Nothing was sent.
	ErrForeignPeer = errors.New("the other end belongs to another user")
	// ErrUnsafePlace: a directory that others could change. Nothing was made.
	ErrUnsafePlace = errors.New("unsafe directory")
	// ErrNoHome: neither SWAPKEEP_HOME nor the system names a state directory.
	ErrNoHome = errors.New("no state directory: set SWAPKEEP_HOME to an absolute path")
)

// UnsafeError names the directory refused, why, and what to do. It is an
// ErrUnsafePlace.
type UnsafeError struct {
	Dir    string
	Reason string
	Remedy string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("%s: %s %s; %s", ErrUnsafePlace, e.Dir, e.Reason, e.Remedy)
}

// Is makes errors.Is(err, ErrUnsafePlace) true.
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafePlace }

// HomeVariable is the environment variable that moves the state directory.
const HomeVariable = "SWAPKEEP_HOME"

// A Place is one instance of the product: its state directory, an absolute path.
type Place struct {
	Home string
}

// LockPath is the file whose lock decides who is the daemon.
func (p Place) LockPath() string { return filepath.Join(p.Home, "daemon.lock") }

// SpawnLockPath is the file whose lock decides who starts the daemon.
func (p Place) SpawnLockPath() string { return filepath.Join(p.Home, "spawn.lock") }

// LogPath is where a spawned daemon's standard error goes.
func (p Place) LogPath() string { return filepath.Join(p.Home, "swapkeepd.log") }

// RunDir holds what lives only as long as the daemon.
func (p Place) RunDir() string { return filepath.Join(p.Home, "run") }

// StoppedPath is the mark of a daemon that ended on purpose and not by a crash.
func (p Place) StoppedPath() string { return filepath.Join(p.RunDir(), "stopped") }

// tag tells homes apart where their paths do not fit.
func (p Place) tag() string {
	sum := sha256.Sum256([]byte(filepath.Clean(p.Home)))
	return hex.EncodeToString(sum[:8])
}

// A homeRule is how one system names its state directory: the first variable
// that is set, with the path below it.
type homeRule struct {
	variable string
	below    []string
}

var homeRules = map[string][]homeRule{
	"linux":   {{"XDG_STATE_HOME", []string{"swapkeep"}}, {"HOME", []string{".local", "state", "swapkeep"}}},
	"darwin":  {{"HOME", []string{"Library", "Application Support", "swapkeep"}}},
	"windows": {{"LOCALAPPDATA", []string{"swapkeep"}}},
}

// DefaultHome is $SWAPKEEP_HOME, else the system's state directory for this
// product. getenv is os.Getenv or a stand-in. A relative path is refused: the
// relay, the daemon and a terminal would each understand it differently.
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
		// Relative values are ignored, as the XDG base directory rules ask.
		if base := getenv(rule.variable); filepath.IsAbs(base) {
			return filepath.Join(append([]string{base}, rule.below...)...), nil
		}
	}
	return "", ErrNoHome
}
