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

// A pathChecker caches path checks during one Load: a relay starts for every browser port and
// reads two files from the same directory.
type pathChecker struct {
	walked    map[string]pathWalk // by the directory that they lead to
	ownGroups map[int]bool        // by group id: whether the group is this user's alone
	home      []string            // the user's home directory, as named and without links
}

func newPathChecker() *pathChecker {
	s := &pathChecker{walked: map[string]pathWalk{}, ownGroups: map[int]bool{}}
	if home, err := os.UserHomeDir(); err == nil {
		s.home = append(s.home, filepath.Clean(home))
	}
	for _, home := range slices.Clone(s.home) {
		if at, err := filepath.EvalSymlinks(home); err == nil {
			s.home = append(s.home, at)
		}
	}
	return s
}

// aboveHome reports whether path is a parent of the user's home. Whoever can replace
// something there controls the user's browsers, programs and shell anyway, and the user
// could not fix it: it may belong to a file server, or to a user namespace that does not
// know root.
func (s *pathChecker) aboveHome(path string) bool {
	return slices.ContainsFunc(s.home, func(home string) bool {
		return path != home && strings.HasPrefix(home, strings.TrimSuffix(path, "/")+"/")
	})
}

// A pathWalk is the path to a file, followed link by link.
type pathWalk struct {
	seen     *pathChecker
	dir      string   // a directory, by a path without links
	rest     []string // remaining path elements
	links    int
	writable []string // directories in which others can replace entries
}

// writableDirs lists the directories on the absolute path to a file in which others can
// replace entries, without those above home. A directory or link of another user is an
// error, since that user can replace it whatever its mode is.
func (s *pathChecker) writableDirs(path string) ([]string, error) {
	dir := filepath.Dir(path)
	w, known := s.walked[dir]
	if !known {
		w = pathWalk{seen: s, dir: "/"}
		if err := w.walk(strings.Split(dir, "/")); err != nil {
			return nil, err
		}
		s.walked[dir] = w
	}
	w.writable = slices.Clone(w.writable)
	err := w.walk([]string{filepath.Base(path)}) // a link may lead on
	return w.writable, err
}

func (w *pathWalk) walk(names []string) error {
	for w.rest = names; len(w.rest) > 0; {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *pathWalk) step() error {
	next := filepath.Join(w.dir, w.rest[0]) // first of all the root itself
	w.rest = w.rest[1:]
	info, err := os.Lstat(next)
	if err != nil {
		return err
	}
	judged := !w.seen.aboveHome(next)
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		return w.follow(next, info, judged)
	case fs.ModeDir:
		w.dir = next
		if !judged {
			return nil
		}
		bad, err := w.seen.writableByOthers(next, info)
		if bad && !slices.Contains(w.writable, next) {
			w.writable = append(w.writable, next)
		}
		return err
	}
	return nil // the file, which is checked when it is open
}

func (w *pathWalk) follow(link string, info fs.FileInfo, judged bool) error {
	if err := checkOwner(link, info); judged && err != nil {
		return err
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%s: too many links", link)
	}
	target, err := os.Readlink(link)
	if filepath.IsAbs(target) {
		w.dir = "/"
	}
	w.rest = append(strings.Split(target, "/"), w.rest...)
	return err
}

// writableByOthers reports whether others can change a file, or the entries of a directory. A
// sticky bit keeps them from entries that are not theirs.
func (s *pathChecker) writableByOthers(path string, info fs.FileInfo) (bool, error) {
	if err := checkOwner(path, info); err != nil {
		return false, err
	}
	mode := info.Mode()
	switch {
	case !mode.IsRegular() && !mode.IsDir(), mode.IsDir() && mode&fs.ModeSticky != 0: // a device has no content of others
		return false, nil
	case mode.Perm()&otherWrite != 0:
		return true, nil
	}
	return mode.Perm()&groupWrite != 0 && !s.hasOwnGroup(path, info), nil
}

// checkOwner refuses what belongs to another user.
func checkOwner(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && (stat.Uid == 0 || int(stat.Uid) == os.Getuid()) {
		return nil
	}
	return fmt.Errorf("%s belongs to another user; keep the configuration in a directory of your own", path)
}
