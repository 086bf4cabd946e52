package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"swapkeep/config"
	"swapkeep/confirm"
	"swapkeep/confirm/dialog"
	"swapkeep/extension/messages"
	"swapkeep/swap"
	"swapkeep/swap/engine"
)

// A confirmer has a person confirm acts: a terminal's by its very call, a browser's as the
// setting confirm says.
type confirmer struct {
	desk  *confirm.Desk
	where func() string // the setting
}

var _ engine.Confirmer = confirmer{}

// Confirm waits for the person. It fails with ConsentDeclined if there is no session, nothing
// to show, or the person says no; with confirm.ErrExpired and confirm.ErrFull.
func (c confirmer) Confirm(ctx context.Context, a engine.Act) (swap.Confirmation, error) {
	switch {
	case a.Terminal || a.Session == "" || c.where() == config.ConfirmPopup:
		return engine.ByCall{}.Confirm(ctx, a)
	case len(a.Lines) == 0:
		return swap.Confirmation{}, swap.Refuse(swap.ConsentDeclined, "nothing says in words what it does; prepare it again")
	}
	yes, err := c.desk.Ask(ctx, confirm.Ask{Kind: a.Kind, Origin: a.Origin, Lines: a.Lines, Until: a.Until})
	if errors.Is(err, confirm.ErrDeclined) {
		err = swap.Refuse(swap.ConsentDeclined, "you declined it")
	}
	return yes, err
}

// showDialogs shows in dialogs what waits for a person, until ctx ends.
func (d *daemon) showDialogs(ctx context.Context) {
	d.desk.Present(ctx, dialog.Dialogs{Environ: d.displays.Environ, Language: dialogLanguage})
}

// dialogLanguage returns the language of dialogs: the system's, if dialogs have it. It is not the
// setting's, which a browser changes: 3.141 in English is 3,141 in German.
func dialogLanguage() string {
	name := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	base, _, _ := strings.Cut(name, "_")
	if slices.Contains(messages.Languages, base) {
		return base
	}
	return messages.Languages[0]
}

// confirms returns the setting confirm. One that was set and cannot be read is the strict one.
func (d *daemon) confirms() string {
	if _, unread := d.settings.Ignored()["confirm"]; unread {
		return config.ConfirmOutside
	}
	return d.settings.Config().Confirm
}
