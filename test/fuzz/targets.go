package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A target is one fuzz function.
type target struct {
	pkg  string // import path
	dir  string
	name string
}

// corpus returns the directory of t's committed inputs.
func (t target) corpus() string { return filepath.Join(t.dir, "testdata", "fuzz", t.name) }

var declared = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// targets finds the fuzz functions of the module in dir, sorted by package and name. It
// searches the source text, so that a target excluded from the build is found too and
// reported as not run.
func targets(ctx context.Context, dir string) ([]target, error) {
	list := exec.CommandContext(ctx, "go", "list", "-e", "-f", "{{.ImportPath}}\t{{.Dir}}", "./...")
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []target
	for line := range strings.Lines(string(out)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, m := range declared.FindAllSubmatch(text, -1) {
				all = append(all, target{pkg, dir, string(m[1])})
			}
		}
	}
	slices.SortFunc(all, compareTargets)
	return all, nil
}

func compareTargets(a, b target) int {
	return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name))
}

// shareOf returns the i-th of n equal shares of the targets, for a share "i/n". Neighbours
// stay together, so that few packages are built for more than one share.
func shareOf(all []target, share string) ([]target, error) {
	var i, n int
	if _, err := fmt.Sscanf(share, "%d/%d", &i, &n); err != nil || i < 1 || i > n || fmt.Sprintf("%d/%d", i, n) != share {
		return nil, fmt.Errorf("share %q: want one such as 1/3", share)
	}
	return all[len(all)*(i-1)/n : len(all)*i/n], nil
}
