package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"swapkeep/host/transport"
)

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

// manualSections returns what only the first page has, in Markdown.
func manualSections() string {
	text := "\n\n# EXIT STATUS\n"
	for _, e := range exitMeanings {
		text += fmt.Sprintf("%d\n: %s\n\n", e.status, e.means)
	}
	return text + `# ENVIRONMENT
` + transport.HomeVariable + `
: The state directory, an absolute path. Each is an instance of its own.

SWAPKEEP_CONFIG
: The configuration file, TOML.

SWAPKEEP_\*
: Any key of the configuration, in capitals with dots as underscores: keys.auto_lock is SWAPKEEP_KEYS_AUTO_LOCK.

NO_COLOR
: Any value: no colours.

# FILES
swapkeep/config.toml
: The configuration file, in the system's configuration directory.

swapkeep/extensions.json
: The extensions that swapkeep install let in, beside the configuration file.

swapkeep/receipts.json
: What swapkeep install made, in the system's state directory: swapkeep uninstall goes by it.

swapkeepd.log
: The daemon's log, in the state directory. It holds no secrets.
`
}
