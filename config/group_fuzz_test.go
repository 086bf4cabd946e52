//go:build unix

package config

import (
	"regexp"
	"strings"
	"testing"
)

// FuzzOwnGroup: whatever the system's files contain, a group is the user's own only if
// there is one line of the user, one of the group, and no other line that could be read as
// giving it to somebody else.
func FuzzOwnGroup(f *testing.F) {
	const users, groups = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n", "root:x:0:\nann:x:1000:\nbob:x:1001:\n"
	f.Add(users, groups)
	f.Add(users, groups+"more:x:1000:bob\n")
	f.Add(users+"carl:x:1002:01000::/:/bin/sh\n", groups)
	f.Add(users+"+::::::\n", groups+"-ann\n")
	f.Add("#"+users, "ann:x:1000:ann,bob")
	f.Add("ann:x:1000:1000", "ann:x:1000::bob")
	// As lenient as any parser may be: blanks, signs and leading zeros are ignored.
	ours := regexp.MustCompile(`^[\s+]*0*1000\s*$`)
	f.Fuzz(func(t *testing.T, users, groups string) {
		if !ownGroup(users, groups, 1000, 1000) {
			return
		}
		name, n := "", 0
		for _, line := range strings.Split(users, "\n") {
			p := strings.Split(line, ":")
			if len(p) >= 4 && (ours.MatchString(p[2]) || ours.MatchString(p[3])) {
				name, n = strings.TrimSpace(p[0]), n+1
			}
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "+") {
				t.Fatalf("%q has more users", users)
			}
		}
		if n != 1 || name == "" || strings.HasPrefix(name, "#") {
			t.Fatalf("%q has %d users of the group", users, n)
		}
		n = 0
		for _, line := range strings.Split(groups, "\n") {
			p := strings.Split(line, ":")
			if len(p) < 4 || strings.TrimSpace(p[0]) != name && !ours.MatchString(p[2]) {
				continue
			}
			n++
			if members := strings.TrimSpace(strings.Join(p[3:], ":")); members != "" && members != name {
				t.Fatalf("%q has %q in it", groups, members)
			}
		}
		if n != 1 {
			t.Fatalf("%q has %d such groups", groups, n)
		}
	})
}
