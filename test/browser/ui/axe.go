//go:build linux

package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Violation is an axe rule that a page breaks, and where.
type Violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		FailureSummary string
	}
}

func (v Violation) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s (%s): %s", v.ID, v.Impact, v.Help)
	for _, n := range v.Nodes {
		fmt.Fprintf(&s, "\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n    "))
	}
	return s.String()
}

// axeFile is axe in the extension's node_modules, relative to the module's root.
var axeFile = filepath.Join("extension", "node_modules", "axe-core", "axe.min.js")

var axeSource = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			b, err := os.ReadFile(filepath.Join(dir, axeFile))
			return string(b), err
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no module above %s", dir)
		}
		dir = filepath.Dir(dir)
	}
	return "", err
})

// Axe runs axe on the page as it is now and returns its violations.
func (p *Page) Axe() (all []Violation) {
	p.b.t.Helper()
	source, err := axeSource()
	if err != nil {
		p.fail("axe: %v; run npm ci in extension", err)
	}
	p.Eval("(() => { if (!globalThis.axe) { "+source+"\n } return true; })()", nil)
	p.Eval("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)", &all)
	return all
}

// Accessible reports axe violations as test errors; the test continues.
func (p *Page) Accessible(screen string) {
	p.b.t.Helper()
	for _, v := range p.Axe() {
		p.b.t.Errorf("%s: %s, %s: %s", p.b.setup.Kind, screen, p.look.scheme(), v)
	}
}
