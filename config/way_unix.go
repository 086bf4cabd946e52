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

// Ways are what was seen on the way to one file and holds for the next of the same Load:
// a relay starts for every browser port, and reads two files that lie side by side.
type ways struct {
	to   map[string]way // by the folder that they lead to
	own  map[int]bool   // whether a group is this user's alone, by its id
	home []string       // the user's, as it is named and without links
}

func newWays() *ways {
	s := &ways{to: map[string]way{}, own: map[int]bool{}}
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

// aboveHome reports whether a path leads to the user's home and is not it. Who can put
// something in the place of that has the user's browsers, programs and shell too, and a
// user could mend nothing there: it may be a file server's, or of a user namespace that
// does not know root.
func (s *ways) aboveHome(path string) bool {
	return slices.ContainsFunc(s.home, func(home string) bool {
		return path != home && strings.HasPrefix(home, strings.TrimSuffix(path, "/")+"/")
	})
}

// A way is what leads to a file, link by link.
type way struct {
	seen  *ways
	at    string   // a folder, by a path without links
	rest  []string // names that lead on from it
	links int
	open  []string // folders in which others can put something in the place of what is there
}

// openOnTheWay lists the folders on the way to a file, by its absolute path, in which
// others can put another thing in the place of what is there; none above home. Errors: a folder or link of
// another user's, who can do that whatever its mode says.
func (s *ways) openOnTheWay(path string) ([]string, error) {
	dir := filepath.Dir(path)
	w, known := s.to[dir]
	if !known {
		w = way{seen: s, at: "/"}
		if err := w.walk(strings.Split(dir, "/")); err != nil {
			return nil, err
		}
		s.to[dir] = w
	}
	w.open = slices.Clone(w.open)
	err := w.walk([]string{filepath.Base(path)}) // a link may lead on
	return w.open, err
}

func (w *way) walk(names []string) error {
	for w.rest = names; len(w.rest) > 0; {
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *way) step() error {
	next := filepath.Join(w.at, w.rest[0]) // first of all the root itself
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
		w.at = next
		if !judged {
			return nil
		}
		bad, err := w.seen.openToOthers(next, info)
		if bad && !slices.Contains(w.open, next) {
			w.open = append(w.open, next)
		}
		return err
	}
	return nil // the file, which is looked at when it is open
}

func (w *way) follow(link string, info fs.FileInfo, judged bool) error {
	if err := ofUsOrRoot(link, info); judged && err != nil {
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
func (s *ways) openToOthers(path string, info fs.FileInfo) (bool, error) {
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
	return mode.Perm()&groupWrite != 0 && !s.ofOwnGroup(path, info), nil
}

// ofUsOrRoot refuses what another user has.
func ofUsOrRoot(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if ok && (stat.Uid == 0 || int(stat.Uid) == os.Getuid()) {
		return nil
	}
	return fmt.Errorf("%s belongs to another user, who decides what is read there: keep the configuration where all is yours", path)
}
