//go:build linux

package ui

import (
	"errors"
	"fmt"
	"strings"
)

// visibleText returns the visible text of the page, or of the element it is narrowed to.
func (p *Page) visibleText() (string, error) {
	var f found
	if err := p.ask("said", &f, append([]step{}, p.within...)); err != nil {
		return "", err
	}
	if f.Failure != "" {
		return "", errors.New(f.Failure)
	}
	return f.Text, nil
}

// VisibleText returns the visible text of the page, or of the element it is narrowed to, with
// white space collapsed.
func (p *Page) VisibleText() string {
	p.b.t.Helper()
	var text string
	p.until("read the page", func() (err error) { text, err = p.visibleText(); return err })
	return text
}

// AwaitText waits until all of the texts are visible.
func (p *Page) AwaitText(texts ...string) {
	p.b.t.Helper()
	p.until(fmt.Sprintf("see %q", texts), func() error {
		said, err := p.visibleText()
		if err != nil {
			return err
		}
		for _, text := range texts {
			if !strings.Contains(said, squeeze(text)) {
				return fmt.Errorf("no %q", text)
			}
		}
		return nil
	})
}

// AwaitNoText waits until no text is visible. The element that the page is narrowed to may be
// gone.
func (p *Page) AwaitNoText(texts ...string) {
	p.b.t.Helper()
	p.until(fmt.Sprintf("see no %q any more", texts), func() error {
		var f found
		if err := p.ask("said", &f, append([]step{}, p.within...)); err != nil || f.Failure != "" {
			return err
		}
		for _, text := range texts {
			if strings.Contains(f.Text, squeeze(text)) {
				return fmt.Errorf("there is %q", text)
			}
		}
		return nil
	})
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }
