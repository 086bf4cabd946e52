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

// Probe proves that the keychain keeps what it is given: it writes an item of its
// own, reads it and deletes it. A keychain that says that it would have to ask a
// person is not asked: [ErrKeychainLocked]. It may be repeated.
func (s *Store) Probe(ctx context.Context) error {
	return s.await(ctx, &call{name: "probe", item: probeItem, write: true, do: func() error {
		// macOS may ask at any call, and says so of each.
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
