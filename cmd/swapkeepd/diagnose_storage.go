package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"swapkeep/home"
	"swapkeep/host/protocol"
)

// storageRemedies are the remedies for databases that cannot be used.
var storageRemedies = []struct {
	err    error
	remedy string
}{
	{home.ErrFull, "free disk space; until then nothing is signed"},
	{home.ErrReadOnly, "fix the permissions of the state directory and of the files in it"},
	{home.ErrLocked, "stop the other program that uses it"},
	{home.ErrDamaged, "restore it from a backup; do not delete it: it records what was signed"},
}

func storageFailure(err error) protocol.Check {
	for _, r := range storageRemedies {
		if errors.Is(err, r.err) {
			return finding(protocol.CheckFail, oneLine(err), r.remedy)
		}
	}
	return finding(protocol.CheckFail, oneLine(err), "check the disk and the permissions of the state directory")
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// orders checks the order database and, in a running daemon, writes to it.
func (s examined) orders(context.Context) protocol.Check {
	var c home.DBInfo
	var err error
	if s.daemon != nil {
		c, err = s.daemon.home.DBInfo()
		err = errors.Join(err, s.daemon.home.Probe())
	} else {
		c, err = home.Examine(s.place.Home, "orders.db")
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding(protocol.CheckOK, neverStarted, "")
	case err != nil:
		return storageFailure(err)
	case c.Schema > home.LatestSchema():
		return finding(protocol.CheckFail, fmt.Sprintf("orders.db has schema %d, this program knows %d", c.Schema, home.LatestSchema()), "update swapkeep")
	}
	return finding(protocol.CheckOK, conditionText(c), "")
}

func conditionText(c home.DBInfo) string {
	return fmt.Sprintf("schema %d, %d KiB, %d of %d pages free", c.Schema, c.Size>>10, c.FreePages, c.Size/int64(max(c.PageSize, 1)))
}

// history checks the price history. Its loss is only a warning: it is fetched again.
func (s examined) history(ctx context.Context) protocol.Check {
	if s.cfg.Prices.Disabled {
		return finding(protocol.CheckSkipped, "prices are off (prices.disabled)", "")
	}
	if s.daemon != nil {
		return s.openHistory(ctx)
	}
	c, err := home.Examine(s.place.Home, "prices.db")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding(protocol.CheckOK, "no prices stored yet", "")
	case errors.Is(err, home.ErrDamaged):
		return finding(protocol.CheckWarn, "prices.db is damaged", "nothing to do: the next start replaces it and fetches the prices again")
	case err != nil:
		return finding(protocol.CheckWarn, strings.ReplaceAll(oneLine(err), "order database", "price history"), "fix the permissions of "+filepath.Join(s.place.Home, "prices.db"))
	}
	return finding(protocol.CheckOK, conditionText(c), "")
}

func (s examined) openHistory(ctx context.Context) protocol.Check {
	for _, p := range s.daemon.prices.failed {
		return finding(protocol.CheckWarn, p.Message, p.Remedy)
	}
	if err := s.daemon.prices.history.Check(ctx); err != nil {
		return finding(protocol.CheckWarn, oneLine(err), "free disk space, or fix the permissions of the state directory")
	}
	size := int64(0)
	if info, err := os.Stat(filepath.Join(s.place.Home, "prices.db")); err == nil {
		size = info.Size()
	}
	return finding(protocol.CheckOK, fmt.Sprintf("%d KiB", size>>10), "")
}
