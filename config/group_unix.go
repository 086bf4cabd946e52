//go:build unix

package config

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ofOwnGroup reports whether the group that may write something is nobody's but this
// user's, as where every user is a group and the umask is 002. What is not in the
// system's files, or not clear from them, is nobody's own.
func (s *ways) ofOwnGroup(path string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || hasACL(path) {
		return false
	}
	gid := int(stat.Gid)
	own, known := s.own[gid]
	if !known {
		own = isOwnGroup(gid)
		s.own[gid] = own
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

// ownGroup reports whether a group has the name of the user, is the user's first, and is
// nobody else's by what passwd(5) and group(5) say.
func ownGroup(users, groups string, uid, gid int) bool {
	user, group := strconv.Itoa(uid), strconv.Itoa(gid)
	name := ""
	for line := range strings.Lines(users) {
		f := strings.Split(strings.TrimSpace(line), ":")
		switch {
		case strings.HasPrefix(line, "+"): // of a directory: there are more than these
			return false
		case len(f) < 4 || f[2] != user && f[3] != group:
			continue
		case f[2] != user || f[3] != group || name != "": // another's, or one of two names
			return false
		}
		name = f[0]
	}
	found := false
	for line := range strings.Lines(groups) {
		f := strings.Split(strings.TrimSpace(line), ":")
		switch {
		case strings.HasPrefix(line, "+"):
			return false
		case len(f) < 4 || f[2] != group && f[0] != name:
			continue
		case f[0] != name || f[2] != group || f[3] != "" && f[3] != name || found:
			return false
		}
		found = true
	}
	return found && name != ""
}
