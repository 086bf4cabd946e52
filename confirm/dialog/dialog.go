// Package dialog shows asks in dialogs that systems have: pinentry, else zenity. A person types a
// code of four letters that only the dialog shows, so that keys and clicks that were meant for
// another window, or sent by another program's storm of them, confirm nothing.
package dialog

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"swapkeep/confirm"
	"swapkeep/extension/messages"
	"swapkeep/internal/clock"
	"swapkeep/swap"
)

const (
	shownFor = 2 * time.Minute // a dialog closes by itself then, and others are shown
	tries    = 3               // at the code of a page
)

// ErrNoProgram means that no program that shows dialogs could be started.
var ErrNoProgram = errors.New("no program shows dialogs here: install pinentry or zenity")

// A question is one dialog.
type question struct {
	title, text, prompt, yes, no string
	again                        string // why it is asked again; "" = it is not
	left                         time.Duration
}

// An answer is how a dialog ended.
type answer int

const (
	entered answer = iota
	declined
	timedOut
)

// A program shows one dialog and returns what was typed. An error means that it could not.
type program interface {
	ask(ctx context.Context, env []string, q question) (typed string, a answer, err error)
}

// programs are tried in this order. Plain pinentry comes after those with windows: it may be one
// for terminals alone.
var programs = []struct {
	name string
	by   swap.ConfirmedBy
	make func(path string) program
}{
	{"pinentry-qt", swap.ByPinentry, func(path string) program { return pinentry{path} }},
	{"pinentry-gtk-2", swap.ByPinentry, func(path string) program { return pinentry{path} }},
	{"pinentry-gnome3", swap.ByPinentry, func(path string) program { return pinentry{path} }},
	{"pinentry", swap.ByPinentry, func(path string) program { return pinentry{path} }},
	{"zenity", swap.ByZenity, func(path string) program { return zenity{path} }},
}

// Dialogs is a [confirm.Screen]. Only keeps the programs of these names; nil = all.
type Dialogs struct {
	Environ  func() (env []string, ok bool) // for programs, with a display that answers; ok is false if there is none
	Language func() string                  // one of [messages.Languages]
	Only     []string
}

var _ confirm.Screen = Dialogs{}

// Show shows an ask by the first program that can.
func (d Dialogs) Show(ctx context.Context, w confirm.Waiting) (confirm.Answer, swap.ConfirmedBy, error) {
	env, ok := d.Environ()
	if !ok {
		return confirm.Undecided, "", errors.New("no display")
	}
	left := min(shownFor, w.Until.Sub(clock.Now()))
	ctx, cancel := context.WithTimeout(ctx, left+time.Second) // if the program does not keep it
	defer cancel()
	failed := ErrNoProgram
	for _, p := range programs {
		path, err := exec.LookPath(p.name)
		if err != nil || d.Only != nil && !slices.Contains(d.Only, p.name) {
			continue
		}
		a, err := d.show(ctx, p.make(path), env, w, clock.Now().Add(left))
		switch {
		case err == nil:
			return a, p.by, nil
		case ctx.Err() != nil:
			return confirm.Undecided, "", nil
		}
		failed = fmt.Errorf("%s: %w", p.name, err)
	}
	return confirm.Undecided, "", failed
}

// show shows the pages of an ask one after the other. Each must be confirmed by its code.
func (d Dialogs) show(ctx context.Context, p program, env []string, w confirm.Waiting, until time.Time) (confirm.Answer, error) {
	language := d.Language()
	say := func(key string) string {
		text, _ := messages.TextIn(language, key)
		return text
	}
	q := question{title: say("dialog_title"), prompt: say("dialog_prompt"), yes: say("dialog_confirm"), no: say("dialog_decline")}
	for _, page := range pages(language, w, until.Sub(clock.Now())) {
		q.text, q.again = page.text, ""
		for try := 0; ; try++ {
			if q.left = until.Sub(clock.Now()); q.left < time.Second || try == tries {
				return confirm.Undecided, nil
			}
			typed, a, err := p.ask(ctx, env, q)
			switch {
			case err != nil:
				return confirm.Undecided, err
			case a == declined:
				return confirm.Declined, nil
			case a == timedOut:
				return confirm.Undecided, nil
			}
			if strings.EqualFold(strings.TrimSpace(typed), page.code) {
				break // the next page
			}
			q.again = say("dialog_wrong_code")
		}
	}
	return confirm.Approved, nil
}
