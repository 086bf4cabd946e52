package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"swapkeep/installer"
	"swapkeep/manifest"
)

func newManifest(t *terminal) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "manifest chromium|firefox",
		Short: "Write the native-messaging manifest for the configured extensions",
		Long: "Write the native-messaging manifest for a browser that swapkeep install does not know, or whose profile is in an\n" +
			"unusual place. It names this program (an installed one by a path that stays the same after an update) and allows\n" +
			"the configured extensions (extensions.chromium, extensions.firefox). It goes to standard output or, with --dir, into\n" +
			"an existing folder as " + manifest.FileName + ", never over another program's file.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(manifest.Families(), manifest.Family(args[0])) {
				return usageError{fmt.Errorf("choose a browser family: chromium or firefox")}
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
		return usageError{fmt.Errorf("no extension is allowed for %q; add its id to extensions in the configuration", family)}
	}
	exe, err := installer.OwnProgram()
	if err != nil {
		return err
	}
	m := t.machine()
	program := m.StablePath(exe)
	file, err := manifest.Render(family, runtime.GOOS, program, ids)
	if err != nil {
		return usageError{err}
	}
	if dir == "" {
		_, err = t.out.Write(file)
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	return writeManifest(m, filepath.Join(dir, manifest.FileName), file, program, exe)
}

// writeManifest writes a manifest atomically. It replaces only a manifest that starts one
// of these programs; anything else is installer.ErrForeign.
func writeManifest(m installer.Machine, path string, file []byte, programs ...string) error {
	info, err := m.Files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m.Files.Write(path, file, 0o644)
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: %s is not a regular file; move it away", installer.ErrForeign, path)
	}
	if starts, err := m.ProgramOf(path); err != nil || !slices.Contains(programs, starts) {
		return fmt.Errorf("%w: %s starts another program, %q; move it away", installer.ErrForeign, path, starts)
	}
	return m.Files.Write(path, file, 0o644)
}
