package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"swapkeep/internal/atomicfile"
)

// Files is a [Keychain] in a directory, one file per item, for machines without a
// keychain. Beyond file modes only the vault password protects its items (and nothing
// protects provider keys), so it is used only if the user chooses it explicitly.
type Files struct {
	dir string
	mu  sync.Mutex
}

// OpenFiles creates the directory if needed (0700) and removes unfinished writes. It
// returns [ErrUnsafeFiles] for a directory that others can enter.
func OpenFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkPrivate(dir, fs.ModeDir); err != nil {
		return nil, err
	}
	if err := atomicfile.RemoveUnfinished(dir); err != nil {
		return nil, err
	}
	return &Files{dir: dir}, nil
}

// checkPrivate refuses a path of another type than kind or accessible to others. Windows has
// no such mode bits; there the access list of the user's profile protects the directory.
func checkPrivate(path string, kind fs.FileMode) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != kind || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: %s is %s", ErrUnsafeFiles, path, info.Mode())
	}
	return nil
}

// path returns the file name for service and item. The escaping leaves neither a
// separator nor an @ in them.
func (f *Files) path(service, item string) string {
	return filepath.Join(f.dir, url.QueryEscape(service)+"@"+url.QueryEscape(item))
}

// Set replaces an item atomically, with access for this user only. After a crash the file
// holds the old value or the new one.
func (f *Files) Set(service, item, value string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return atomicfile.Write(f.path(service, item), func(w io.Writer) error {
		_, err := io.WriteString(w, value)
		return err
	})
}

// Get reads an item and refuses a file that others could have read or changed.
func (f *Files) Get(service, item string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := f.path(service, item)
	err := checkPrivate(path, 0)
	var value []byte
	if err == nil {
		value, err = atomicfile.Read(path, MaxItem)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrMissingItem
	case errors.Is(err, atomicfile.ErrNotRegular):
		return "", fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return string(value), err
}

// Delete removes an item and syncs the directory.
func (f *Files) Delete(service, item string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch err := os.Remove(f.path(service, item)); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrMissingItem
	case err != nil:
		return err
	}
	return atomicfile.SyncDir(f.dir)
}

// DeleteAll removes all items of a service and syncs the directory.
func (f *Files) DeleteAll(service string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), url.QueryEscape(service)+"@") {
			if err := os.Remove(filepath.Join(f.dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return atomicfile.SyncDir(f.dir)
}
