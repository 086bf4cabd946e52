package keys_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"swapkeep/internal/atomicfile"
	"swapkeep/keys"
)

func TestFilesAreAKeychain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "keys")
	f := must[*keys.Files](t)(keys.OpenFiles(dir))
	_, err := f.Get("swapkeep/x", "a")
	wantErr(t, "get", err, keys.ErrMissingItem)
	wantErr(t, "delete", f.Delete("swapkeep/x", "a"), keys.ErrMissingItem)
	for _, value := range []string{"one", strings.Repeat("two", 800), ""} {
		if err := f.Set("swapkeep/x", "a", value); err != nil {
			t.Fatal(err)
		}
		if got := must[string](t)(f.Get("swapkeep/x", "a")); got != value {
			t.Errorf("%d bytes of %d", len(got), len(value))
		}
	}
	// Names that would collide or escape if they were paths.
	for _, name := range [][2]string{{"swapkeep/x/a", "b"}, {"swapkeep/x", "a/b"}, {"..", "../up"}, {"swapkeep", "x/a"}} {
		if err := f.Set(name[0], name[1], name[0]+name[1]); err != nil {
			t.Error(err)
		}
	}
	if entries := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(entries) != 5 {
		t.Errorf("files %v", entries)
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "up")); err == nil {
		t.Error("an item was written outside the directory")
	}
	if err := f.Delete("swapkeep/x", "a"); err != nil {
		t.Error(err)
	}
	if err := f.DeleteAll("swapkeep/x"); err != nil { // not those of swapkeep/x/a or swapkeep
		t.Error(err)
	}
	if entries := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(entries) != 3 {
		t.Errorf("files after all of one service are deleted: %v", entries)
	}
	_, err = f.Get("swapkeep/x", "a")
	wantErr(t, "deleted", err, keys.ErrMissingItem)
}

// TestFilesAreBounded checks that a file longer than an item is refused, not truncated.
func TestFilesAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	f := must[*keys.Files](t)(keys.OpenFiles(dir))
	for _, length := range []int{keys.MaxItem, keys.MaxItem + 1} {
		if err := os.WriteFile(filepath.Join(dir, "s@a"), make([]byte, length), 0o600); err != nil {
			t.Fatal(err)
		}
		value, err := f.Get("s", "a")
		if length == keys.MaxItem {
			if err != nil || len(value) != length {
				t.Errorf("%d bytes, %v", len(value), err)
			}
			continue
		}
		wantErr(t, "too long", err, keys.ErrTooLarge)
	}
}

func TestFilesAreClosedToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // Windows has no mode bits
	}
	dir := filepath.Join(t.TempDir(), "keys")
	f := must[*keys.Files](t)(keys.OpenFiles(dir))
	if err := f.Set("s", "a", "value"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "s@a")
	for path, want := range map[string]os.FileMode{dir: 0o700, file: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, err := f.Get("s", "a")
		wantErr(t, mode.String(), err, keys.ErrUnsafeFiles)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", file); err != nil {
		t.Fatal(err)
	}
	_, err := f.Get("s", "a")
	wantErr(t, "symbolic link", err, keys.ErrUnsafeFiles)
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	_, err = keys.OpenFiles(dir)
	wantErr(t, "open folder", err, keys.ErrUnsafeFiles)
}

func TestUnfinishedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, atomicfile.TempPrefix+"123")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	must[*keys.Files](t)(keys.OpenFiles(dir))
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("still there")
	}
}

func TestVaultInFilesOutlivesItsProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	open := func() *keys.Vault {
		store := must[*keys.Store](t)(keys.NewStore(must[*keys.Files](t)(keys.OpenFiles(dir)), namespace, keys.Limits{}))
		return must[*keys.Vault](t)(keys.New(store, keys.Options{KDF: fastKDF, AttemptInterval: -1}))
	}
	w, words, err := open().Create(t.Context(), "Main", 24, password)
	if err != nil {
		t.Fatal(err)
	}
	words.Zero()
	v := open()
	if err := v.Unlock(t.Context(), password); err != nil {
		t.Fatal(err)
	}
	if _, err := v.SignTx(t.Context(), w.Accounts[0].Address, transfer(1), chain(1)); err != nil {
		t.Error(err)
	}
}

// FuzzFiles checks that every service and item has a file of its own in the directory,
// and that deleting one service affects no other.
func FuzzFiles(f *testing.F) {
	for _, s := range [][4]string{{"swapkeep/x", "a", "swapkeep", "x/a"}, {"..", "../up", ".", "."}, {"a@b", "c", "a", "b@c"}, {"", "", "@", ""}, {"a%40b", "c", "a@b", "c"}, {"a b", "c", "a+b", "c"}, {"\x00", "/", "\xff", "\n"}} {
		f.Add(s[0], s[1], s[2], s[3])
	}
	dir := filepath.Join(f.TempDir(), "keys")
	files, err := keys.OpenFiles(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, service, item, other, otherItem string) {
		if len(service)+len(item) > 60 || len(other)+len(otherItem) > 60 {
			return // file systems allow no longer names
		}
		same := service == other && item == otherItem
		for _, x := range [][3]string{{service, item, "one"}, {other, otherItem, "two"}} {
			if err := files.Set(x[0], x[1], x[2]); err != nil {
				t.Fatalf("%q %q: %v", x[0], x[1], err)
			}
		}
		if got, err := files.Get(service, item); err != nil || (got == "one") == same {
			t.Fatalf("%q %q is %q beside %q %q: %v", service, item, got, other, otherItem, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != map[bool]int{true: 1, false: 2}[same] {
			t.Fatalf("files %v: %v", entries, err)
		}
		if err := files.DeleteAll(service); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Get(other, otherItem); (err == nil) != (service != other) {
			t.Fatalf("%q, after %q was deleted: %v", other, service, err)
		}
		if err := files.DeleteAll(other); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Fatalf("left are %v: %v", entries, err)
		}
	})
}
