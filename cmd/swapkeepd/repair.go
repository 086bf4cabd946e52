package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"swapkeep/installer"
	"swapkeep/manifest"

	"github.com/rs/zerolog"
)

// mend compares what was installed for this user with what is there, leads what leads
// nowhere to this version, and removes earlier ones that nothing runs from. It says in
// one line what it found, and keeps no daemon from starting.
func mend(log zerolog.Logger) {
	defer func() {
		if p := recover(); p != nil {
			log.Error().Str("panic", fmt.Sprint(p)).Msg("installation not looked at")
		}
	}()
	exe, err := installer.OwnProgram()
	if err != nil {
		log.Warn().Err(err).Msg("installation not looked at")
		return
	}
	m := installer.This()
	unlock, err := m.TryLock(manifest.User)
	if err != nil { // what is half made looks broken
		log.Info().Err(err).Msg("installation not looked at")
		return
	}
	defer unlock()
	repair, err := installer.Mend(m, version, filepath.Dir(exe))
	swept, sweepErr := installer.Sweep(m, manifest.User, installer.RunningFrom)
	if err = errors.Join(err, sweepErr); repair.Entries == 0 && err == nil {
		return // nothing was installed by swapkeep install
	}
	line := log.Debug()
	switch {
	case err != nil:
		line = log.Warn().Err(err)
	case len(repair.Mended)+len(repair.Broken)+len(repair.Changed)+len(repair.Gone)+len(swept) > 0:
		line = log.Info()
	}
	for name, paths := range map[string][]string{"mended": repair.Mended, "broken": repair.Broken, "changed": repair.Changed, "gone": repair.Gone, "swept": swept} {
		if len(paths) > 0 {
			line = line.Strs(name, paths)
		}
	}
	line.Int("entries", repair.Entries).Msg("installation looked at")
}
