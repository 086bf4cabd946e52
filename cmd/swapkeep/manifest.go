package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"swapkeep/manifest"
)

func newManifest(t *terminal) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "manifest chromium|firefox",
		Short: "Write the native-messaging manifest for the extensions of the configuration",
		Long: "Write the native-messaging manifest for a browser that swapkeep install does not know, or whose profile is in a place\n" +
			"of its own: by it a family of browsers finds this program, where it is now, for the\n" +
			"extensions that the configuration names (extensions.chromium, extensions.firefox): to standard\n" +
			"output, or as " + manifest.FileName + " into an existing folder.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(manifest.Families(), manifest.Family(args[0])) {
				return usageError{fmt.Errorf("name one family: chromium or firefox")}
			}
			return nil
		},
		ValidArgs: []string{string(manifest.Chromium), string(manifest.Firefox)},
		RunE:      func(_ *cobra.Command, args []string) error { return t.manifest(manifest.Family(args[0]), dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write the file into")
	return cmd
}

func (t *terminal) manifest(family manifest.Family, dir string) error {
	cfg, err := t.load()
	if err != nil {
		return err
	}
	list := allowed(cfg)
	ids := map[manifest.Family][]string{manifest.Chromium: list.Chromium, manifest.Firefox: list.Firefox}[family]
	if len(ids) == 0 {
		return usageError{fmt.Errorf("no extension may use swapkeep from %q yet; add its id to extensions in the configuration", family)}
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	file, err := manifest.Render(family, runtime.GOOS, exe, ids)
	if err != nil {
		return usageError{err}
	}
	if dir == "" {
		_, err = t.out.Write(file)
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifest.FileName), file, 0o644)
}
