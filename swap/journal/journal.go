// Package journal keeps orders on disk, with their history and the indexes over them.
package journal

import (
	"errors"
	"slices"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

var (
	orderBucket      = []byte("order")       // id -> Order
	requestBucket    = []byte("request")     // client's uuid -> requestRecord
	digestBucket     = []byte("digest")      // plan digest -> order id, so that a plan executes once
	openBucket       = []byte("open")        // id of every order that is watched
	historyBucket    = []byte("history")     // id ‖ sequence -> Entry; append-only, except for cutHistory
	grantBucket      = []byte("grant")       // account ‖ chain ‖ token ‖ spender ‖ kind -> id of the order that last granted it
	DailySpendBucket = []byte("daily_spend") // what was spent without the password: by browsers, and in swaps of unpriced tokens
)

// ErrStale means that the order changed since it was read; read it again.
var ErrStale = errors.New("order changed meanwhile")

// A Journal stores orders. Every method that writes returns only once the change is on
// disk, in one commit: snapshot, history entry and indexes together.
type Journal struct{ db *bolt.DB }

// DB returns the database that the journal was opened in.
func (j *Journal) DB() *bolt.DB { return j.db }

// Open creates the buckets in db and makes the indexes anew (see reindex).
func Open(db *bolt.DB) (*Journal, error) {
	err := db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{orderBucket, requestBucket, digestBucket, openBucket, historyBucket, grantBucket, useBucket, usedBucket, traceBucket, isolatedBucket, foundBucket, DailySpendBucket} {
			if _, err := tx.CreateBucketIfNotExists(b); err != nil {
				return err
			}
		}
		return reindex(tx)
	})
	if err != nil {
		return nil, journalError(err)
	}
	return &Journal{db}, nil
}

func journalError(err error) error {
	return &swap.Refusal{Code: swap.JournalFailed, Reason: "the order database cannot be written, so nothing is signed; free disk space or fix its permissions", Err: err}
}

// update runs f in one commit. An error that f itself decided on is returned as it is;
// every other one becomes JournalFailed.
func (j *Journal) update(f func(*bolt.Tx) error) error {
	var own error // f's own decision, not a failed write
	err := j.db.Update(func(tx *bolt.Tx) error {
		err := f(tx)
		if isDecision(err) {
			own = err
		}
		return err
	})
	switch {
	case own != nil:
		return own
	case err != nil:
		return journalError(err)
	}
	return nil
}

// decisions are the errors by which a commit is given up without anything being wrong with
// the database.
var decisions = []error{ErrStale, ErrAllowanceLocked, ErrProofUsed, ErrIndistinguishable, ErrIndex}

func isDecision(err error) bool {
	return errors.As(err, new(*swap.Refusal)) || slices.ContainsFunc(decisions, func(d error) bool { return errors.Is(err, d) })
}

// Create records a new order under its request uuid, or returns the order that this
// request already made; the bool reports whether it is new. It fails with RequestConflict
// if the request was used for other content, and with PlanExecuted if the plan was
// executed before. also are further writes of a new order's commit.
func (j *Journal) Create(o swap.Order, content common.Hash, also ...func(*bolt.Tx) error) (swap.Order, bool, error) {
	point("before", o.State)
	made := false
	err := j.update(func(tx *bolt.Tx) error {
		if a, ok, err := lookupRequest(tx, o.Request, content); err != nil || ok {
			if err == nil {
				o, err = read(tx, a.Order)
			}
			return err
		}
		if id := tx.Bucket(digestBucket).Get(o.Digest[:]); id != nil {
			return &swap.Refusal{Code: swap.PlanExecuted, Reason: "this plan was already carried out; ask for a new quote to swap again", Data: map[string]string{"order": string(id)}}
		}
		if err := tx.Bucket(digestBucket).Put(o.Digest[:], []byte(o.ID)); err != nil {
			return err
		}
		if err := putRequest(tx, o.Request, content, o.ID); err != nil {
			return err
		}
		if err := putIsolated(tx, o.Terms); err != nil {
			return err
		}
		if err := runWrites(tx, also); err != nil {
			return err
		}
		made = true
		return write(tx, swap.Order{}, &o, swap.NewCause(swap.ReasonAccepted))
	})
	if err == nil {
		point("after", o.State)
	}
	return o, made, err
}

