package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"swapkeep/internal/atomicfile"
	"swapkeep/host/owner"
	"swapkeep/host/transport"
)

// stateFiles are what the daemon keeps in its state directory, as patterns of names, with
// what a crash left of them. On some systems what was installed is in the same folder.
// The lock and what lives only as long as a daemon go after them.
var stateFiles = []string{"orders.db*", "prices.db*", "keys", refusedDir, "swapkeepd.log*", "spawn.lock", atomicfile.Unfinished + "*", "home.json"}

// stateUsed reports whether a daemon has ever made the directory its own.
func stateUsed(place transport.Place) bool {
	_, err := os.Lstat(filepath.Join(place.Home, "home.json"))
	return err == nil
}

// heldKeys refuses where wallets' keys are kept in files of the state directory: the
// daemon removed those that it knew of, and another configuration may have kept others.
func heldKeys(place transport.Place) error {
	entries, err := os.ReadDir(filepath.Join(place.Home, "keys"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), atomicfile.Unfinished) {
			return fmt.Errorf("%s holds keys of wallets, so it stays: set keys.backend = \"file\", remove those wallets, then run this again",
				filepath.Join(place.Home, "keys"))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeState removes what the daemon keeps in its state directory, and nothing else
// that is there. The caller made sure that there is no wallet in it, and no daemon.
func removeState(place transport.Place) error {
	if !stateUsed(place) {
		return nil
	}
	held, err := owner.Acquire(place)
	if err != nil {
		return err
	}
	if err := heldKeys(place); err != nil { // once nobody can add any
		return errors.Join(err, held.Close())
	}
	for _, pattern := range stateFiles { // home.json last: without it a daemon refuses the rest
		if err := removeMatching(place.Home, pattern); err != nil {
			return errors.Join(fmt.Errorf("remove the state directory: %w", err), held.Close())
		}
	}
	return errors.Join(held.Close(), os.RemoveAll(place.LockPath()), os.RemoveAll(place.RunDir()))
}

func removeMatching(dir, pattern string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if is, err := path.Match(pattern, e.Name()); err != nil || !is {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// removeStateFolder removes the directory itself, if what is in it is nobody's.
func removeStateFolder(place transport.Place) error {
	entries, err := os.ReadDir(place.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist), len(entries) > 0:
		return nil
	case err != nil:
		return err
	}
	return os.Remove(place.Home)
}
