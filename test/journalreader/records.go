package journalreader

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// A Record is as much of the sender's journal as a reader of the file needs.
type Record struct {
	Key      string
	Nonce    uint64
	State    string
	Attempts []struct {
		Kind string
		Hash common.Hash
	}
}

// Records are all that stand in the order database of a state directory, which nobody
// has open. An error says too what bbolt finds unsound in it.
func Records(home string) (all []Record, err error) {
	err = view(home, func(tx *bolt.Tx) (unsound error) {
		for err := range tx.Check() {
			unsound = errors.Join(unsound, err)
		}
		read := tx.Bucket([]byte("sender.tx")).ForEach(func(_, v []byte) error {
			var r Record
			err := json.Unmarshal(v, &r)
			all = append(all, r)
			return err
		})
		return errors.Join(unsound, read)
	})
	return all, err
}

// view reads the order database of a state directory.
func view(home string, read func(*bolt.Tx) error) error {
	db, err := bolt.Open(filepath.Join(home, "orders.db"), 0o600, &bolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	return errors.Join(db.View(read), db.Close())
}
