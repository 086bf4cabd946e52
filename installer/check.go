package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"swapkeep/manifest"
)

// check refuses a plan that could not be carried out to its end, or would be carried
// out somewhere else than it says.
func (b *planner) check() error {
	seen := map[string]bool{}
	for _, c := range b.plan.Changes {
		if c.Kind.inRegistry() {
			continue
		}
		dir := b.m.parent(c.Path)
		if err := b.follows(dir); err != nil {
			return err
		}
		for { // the folder that will get something new
			if there, err := b.m.exists(dir); err != nil || there {
				break
			}
			dir = b.m.parent(dir)
		}
		if seen[dir] {
			continue
		}
		seen[dir] = true
		if err := b.m.Files.Writable(dir); err != nil {
			return b.unwritable(dir, err)
		}
	}
	return nil
}

func (b *planner) unwritable(dir string, err error) error {
	remedy := "make it writable with chmod u+w " + strconv.Quote(dir)
	info, statErr := b.m.Files.Stat(dir)
	uid := 0
	if statErr == nil {
		uid, _ = b.m.Files.Owner(info)
	}
	switch {
	case errors.Is(err, fs.ErrPermission) && b.o.Scope == manifest.User && uid == 0:
		remedy = "it belongs to root: give it back with sudo chown \"$USER\" " + strconv.Quote(dir)
	case !errors.Is(err, fs.ErrPermission):
		remedy = "look at the disk it is on"
	}
	return fmt.Errorf("%w: %s: %w; %s", ErrUnwritable, dir, err, remedy)
}

// follows refuses, for root, a way through links that somebody else made: they could
// lead what root writes to any place.
func (b *planner) follows(dir string) error {
	if !b.m.Root || b.m.OS == "windows" {
		return nil
	}
	for p := dir; p != b.m.parent(p); p = b.m.parent(p) {
		info, err := b.m.Files.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if uid, known := b.m.Files.Owner(info); info.Mode()&fs.ModeSymlink != 0 && known && uid != 0 {
			to, _ := b.m.Files.Readlink(p)
			return fmt.Errorf("%w: %s, on the way to %s, is a link of user %d to %s; replace it by a folder",
				ErrLink, p, strings.TrimPrefix(dir, p+"/"), uid, to)
		}
	}
	return nil
}
