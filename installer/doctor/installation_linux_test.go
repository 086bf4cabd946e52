package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"swapkeep/installer"
)

// The system reports running programs with the links to their directory resolved.
func TestRunsBehindALink(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(exe), link); err != nil {
		t.Fatal(err)
	}
	p := &Env{Machine: installer.Machine{OS: "linux", Files: installer.Disk{}}}
	if !p.runs(link) {
		t.Error("nothing runs there")
	}
	if p.runs(t.TempDir()) {
		t.Error("something runs in an empty folder")
	}
}
