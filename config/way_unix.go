//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	groupWrite = 0o020
	otherWrite = 0o002

	maxLinks = 40 // as many as Linux follows
)

// A way is what leads to a file, link by link.
type way struct {
	at    string   // a folder, by a path without links
	rest  []string // names that lead on from it
	links int
	open  []string // folders in which others can put something in the place of what is there
}

// openOnTheWay lists the folders on the way to a file in which others can put another
// thing in the place of what is there. Errors: a folder or link of another user's, who
// can do that whatever its mode says.
func openOnTheWay(path string) ([]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	w := way{at: "/", rest: strings.Split(path, "/")}
	for len(w.rest) > 0 && err == nil {
		err = w.step()
	}
	return w.open, err
}

func (w *way) step() error {
	next := filepath.Join(w.at, w.rest[0]) // first of all the root itself
	w.rest = w.rest[1:]
	info, err := os.Lstat(next)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		return w.follow(next, info)
	case fs.ModeDir:
		bad, err := openToOthers(next, info)
		if bad && !slices.Contains(w.open, next) {
			w.open = append(w.open, next)
		}
		w.at = next
		return err
	}
	return nil // the file, which is looked at when it is open
}

func (w *way) follow(link string, info fs.FileInfo) error {
	if err := ofUsOrRoot(link, info); err != nil {
		return err
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%s: too many links", link)
	}
	target, err := os.Readlink(link)
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	w.rest = append(strings.Split(target, "/"), w.rest...)
	return err
}

// openToOthers reports whether others can change a file, or what is in a folder. The
// sticky bit keeps them from what is not theirs.
func openToOthers(path string, info fs.FileInfo) (bool, error) {
	if err := ofUsOrRoot(path, info); err != nil {
		return false, err
	}
	mode := info.Mode()
	switch {
	case !mode.IsRegular() && !mode.IsDir(), mode.IsDir() && mode&fs.ModeSticky != 0: // a device says nothing
		return false, nil
	case mode.Perm()&otherWrite != 0:
		return true, nil
	}
	return mode.Perm()&groupWrite != 0 && !ofOwnGroup(path, info), nil
}

// ofUsOrRoot refuses what another user has.
func ofUsOrRoot(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && (stat.Uid == 0 || int(stat.Uid) == os.Getuid()) {
		return nil
	}
	return fmt.Errorf("%s belongs to another user, who decides what is read there: keep the configuration where all is yours", path)
}
