//go:build unix

package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain sets the umask of most users. With 002 the directories of t.TempDir would be
// writable by a group.
func TestMain(m *testing.M) {
	syscall.Umask(0o022)
	os.Exit(m.Run())
}

const (
	otherUID    = 65534 // neither this user nor root
	otherGID    = 65533 // no user's primary group
	anotherUser = "belongs to another user"
	chmodHint   = "run chmod go-w "
)

// A pathFixture is a directory with a configuration below it that others may be able to change.
type pathFixture struct {
	*testing.T
	dir string
}

func (p pathFixture) at(name string) string { return filepath.Join(p.dir, name) }

func (p pathFixture) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// chmod creates directories and sets the mode of the last.
func (p pathFixture) chmod(name string, mode os.FileMode) {
	p.Helper()
	p.must(os.MkdirAll(p.at(name), 0o755))
	p.must(os.Chmod(p.at(name), mode))
}

func (p pathFixture) write(name, text string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	p.must(os.WriteFile(p.at(name), []byte(text), 0o644))
}

func (p pathFixture) link(to, name string) {
	p.Helper()
	p.must(os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	p.must(os.Symlink(to, p.at(name)))
}

func (p pathFixture) give(name string, user, group int) {
	p.Helper()
	if os.Getuid() != 0 {
		p.Skip("only root can give a file away")
	}
	p.must(os.Lchown(p.at(name), user, group))
}

// A file is refused if others can replace it, on any of the paths to it.
func TestFolderOpenToOthers(t *testing.T) {
	const ids = `{"chromium":["theirs"]}`
	for name, c := range map[string]struct {
		make func(pathFixture)
		want string // in the error; DIR is the place; "" = the file is read
	}{
		"a folder and file of the user's own":  {func(p pathFixture) { p.chmod("a", 0o700); p.write("a/config.toml", "") }, ""},
		"readable by all":                      {func(p pathFixture) { p.chmod("a", 0o755); p.write("a/config.toml", "") }, ""},
		"everybody's folder":                   {func(p pathFixture) { p.write("a/config.toml", ""); p.chmod("a", 0o777) }, chmodHint + "DIR/a"},
		"everybody's folder with a sticky bit": {func(p pathFixture) { p.write("a/config.toml", ""); p.chmod("a", 0o777|os.ModeSticky) }, ""},
		"everybody's folder and file": {func(p pathFixture) {
			p.write("a/config.toml", "")
			p.chmod("a", 0o777)
			p.must(os.Chmod(p.at("a/config.toml"), 0o666))
		}, chmodHint + "DIR/a DIR/a/config.toml"},
		"a parent folder": {func(p pathFixture) { p.write("b/a/config.toml", ""); p.chmod("b", 0o777); p.link("b/a", "a") }, chmodHint + "DIR/b"},
		"the folder of a link in between": {func(p pathFixture) {
			p.write("own/config.toml", "")
			p.link("../own/config.toml", "open/second")
			p.chmod("open", 0o777)
			p.link("../open/second", "a/config.toml")
		}, chmodHint + "DIR/open"},
		"a link to a folder": {func(p pathFixture) {
			p.write("open/a/config.toml", "")
			p.chmod("open", 0o777)
			p.link(p.at("open/a"), "a")
		}, chmodHint + "DIR/open"},
		"another user's extension list in the same folder": {func(p pathFixture) {
			p.write("a/config.toml", "")
			p.write("a/extensions.json", ids)
			p.chmod("a", 0o777|os.ModeSticky)
			p.give("a/extensions.json", otherUID, otherUID)
		}, "DIR/a/extensions.json " + anotherUser},
		"another user's file":   {func(p pathFixture) { p.write("a/config.toml", ""); p.give("a/config.toml", otherUID, otherUID) }, anotherUser},
		"another user's folder": {func(p pathFixture) { p.write("a/config.toml", ""); p.give("a", otherUID, otherUID) }, "DIR/a " + anotherUser},
		"another user's link in a sticky folder": {func(p pathFixture) {
			p.write("own/config.toml", "")
			p.link("../own/config.toml", "a/config.toml")
			p.chmod("a", 0o777|os.ModeSticky)
			p.give("a/config.toml", otherUID, otherUID)
		}, "DIR/a/config.toml " + anotherUser},
		"a group's file": {func(p pathFixture) {
			p.write("a/config.toml", "")
			p.give("a/config.toml", 0, otherGID)
			p.must(os.Chmod(p.at("a/config.toml"), 0o664))
		}, chmodHint + "DIR/a/config.toml"},
		"a group's folder": {func(p pathFixture) { p.write("a/config.toml", ""); p.give("a", 0, otherGID); p.chmod("a", 0o775) }, chmodHint + "DIR/a"},
		"a name that a shell would split": {func(p pathFixture) {
			p.write("it's here/config.toml", "")
			p.link("it's here", "a")
			p.chmod("it's here", 0o777)
		}, chmodHint + `'DIR/it'\''s here'`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			p := pathFixture{t, dir}
			p.must(err)
			c.make(p)
			got, err := Load([]string{"SWAPKEEP_CONFIG=" + p.at("a/config.toml")})
			want := strings.ReplaceAll(c.want, "DIR", p.dir)
			switch {
			case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("error %v, want %q in it", err, want)
			case strings.HasPrefix(want, chmodHint) && !strings.HasSuffix(err.Error(), want):
				t.Errorf("%v: more than %q needs fixing", err, want)
			case len(got.Extensions.Chromium) > 0:
				t.Errorf("%v are let in", got.Extensions.Chromium)
			}
		})
	}
}

