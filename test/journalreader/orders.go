package journalreader

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// An Order is as much of the engine's journal as a reader of the file needs.
type Order struct {
	ID, Request string
	Digest      common.Hash
	State       string
	Verdict     *struct {
		State, By string
		Evidence  *struct{ Tx common.Hash }
	}

	Open    bool     `json:"-"` // the index has it among those that have not ended
	Asked   string   `json:"-"` // the order that its request made, by the index of requests
	History []string `json:"-"` // the states of its lines, oldest first
}

// Orders are all that stand in the order database of a state directory, which nobody has
// open, by the names that they stand under. It knows the file, and nothing of the code
// that wrote it.
func Orders(home string) (all map[string]Order, err error) {
	all = map[string]Order{}
	err = view(home, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("order")).ForEach(func(id, v []byte) error {
			var o Order
			if err := json.Unmarshal(v, &o); err != nil {
				return fmt.Errorf("order %s: %w", id, err)
			}
			o.Open = tx.Bucket([]byte("open")).Get(id) != nil
			var asked struct{ Order string }
			if v := tx.Bucket([]byte("request")).Get([]byte(o.Request)); v != nil {
				if err := json.Unmarshal(v, &asked); err != nil {
					return fmt.Errorf("request %s: %w", o.Request, err)
				}
			}
			o.Asked = asked.Order
			lines, err := history(tx, id)
			o.History = lines
			all[string(id)] = o
			return err
		})
	})
	return all, err
}

// history are the states of an order's lines, oldest first.
func history(tx *bolt.Tx, id []byte) (states []string, err error) {
	prefix := append(bytes.Clone(id), '/')
	c := tx.Bucket([]byte("history")).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		var line struct{ State string }
		if err := json.Unmarshal(v, &line); err != nil {
			return nil, fmt.Errorf("history of %s: %w", id, err)
		}
		states = append(states, line.State)
	}
	return states, nil
}
