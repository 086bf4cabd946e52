package journal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"time"

	"swapkeep/swap"

	bolt "go.etcd.io/bbolt"
)

// An Entry is one line of an order's history.
type Entry struct {
	Time      time.Time      `json:"time"`
	State     swap.State     `json:"state"`
	Condition swap.Condition `json:"condition,omitempty"`
	Step      int            `json:"step"`
	Note      string         `json:"note,omitempty"`
	Cause     *swap.Cause    `json:"cause,omitempty"` // what Note says, for programs; nil if an older version wrote it
}

// writeHistory appends o as it is now, and note, to o's history.
func writeHistory(w owner, o *swap.Order, note swap.Cause) error {
	line := swap.MustJSON(Entry{o.Updated, o.State, o.Condition, o.Step, note.Text(), note.Stored()})
	if err := w.append(historyBucket, line); err != nil {
		return err
	}
	return cutHistory(w.tx.Bucket(historyBucket), o)
}

// Bounds of one order's history, in entries. An order that never ends is watched for
// ever; the first and the newest entries of its history are kept.
const (
	maxLines  = 4096
	firstKept = 512
	cutAtOnce = 1024
)

// cutHistory deletes entries from the middle of a history that has grown too long.
func cutHistory(h *bolt.Bucket, o *swap.Order) error {
	if o.Revision <= maxLines || (o.Revision-maxLines)%cutAtOnce != 1 {
		return nil // every revision has an entry
	}
	var cut [][]byte
	prefix, n := []byte(o.ID+"/"), 0
	c := h.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(cut) < cutAtOnce; k, _ = c.Next() {
		if n++; n > firstKept {
			cut = append(cut, bytes.Clone(k))
		}
	}
	for _, k := range cut {
		if err := h.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// History returns an order's entries, oldest first.
func (j *Journal) History(id string) (lines []Entry, err error) {
	prefix := []byte(id + "/")
	err = j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(historyBucket).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			var e Entry
			if json.Unmarshal(v, &e) != nil || encodable(reflect.ValueOf(e)) != nil {
				e = Entry{Note: "this line of the history is damaged"} // the other entries are still useful
			}
			lines = append(lines, e)
		}
		return nil
	})
	return lines, err
}
