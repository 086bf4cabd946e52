//go:build browser

package desk

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/sandbox"
	"swapkeep/test/browser/ui"
)

var binFlag = flag.String("bin", "", "folder with swapkeep and swapkeepd; built when empty")

// root holds the desks of a test binary, and what they share. It is short because of the
// limit on socket paths.
var root string

// Main runs the tests of a package and ends what they share. It returns the exit code; a
// TestMain is os.Exit(desk.Main(m)).
func Main(m *testing.M) int {
	flag.Parse()
	var err error
	if root, err = os.MkdirTemp("", "skb"); err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(world.close(), removeAll(root)); err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
		return 1
	}
	return code
}

// module returns the directory of the module that the test is in.
func module() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return "", errors.Join(err, errors.New("no module around the test"))
}

// built has the programs built so far, by package and tags.
var built = map[[2]string]string{}

// programs returns the paths of swapkeep and swapkeepd.
func programs(o Options) (map[string]string, error) {
	all := map[string]string{}
	for _, program := range []string{"swapkeep", "swapkeepd"} {
		pkg, tags := "./cmd/"+program, ""
		if o.Faults {
			tags = "faults"
		}
		if program == "swapkeepd" {
			pkg = cmp.Or(o.Daemon, pkg)
		}
		if *binFlag != "" && tags == "" && pkg == "./cmd/"+program {
			all[program] = filepath.Join(*binFlag, program)
			continue
		}
		path, err := build(pkg, tags)
		if err != nil {
			return nil, err
		}
		all[program] = path
	}
	return all, nil
}

// build builds a program once, as the Makefile does.
func build(pkg, tags string) (string, error) {
	key := [2]string{pkg, tags}
	if path, ok := built[key]; ok {
		return path, nil
	}
	dir, err := module()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, fmt.Sprint("program", len(built)))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", tags, "-o", path, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	built[key] = path
	return path, nil
}

// buildExtension builds our extension into dir as developers do, for a sandbox's tokens.
func buildExtension(dir string, s *sandbox.Sandbox) (map[ui.Kind]string, error) {
	at, err := module()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", filepath.Join("build", "build.mjs"), "--development", "--out", dir)
	cmd.Dir = filepath.Join(at, "extension")
	cmd.Env = append(slices.Clone(os.Environ()), "SWAPKEEP_INTENT_TOKENS_URL="+s.BaseURL("intent"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the extension: %w\n%s", err, out)
	}
	dirs := map[ui.Kind]string{}
	for _, kind := range ui.Kinds() {
		dirs[kind] = filepath.Join(dir, string(kind))
	}
	return dirs, nil
}
