//go:build linux

// Package ui drives an extension's pages in a real Chromium or Firefox for Go tests:
// elements are found by role and accessible name, clicks and keys are the browser's own
// input events, and whatever a page logs as an error fails the test.
package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"swapkeep/manifest"
)

// A Kind of browser.
type Kind string

// Kinds of browser. Their values are those of the manifests' families.
const (
	Chromium = Kind(manifest.Chromium)
	Firefox  = Kind(manifest.Firefox)
)

// Kinds returns the kinds in the order in which tests try them.
func Kinds() []Kind { return []Kind{Chromium, Firefox} }

// Test is what the package needs of a *testing.T.
type Test interface {
	Helper()
	Name() string
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
	Cleanup(func())
}

const (
	startTimeout = time.Minute      // for a browser to start on a busy machine
	endTimeout   = 15 * time.Second // for a browser to end by itself
	callTimeout  = 40 * time.Second // for one call to a browser
	patience     = 20 * time.Second // for a page to reach an expected state
	pause        = 30 * time.Millisecond
)

// A Setup configures a browser before its start.
type Setup struct {
	Kind           Kind
	Profile        string        // directory, created if necessary; an existing profile is continued
	Extension      string        // directory of the unpacked extension
	OtherExtension string        // directory of another extension to load; "": none. Chromium only
	Env            []string      // the browser's whole environment
	Language       string        // of browser and extension; "": en
	Look           Look          // of new pages; zero members have the popup's values
	ScreenshotDir  string        // directory for screenshots; "": one in the system's temporary directory
	Log            func() string // log of the program behind the page, printed when a test fails; nil: none
}

// A driver speaks a browser's own protocol.
type driver interface {
	open(url string, l Look) (tab, error)
	popup(url string) (tab, error)                 // opens the action's own popup
	background(js string) (json.RawMessage, error) // as tab.run, in the extension's background
	badge() (string, error)                        // the text on the action's icon
	heard() ([]Entry, error)                       // errors of the background, each once
	quit() error
}

// A tab is one page of a browser.
type tab interface {
	run(js string) (json.RawMessage, error) // the awaited value of an expression, as JSON
	click(x, y float64) error               // from the viewport's corner, in CSS pixels
	press(strokes []stroke) error
	choose(x, y float64, path string) error // chooses a file at the element at this place
	look(Look) error
	hide(hidden bool) error
	clipboard() (string, error)
	picture() ([]byte, error) // PNG of the viewport
	heard() ([]Entry, error)  // errors of the page, each once
	reload() error
	close() error
}

// An Entry is an error that a page or the background logged or did not catch.
type Entry struct {
	Source string // exception, console, security, network, …
	Text   string
}

func (e Entry) String() string { return e.Source + ": " + e.Text }

// A Browser is a running browser with the extension.
type Browser struct {
	t      Test
	setup  Setup
	driver driver
	origin string // of the extension's pages, with the final slash

	cmd   *exec.Cmd
	stdio *strings.Builder
	ended chan struct{}
	over  sync.Once
	pages []*Page
}

// Start starts a browser and ends it with the test, which fails if its pages logged an
// error.
func Start(t Test, s Setup) *Browser {
	t.Helper()
	if s.Language == "" {
		s.Language = "en"
	}
	s.Look = s.Look.orPopup()
	b := &Browser{t: t, setup: s}
	if err := b.start(); err != nil {
		b.kill()
		t.Fatalf("start %s: %v%s", s.Kind, err, b.output())
	}
	t.Cleanup(b.Close)
	return b
}

func (b *Browser) start() error {
	if err := os.MkdirAll(b.setup.Profile, 0o700); err != nil {
		return err
	}
	var err error
	switch b.setup.Kind {
	case Chromium:
		b.driver, b.origin, err = startChromium(b)
	case Firefox:
		b.driver, b.origin, err = startFirefox(b)
	default:
		err = fmt.Errorf("no browser is called %q", b.setup.Kind)
	}
	return err
}

// launch starts the program in a process group of its own.
func (b *Browser) launch(cmd *exec.Cmd) error {
	b.stdio = new(strings.Builder)
	cmd.Env, cmd.Stdout, cmd.Stderr = b.setup.Env, b.stdio, b.stdio
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL} // an interrupted test does no cleanup
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	b.cmd, b.ended = cmd, make(chan struct{})
	go func() { _ = cmd.Wait(); close(b.ended) }()
	return nil
}

