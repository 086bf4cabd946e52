// Package settings stores what the user chose in the running daemon for all windows: the
// active network, and values of configuration keys, which override the configuration file
// and are overridden by environment and flags. It is stored in the order database.
package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	bolt "go.etcd.io/bbolt"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/internal/failpoint"
)

// bucket has the active network under "network", and chosen values as lists under the
// configuration keys.
var bucket = []byte("settings")

// NetworkKey is the key of the active network, which is not a configuration key.
const NetworkKey = "network"

// Settings reads and writes the choices. Every write is on disk when it returns. It is
// safe for concurrent use.
type Settings struct {
	db   *bolt.DB
	o    Options
	rows []row

	mu        sync.Mutex
	base      config.Config // without the choices
	chosen    map[string][]string
	effective config.Config // with the choices
	started   config.Config // in effect when the daemon started
	ignored   map[string]error
}

// Open reads the choices from db and creates the bucket if necessary. A choice that the
// configuration no longer allows is ignored and reported by Ignored: it must not prevent
// the daemon from starting, because only the running daemon can correct it.
func Open(db *bolt.DB, base config.Config, o Options) (*Settings, error) {
	s := &Settings{db: db, o: o, rows: expand(o.Chains), base: base, chosen: map[string][]string{}, effective: base, ignored: map[string]error{}}
	kept, err := readAll(db)
	if err != nil {
		return nil, err
	}
	if value, is := kept[NetworkKey]; is {
		if _, err := decodeNetwork(value); err != nil {
			s.ignored[NetworkKey] = err
		}
		delete(kept, NetworkKey)
	}
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		if err := s.restore(key, kept[key]); err != nil {
			s.ignored[key] = err
		}
	}
	s.started = s.effective
	return s, nil
}

var errDamaged = errors.New("it cannot be read")

// restore restores one stored choice.
func (s *Settings) restore(key string, value []byte) error {
	settable := func(r row) bool { return r.key == key && r.right != protocol.RightNone }
	if !slices.ContainsFunc(s.rows, settable) {
		return errors.New("unknown setting in this version")
	}
	values, err := decode(value)
	if err != nil {
		return err
	}
	next, err := s.withChoice(key, values)
	if err != nil {
		return err
	}
	s.chosen[key], s.effective = values, next
	return nil
}

// readAll returns the stored values by key.
func readAll(db *bolt.DB) (map[string][]byte, error) {
	kept := map[string][]byte{}
	err := db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return b.ForEach(func(key, value []byte) error {
			kept[string(key)] = slices.Clone(value)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	return kept, nil
}

// decode decodes the stored values of one key, at least one.
func decode(value []byte) ([]string, error) {
	var values []string
	if err := json.Unmarshal(value, &values); err != nil || len(values) == 0 {
		return nil, errDamaged
	}
	return values, nil
}

// decodeNetwork decodes a stored chain id.
func decodeNetwork(value []byte) (id uint64, err error) {
	if json.Unmarshal(value, &id) != nil || id == 0 {
		return 0, errDamaged
	}
	return id, nil
}

// Config returns the configuration with the choices.
func (s *Settings) Config() config.Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.effective
}

// Ignored returns the stored choices that are not in effect, with the reasons.
func (s *Settings) Ignored() map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.ignored)
}

// ActiveNetwork returns the chain id of the active network. It returns fallback if none
// was chosen or the choice cannot be read, so that another can be chosen.
func (s *Settings) ActiveNetwork(fallback uint64) (uint64, error) {
	id := fallback
	err := s.db.View(func(tx *bolt.Tx) error {
		if b := tx.Bucket(bucket).Get([]byte(NetworkKey)); b != nil {
			if chosen, damaged := decodeNetwork(b); damaged == nil {
				id = chosen
			}
		}
		return nil
	})
	if err != nil {
		return fallback, fmt.Errorf("setting %s: %w", NetworkKey, err)
	}
	return id, nil
}

// SetActiveNetwork sets the active network.
func (s *Settings) SetActiveNetwork(id uint64) error {
	if err := s.put(NetworkKey, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ignored, NetworkKey)
	return nil
}

func (s *Settings) put(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.commit(func(kept *bolt.Bucket) error { return kept.Put([]byte(key), b) })
}

func (s *Settings) drop(key string) error {
	return s.commit(func(kept *bolt.Bucket) error { return kept.Delete([]byte(key)) })
}

func (s *Settings) commit(change func(*bolt.Bucket) error) error {
	failpoint.Point("settings.before_commit")
	err := s.db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket(bucket)) })
	failpoint.Point("settings.after_commit")
	return err
}
