// Package journal keeps orders on disk, with their history and the indexes over them.
package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"swapkeep/internal/failpoint"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

var (
	OrderBucket   = []byte("order")   // id -> Order
	RequestBucket = []byte("request") // client's uuid -> asked
	DigestBucket  = []byte("digest")  // plan digest -> order id, so that a plan executes once
	OpenBucket    = []byte("open")    // id of every order that is not final
	HistoryBucket = []byte("history") // id ‖ sequence -> Entry; append-only, except for cutHistory
	GrantBucket   = []byte("grant")   // account ‖ chain ‖ token ‖ spender ‖ kind -> id of the order that last granted it
)

// ErrStale means that the order changed since it was read; read it again.
var ErrStale = errors.New("order changed meanwhile")

// An Entry is one line of an order's history.
type Entry struct {
	Time      time.Time      `json:"time"`
	State     swap.State     `json:"state"`
	Condition swap.Condition `json:"condition,omitempty"`
	Step      int            `json:"step"`
	Note      string         `json:"note,omitempty"`
	Cause     *swap.Cause    `json:"cause,omitempty"` // what Note says, for programs; nil if an older version wrote it
}

// RequestRecord records what a request uuid was used for.
type RequestRecord struct {
	Content common.Hash `json:"content"` // hash of the request, to recognise a reuse for something else
	Order   string      `json:"order"`
}

// A Journal stores orders. Every method that writes returns only once the change is on
// disk, in one commit: snapshot, history entry and indexes together.
type Journal struct{ db *bolt.DB }

// DB returns the database that the journal was opened in.
func (j *Journal) DB() *bolt.DB { return j.db }

