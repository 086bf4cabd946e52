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
	c := finding(protocol.CheckOK, "no answer was refused as not understood", "")
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		c = finding(protocol.CheckWarn, err.Error(), "mend the permissions of "+dir)
	case len(kept) > 0:
		c = finding(protocol.CheckNote, fmt.Sprintf("%s has answers that were not understood or not as asked for, of %d kinds", dir, len(kept)),
			"swapkeep doctor --attach report.json writes what can be sent to the makers of swapkeep")
	}
	members, times := answers.UnknownMembers()
	for _, m := range members {
		c.Details = append(c.Details, fmt.Sprintf("%s %s: %s (%d)", m.Service, m.Place, m.Member, times[m]))
	}
	if len(members) > 0 {
		c.Evidence += fmt.Sprintf("; %d members of answers are read by nothing", len(members))
	}
	return c
}
