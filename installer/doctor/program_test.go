package doctor

import "testing"

// The last of the longest mount points that a path is below decides.
func TestMountOf(t *testing.T) {
	const table = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:2 / /home rw,noexec - ext4 /dev/sda2 rw
31 30 8:3 / /home/ann\040lee rw,relatime - ext4 /dev/sda3 rw
32 22 0:40 / /tmp rw - tmpfs tmpfs rw
33 32 0:41 / /tmp rw,noexec - tmpfs tmpfs rw
broken line
`
	for path, want := range map[string]mount{
		"/usr/bin/swapkeep":      {"/", "rw,relatime"},
		"/home/bob/swapkeep":     {"/home", "rw,noexec"},
		"/homes/swapkeep":        {"/", "rw,relatime"},
		"/home/ann lee/swapkeep": {"/home/ann lee", "rw,relatime"},
		"/tmp/swapkeep":          {"/tmp", "rw,noexec"},
	} {
		if got, found := mountOf(table, path); !found || got != want {
			t.Errorf("%s is on %+v, want %+v", path, got, want)
		}
	}
	if _, found := mountOf("", "/x"); found {
		t.Error("a mount of no table")
	}
}

func TestQuoted(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/lib/swapkeep": "/usr/lib/swapkeep", "/home/ann lee/x": "'/home/ann lee/x'", "/it's": `'/it'\''s'`, "": "''", "/$(reboot)": "'/$(reboot)'",
	} {
		if got := quoted(path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}