// What is above home cannot be fixed by the user, and whoever controls it controls the
// user. Home itself and everything below it are checked.
func TestAboveHome(t *testing.T) {
	for name, c := range map[string]struct {
		make func(pathFixture)
		want string
	}{
		"a folder that others may write":         {func(p pathFixture) { p.chmod("srv", 0o777) }, ""},
		"a file server's":                        {func(p pathFixture) { p.give("srv", otherUID, otherUID) }, ""},
		"an admin group's":                       {func(p pathFixture) { p.give("srv", 0, otherGID); p.chmod("srv", 0o775|os.ModeSetgid) }, ""},
		"a link of another user's to it":         {func(p pathFixture) { p.give("homes", otherUID, otherUID) }, ""},
		"home that others may write":             {func(p pathFixture) { p.chmod("srv/ann", 0o777) }, chmodHint + "DIR/srv/ann"},
		"another user's home":                    {func(p pathFixture) { p.give("srv/ann", otherUID, otherUID) }, anotherUser},
		"a folder that others may write in home": {func(p pathFixture) { p.chmod("srv/ann/.config", 0o777) }, chmodHint + "DIR/srv/ann/.config"},
		"a folder next to home": {func(p pathFixture) {
			p.chmod("srv/annex", 0o777)
			p.write("srv/annex/f", "")
			p.must(os.Remove(p.at("srv/ann/.config/config.toml")))
			p.link("../../annex/f", "srv/ann/.config/config.toml")
		}, chmodHint + "DIR/srv/annex"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			p := pathFixture{t, dir}
			p.must(err)
			p.write("srv/ann/.config/config.toml", "")
			p.link("srv", "homes")
			t.Setenv("HOME", p.at("homes/ann"))
			c.make(p)
			_, err = Load([]string{"SWAPKEEP_CONFIG=" + p.at("homes/ann/.config/config.toml")})
			want := strings.ReplaceAll(c.want, "DIR", p.dir)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}

// A group may write if it is this user's alone, as with the umask 002.
func TestOwnGroup(t *testing.T) {
	const users, groups = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n", "root:x:0:\nann:x:1000:\nbob:x:1001:\nstaff:x:50:ann\n"
	for name, c := range map[string]struct {
		users, groups string
		gid           int
		own           bool
	}{
		"own": {users, groups, 1000, true},
		"the user's own group, and listed as its member": {users, strings.Replace(groups, "ann:x:1000:", "ann:x:1000:ann", 1), 1000, true},
		"another member":                    {users, strings.Replace(groups, "ann:x:1000:", "ann:x:1000:bob", 1), 1000, false},
		"two members":                       {users, strings.Replace(groups, "ann:x:1000:", "ann:x:1000:ann,bob", 1), 1000, false},
		"the primary group of another user": {strings.Replace(users, "1001:1001", "1001:1000", 1), groups, 1000, false},
		"another name":                      {users, strings.Replace(groups, "ann:x:1000:", "people:x:1000:", 1), 1000, false},
		"two groups of one id":              {users, groups + "more:x:1000:bob\n", 1000, false},
		"two names of one user":             {users + "ann2:x:1000:1000::/:/bin/sh\n", groups, 1000, false},
		"two groups of one name":            {users, groups + "ann:x:1002:bob\n", 1000, false},
		"not the user's primary group":      {users, groups, 50, false},
		"another's":                         {users, groups, 1001, false},
		"a user who is not there":           {"root:x:0:0::/root:/bin/sh\n", groups, 1000, false},
		"a group not there":                 {users, "root:x:0:\n", 1000, false},
		"users of a directory":              {users + "+::::::\n", groups, 1000, false},
		"groups of a directory":             {users, groups + "+:::\n", 1000, false},
		"empty files":                       {"", "", 1000, false},
		"lines cut short":                   {"ann:x:1000\n", "ann:x\n", 1000, false},
		"an id with zeros":                  {strings.Replace(users, "1001:1001", "1001:01000", 1), groups, 1000, false},
		"an id with a space":                {strings.Replace(users, "1001:1001", "1001: 1000", 1), groups, 1000, false},
		"a group's id with zeros":           {users, groups + "more:x:01000:bob\n", 1000, false},
		"users of a line cut":               {users + " +\n", groups, 1000, false},
		"all but some":                      {users, groups + "-more\n", 1000, false},
		"a group in a comment":              {strings.Replace(users, "ann:", "#ann:", 1), strings.Replace(groups, "ann:x", "#ann:x", 1), 1000, false},
		"a field too many":                  {users, strings.Replace(groups, "ann:x:1000:", "ann:x:1000::bob", 1), 1000, false},
		"comments":                          {"# of the system\n\n" + users, "##\n" + groups, 1000, true},
	} {
		if own := ownGroup(c.users, c.groups, 1000, c.gid); own != c.own {
			t.Errorf("%s: own group %t, want %t", name, own, c.own)
		}
	}
}

// The file that is read is the one that was checked: ".." after a link is resolved by name,
// not from the link's target.
func TestDotDotAfterLink(t *testing.T) {
	p := pathFixture{t, t.TempDir()}
	p.write("own/config.toml", "")
	p.write("open/config.toml", "[extensions]\nchromium = [\"theirs\"]\n")
	p.chmod("open/sub", 0o755)
	p.chmod("open", 0o777)
	p.link("../open/sub", "own/link")
	got, err := Load([]string{"SWAPKEEP_CONFIG=" + p.at("own") + "/link/../config.toml"})
	if err != nil || len(got.Extensions.Chromium) > 0 {
		t.Errorf("%v are let in, %v", got.Extensions.Chromium, err)
	}
}

// The check of a directory is cached for the next file in it. The checks of the file
// itself, and of where a link of its name leads, are not.
func TestPathChecksAreCached(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	p := pathFixture{t, dir}
	p.must(err)
	p.write("a/one", "")
	p.write("a/two", "")
	p.write("elsewhere/three", "")
	p.link("../elsewhere/three", "a/three")
	p.chmod("a", 0o777)
	p.chmod("elsewhere", 0o777)
	p.must(os.Chmod(p.at("a/one"), 0o666))
	seen := newPathChecker()
	for _, c := range [][2]string{{"a/one", "DIR/a DIR/a/one"}, {"a/two", "DIR/a"}, {"a/three", "DIR/a DIR/elsewhere"}, {"a/two", "DIR/a"}, {"elsewhere/three", "DIR/elsewhere"}} {
		want := chmodHint + strings.ReplaceAll(c[1], "DIR", p.dir)
		if _, err := seen.readOwn(p.at(c[0])); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", c[0], err, want)
		}
	}
	if len(seen.walked) != 2 {
		t.Errorf("walked to %d folders", len(seen.walked))
	}
	p.must(os.Chmod(p.at("a/two"), 0o664))
	p.chmod("a", 0o755)
	p.give("a/two", 0, otherGID)
	info, err := os.Stat(p.at("a/two"))
	p.must(err)
	for range 2 { // the second time from the cache of groups
		if open, err := seen.writableByOthers(p.at("a/two"), info); err != nil || !open {
			t.Errorf("a group's file: %t, %v", open, err)
		}
	}
}
