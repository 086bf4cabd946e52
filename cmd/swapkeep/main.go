// Swapkeep is what browsers start and people type. Started by a browser it is
// a relay between the browser's pipes and the daemon; started by a person it
// is the command line. It holds no key either way.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
	"swapkeep/host/relay"
	"swapkeep/installer"
	"swapkeep/internal/procmem"
)

// version is the product's, set when a release is linked.
var version = "0.1.0"

func main() {
	// First of all: Chromium closes our standard output at once when a port is
	// disconnected, and the next write would end the process in the middle.
	signal.Ignore(syscall.SIGPIPE)
	if err := procmem.Keep(); err != nil { // passwords pass through here
		fmt.Fprintln(os.Stderr, "swapkeep:", err)
		os.Exit(exitFailed)
	}
	installer.Hold() // hidden as we are now: a newer version is not to take this one's folder away
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	root := sync.OnceValue(func() *cobra.Command { return newRoot(os.Stdout, os.Stderr) }) // no relay waits for the commands
	known := func(args []string) bool { return commandKnown(root())(args) }
	switch modeOf(args, isPipe(os.Stdin) && isPipe(os.Stdout), known) {
	case relayMode:
		return runRelay(args)
	case strayMode:
		return refuseStray()
	}
	return runCommand(root(), args)
}

// A mode is what the arguments ask this program to be.
type mode int

const (
	commandMode mode = iota
	relayMode
	strayMode // unknown arguments from a program that waits for frames
)

// modeOf decides by the arguments, and where those say nothing, by who is at
// the other end: a portal starts the host with pipes and no arguments.
func modeOf(args []string, pipes bool, known func([]string) bool) mode {
	_, err := relay.CallerOf(args)
	switch {
	case err != relay.ErrNotABrowser:
		return relayMode
	case pipes && len(args) == 0:
		return relayMode
	case pipes && !known(args):
		return strayMode
	}
	return commandMode
}

// isPipe reports whether a program, not a person or a file, is at the other end.
func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// refuseStray answers in frames, since text would be read as one.
func refuseStray() int {
	fault := protocol.New("invalid_request", "swapkeep was started with arguments that are neither a browser's nor a command")
	fault.Remedy = "check the native-messaging manifest, or run swapkeep help in a terminal"
	if err := relay.WriteFault(os.Stdout, fault); err != nil {
		fmt.Fprintln(os.Stderr, "swapkeep:", fault)
	}
	return exitUsage
}
