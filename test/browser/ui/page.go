//go:build linux

package ui

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"swapkeep/test/await"
)

// A Page is one page of the extension. Its methods fail the test, print what the page
// showed and leave a screenshot.
//
// Elements are named by role and accessible name, with white space collapsed: "" is any
// name, /…/ a regular expression. Hidden elements, and those behind a modal dialog, do not
// count. An element must appear within the page's patience, and must be the only match.
// page's patience, and has to be one.
type Page struct {
	*body
	within   []step
	patience time.Duration
}

// body is shared by all copies of a page.
type body struct {
	b            *Browser
	tab          tab
	path         string
	look         Look
	closed       bool
	realPopup    bool    // a real popup, with a size of its own
	beforeReload []Entry // errors from before a reload
}

// step is one element on the path to another.
type step struct {
	Roles []string `json:"roles"`
	Name  string   `json:"name"`
}

// fields are the roles among which a label is searched.
var fields = []string{"textbox", "searchbox", "spinbutton", "combobox", "slider"}

// An Element as a screen reader describes it. Members that do not apply are zero.
type Element struct {
	Role, Name, Text, Value, Description string
	Disabled, Checked, Selected          bool
	Invalid, Focused                     bool
	Expanded, Pressed, Current           string // as in the attributes
}

func (e Element) String() string {
	if e.Role == "" && e.Name == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s %q", e.Role, e.Name)
}

//go:embed elements.js
var elements string

// Browser returns the page's browser.
func (p *Page) Browser() *Browser { return p.b }

// For returns the page with another patience.
func (p *Page) For(d time.Duration) *Page {
	q := *p
	q.patience = d
	return &q
}

// In returns the page narrowed to the inside of an element, such as a dialog.
func (p *Page) In(role, name string) *Page {
	q := *p
	q.within = p.to(role, name)
	return &q
}

func (p *Page) to(role, name string) []step { return p.toAny([]string{role}, name) }

func (p *Page) toAny(roles []string, name string) []step {
	return append(append([]step{}, p.within...), step{roles, name})
}

// ask calls one of the functions of elements.js.
func (p *Page) ask(function string, out any, args ...any) error {
	list, err := json.Marshal(append([]any{}, args...))
	if err != nil {
		return err
	}
	raw, err := p.tab.run(fmt.Sprintf("(%s).%s(...%s)", strings.TrimSpace(elements), function, list))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}

// found is an answer about an element, or why there is none.
type found struct {
	Element
	Failure string
	Tag     string
	X, Y    float64
}

// until repeats look until it returns nil.
func (p *Page) until(what string, look func() error) {
	p.b.t.Helper()
	var err error
	if !await.Holds(p.patience, func() bool { err = look(); return err == nil }) {
		p.fail("%s: not in %s: %v", what, p.patience, err)
	}
}

// find waits for the one element that a path leads to.
func (p *Page) find(what, function string, path []step) (f found) {
	p.b.t.Helper()
	p.until(what, func() error {
		f = found{}
		if err := p.ask(function, &f, path); err != nil {
			return err
		}
		if f.Failure != "" {
			return errors.New(f.Failure)
		}
		return nil
	})
	return f
}

// Find waits for an element and returns it.
func (p *Page) Find(role, name string) Element {
	p.b.t.Helper()
	return p.find(fmt.Sprintf("find %s %q", role, name), "look", p.to(role, name)).Element
}

// Await waits until an element is as wanted.
func (p *Page) Await(role, name, what string, wanted func(Element) bool) Element {
	p.b.t.Helper()
	var f found
	p.until(fmt.Sprintf("await %s %q that is %s", role, name, what), func() error {
		f = found{}
		switch err := p.ask("look", &f, p.to(role, name)); {
		case err != nil:
			return err
		case f.Failure != "":
			return errors.New(f.Failure)
		case !wanted(f.Element):
			return fmt.Errorf("it is %+v", f.Element)
		}
		return nil
	})
	return f.Element
}

// AwaitAbsent waits until there is no such element.
func (p *Page) AwaitAbsent(role, name string) {
	p.b.t.Helper()
	p.until(fmt.Sprintf("lose %s %q", role, name), func() error {
		var all []Element
		if err := p.ask("all", &all, p.to(role, name)); err != nil || len(all) == 0 {
			return err
		}
		return fmt.Errorf("there is %s", all[0])
	})
}

// All returns the elements of a role and name that are there now.
func (p *Page) All(role, name string) (all []Element) {
	p.b.t.Helper()
	if err := p.ask("all", &all, p.to(role, name)); err != nil {
		p.fail("look for %s %q: %v", role, name, err)
	}
	return all
}

// Text returns an element's visible text.
func (p *Page) Text(role, name string) string { p.b.t.Helper(); return p.Find(role, name).Text }

// Disabled reports whether an element is disabled.
func (p *Page) Disabled(role, name string) bool { p.b.t.Helper(); return p.Find(role, name).Disabled }

// Value returns the value of a labelled field.
func (p *Page) Value(label string) string {
	p.b.t.Helper()
	return p.find(fmt.Sprintf("find the field %q", label), "look", p.toAny(fields, label)).Value
}

