//go:build man

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"swapkeep/host/transport"
)

// addManual adds the hidden command man, for packagers.
func addManual(root *cobra.Command) { root.AddCommand(newManual()) }

// newManual returns the hidden command that writes the manual pages for packagers.
func newManual() *cobra.Command {
	var dir string
	cmd := &cobra.Command{Use: "man", Short: "Write the manual pages", Hidden: true, Args: noArguments}
	cmd.Flags().StringVar(&dir, "dir", "", "existing `directory` to write them to")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if dir == "" {
			return usageError{errors.New("name an existing directory with --dir")}
		}
		if err := writeManual(dir, cmd.Root()); err != nil {
			return fmt.Errorf("write the manual pages: %w", err)
		}
		return nil
	}
	return cmd
}

// writeManual writes a page for each command, all of the same date, so that the same program
// gives the same pages.
func writeManual(dir string, root *cobra.Command) error {
	fixed := time.Unix(0, 0).UTC()
	root.DisableAutoGenTag = true
	root.Long += manualSections()
	return doc.GenManTree(root, &doc.GenManHeader{Date: &fixed, Source: "swapkeep " + version, Manual: "Swapkeep manual"}, dir)
}

// exitMeanings explain the exit statuses in the manual.
var exitMeanings = []struct {
	status int
	means  string
}{
	{exitOK, "Success."},
	{exitFailed, "Failed for another reason."},
	{exitUsage, "Invalid arguments, configuration or parameters."},
	{exitNoDaemon, "The daemon is not running or cannot be reached."},
	{exitRefused, "Not allowed for this caller."},
	{exitKeys, "Wallet, password or keychain error."},
	{exitNetwork, "Network error."},
	{exitStorage, "Cannot write to the database; nothing is signed."},
	{exitSwap, "The swap was refused or did not succeed."},
	{exitIncomplete, "No answer in time; the result is unknown. Check with swapkeep orders."},
	{exitTokens, "Unknown or refused token."},
	{exitSettings, "Unknown, refused or overridden setting."},
	{exitDeclined, "Declined at the terminal; nothing was done."},
	{exitReported, "The provider reported an outcome that is not confirmed on the chain yet; the daemon keeps checking. See swapkeep orders show."},
	{exitWarned, "The doctor found warnings."},
	{exitChecksFailed, "The doctor found failures."},
	{exitSignal, "Interrupted by a signal, such as Ctrl-C. Accepted orders continue."},
}

// manualSections returns what only the first page has, in Markdown.
func manualSections() string {
	text := "\n\n# EXIT STATUS\n"
	for _, e := range exitMeanings {
		text += fmt.Sprintf("%d\n: %s\n\n", e.status, e.means)
	}
	return text + `# ENVIRONMENT
` + transport.HomeVariable + `
: The state directory, an absolute path. Each state directory is a separate instance.

SWAPKEEP_CONFIG
: The configuration file, TOML.

SWAPKEEP_\*
: Any configuration key, in capitals and with underscores for dots: keys.auto_lock is SWAPKEEP_KEYS_AUTO_LOCK.

NO_COLOR
: Set to anything, it turns colours off.

# FILES
swapkeep/config.toml
: The configuration file, in the system's configuration directory.

swapkeep/extensions.json
: The extensions that swapkeep install allowed, next to the configuration file.

swapkeep/receipts.json
: What swapkeep install changed, for swapkeep uninstall; in the system's state directory.

swapkeepd.log
: The daemon's log, in the state directory. It contains no secrets.
`
}
