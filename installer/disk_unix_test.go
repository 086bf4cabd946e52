//go:build unix

package installer

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swapkeep/internal/atomicfile"
	"swapkeep/manifest"
)

// soon fails the test if do blocks.
func soon(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("reading a pipe blocks")
	}
}

// A named pipe in the place of a manifest does not block the reader.
func TestPipesAreNotRead(t *testing.T) {
	e := newHomeFixture(t)
	present := e.install("2.0")
	if err := os.Remove(e.manifest()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(e.manifest(), 0o644); err != nil {
		t.Fatal(err)
	}
	soon(t, func() {
		if _, err := e.Files.ReadFile(e.manifest()); !errors.Is(err, atomicfile.ErrNotRegular) {
			t.Errorf("read: %v", err)
		}
		if r, err := RepairLinks(e.Machine, "2.0", present); err != nil || !slices.Equal(r.Changed, []string{e.manifest()}) {
			t.Errorf("repaired: %+v, %v", r, err)
		}
		if _, err := PlanRemoval(e.Machine, manifest.User); err != nil {
			t.Error(err)
		}
	})
	fresh := newHomeFixture(t)
	if err := os.MkdirAll(fresh.path(".config", "chromium", "NativeMessagingHosts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fresh.manifest(), 0o644); err != nil {
		t.Fatal(err)
	}
	soon(t, func() {
		plan, err := NewPlan(fresh.Machine, Options{
			Scope: manifest.User, Browsers: []string{"chromium"}, Version: "1.0", Programs: fresh.unpack("1.0"),
			Allowed: map[manifest.Family][]string{manifest.Chromium: {chromiumTestID}},
		})
		if err != nil || len(plan.Foreign) != 1 {
			t.Errorf("NewPlan = %+v, %v; want one foreign file", plan, err)
		}
	})
}

// The mode of a directory is not set through a link in its place.
func TestChmodFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	private, link := dir+"/private", dir+"/link"
	if err := os.Mkdir(private, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(private, link); err != nil {
		t.Fatal(err)
	}
	if err := chmodFolder(link, 0o755); err == nil {
		t.Error("a link was followed")
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the private directory is %v, %v; want mode 0700", info, err)
	}
	if err := (Disk{}).Mkdir(dir+"/made", 0o751); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir + "/made"); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("the new directory is %v, %v; want mode 0751", info, err)
	}
}
