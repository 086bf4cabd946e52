package doctor

import (
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/installer/installertest"
)

// The last one of the longest matching mount point counts.
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

// If the mount of a path is unknown, the check says so.
func TestMountedUnknown(t *testing.T) {
	files := installertest.NewFiles()
	files.File("/home/ann/swapkeep", "program")
	p := &Env{Machine: installer.Machine{OS: "linux", Home: "/home/ann", Files: files}}
	if f, reported := mounted(t.Context(), p, "/home/ann/swapkeep"); !reported || f.Status != Skipped {
		t.Errorf("mounted without mountinfo = %+v, want skipped", f)
	}
	files.File("/proc/self/mountinfo", "22 1 8:1 / / rw,noexec - ext4 /dev/sda1 rw\n")
	if f, reported := mounted(t.Context(), p, "/home/ann/swapkeep"); !reported || f.Status != Fail || !strings.Contains(f.Remedy, "remount,exec /)") {
		t.Errorf("mounted with noexec = %+v, want a failure with the remount command", f)
	}
}

func TestQuoted(t *testing.T) {
	p := &Env{Machine: installer.Machine{OS: "linux"}}
	for path, want := range map[string]string{
		"/usr/lib/swapkeep": "/usr/lib/swapkeep", "/home/ann lee/x": "'/home/ann lee/x'", "/it's": `'/it'\''s'`, "": "''", "/$(reboot)": "'/$(reboot)'",
	} {
		if got := p.quoted(path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

// Commands have the form of the operating system.
func TestCommands(t *testing.T) {
	unix, windows := &Env{Machine: installer.Machine{OS: "linux"}}, &Env{Machine: installer.Machine{OS: "windows"}}
	for _, row := range []struct{ got, want string }{
		{unix.quoted("/home/ann lee/x"), "'/home/ann lee/x'"},
		{windows.quoted(`C:\Users\ann\x`), `C:\Users\ann\x`},
		{windows.quoted(`C:\Users\ann lee\it's`), `"C:\Users\ann lee\it's"`},
		{windows.quoted(""), `""`},
		{unix.moveAside("/a b", "go on"), "mv '/a b' '/a b.damaged' && go on"},
		{windows.moveAside(`C:\a b`, "go on"), `move "C:\a b" "C:\a b.damaged", then go on`},
		{unix.kill(7), "kill 7"},
		{windows.kill(7), "taskkill /F /PID 7"},
	} {
		if row.got != row.want {
			t.Errorf("%s, want %s", row.got, row.want)
		}
	}
}
