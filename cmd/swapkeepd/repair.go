package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"swapkeep/installer"
	"swapkeep/manifest"

	"github.com/rs/zerolog"
)

// repairInstallation compares the user's installation with its receipts, repairs entries that point to
// nothing so that they point to this version, and removes earlier versions that no
// process runs from. It logs one line; its failure does not stop the daemon.
func repairInstallation(log zerolog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			log.Error().Str("panic", fmt.Sprint(p)).Msg("installation not checked")
		}
	}()
	exe, err := installer.OwnProgram()
	if err != nil {
		log.Warn().Err(err).Msg("installation not checked")
		return
	}
	m := installer.This()
	unlock, err := m.TryLock(manifest.User)
	if err != nil { // an installation in progress would look broken
		log.Info().Err(err).Msg("installation not checked")
		return
	}
	defer unlock()
	repair, err := installer.RepairLinks(m, version, filepath.Dir(exe))
	swept, sweepErr := installer.Sweep(m, manifest.User, installer.RunningFrom)
	if err = errors.Join(err, sweepErr); repair.Entries == 0 && err == nil {
		return // nothing is installed by swapkeep install
	}
	line := log.Debug()
	switch {
	case err != nil:
		line = log.Warn().Err(err)
	case len(repair.Repaired)+len(repair.Broken)+len(repair.Changed)+len(repair.Gone)+len(swept) > 0:
		line = log.Info()
	}
	for name, paths := range map[string][]string{"repaired": repair.Repaired, "broken": repair.Broken, "changed": repair.Changed, "gone": repair.Gone, "swept": swept} {
		if len(paths) > 0 {
			line = line.Strs(name, paths)
		}
	}
	line.Int("entries", repair.Entries).Msg("installation checked")
}
