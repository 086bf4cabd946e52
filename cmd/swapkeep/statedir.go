package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"swapkeep/host/owner"
	"swapkeep/host/transport"
	"swapkeep/internal/atomicfile"
)

// stateFiles are name patterns of the daemon's files in its state directory, including
// leftovers of a crash. On some systems the directory also contains the installation. The
// lock and the files of a running daemon are removed after these.
var stateFiles = []string{"orders.db*", "prices.db*", "keys", refusedDir, "swapkeepd.log*", "spawn.lock", atomicfile.TempPrefix + "*", "home.json"}

// stateUsed reports whether a daemon has ever used the directory.
func stateUsed(place transport.Instance) bool {
	_, err := os.Lstat(filepath.Join(place.Home, "home.json"))
	return err == nil
}

// checkNoKeyFiles returns an error if wallet keys are stored in files of the state directory.
// The daemon removed those it knew of; another configuration may have others.
func checkNoKeyFiles(place transport.Instance) error {
	entries, err := os.ReadDir(filepath.Join(place.Home, "keys"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), atomicfile.TempPrefix) {
			return fmt.Errorf("%s holds keys of wallets, so it stays: set keys.backend = \"file\", remove those wallets, then run this again",
				filepath.Join(place.Home, "keys"))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeState removes the daemon's files from its state directory and nothing else there.
// The caller must have checked that it contains no wallet and that no daemon is running.
func removeState(place transport.Instance) error {
	if !stateUsed(place) {
		return nil
	}
	held, err := owner.Acquire(place)
	if err != nil {
		return err
	}
	if err := checkNoKeyFiles(place); err != nil { // checked while the lock keeps others from adding keys
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

// removeStateFolder removes the directory if it is empty.
func removeStateFolder(place transport.Instance) error {
	entries, err := os.ReadDir(place.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist), len(entries) > 0:
		return nil
	case err != nil:
		return err
	}
	return os.Remove(place.Home)
}
