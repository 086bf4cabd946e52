package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"swapkeep/manifest"
)

// check refuses a plan that could not be completed, or that would write elsewhere than it
// says.
func (b *planner) check() error {
	seen := map[string]bool{}
	for _, c := range b.plan.Changes {
		if !c.receipt(b.plan).possible(b.m) {
			return fmt.Errorf("the %s %q has no name that can be written down and read again: it must be absolute, in UTF-8 and without control characters; rename what it is in", c.Kind, c.Path)
		}
		if c.Kind.inRegistry() {
			continue
		}
		parent := b.m.parent(c.Path)
		if err := b.checkLinks(parent); err != nil {
			return err
		}
		if err := b.checkShared(c.Kind, parent); err != nil {
			return err
		}
		dir, err := b.m.nearest(parent)
		if err != nil {
			return err
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if err := b.m.Files.Writable(dir); err != nil {
			return fmt.Errorf("%w: %s: %w; %s", ErrUnwritable, dir, err, b.remedy(dir, err))
		}
	}
	return nil
}

// unwritable returns why a file cannot be written, and a remedy; no reason if it can be or need
// not be.
func (b *planner) unwritable(c Change) (reason, remedy string) {
	s, err := b.look(c)
	if err != nil {
		return "cannot be read: " + err.Error(), ""
	}
	if b.done(c, s) {
		return "", ""
	}
	dir, err := b.m.nearest(b.m.parent(c.Path))
	if err != nil {
		return err.Error(), ""
	}
	if err := b.m.Files.Writable(dir); err != nil {
		return "cannot write to its folder: " + err.Error(), b.remedy(dir, err)
	}
	return "", ""
}

// remedy returns what makes a directory writable.
func (b *planner) remedy(dir string, err error) string {
	uid, known := 0, false
	if info, err := b.m.Files.Stat(dir); err == nil {
		uid, known = b.m.Files.Owner(info)
	}
	switch {
	case errors.Is(err, syscall.EROFS):
		return "its disk is read-only; mount it writable"
	case !errors.Is(err, fs.ErrPermission):
		return "check its disk"
	case !known || uid == b.m.UID || b.o.Scope == manifest.System:
		return "make it writable with chmod u+w " + strconv.Quote(dir)
	case uid == 0:
		return "it belongs to root; run sudo chown \"$USER\" " + strconv.Quote(dir)
	}
	return fmt.Sprintf("it belongs to user %d; ask that user or your administrator to change its owner", uid)
}

// checkLinks refuses, for root, a path through symbolic links that another user made: such a
// link could lead what root writes to any place.
func (b *planner) checkLinks(dir string) error {
	return b.onTheWay(dir, func(p string, info fs.FileInfo) error {
		if uid, known := b.m.Files.Owner(info); info.Mode()&fs.ModeSymlink != 0 && known && uid != 0 {
			to, _ := b.m.Files.Readlink(p)
			return fmt.Errorf("%w: %s, on the way to %s, is a link of user %d to %s; replace it by a folder",
				ErrLink, p, strings.TrimPrefix(dir, p+"/"), uid, to)
		}
		return nil
	})
}

// checkShared refuses to install programs for all users where anyone but root could replace
// them.
func (b *planner) checkShared(kind Kind, dir string) error {
	if kind != Program || b.o.Scope != manifest.System {
		return nil
	}
	return b.onTheWay(dir, func(p string, info fs.FileInfo) error {
		if info.Mode()&fs.ModeSymlink != 0 { // root's own, as follows has checked
			var err error
			if info, err = b.m.Files.Stat(p); err != nil {
				return err
			}
		}
		uid, known := b.m.Files.Owner(info)
		switch {
		case known && uid != 0:
			return fmt.Errorf("%w: %s belongs to user %d; run sudo chown root %s", ErrShared, p, uid, strconv.Quote(p))
		case info.Mode().Perm()&0o022 != 0:
			return fmt.Errorf("%w: %s is writable by others than root (mode %04o); run sudo chmod go-w %s",
				ErrShared, p, info.Mode().Perm(), strconv.Quote(p))
		}
		return nil
	})
}

// onTheWay calls look for every existing directory on a path, if the user is root.
func (b *planner) onTheWay(dir string, look func(path string, info fs.FileInfo) error) error {
	if !b.m.Root || b.m.OS == "windows" {
		return nil
	}
	for p := dir; p != b.m.parent(p); p = b.m.parent(p) {
		info, err := b.m.Files.Lstat(p)
		if absent(err) {
			continue
		}
		if err == nil {
			err = look(p, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
