package main

import (
	"context"
	"os/exec"
	"strings"
)

// A source identifies what was measured. Unknown values are "?".
type source struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"` // clean, or changed: then the figures are not of the commit
}

func (s source) String() string {
	switch s.Tree {
	case clean:
		return "commit " + s.Commit
	case changed:
		return "commit " + s.Commit + " with changes"
	}
	return "commit " + s.Commit + ", changes unknown"
}

const (
	clean   = "clean"
	changed = "changed"
)

// sourceOf asks git about a directory. It takes no lock that a commit would wait for.
func sourceOf(ctx context.Context, dir string) source {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	s := source{"?", "?"}
	if id, err := git("rev-parse", "--short=12", "HEAD"); err == nil {
		s.Commit = id
	}
	if changes, err := git("status", "--porcelain"); err == nil {
		if s.Tree = clean; changes != "" {
			s.Tree = changed
		}
	}
	return s
}
