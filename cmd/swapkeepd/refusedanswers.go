package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"swapkeep/host/protocol"
	"swapkeep/providers/refused"
	answers "swapkeep/providers/wire"
)

// refusedAnswers reports whether refused answers of providers were stored. Unread members of
// answers are counted by a running daemon only.
func (s examined) refusedAnswers(context.Context) protocol.Check {
	dir := filepath.Join(s.place.Home, refused.Dir)
	kept, err := os.ReadDir(dir)
	c := finding(protocol.CheckOK, "no provider response was refused", "")
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		c = finding(protocol.CheckWarn, err.Error(), "fix the permissions of "+dir)
	case len(kept) > 0:
		c = finding(protocol.CheckNote, fmt.Sprintf("%s has %d kinds of refused provider responses", dir, len(kept)),
			"write a report for the developers with swapkeep doctor --attach report.json")
	}
	members, times := answers.UnknownMembers()
	for _, m := range members {
		c.Details = append(c.Details, fmt.Sprintf("%s %s: %s (%d)", m.Service, m.Place, m.Member, times[m]))
	}
	if len(members) > 0 {
		c.Evidence += fmt.Sprintf("; %d unused response fields", len(members))
	}
	return c
}
