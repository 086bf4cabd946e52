package main

import (
	"errors"

	"swapkeep/home"
	"swapkeep/host/protocol"
)

// storageNames map errors of a database that cannot be written to the protocol's names.
var storageNames = []struct {
	err  error
	name string
}{
	{home.ErrFull, "database_full"},
	{home.ErrReadOnly, "database_readonly"},
}

// storageProblems tries to write: nothing is signed while that fails.
func (d *daemon) storageProblems() []protocol.Problem {
	err := d.home.Probe()
	if err == nil {
		return nil
	}
	name := "journal_failed"
	for _, s := range storageNames {
		if errors.Is(err, s.err) {
			name = s.name
		}
	}
	e := protocol.New(name, "")
	return []protocol.Problem{{Name: e.Name, Message: e.Message, Remedy: e.Remedy}}
}
