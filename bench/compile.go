package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// make builds a program once and returns its file.
func (l *lab) make(ctx context.Context, name string, environ []string, command ...string) (string, error) {
	exe := filepath.Join(l.dir, name)
	if l.made[exe] {
		return exe, nil
	}
	for i, word := range command {
		if word == "OUT" {
			command[i] = exe
		}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), environ...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	l.made[exe] = true
	return exe, nil
}

// build builds a program of this module as for a release.
func (l *lab) build(ctx context.Context, name, pkg string) (string, error) {
	return l.make(ctx, name, []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", "OUT", pkg)
}

// compile builds a peer that is written in C.
func (l *lab) compile(ctx context.Context, name string, libraries ...string) (string, error) {
	exe, err := l.make(ctx, name+"-c", nil, append([]string{"cc", "-O2", "-Wall", "-Wextra", "-o", "OUT", filepath.Join(l.c, name+".c")}, libraries...)...)
	if err != nil {
		err = fmt.Errorf("%w (install a C compiler and, for SQLite, what Debian calls libsqlite3-dev)", err)
	}
	return exe, err
}
