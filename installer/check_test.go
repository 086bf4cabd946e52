package installer_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// Programs for all users are installed only where nobody but root can replace them.
func TestSharedFolders(t *testing.T) {
	const dir = "/usr/local/lib"
	for _, c := range []struct {
		name string
		prep func(b *bench)
		says string
	}{
		{"a group writes", func(b *bench) { b.files.Chmod(dir, 0o775|fs.ModeSetgid) }, "sudo chmod go-w"},
		{"everybody writes", func(b *bench) { b.files.Chmod("/usr/local", 0o777) }, "sudo chmod go-w"},
		{"another owns it", func(b *bench) { b.files.Chown(dir, 1001) }, "user 1001"},
		{"behind a link of root's", func(b *bench) {
			b.files.Folder("/srv/lib")
			b.files.Chown("/srv/lib", 1001)
			b.files.Link(dir, "/srv/lib")
		}, "user 1001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench("linux", manifest.System)
			c.prep(b)
			before := b.list()
			if _, err := installer.NewPlan(b.Machine, b.options(manifest.System)); !errors.Is(err, installer.ErrShared) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v", err)
			}
			unlike(t, before, b.list())
		})
	}
}
