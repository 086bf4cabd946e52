// Package settings keeps what the user chose and every window shares: the
// active network. It lives in the order database.
package settings

import (
	"encoding/json"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

var bucket = []byte("settings")

// Settings reads and writes the choices. Every write is on disk when it returns.
type Settings struct{ db *bolt.DB }

// Open prepares db for settings.
func Open(db *bolt.DB) (*Settings, error) {
	err := db.Update(func(tx *bolt.Tx) error { _, err := tx.CreateBucketIfNotExists(bucket); return err })
	return &Settings{db}, err
}

// ActiveNetwork is the chain id of the network in use, or fallback before the
// first choice.
func (s *Settings) ActiveNetwork(fallback uint64) (uint64, error) {
	return get(s, "network", fallback)
}

// SetActiveNetwork chooses the network in use.
func (s *Settings) SetActiveNetwork(id uint64) error { return put(s, "network", id) }

func get[T any](s *Settings, key string, v T) (T, error) {
	err := s.db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucket).Get([]byte(key))
		if b == nil {
			return nil
		}
		if err := json.Unmarshal(b, &v); err != nil {
			return fmt.Errorf("setting %s: %w", key, err)
		}
		return nil
	})
	return v, err
}

func put[T any](s *Settings, key string, v T) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put([]byte(key), b) })
}