// output returns the program's output; only valid after its end.
func (b *Browser) output() string {
	if b.stdio == nil || b.stdio.Len() == 0 {
		return ""
	}
	text := b.stdio.String()
	return "\nthe browser said:\n" + text[max(0, len(text)-3000):]
}

// Kind is the browser's kind.
func (b *Browser) Kind() Kind { return b.setup.Kind }

// Origin is the origin of the extension's pages, with the final slash.
func (b *Browser) Origin() string { return b.origin }

// Open opens a page of the extension, such as popup.html?view=tab, in a window of its own
// and waits until it has loaded.
func (b *Browser) Open(path string) *Page {
	b.t.Helper()
	tab, err := b.driver.open(b.origin+path, b.setup.Look)
	p := b.page(path, tab, err)
	p.show()
	return p
}

// Visit opens a web page by its URL, as Open does for a page of the extension.
func (b *Browser) Visit(url string) *Page {
	b.t.Helper()
	tab, err := b.driver.open(url, b.setup.Look)
	return b.page(url, tab, err)
}

// Popup opens the action's real popup, which closes as soon as another window is used. It
// has the size that its content asks for. Chromium only.
func (b *Browser) Popup(path string) *Page {
	b.t.Helper()
	tab, err := b.driver.popup(b.origin + path)
	p := b.page(path, tab, err)
	p.realPopup = true
	return p
}

func (b *Browser) page(path string, tab tab, err error) *Page {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: open %s: %v", b.setup.Kind, path, err)
	}
	p := &Page{body: &body{b: b, tab: tab, path: path, look: b.setup.Look}, patience: patience}
	b.pages = append(b.pages, p)
	return p
}

// Background evaluates an expression in the extension's background, awaits it and decodes
// it into out, which may be nil.
func (b *Browser) Background(js string, out any) {
	b.t.Helper()
	raw, err := b.driver.background(js)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		b.t.Fatalf("%s: in the background: %v", b.setup.Kind, err)
	}
}

// Badge returns the text on the extension's icon in the toolbar.
func (b *Browser) Badge() string {
	b.t.Helper()
	text, err := b.driver.badge()
	if err != nil {
		b.t.Fatalf("%s: read the badge: %v", b.setup.Kind, err)
	}
	return text
}

// Console returns the errors that the background logged since the last call. Errors that
// are not fetched fail the test when the browser is closed.
func (b *Browser) Console() []Entry {
	b.t.Helper()
	entries, err := b.driver.heard()
	if err != nil {
		b.t.Fatalf("%s: console of the background: %v", b.setup.Kind, err)
	}
	return entries
}

// Kill kills the browser, like a power cut.
func (b *Browser) Kill() {
	b.t.Helper()
	b.over.Do(func() {
		b.reportErrors()
		b.kill()
	})
}

func (b *Browser) kill() {
	if b.cmd == nil {
		return
	}
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) // its own process group
	<-b.ended
}

// Close ends the browser as its user would. It may be repeated. It fails the test for
// errors on its pages, and if the browser has to be killed.
func (b *Browser) Close() {
	b.t.Helper()
	b.over.Do(b.close)
}

// reportErrors fails the test for errors that were not fetched.
func (b *Browser) reportErrors() {
	b.t.Helper()
	for _, p := range b.pages {
		p.reportErrors()
	}
	if entries, err := b.driver.heard(); err != nil || len(entries) > 0 {
		b.t.Errorf("%s: errors in the background: %v %v", b.setup.Kind, entries, err)
	}
}

func (b *Browser) close() {
	b.t.Helper()
	b.reportErrors()
	err := b.driver.quit()
	select {
	case <-b.ended:
	case <-time.After(endTimeout):
		err = errors.Join(err, errors.New("it did not end by itself"))
	}
	b.kill()
	if err != nil {
		b.t.Errorf("close %s: %v", b.setup.Kind, err)
	}
	if b.t.Failed() {
		b.t.Logf("%s", b.output())
	}
}

// screenshotDir creates and returns the directory for screenshots.
func (b *Browser) screenshotDir() (string, error) {
	dir := b.setup.ScreenshotDir
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "swapkeep-shots")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// program returns the path of the first of these programs that is installed.
func program(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", strings.Join(names, " or "))
}
