package main

import (
	"context"
	"errors"

	"swapkeep/host/client"
	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/relay"
	"swapkeep/host/transport"
)

// Exit statuses, one for each class of error. Scripts rely on them.
const (
	exitOK         = 0
	exitFailed     = 1 // none of the classes below
	exitUsage      = 2 // arguments, configuration or parameters
	exitNoDaemon   = 3 // the daemon is not running or not to be reached
	exitRefused    = 4 // the caller may not do this
	exitKeys       = 5 // wallet, password or keychain
	exitNetwork    = 6 // chains
	exitStorage    = 7 // the database
	exitSwap       = 8 // the swap was refused or failed
	exitIncomplete = 9 // no answer in time: what became of it is not known
)

// A codeClass gives rows of the protocol's error table their exit status; the
// first class that a code falls into counts.
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
}

// localClasses are errors that never crossed the wire; the first that fits
// counts.
var localClasses = []struct {
	err  error
	exit int
	name string
}{
	{errUsage, exitUsage, "usage"},
	{transport.ErrNoDaemon, exitNoDaemon, "not_running"},
	{transport.ErrForeignPeer, exitRefused, "refused"},
	{transport.ErrUnsafePlace, exitRefused, "refused"},
	{transport.ErrNoHome, exitUsage, "usage"},
	{relay.ErrOriginRefused, exitRefused, "refused"},
	{owner.ErrOwned, exitNoDaemon, "not_running"},
	{client.ErrClosed, exitNoDaemon, "not_running"},
	{errSilent, exitNoDaemon, "no_answer"},
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
