package graph

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence    = regexp.MustCompile("(?ms)^```.*?^```$")
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	codeRow  = regexp.MustCompile(`\]\(\.\./([^)]+\.go)\) (?:\| )?((?:\x60[\w.]+\x60(?:, )?)*)`)
)

// TestDocsLinks checks that every relative link of the documentation leads to a file, and
// its anchor to a heading.
func TestDocsLinks(t *testing.T) {
	links := 0
	for _, path := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page(t, path), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
			} else if anchor != "" && !slices.Contains(anchors(page(t, to)), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, to, anchor)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links found", links)
	}
}

// pages are the committed pages of documentation, relative to this package.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", "../..", "ls-files", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		paths = append(paths, filepath.Join("../..", strings.TrimSpace(path)))
	}
	return paths
}

func page(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fence.ReplaceAllString(string(b), "")
}

// anchors are the names that headings get: lower case, spaces as hyphens, other marks gone.
func anchors(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		title := noAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(title, " ", "-"))
	}
	return all
}

// TestOneSwapIsTrue checks that every function that docs/one-swap.md names is in the file
// beside it.
func TestOneSwapIsTrue(t *testing.T) {
	named := 0
	for _, m := range codeRow.FindAllStringSubmatch(page(t, "../../docs/one-swap.md"), -1) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", m[1]), nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		for name := range strings.SplitSeq(m[2], ", ") {
			if name = strings.Trim(name, "` "); name == "" {
				continue
			}
			named++
			if !slices.Contains(declared(f), name) {
				t.Errorf("%s does not declare %s", m[1], name)
			}
		}
	}
	if named < 35 {
		t.Errorf("only %d functions are named", named)
	}
}
