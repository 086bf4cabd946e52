package installer_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"swapkeep/installer"
	"swapkeep/installer/installertest"
	"swapkeep/manifest"
)

func skipped(p *installer.Plan, browser, says string) bool {
	return slices.ContainsFunc(p.Skipped, func(s installer.Skip) bool { return s.Browser == browser && strings.Contains(s.String(), says) })
}

func writes(p *installer.Plan, browser string) bool {
	return slices.ContainsFunc(p.Changes, func(c installer.Change) bool {
		return c.Kind == installer.Manifest && slices.Contains(c.Browsers, browser)
	})
}

// A directory that was only created for a manifest does not count as a browser, but its
// manifest is kept up to date.
func TestManifestDirectoryIsNoBrowser(t *testing.T) {
	b := newBench("linux", manifest.User)
	o := b.options(manifest.User)
	o.All, o.Browsers = false, []string{"chromium", "opera"} // opera's place is in Chrome's directory
	b.apply(t, o)
	o.Browsers, o.IDs = nil, []string{otherID}
	p := b.plan(t, o)
	for _, name := range []string{"chromium", "opera", "chrome"} {
		if !skipped(p, name, "was not found") || !writes(p, name) {
			t.Errorf("%s: skipped %v, changes %+v", name, p.Skipped, p.Changes)
		}
	}
	if p.Browsers() != 4 { // once they are installed, also through a directory they share
		t.Errorf("%d browsers find it", p.Browsers())
	}
	b.files.Folder("/home/ann/.config/chromium/Default")
	if p := b.plan(t, o); skipped(p, "chromium", "") || p.Browsers() == 0 || !skipped(p, "chrome", "was not found") {
		t.Errorf("with a profile: skipped %v", p.Skipped)
	}
}

// A read-only directory affects only its browser, unless that browser was named.
func TestShutFolders(t *testing.T) {
	const shut = "/home/ann/.config"
	for _, c := range []struct {
		name string
		owns int
		fail error
		says string
	}{
		{"root's", 0, nil, "sudo chown"},
		{"the user's own", 1000, nil, "chmod u+w"},
		{"a third one's", 1001, nil, "user 1001"},
		{"folder on a read-only disk", 1000, syscall.EROFS, "is read-only"},
		{"folder on a failing disk", 1000, syscall.EIO, "check its disk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench("linux", manifest.User)
			b.UID, b.files.Locked = 1000, []string{shut}
			b.files.Chown(shut, c.owns)
			b.Files = shutFiles{b.files, c.fail}
			o := b.options(manifest.User)
			p := b.plan(t, o)
			if !skipped(p, "chrome", c.says) || writes(p, "chrome") || !writes(p, "firefox") {
				t.Errorf("skipped: %v", p.Skipped)
			}
			o.All, o.Browsers = false, []string{"chrome"}
			if _, err := installer.NewPlan(b.Machine, o); !errors.Is(err, installer.ErrUnwritable) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("named: %v", err)
			}
		})
	}
}

// shutFiles makes Writable return a different error.
type shutFiles struct {
	*installertest.Files
	why error
}

func (f shutFiles) Writable(dir string) error {
	err := f.Files.Writable(dir)
	if err != nil && f.why != nil {
		return f.why
	}
	return err
}

// If the manifest is in place, its directory need not be writable.
func TestShutFolderInPlace(t *testing.T) {
	b := newBench("linux", manifest.User)
	o := b.options(manifest.User)
	b.apply(t, o)
	b.files.Locked = []string{"/home/ann/.config/google-chrome/NativeMessagingHosts"}
	if p := b.plan(t, o); len(p.Changes) != 0 || skipped(p, "chrome", "") {
		t.Errorf("changes %+v, skipped %v", p.Changes, p.Skipped)
	}
}

// A broken link in the way of one browser, or of the shell's link, does not affect
// anything else.
func TestLinksThatLeadNowhere(t *testing.T) {
	b := newBench("linux", manifest.User)
	b.files.Link("/home/ann/.mozilla", "/media/gone")
	b.files.Link("/home/ann/.local/bin", "/media/gone")
	p := b.apply(t, b.options(manifest.User))
	if !skipped(p, "firefox", "is a broken link") || writes(p, "firefox") || !writes(p, "chrome") {
		t.Errorf("skipped: %v", p.Skipped)
	}
	b = newBench("linux", manifest.User)
	b.files.File("/home/ann/.local/bin", "a file")
	b.apply(t, b.options(manifest.User))
}
