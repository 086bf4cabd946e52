package main

import (
	"context"
	"errors"
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
	d.desk.Present(ctx, dialog.Dialogs{Environ: d.displays.Environ, Language: d.language})
}

// language returns the language of dialogs: that of windows, if dialogs have it.
func (d *daemon) language() string {
	base, _, _ := strings.Cut(d.settings.Config().UI.Language, "-")
	if slices.Contains(messages.Languages, base) {
		return base
	}
	return messages.Languages[0]
}
