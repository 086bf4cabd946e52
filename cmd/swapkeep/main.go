// Command swapkeep is started by browsers and typed by people. Started by a browser it is
// a relay between the browser's pipes and the daemon; otherwise it is the command line.
// It never holds a key.
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

// version is the product's version, set by the linker in a release.
var version = "0.1.0"

func main() {
	// First of all: Chromium closes our standard output as soon as a port is
	// disconnected, and the next write would kill the process half-way.
	signal.Ignore(syscall.SIGPIPE)
	if err := procmem.Protect(); err != nil { // passwords pass through this process
		fmt.Fprintln(os.Stderr, "swapkeep:", err)
		os.Exit(exitFailed)
	}
	installer.MarkRunning() // since procmem hides which program runs here, this keeps a newer version from removing its directory
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	root := sync.OnceValue(func() *cobra.Command { return newRoot(os.Stdout, os.Stderr) }) // built only if needed, to start relays faster
	known := func(args []string) bool { return commandKnown(root())(args) }
	switch modeOf(args, isPipe(os.Stdin) && isPipe(os.Stdout), known) {
	case relayMode:
		return runRelay(args)
	case strayMode:
		return refuseStray()
	}
	return runCommand(root(), args)
}

// A mode is how this program was started.
type mode int

const (
	commandMode mode = iota
	relayMode
	strayMode // unknown arguments, and pipes of a program that expects frames
)

// modeOf decides by the arguments or, without any, by whether standard input and output
// are pipes: a portal starts the host with pipes and no arguments.
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

// isPipe reports whether f is a pipe or socket, so that a program is at the other end.
func isPipe(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// refuseStray answers with an error frame: the caller would parse text as a frame.
func refuseStray() int {
	fault := protocol.New("invalid_request", "swapkeep was started with unknown arguments, by neither a browser nor a terminal")
	fault.Remedy = "check the native-messaging manifest, or run swapkeep help in a terminal"
	if err := relay.WriteFault(os.Stdout, fault); err != nil {
		fmt.Fprintln(os.Stderr, "swapkeep:", fault)
	}
	return exitUsage
}
