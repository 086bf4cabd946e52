package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// TestSweep checks that RemoveUnfinished removes unfinished files and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(path(TempPrefix+"folder"), 0o700), os.WriteFile(path("mine"+TempPrefix), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"1", "2"} {
		if err := os.WriteFile(path(TempPrefix+name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveUnfinished(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
	if err := RemoveUnfinished(path("none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	broken := errors.New("broken")
	half := func(w io.Writer) error { return errors.Join(text("half")(w), broken) }
	for _, c := range []struct {
		fill func(io.Writer) error
		err  error
		want string
	}{{half, broken, ""}, {text("one"), nil, "one"}, {text("two"), nil, "two"}, {half, broken, "two"}} {
		if err := Write(path, c.fill); !errors.Is(err, c.err) {
			t.Errorf("error %v, want %v", err, c.err)
		}
		if got, _ := os.ReadFile(path); string(got) != c.want {
			t.Errorf("the file is %q, want %q", got, c.want)
		}
	}
	all, err := os.ReadDir(dir)
	if info, _ := os.Stat(path); err != nil || len(all) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("left: %v, %v", all, err)
	}
}
