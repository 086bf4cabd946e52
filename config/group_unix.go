//go:build unix

package config

import (
	"io/fs"
	"iter"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// hasOwnGroup reports whether the group that may write path is this user's alone, as on
// systems with a group for every user and the umask 002. If the system's files do not say
// so unambiguously it is not.
func (s *pathChecker) hasOwnGroup(path string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || hasACL(path) {
		return false
	}
	gid := int(stat.Gid)
	own, known := s.ownGroups[gid]
	if !known {
		own = isOwnGroup(gid)
		s.ownGroups[gid] = own
	}
	return own
}

func isOwnGroup(gid int) bool {
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return false
	}
	groups, err := os.ReadFile("/etc/group")
	return err == nil && ownGroup(string(users), string(groups), os.Getuid(), gid)
}

// ownGroup reports whether gid is the primary group of uid, has the user's name and has no
// other members according to passwd(5) and group(5).
func ownGroup(users, groups string, uid, gid int) bool {
	user, group := strconv.Itoa(uid), strconv.Itoa(gid)
	name := ""
	for f, alike := range entries(users, 2, 3) {
		switch {
		case !alike:
			return false
		case f[2] != user && f[3] != group:
			continue
		case f[2] != user || f[3] != group || name != "": // another user's line, or a second name
			return false
		}
		name = f[0]
	}
	found := false
	for f, alike := range entries(groups, 2) {
		switch {
		case !alike:
			return false
		case f[2] != group && f[0] != name:
			continue
		case f[0] != name || f[2] != group || len(f) != 4 || f[3] != "" && f[3] != name || found:
			return false
		}
		found = true
	}
	return found && name != "" && !strings.HasPrefix(name, "#") // some parsers take "#" for a comment
}

// entries yields the fields of each line of passwd(5) or group(5), and whether every parser
// reads the line alike. That is false for a line that includes a directory, where there may
// be more entries, and for an id that is not a number without leading zeros.
func entries(text string, ids ...int) iter.Seq2[[]string, bool] {
	return func(yield func([]string, bool) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			f := strings.Split(line, ":")
			alike := !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-")
			if alike && len(f) < 4 {
				continue
			}
			for _, i := range ids {
				alike = alike && isID(f[i])
			}
			if !yield(f, alike) {
				return
			}
		}
	}
}

func isID(text string) bool {
	n, err := strconv.ParseUint(text, 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == text
}