// Open creates the buckets in db and makes the indexes anew (see reindex).
func Open(db *bolt.DB) (*Journal, error) {
	err := db.Update(func(tx *bolt.Tx) error {
		for _, b := range [][]byte{OrderBucket, RequestBucket, DigestBucket, OpenBucket, HistoryBucket, GrantBucket, UseBucket, UsedBucket, TraceBucket, MoveBucket} {
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
		var r *swap.Refusal
		if errors.As(err, &r) || errors.Is(err, ErrStale) || errors.Is(err, ErrAllowanceLocked) || errors.Is(err, ErrProofUsed) || errors.Is(err, ErrIndistinguishable) || errors.Is(err, ErrIndex) {
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
		if id := tx.Bucket(DigestBucket).Get(o.Digest[:]); id != nil {
			return &swap.Refusal{Code: swap.PlanExecuted, Reason: "this plan was already carried out; ask for a new quote to swap again", Data: map[string]string{"order": string(id)}}
		}
		if err := tx.Bucket(DigestBucket).Put(o.Digest[:], []byte(o.ID)); err != nil {
			return err
		}
		if err := tx.Bucket(RequestBucket).Put([]byte(o.Request), swap.MustJSON(RequestRecord{content, o.ID})); err != nil {
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

// changes names, for fault tests, what a commit may do besides a change of state. The
// first match counts.
var changes = []struct {
	name string
	is   func(old, now swap.Order) bool
}{
	{"search", func(old, now swap.Order) bool { return len(now.SearchFrom) > len(old.SearchFrom) }},
	{"attempt", func(old, now swap.Order) bool {
		return now.Submission != nil && (old.Submission == nil || now.Submission.Tries > old.Submission.Tries)
	}},
	{"closed", func(old, now swap.Order) bool { return now.Submission.Closed() && !old.Submission.Closed() }},
	{"lock", func(old, now swap.Order) bool { return now.AllowanceLocked && !old.AllowanceLocked }},
	{"claim", func(old, now swap.Order) bool { return now.Claim != nil && !swap.SameClaim(old.Claim, now.Claim) }},
	{"propose", func(old, now swap.Order) bool {
		return now.Proposal != nil && !swap.SameProposal(old.Proposal, now.Proposal)
	}},
	{"rewind", func(old, now swap.Order) bool { return now.Step < old.Step }},
	{"refresh", func(old, now swap.Order) bool { return now.Offer.ID != old.Offer.ID }},
	{"adapt", func(old, now swap.Order) bool { return !swap.SamePlan(old.Plan, now.Plan) }},
	{"skip", func(old, now swap.Order) bool { return now.Step > old.Step && now.Results[old.Step].Skipped }},
	{"signature", func(old, now swap.Order) bool { return now.Step > old.Step && len(now.Results[old.Step].Signature) > 0 }},
	{"step", func(old, now swap.Order) bool { return now.Step > old.Step }},
}

func changeOf(old, now swap.Order) string {
	if failpoint.Enabled {
		for _, c := range changes {
			if c.is(old, now) {
				return c.name
			}
		}
	}
	return ""
}

func changePoint(when, change string) {
	if failpoint.Enabled && change != "" {
		failpoint.Point("journal." + when + "_" + change)
	}
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
		return tx.Bucket(RequestBucket).Put([]byte(request), swap.MustJSON(RequestRecord{content, order}))
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
		if err := tx.Bucket(RequestBucket).Put([]byte(request), swap.MustJSON(RequestRecord{content, o.ID})); err != nil {
			return err
		}
		if err := tx.Bucket(DigestBucket).Put(o.Digest[:], []byte(o.ID)); err != nil {
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

func lookupRequest(tx *bolt.Tx, request string, content common.Hash) (a RequestRecord, ok bool, err error) {
	v := tx.Bucket(RequestBucket).Get([]byte(request))
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

// write stores o in place of was, with its index entries and a history entry, and
// increments its revision.
func write(tx *bolt.Tx, was swap.Order, o *swap.Order, note swap.Cause) error {
	if err := writeUse(tx, was, o); err != nil {
		return err
	}
	if err := writeUsed(tx, o); err != nil {
		return err
	}
	if err := writeTraces(tx, o); err != nil {
		return err
	}
	o.Revision++
	if err := tx.Bucket(OrderBucket).Put([]byte(o.ID), swap.MustJSON(*o)); err != nil {
		return err
	}
	h := tx.Bucket(HistoryBucket)
	n, err := h.NextSequence()
	if err != nil {
		return err
	}
	line := swap.MustJSON(Entry{o.Updated, o.State, o.Condition, o.Step, note.Text(), note.Stored()})
	if err := h.Put(binary.BigEndian.AppendUint64([]byte(o.ID+"/"), n), line); err != nil {
		return err
	}
	if err := cutHistory(h, o); err != nil {
		return err
	}
	if err := writeGrants(tx, was, o); err != nil {
		return err
	}
	if o.State.Final() {
		return tx.Bucket(OpenBucket).Delete([]byte(o.ID))
	}
	return tx.Bucket(OpenBucket).Put([]byte(o.ID), []byte{1})
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

// writeGrants indexes the allowances granted by the steps that o finished since it was
// last stored. The order that granted an allowance last is the one indexed.
func writeGrants(tx *bolt.Tx, was swap.Order, o *swap.Order) error {
	for _, k := range grantKeys(*o, len(was.Results)) {
		if err := tx.Bucket(GrantBucket).Put(k, []byte(o.ID)); err != nil {
			return err
		}
	}
	return nil
}

// grantKeys returns the keys of what o's finished steps granted, from step from on.
func grantKeys(o swap.Order, from int) (keys [][]byte) {
	for i, s := range o.Plan.Steps[:min(len(o.Results), len(o.Plan.Steps))] {
		if k, ok := grantedBy(o, s); ok && i >= from && !o.Results[i].Skipped {
			keys = append(keys, k)
		}
	}
	return keys
}

// grantedBy returns the key of the allowance that a step of o grants; ok is false if it
// GrantsAllowance none, as in a revoke.
func grantedBy(o swap.Order, s swap.Step) (key []byte, ok bool) {
	f := s.Effect
	if o.Terms.Provider == swap.Wallet || len(f.Approves) != 1 || f.Target != f.Approves[0].Token && f.Target != swap.Permit2Contract {
		return nil, false
	}
	return GrantKey(o.Terms.Account, o.Terms.SrcChain, swap.GrantOf(f)), true
}

// GrantKey returns the key of a grant in its bucket.
func GrantKey(account common.Address, chainID uint64, g swap.Grant) []byte {
	k := binary.BigEndian.AppendUint64(slices.Clone(account[:]), chainID)
	return slices.Concat(k, g.Token[:], g.Spender[:], []byte(g.Kind))
}

// Grants returns every allowance that our orders granted for an account on a chain, with
// the order that did so last. It fails with ErrIndex rather than leave out an entry that
// cannot be read: an allowance missing here would not be checked.
func (j *Journal) Grants(account common.Address, chainID uint64) (map[swap.Grant]string, error) {
	all := map[swap.Grant]string{}
	prefix := GrantKey(account, chainID, swap.Grant{})[:common.AddressLength+8]
	err := j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(GrantBucket).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			g, ok := readGrant(k)
			if !ok {
				return ErrIndex
			}
			all[g] = string(v)
		}
		return nil
	})
	return all, err
}

// read decodes an order; the result stays valid after the transaction.
func read(tx *bolt.Tx, id string) (o swap.Order, err error) {
	v := tx.Bucket(OrderBucket).Get([]byte(id))
	if v == nil {
		return o, swap.Refuse(swap.OrderUnknown, "no order %q", id)
	}
	return o, DecodeOrder(v, id, &o)
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

// History returns an order's entries, oldest first.
func (j *Journal) History(id string) (lines []Entry, err error) {
	prefix := []byte(id + "/")
	err = j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(HistoryBucket).Cursor()
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

// Open returns the ids of the orders that are not final.
func (j *Journal) Open() (ids []string, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(OpenBucket).ForEach(func(id, _ []byte) error {
			if IsID(id) {
				ids = append(ids, string(id))
			}
			return nil
		})
	})
	return ids, err
}

// CountActive counts the orders among ids that are more than watched. An order whose provider
// reported an end that nothing proves may stay open for ever, and must not keep others
// from starting; nor must one that cannot be read, for which nothing is done.
func (j *Journal) CountActive(ids []string) (n int, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		for _, id := range ids {
			if o, err := read(tx, id); err == nil && !o.Unproven() {
				n++
			}
		}
		return nil
	})
	return n, err
}

// List returns up to limit orders, newest first (ids ascend with time), before the one
// named by cursor; next is the cursor of the next page, "" at the end. An order whose
// record cannot be read is listed as [swap.Unreadable], whatever account is asked for. Keys
// that are no order ids are skipped. With openOnly only the open orders are read, since
// the number of ended ones keeps growing.
func (j *Journal) List(account common.Address, openOnly bool, cursor string, limit int) (page []swap.Order, next string, err error) {
	ids := OrderBucket
	if openOnly {
		ids = OpenBucket
	}
	err = j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(ids).Cursor()
		for k := lastBefore(c, cursor); k != nil; k, _ = c.Prev() {
			if !IsID(k) {
				continue
			}
			o, err := read(tx, string(k))
			switch {
			case errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}):
				continue
			case err != nil:
				o = placeholderFor(tx, string(k), err)
			case account != (common.Address{}) && o.Terms.Account != account:
				continue
			}
			if openOnly && o.Ended() {
				continue
			}
			if len(page) == limit {
				next = page[limit-1].ID
				return nil
			}
			page = append(page, o)
		}
		return nil
	})
	return page, next, err
}

// lastBefore moves c to the last key before key, which need not exist; "" means the end.
func lastBefore(c *bolt.Cursor, key string) []byte {
	if key != "" {
		if at, _ := c.Seek([]byte(key)); at != nil {
			k, _ := c.Prev()
			return k
		}
	}
	k, _ := c.Last()
	return k
}

// point is a place around a commit where a fault test may kill the process.
func point(when string, s swap.State) {
	if failpoint.Enabled {
		failpoint.Point("journal." + when + "_" + string(s))
	}
}

// ByDigest returns the order that executed a plan, or fails with OrderUnknown.
func (j *Journal) ByDigest(d common.Hash) (o swap.Order, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		id := tx.Bucket(DigestBucket).Get(d[:])
		if id == nil {
			return swap.Refuse(swap.OrderUnknown, "no order of that plan")
		}
		o, err = read(tx, string(id))
		return err
	})
	return o, err
}

var (
	MoveBucket = []byte("moved") // what browsers moved, and swaps of unpriced tokens, without the password
)