// Update records a change of an order and increments its revision. It fails with ErrStale
// if the order changed since it was read.
func (j *Journal) Update(o *swap.Order, note swap.Cause) error {
	point("before", o.State)
	changed := ""
	err := j.update(func(tx *bolt.Tx) error {
		old, err := read(tx, o.ID)
		switch {
		case err != nil:
			return err
		case old.Revision != o.Revision:
			return ErrStale
		}
		changed = changeOf(old, *o)
		changePoint("before", changed)
		return write(tx, old, o, note)
	})
	if err == nil {
		changePoint("after", changed)
		point("after", o.State)
	}
	return err
}

// runWrites runs the further writes of a commit.
func runWrites(tx *bolt.Tx, also []func(*bolt.Tx) error) error {
	for _, write := range also {
		if err := write(tx); err != nil {
			return err
		}
	}
	return nil
}

// write stores o in place of was, with its index entries and a history entry, and
// increments its revision.
func write(tx *bolt.Tx, was swap.Order, o *swap.Order, note swap.Cause) error {
	if err := writeUse(tx, was, o); err != nil {
		return err
	}
	w := owner{tx, o.ID}
	if err := writeUsed(w, o); err != nil {
		return err
	}
	if err := checkLikely(tx, was, *o); err != nil {
		return err
	}
	if err := writeTraces(w, o); err != nil {
		return err
	}
	o.Revision++
	o.EndedAt = endedAt(was, *o)
	if err := tx.Bucket(orderBucket).Put([]byte(o.ID), swap.MustJSON(*o)); err != nil {
		return err
	}
	if err := writeHistory(w, o, note); err != nil {
		return err
	}
	if err := writeGrants(w, was, o); err != nil {
		return err
	}
	if !o.Watched() {
		return tx.Bucket(openBucket).Delete([]byte(o.ID))
	}
	return tx.Bucket(openBucket).Put([]byte(o.ID), []byte{1})
}

// endedAt returns when an order came to the end that it has; zero if it has not ended. What
// changes in it afterwards, such as what comes back from its isolated account, is no new end.
func endedAt(was, o swap.Order) time.Time {
	switch {
	case !o.Ended():
		return time.Time{}
	case !was.Ended() || was.State != o.State:
		return o.Updated
	case was.EndedAt.IsZero(): // an older version wrote it
		return was.Updated
	}
	return was.EndedAt
}

// read decodes an order; the result stays valid after the transaction.
func read(tx *bolt.Tx, id string) (o swap.Order, err error) {
	v := tx.Bucket(orderBucket).Get([]byte(id))
	if v == nil {
		return o, swap.Refuse(swap.OrderUnknown, "no order %q", id)
	}
	return o, decodeOrder(v, id, &o)
}

// Get returns the order with the given id. It fails with OrderUnknown or ErrUnreadable.
func (j *Journal) Get(id string) (o swap.Order, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		o, err = read(tx, id)
		return err
	})
	return o, err
}

// GetForDisplay is Get for display: an order whose record cannot be read is returned as
// [swap.Unreadable].
func (j *Journal) GetForDisplay(id string) (o swap.Order, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		if o, err = read(tx, id); errors.Is(err, ErrUnreadable) {
			o, err = placeholderFor(tx, id, err), nil
		}
		return err
	})
	return o, err
}

// ByDigest returns the order that executed a plan, or fails with OrderUnknown.
func (j *Journal) ByDigest(d common.Hash) (o swap.Order, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		id := tx.Bucket(digestBucket).Get(d[:])
		if id == nil {
			return swap.Refuse(swap.OrderUnknown, "no order of that plan")
		}
		o, err = read(tx, string(id))
		return err
	})
	return o, err
}
