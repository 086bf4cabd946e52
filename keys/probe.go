package keys

import (
	"context"
	"errors"
	"runtime"
)

const (
	probeItem  = "probe"
	probeValue = "written by swapkeep doctor; it may be deleted"
)

// Probe checks that the keychain works: it writes an item of its own, reads it back and
// deletes it. A keychain that would have to prompt a person first is not called, and the
// error is [ErrKeychainLocked]. It may be repeated.
func (s *Store) Probe(ctx context.Context) error {
	return s.await(ctx, &call{name: "probe", item: probeItem, write: true, do: func() error {
		// macOS may prompt at any call and Prompts always says so.
		if p, ok := s.keychain.(Prompter); ok && runtime.GOOS != "darwin" && p.Prompts() {
			return ErrKeychainLocked
		}
		if err := s.keychain.Set(s.service, probeItem, probeValue); err != nil {
			return err
		}
		kept, err := s.keychain.Get(s.service, probeItem)
		if err == nil && kept != probeValue {
			err = ErrNotKept
		}
		return errors.Join(err, s.keychain.Delete(s.service, probeItem))
	}})
}
