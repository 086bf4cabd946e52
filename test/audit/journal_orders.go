package audit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// A storedOrder holds the fields of the engine's journal that tests read.
type storedOrder struct {
	ID, Request string
	Digest      common.Hash
	State       string
	Verdict     *storedVerdict

	Open           bool     `json:"-"` // listed in the index of open orders
	OrderByRequest string   `json:"-"` // the order id that the index of requests has for Request
	History        []string `json:"-"` // the states of its history, oldest first
}

// A storedVerdict holds the fields of an order's end that tests read.
type storedVerdict struct {
	State    string
	ProvenBy string
	Evidence *struct{ Tx common.Hash }
}

// storedOrders returns all orders of the order database in a state directory, by their keys. No
// process may have it open. It relies on the file format and on none of the code that wrote
// it.
func storedOrders(home string) (all map[string]storedOrder, err error) {
	all = map[string]storedOrder{}
	err = viewDB(home, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("order")).ForEach(func(id, v []byte) error {
			var o storedOrder
			if err := json.Unmarshal(v, &o); err != nil {
				return fmt.Errorf("order %s: %w", id, err)
			}
			o.Open = tx.Bucket([]byte("open")).Get(id) != nil
			var request struct{ Order string }
			if v := tx.Bucket([]byte("request")).Get([]byte(o.Request)); v != nil {
				if err := json.Unmarshal(v, &request); err != nil {
					return fmt.Errorf("request %s: %w", o.Request, err)
				}
			}
			o.OrderByRequest = request.Order
			lines, err := history(tx, id)
			o.History = lines
			all[string(id)] = o
			return err
		})
	})
	return all, err
}

// history returns the states of an order's history, oldest first.
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
