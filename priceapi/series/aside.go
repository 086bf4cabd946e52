package series

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"swapkeep/internal/atomicfile"
)

const (
	damagedSuffix = ".damaged-" // followed by seconds since 1970
	keepDamaged   = 2
)

// setAside renames a damaged file, so that the next open begins a new one.
func (s *Store) setAside(problem error) error {
	aside := freeName(s.path, s.clock().Unix())
	if err := os.Rename(s.path, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.damage = fmt.Sprintf("%s was damaged (%v); it was set aside as %s and begun anew", filepath.Base(s.path), problem, filepath.Base(aside))
	return errors.Join(atomicfile.SyncDir(filepath.Dir(s.path)), pruneDamaged(s.path))
}

// freeName returns an unused name for a file to set aside.
func freeName(path string, now int64) string {
	for ; ; now++ {
		name := path + damagedSuffix + strconv.FormatInt(now, 10)
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
	}
}

// damagedTimes returns the times of the files that were set aside, oldest first.
func damagedTimes(path string) ([]int64, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	var times []int64
	for _, e := range entries {
		if text, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+damagedSuffix); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				times = append(times, n)
			}
		}
	}
	slices.Sort(times)
	return times, err
}

// noteAside notes, where there is no history, the newest file that was set aside: the
// program may have ended before it made a new file and could tell.
func (s *Store) noteAside() error {
	times, err := damagedTimes(s.path)
	if len(times) > 0 {
		aside := filepath.Base(s.path) + damagedSuffix + strconv.FormatInt(times[len(times)-1], 10)
		s.damage = fmt.Sprintf("there was no %s, but one that was set aside before as %s; it was begun anew", filepath.Base(s.path), aside)
	}
	return err
}

// pruneDamaged deletes all but the newest keepDamaged files that were set aside.
func pruneDamaged(path string) error {
	times, err := damagedTimes(path)
	if err != nil {
		return err
	}
	for _, n := range times[:max(0, len(times)-keepDamaged)] {
		err = errors.Join(err, os.Remove(path+damagedSuffix+strconv.FormatInt(n, 10)))
	}
	return err
}
