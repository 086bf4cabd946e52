package main

import (
	"context"
	"errors"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/relay"
	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/manifest"
)

// Exit statuses, one for each class of error. Scripts rely on them.
const (
	exitOK           = 0
	exitFailed       = 1
	exitUsage        = 2
	exitNoDaemon     = 3
	exitRefused      = 4
	exitKeys         = 5
	exitNetwork      = 6
	exitStorage      = 7
	exitSwap         = 8
	exitIncomplete   = 9
	exitTokens       = 10
	exitSettings     = 11
	exitDeclined     = 12
	exitReported     = 13
	exitWarned       = 14
	exitChecksFailed = 15
	exitSignal       = 130 // as shells report it
)

// A codeClass maps a range of protocol error codes to an exit status; the first matching
// class counts.
type codeClass struct {
	from, to int
	exit     int
}

var codeClasses = []codeClass{
	{-32603, -32603, exitFailed},
	{-32700, -32600, exitUsage},
	{1005, 1007, exitRefused},
	{1011, 1011, exitIncomplete},
	{1013, 1013, exitUsage},
	{1000, 1099, exitNoDaemon},
	{1100, 1199, exitKeys},
	{1200, 1299, exitNetwork},
	{1300, 1399, exitStorage},
	{1400, 1499, exitSwap},
	{1500, 1599, exitTokens},
	{1600, 1699, exitSettings},
}

// localClasses map errors that did not come from the daemon to exit statuses; the first
// match counts.
var localClasses = []struct {
	err  error
	exit int
	name string
}{
	{errUsage, exitUsage, "usage"},
	{errUncertain, exitIncomplete, "no_answer"}, // before the error that it wraps
	{transport.ErrNoDaemon, exitNoDaemon, "not_running"},
	{transport.ErrForeignPeer, exitRefused, "refused"},
	{transport.ErrUnsafeDirectory, exitRefused, "refused"},
	{transport.ErrNoHome, exitUsage, "usage"},
	{relay.ErrOriginRefused, exitRefused, "refused"},
	{owner.ErrOwned, exitNoDaemon, "not_running"},
	{installer.ErrSudoUser, exitRefused, "refused"},
	{installer.ErrNeedsRoot, exitRefused, "refused"},
	{installer.ErrUnwritable, exitRefused, "refused"},
	{installer.ErrLink, exitRefused, "refused"},
	{installer.ErrShared, exitRefused, "refused"},
	{installer.ErrForeign, exitRefused, "foreign"},
	{installer.ErrNoIDs, exitUsage, "usage"},
	{installer.ErrBadID, exitUsage, "usage"},
	{installer.ErrCannotAllow, exitUsage, "usage"},
	{installer.ErrNoAutostart, exitUsage, "usage"},
	{installer.ErrPrograms, exitUsage, "usage"},
	{manifest.ErrUnknownBrowser, exitUsage, "usage"},
	{client.ErrClosed, exitNoDaemon, "not_running"},
	{errSilent, exitNoDaemon, "no_answer"},
	{errNotStarted, exitNoDaemon, "not_running"},
	{errDeclined, exitDeclined, "declined"},
	{errEnd, exitDeclined, "declined"},
	{errBlocked, exitSwap, "blocked"},
	{errUnfilled, exitSwap, "not_filled"},
	{errReported, exitReported, "reported"},
	{errClosed, exitReported, "closed"},
	{errNoProposal, exitSwap, "no_proposal"},
	{errWarned, exitWarned, "warned"},
	{errChecksFailed, exitChecksFailed, "unwell"},
	{errInterrupted, exitSignal, "interrupted"},
	{errUnanswered, exitSignal, "interrupted"},
	{context.Canceled, exitSignal, "interrupted"},
	{context.DeadlineExceeded, exitIncomplete, "no_answer"},
}

func localClass(err error) (exit int, name string) {
	for _, class := range localClasses {
		if errors.Is(err, class.err) {
			return class.exit, class.name
		}
	}
	return exitFailed, "failed"
}

func exitOf(err error) int {
	if err == nil {
		return exitOK
	}
	var wire *protocol.Error
	if !errors.As(err, &wire) {
		exit, _ := localClass(err)
		return exit
	}
	for _, class := range codeClasses {
		if class.from <= wire.Code && wire.Code <= class.to {
			return class.exit
		}
	}
	return exitFailed
}
