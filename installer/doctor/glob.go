package doctor

import (
	"path"
	"strings"
)

// glob returns the files below a directory that match a pattern with slashes. Directories
// that cannot be read have no matches.
func (p *Env) glob(dir, pattern string) (out []string) {
	first, rest, more := strings.Cut(pattern, "/")
	if !strings.ContainsAny(first, "*?[") {
		at := p.under(dir, first)
		if _, err := p.Machine.Files.Stat(at); err != nil {
			return nil
		}
		if more {
			return p.glob(at, rest)
		}
		return []string{at}
	}
	entries, err := p.Machine.Files.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if fits, _ := path.Match(first, e.Name()); !fits {
			continue
		}
		if at := p.under(dir, e.Name()); more {
			out = append(out, p.glob(at, rest)...)
		} else {
			out = append(out, at)
		}
	}
	return out
}
