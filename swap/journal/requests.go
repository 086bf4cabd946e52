package journal

import (
	"encoding/json"
	"fmt"

	"swapkeep/internal/failpoint"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// requestRecord records what a request uuid was used for.
type requestRecord struct {
	Content common.Hash `json:"content"` // hash of the request, to recognise a reuse for something else
	Order   string      `json:"order"`
}

// RecordRequest records that a request other than an execution was used for an order, and reports
// whether it already had been. also are further writes of the first commit.
func (j *Journal) RecordRequest(request string, content common.Hash, order string, also ...func(*bolt.Tx) error) (repeated bool, err error) {
	failpoint.Point("journal.before_request")
	err = j.update(func(tx *bolt.Tx) error {
		_, ok, err := lookupRequest(tx, request, content)
		if err != nil || ok {
			repeated = ok
			return err
		}
		if err := runWrites(tx, also); err != nil {
			return err
		}
		return putRequest(tx, request, content, order)
	})
	if err == nil {
		failpoint.Point("journal.after_request")
	}
	return repeated, err
}

// UpdateByRequest records a request together with the change it makes to its order, in one commit,
// so that a repeat does not make it again: that returns the order as it is now. It fails
// with ErrStale as Update does. If the change gives the order another digest, that names
// the order too. also are further writes of the first commit.
func (j *Journal) UpdateByRequest(request string, content common.Hash, o swap.Order, note swap.Cause, also ...func(*bolt.Tx) error) (swap.Order, error) {
	failpoint.Point("journal.before_change")
	err := j.update(func(tx *bolt.Tx) error {
		old, err := read(tx, o.ID)
		if err != nil {
			return err
		}
		if _, repeated, err := lookupRequest(tx, request, content); err != nil || repeated {
			o = old
			return err
		}
		if old.Revision != o.Revision {
			return ErrStale
		}
		if err := runWrites(tx, also); err != nil {
			return err
		}
		if err := putRequest(tx, request, content, o.ID); err != nil {
			return err
		}
		if err := tx.Bucket(digestBucket).Put(o.Digest[:], []byte(o.ID)); err != nil {
			return err
		}
		return write(tx, old, &o, note)
	})
	if err == nil {
		failpoint.Point("journal.after_change")
	}
	return o, err
}

// OrderOfRequest returns the order that a request was used for; ok is false if it was not used. It
// fails with RequestConflict as Create does.
func (j *Journal) OrderOfRequest(request string, content common.Hash) (o swap.Order, ok bool, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		a, found, err := lookupRequest(tx, request, content)
		if err != nil || !found {
			return err
		}
		ok = true
		o, err = read(tx, a.Order)
		return err
	})
	return o, ok, err
}

func lookupRequest(tx *bolt.Tx, request string, content common.Hash) (a requestRecord, ok bool, err error) {
	v := tx.Bucket(requestBucket).Get([]byte(request))
	if v == nil {
		return a, false, nil
	}
	if err := json.Unmarshal(v, &a); err != nil {
		return a, false, fmt.Errorf("request %s: %w", request, err)
	}
	if a.Content != content {
		return a, false, swap.Refuse(swap.RequestConflict, "this request id was used for something else; make a new one for each act")
	}
	return a, true, nil
}

func putRequest(tx *bolt.Tx, request string, content common.Hash, order string) error {
	return tx.Bucket(requestBucket).Put([]byte(request), swap.MustJSON(requestRecord{content, order}))
}
