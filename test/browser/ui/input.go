//go:build linux

package ui

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Click waits until an element is usable and clicks its middle with the mouse.
func (p *Page) Click(role, name string) {
	p.b.t.Helper()
	p.clickAt(fmt.Sprintf("click %s %q", role, name), p.to(role, name))
}

func (p *Page) clickAt(what string, path []step) found {
	p.b.t.Helper()
	f := p.placed(what, path)
	if err := p.tab.click(f.X, f.Y); err != nil {
		p.fail("%s: %v", what, err)
	}
	return f
}

// placed waits until an element is usable and returns where it is.
func (p *Page) placed(what string, path []step) (f found) {
	p.b.t.Helper()
	p.until(what, func() error {
		f = found{}
		switch err := p.ask("place", &f, path); {
		case err != nil:
			return err
		case f.Failure != "":
			return errors.New(f.Failure)
		case f.Disabled:
			return fmt.Errorf("%s is disabled", f.Element)
		}
		return nil
	})
	return f
}

// Fill clicks a labelled field and replaces its text by typing. It repeats a click that
// missed because the page moved.
func (p *Page) Fill(label, text string) {
	p.b.t.Helper()
	what := fmt.Sprintf("fill %q", label)
	path := p.toAny(fields, label)
	p.until(what, func() error {
		p.clickAt(what, path)
		var f found
		if err := p.ask("look", &f, path); err != nil {
			return err
		}
		if !f.Focused {
			return fmt.Errorf("%s has not got the focus", f.Element)
		}
		return nil
	})
	strokes := append([]stroke{{key: typed('a'), held: []modifier{modifiers["Control"]}}, {key: named["Backspace"]}}, strokesOf(text)...)
	if err := p.tab.press(strokes); err != nil {
		p.fail("%s: %v", what, err)
	}
}

// choices are the roles of controls that offer a choice.
var choices = []string{"combobox", "listbox", "radiogroup", "tablist", "menu", "button"}

// chosen maps a control's role to the roles of its options.
var chosen = map[string][]string{
	"combobox": {"option"}, "listbox": {"option"}, "button": {"option", "menuitem", "menuitemradio"},
	"radiogroup": {"radio"}, "tablist": {"tab"}, "menu": {"menuitem", "menuitemradio"},
}

// opened are the roles that show their options only once clicked.
var opened = []string{"combobox", "button"}

// Choose chooses an option of a labelled control: a select by arrow keys, others by mouse.
func (p *Page) Choose(label, option string) {
	p.b.t.Helper()
	what := fmt.Sprintf("choose %q of %q", option, label)
	path := p.toAny(choices, label)
	f := p.find(what, "look", path)
	switch {
	case f.Tag == "SELECT":
		p.chooseByKeys(what, path, option)
		return
	case slices.Contains(opened, f.Role):
		p.clickAt(what, path)
		path = nil // it may open anywhere
	}
	p.clickAt(what, append(path, step{chosen[f.Role], option}))
}

// chooseByKeys moves from the selected option to the wanted one.
func (p *Page) chooseByKeys(what string, path []step, option string) {
	p.b.t.Helper()
	var o struct {
		Failure string
		At      int
		Names   []string
		Off     []bool
	}
	p.until(what, func() error {
		err := p.ask("options", &o, path)
		if err == nil && !slices.Contains(o.Names, squeeze(option)) {
			err = fmt.Errorf("there are %q %s", o.Names, o.Failure)
		}
		return err
	})
	p.find(what, "focus", path)
	wanted := slices.Index(o.Names, squeeze(option))
	key, step := "ArrowDown", 1
	if wanted < o.At {
		key, step = "ArrowUp", -1
	}
	for i := o.At; i != wanted; {
		if i += step; !o.Off[i] { // the keys skip disabled options
			p.Press(key)
		}
	}
	p.until(what, func() error {
		if err := p.ask("options", &o, path); err != nil || o.At == wanted {
			return err
		}
		return fmt.Errorf("%q is chosen", o.Names[o.At])
	})
}

// File chooses a file in the chooser that a button opens. Firefox's chooser belongs to the
// system, so there the file is given to the page's file field directly.
func (p *Page) File(button, path string) {
	p.b.t.Helper()
	what := fmt.Sprintf("choose a file by %q", button)
	f := p.placed(what, p.to("button", button))
	if err := p.tab.choose(f.X, f.Y, path); err != nil {
		p.fail("%s: %v", what, err)
	}
}

// Press presses keys by name, such as Tab, Shift+Tab, Enter, Space, ArrowDown, Control+a,
// or a single character.
func (p *Page) Press(keys ...string) {
	p.b.t.Helper()
	var strokes []stroke
	for _, k := range keys {
		s, err := strokeOf(k)
		if err != nil {
			p.fail("press %q: %v", keys, err)
		}
		strokes = append(strokes, s)
	}
	if err := p.tab.press(strokes); err != nil {
		p.fail("press %q: %v", keys, err)
	}
}

// Type types a text into the focused element.
func (p *Page) Type(text string) {
	p.b.t.Helper()
	if err := p.tab.press(strokesOf(text)); err != nil {
		p.fail("type: %v", err)
	}
}

// Reach presses a key, such as Tab, until an element has the focus. It fails after more
// tries than any page has elements.
func (p *Page) Reach(key, role, name string) {
	p.b.t.Helper()
	const most = 80
	var passed []string
	for range most {
		p.Press(key)
		e := p.Focused()
		if e.Role == role && called(e.Name, name) {
			return
		}
		passed = append(passed, e.String())
		time.Sleep(time.Millisecond)
	}
	p.fail("reach %s %q by %s: the focus passed %v", role, name, key, passed)
}

// called reports whether a name matches the wanted one, by the rules of elements.js.
func called(is, wanted string) bool {
	if len(wanted) > 2 && strings.HasPrefix(wanted, "/") && strings.HasSuffix(wanted, "/") {
		return regexp.MustCompile(wanted[1 : len(wanted)-1]).MatchString(is)
	}
	return wanted == "" || is == squeeze(wanted)
}
