package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"swapkeep/cmd/swapkeep/internal/manual"
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
		if err := manual.Write(dir, cmd.Root(), version, manualSections()); err != nil {
			return fmt.Errorf("write the manual pages: %w", err)
		}
		return nil
	}
	return cmd
}

func manualSections() []manual.Section {
	statuses := manual.Section{Title: "EXIT STATUS"}
	for _, e := range exitMeanings {
		statuses.Items = append(statuses.Items, manual.Item{Term: strconv.Itoa(e.status), Text: e.means})
	}
	return []manual.Section{statuses, {Title: "ENVIRONMENT", Items: []manual.Item{
		{Term: transport.HomeVariable, Text: "The state directory, an absolute path. Each is an instance of its own."},
		{Term: "SWAPKEEP_CONFIG", Text: "The configuration file, TOML."},
		{Term: "SWAPKEEP_*", Text: "Any key of the configuration, in capitals with dots as underscores: keys.auto_lock is SWAPKEEP_KEYS_AUTO_LOCK."},
		{Term: "NO_COLOR", Text: "Any value: no colours."},
	}}, {Title: "FILES", Items: []manual.Item{
		{Term: "swapkeep/config.toml", Text: "The configuration file, in the system's configuration directory."},
		{Term: "swapkeep/extensions.json", Text: "The extensions that swapkeep install let in, beside the configuration file."},
		{Term: "swapkeep/receipts.json", Text: "What swapkeep install made, in the system's state directory: swapkeep uninstall goes by it."},
		{Term: "swapkeepd.log", Text: "The daemon's log, in the state directory. It holds no secrets."},
	}}}
}
