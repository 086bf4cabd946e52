package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// A document is a file that every package contains with the programs.
type document struct {
	Source string // in the work directory
	Path   string // below the share directory
}

// shells have completions; path is where each looks below the share directory.
var shells = []struct{ name, path string }{
	{"bash", "bash-completion/completions/swapkeep"},
	{"zsh", "zsh/site-functions/_swapkeep"},
	{"fish", "fish/vendor_completions.d/swapkeep.fish"},
}

// papers are texts of the repository and their names in a package.
var papers = []struct{ from, name string }{
	{"README.md", "README.md"},
	{"CHANGELOG.md", "CHANGELOG.md"},
	{"LICENSE", "copyright"},
	{"NOTICE", "NOTICE"},
}

func (r *release) share(path string) string { return filepath.Join(r.work, "share", path) }

// documents writes the texts, and the manual pages and completions that this release's
// program prints.
func (r *release) documents() error {
	for _, p := range papers {
		if err := r.copy(r.share("doc/swapkeep/"+p.name), p.from); err != nil {
			return err
		}
	}
	for _, s := range shells {
		script, err := r.output(nil, r.hostProgram("swapkeep"), "completion", s.name)
		if err != nil {
			return err
		}
		if err := r.write(r.share(s.path), script); err != nil {
			return err
		}
	}
	return r.manual()
}

func (r *release) manual() error {
	plain := filepath.Join(r.work, "man")
	if err := os.Mkdir(plain, 0o755); err != nil {
		return err
	}
	writer := filepath.Join(r.work, "swapkeep-man")
	if err := r.run(pinned, "go", "build", "-trimpath", "-buildvcs=false", "-tags", "man", "-ldflags", "-X main.version="+r.built(), "-o", writer, "./cmd/swapkeep"); err != nil {
		return err
	}
	if err := r.run(nil, writer, "man", "--dir", plain); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(plain, "*.1"))
	if err == nil && len(pages) == 0 {
		err = fmt.Errorf("no manual pages were written")
	}
	if err != nil {
		return err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := r.write(r.share("man/man1/"+filepath.Base(page)+".gz"), compressed(text)); err != nil {
			return err
		}
	}
	return nil
}

// compressed returns text in gzip format, without file name and time.
func compressed(text []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)
	_ = z.Close()
	return out.Bytes()
}

// shared returns all documents in order.
func (r *release) shared() ([]document, error) {
	var all []document
	root := filepath.Join(r.work, "share")
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(root, path)
		all = append(all, document{path, filepath.ToSlash(below)})
		return err
	})
	return all, err
}