// Focused returns the focused element, or the zero value if there is none.
func (p *Page) Focused() (e Element) {
	p.b.t.Helper()
	if err := p.ask("focused", &e); err != nil {
		p.fail("look for the focus: %v", err)
	}
	return e
}

// Eval evaluates an expression in the page, awaits it and decodes its JSON into out, which
// may be nil.
func (p *Page) Eval(js string, out any) {
	p.b.t.Helper()
	raw, err := p.tab.run(js)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		p.fail("evaluate %.80s: %v", js, err)
	}
}

// Size changes the page's viewport.
func (p *Page) Size(width, height int) {
	p.b.t.Helper()
	p.look.Width, p.look.Height = width, height
	p.show()
}

// Theme sets the system's preferred theme, Light or Dark.
func (p *Page) Theme(theme string) {
	p.b.t.Helper()
	p.look.Dark = theme == Dark
	p.show()
}

// ReducedMotion sets whether the system prefers reduced motion.
func (p *Page) ReducedMotion(on bool) {
	p.b.t.Helper()
	p.look.Still = on
	p.show()
}

// show gives the tab its look and waits until the page has it.
func (p *Page) show() {
	p.b.t.Helper()
	if err := p.tab.look(p.look); err != nil {
		p.fail("set size, theme and motion: %v", err)
	}
	condition := fmt.Sprintf("innerWidth === %d && innerHeight === %d && matchMedia('(prefers-color-scheme: %s)').matches && matchMedia('(prefers-reduced-motion: %s)').matches",
		p.look.Width, p.look.Height, p.look.scheme(), p.look.motion())
	p.until("set size, theme and motion", func() error {
		raw, err := p.tab.run(condition)
		if err == nil && string(raw) != "true" {
			err = errors.New("the page has others")
		}
		return err
	})
}

// Hide puts another tab in front of the page, which the page notices.
func (p *Page) Hide() { p.b.t.Helper(); p.hide(true) }

// Unhide brings the page to the front again.
func (p *Page) Unhide() { p.b.t.Helper(); p.hide(false) }

func (p *Page) hide(hidden bool) {
	p.b.t.Helper()
	if err := p.tab.hide(hidden); err != nil {
		p.fail("hide the page: %v", err)
	}
	p.until("hide the page", func() error {
		raw, err := p.tab.run("document.hidden")
		if err == nil && string(raw) != fmt.Sprint(hidden) {
			err = fmt.Errorf("document.hidden is %s", raw)
		}
		return err
	})
}

// Clipboard returns the text in the clipboard.
func (p *Page) Clipboard() string {
	p.b.t.Helper()
	text, err := p.tab.clipboard()
	if err != nil {
		p.fail("read the clipboard: %v", err)
	}
	return text
}

// Reload reloads the page.
func (p *Page) Reload() {
	p.b.t.Helper()
	var err error
	if p.beforeReload, err = p.heard(); err == nil {
		err = p.tab.reload()
	}
	if err != nil {
		p.fail("reload: %v", err)
	}
}

// Close closes the page, as when a popup loses its focus. It fails the test for errors that
// the page logged.
func (p *Page) Close() {
	p.b.t.Helper()
	p.reportErrors()
	p.closed = true
	if err := p.tab.close(); err != nil {
		p.b.t.Fatalf("close %s: %v", p.path, err)
	}
}

// Console returns the errors that the page logged or did not catch since the last call,
// including violations of its content security policy. Errors that are not fetched fail the
// test when page or browser is closed.
func (p *Page) Console() []Entry {
	p.b.t.Helper()
	entries, err := p.heard()
	if err != nil {
		p.fail("read the console: %v", err)
	}
	return entries
}

func (p *Page) heard() ([]Entry, error) {
	entries, err := p.tab.heard()
	all := append(p.beforeReload, entries...)
	p.beforeReload = nil
	return all, err
}

// reportErrors fails the test for errors that were not fetched.
func (p *Page) reportErrors() {
	p.b.t.Helper()
	if p.closed {
		return
	}
	entries, err := p.heard()
	if err != nil || len(entries) > 0 {
		p.b.t.Errorf("%s: errors on %s: %v %v", p.b.setup.Kind, p.path, entries, err)
	}
}

// fail ends the test and prints everything known about the page.
func (p *Page) fail(format string, args ...any) {
	p.b.t.Helper()
	told := fmt.Sprintf("%s %s: ", p.b.setup.Kind, p.path) + fmt.Sprintf(format, args...)
	if said, err := (&Page{body: p.body}).visibleText(); err == nil {
		told += "\nthe page shows: " + said
	}
	if path, err := p.saveScreenshot(strings.Map(fileName, p.b.t.Name()) + "-failed"); err == nil {
		told += "\npicture: " + path
	}
	if entries, err := p.heard(); err == nil && len(entries) > 0 {
		told += fmt.Sprintf("\nconsole: %v", entries)
	}
	if p.b.setup.Log != nil {
		told += "\n" + p.b.setup.Log()
	}
	p.b.t.Fatalf("%s", told)
}
