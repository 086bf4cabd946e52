package audit

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// A senderRecord holds the fields of the sender's journal that tests read.
type senderRecord struct {
	Key      string
	Nonce    uint64
	State    string
	Attempts []struct {
		Kind string
		Hash common.Hash
	}
}

// senderRecords returns all sender records of the order database in a state directory. No process
// may have it open. The error includes what bbolt's own consistency check finds.
func senderRecords(home string) (all []senderRecord, err error) {
	err = viewDB(home, func(tx *bolt.Tx) (damage error) {
		for err := range tx.Check() {
			damage = errors.Join(damage, err)
		}
		read := tx.Bucket([]byte("sender.tx")).ForEach(func(_, v []byte) error {
			var r senderRecord
			err := json.Unmarshal(v, &r)
			all = append(all, r)
			return err
		})
		return errors.Join(damage, read)
	})
	return all, err
}

// viewDB runs read on the order database of a state directory, opened read-only.
func viewDB(home string, read func(*bolt.Tx) error) error {
	db, err := bolt.Open(filepath.Join(home, "orders.db"), 0o600, &bolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		return err
	}
	return errors.Join(db.View(read), db.Close())
}
