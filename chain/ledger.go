package chain

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

var (
	txBucket    = []byte("sender.tx")    // key -> Tx
	nonceBucket = []byte("sender.nonce") // chain ‖ account ‖ nonce -> key of the Tx that holds it
	probeBucket = []byte("sender.probe") // one counter, written to prove that the file can be
	probeKey    = []byte("n")
)

// A ledger is the write-ahead record of every transaction ever signed. Its errors wrap
// ErrLedger, but for the ErrNonceBlocked of free.
type ledger struct{ db *bolt.DB }

// openLedger opens the ledger of db and creates it if there is none. A read-only db that
// has one can be watched.
func openLedger(db *bolt.DB) (ledger, error) {
	l := ledger{db}
	missing := false
	err := db.View(func(b *bolt.Tx) error {
		missing = b.Bucket(txBucket) == nil || b.Bucket(nonceBucket) == nil || b.Bucket(probeBucket) == nil
		return nil
	})
	if err == nil && missing {
		err = db.Update(func(b *bolt.Tx) error {
			for _, name := range [][]byte{txBucket, nonceBucket, probeBucket} {
				if _, err := b.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return l, ledgerError(err)
}

// ledgerError wraps err in ErrLedger, unless it is nil or wrapped already.
func ledgerError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrLedger):
		return err
	case errors.Is(err, berrors.ErrDatabaseReadOnly):
		return fmt.Errorf("%w: the database is read-only; make its file writable and restart", ErrLedger)
	}
	return fmt.Errorf("%w: %w", ErrLedger, err)
}

// probe proves that the ledger can be written, before anything is signed.
func (l ledger) probe() error {
	return ledgerError(l.db.Update(func(b *bolt.Tx) error {
		bucket := b.Bucket(probeBucket)
		n := uint64(0)
		if v := bucket.Get(probeKey); len(v) == 8 {
			n = binary.BigEndian.Uint64(v)
		}
		return bucket.Put(probeKey, binary.BigEndian.AppendUint64(nil, n+1))
	}))
}

// get returns the record of key, nil if there is none.
func (l ledger) get(key string) (tx *Tx, err error) {
	err = l.db.View(func(b *bolt.Tx) error {
		tx, err = load(b, key)
		return err
	})
	return tx, ledgerError(err)
}

func load(b *bolt.Tx, key string) (*Tx, error) {
	v := b.Bucket(txBucket).Get([]byte(key))
	if v == nil {
		return nil, nil
	}
	tx, err := decodeTx(v)
	if err == nil && tx.Key != key {
		err = errors.New("it stands under another key")
	}
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", key, err)
	}
	return tx, nil
}

// create stores tx and its claim on the nonce in one commit.
func (l ledger) create(tx *Tx) error {
	return ledgerError(l.db.Update(func(b *bolt.Tx) error {
		claim := nonceKey(tx.Call.ChainID, tx.Call.From, tx.Nonce)
		if holder := b.Bucket(nonceBucket).Get(claim); holder != nil {
			return fmt.Errorf("nonce %d is held by %q", tx.Nonce, holder)
		}
		if b.Bucket(txBucket).Get([]byte(tx.Key)) != nil {
			return fmt.Errorf("%q is recorded already", tx.Key)
		}
		if err := b.Bucket(nonceBucket).Put(claim, []byte(tx.Key)); err != nil {
			return err
		}
		return store(b, tx)
	}))
}

func store(b *bolt.Tx, tx *Tx) error {
	v, err := encodeTx(tx)
	if err != nil {
		return err
	}
	return b.Bucket(txBucket).Put([]byte(tx.Key), v)
}

// update applies change to the record of key in one commit, unless change returns false,
// and returns the resulting record. A final record is never changed. A rejected one gives
// its nonce back in the same commit.
func (l ledger) update(key string, change func(tx *Tx) bool) (*Tx, error) {
	var tx *Tx
	errUnchanged := errors.New("unchanged")
	err := l.db.Update(func(b *bolt.Tx) (err error) {
		if tx, err = load(b, key); err != nil {
			return err
		}
		if tx == nil {
			return fmt.Errorf("record %q is gone", key)
		}
		if tx.State.Final() || !change(tx) {
			return errUnchanged
		}
		if tx.State == TxRejected {
			claim := nonceKey(tx.Call.ChainID, tx.Call.From, tx.Nonce)
			if bytes.Equal(b.Bucket(nonceBucket).Get(claim), []byte(key)) {
				if err := b.Bucket(nonceBucket).Delete(claim); err != nil {
					return err
				}
			}
		}
		return store(b, tx)
	})
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	if err != nil {
		return nil, ledgerError(err)
	}
	return tx, nil
}

func nonceKey(chainID uint64, from common.Address, nonce uint64) []byte {
	k := binary.BigEndian.AppendUint64(nil, chainID)
	k = append(k, from[:]...)
	return binary.BigEndian.AppendUint64(k, nonce)
}

// nonceHolder returns the record that holds a nonce; nil if none does. An index entry that names
// a record of another nonce is damaged and an error: it may hide a transaction of ours.
func nonceHolder(b *bolt.Tx, chainID uint64, from common.Address, nonce uint64) (*Tx, error) {
	key := b.Bucket(nonceBucket).Get(nonceKey(chainID, from, nonce))
	if key == nil {
		return nil, nil
	}
	return recordOfHolder(b, string(key), chainID, from, nonce)
}

// recordOfHolder returns the record that an index entry names.
func recordOfHolder(b *bolt.Tx, key string, chainID uint64, from common.Address, nonce uint64) (*Tx, error) {
	tx, err := load(b, key)
	switch {
	case err != nil:
		return nil, err
	case tx == nil:
		return nil, fmt.Errorf("nonce %d is held by %q, which is gone", nonce, key)
	case tx.State != TxUnknown && (tx.Nonce != nonce || tx.Call.ChainID != chainID || tx.Call.From != from):
		return nil, fmt.Errorf("nonce %d is held by %q, which is of another", nonce, key)
	}
	return tx, nil
}

// free returns the lowest nonce from first on that no record holds. Every nonce that it
// skips must still be able to reach the chain; otherwise the transaction with the
// returned one would wait for ever: ErrNonceBlocked.
func (l ledger) free(chainID uint64, from common.Address, first uint64, now time.Time) (nonce uint64, err error) {
	err = l.db.View(func(b *bolt.Tx) error {
		for nonce = first; ; nonce++ {
			tx, err := nonceHolder(b, chainID, from, nonce)
			if err != nil || tx == nil {
				return err
			}
			if !tx.State.Final() && now.After(tx.Last().Until) {
				return fmt.Errorf("%w: %q, nonce %d", ErrNonceBlocked, tx.Key, nonce)
			}
		}
	})
	if errors.Is(err, ErrNonceBlocked) {
		return 0, err
	}
	return nonce, ledgerError(err)
}

// holder returns the record that holds a nonce; nil if none does.
func (l ledger) holder(chainID uint64, from common.Address, nonce uint64) (tx *Tx, err error) {
	err = l.db.View(func(b *bolt.Tx) error {
		tx, err = nonceHolder(b, chainID, from, nonce)
		return err
	})
	return tx, ledgerError(err)
}

// holders returns the records that hold the nonces from first up to, but not including,
// end; nil for a nonce that none holds.
func (l ledger) holders(chainID uint64, from common.Address, first, end uint64) ([]*Tx, error) {
	var all []*Tx
	for nonce := first; nonce < end; nonce++ {
		tx, err := l.holder(chainID, from, nonce)
		if err != nil {
			return nil, err
		}
		all = append(all, tx)
	}
	return all, nil
}

// nonceExtent returns next, the nonce after the highest that was ever held for the account (0
// if there is none), and open, the lowest that a record of ours may still be waiting for
// (next if there is none among the latest). All nonces below one that was used at depth
// are used.
func (l ledger) nonceExtent(chainID uint64, from common.Address) (open, next uint64, err error) {
	const latest = 64
	err = l.db.View(func(b *bolt.Tx) error {
		prefix := nonceKey(chainID, from, 0)
		prefix = prefix[:len(prefix)-8]
		c := b.Bucket(nonceBucket).Cursor()
		before := c.Prev
		if k, _ := c.Seek(nonceKey(chainID, from, math.MaxUint64)); k == nil {
			before = c.Last
		}
		k, holder := before()
		for seen := 0; seen < latest && bytes.HasPrefix(k, prefix); seen++ {
			if len(k) != len(prefix)+8 {
				return fmt.Errorf("index of nonces: %x is no entry", k)
			}
			nonce := binary.BigEndian.Uint64(k[len(prefix):])
			if seen == 0 {
				open, next = nonce+1, nonce+1
			}
			tx, err := recordOfHolder(b, string(holder), chainID, from, nonce)
			if err != nil {
				return err
			}
			switch {
			case !tx.State.Final():
				open = nonce
			case tx.State == TxReplaced || slices.Contains(onChainStates, tx.State):
				return nil
			}
			k, holder = c.Prev()
		}
		return nil
	})
	return open, next, ledgerError(err)
}

const (
	ledgerVersion = 1
	maxAttempts   = 32
	maxKey        = 256 // bytes
)

// validate checks that a record of this version is one that we would write: its bytes are
// transactions of its nonce and chain, and match its hashes and fees.
func (tx *Tx) validate() error {
	switch {
	case tx.Version != ledgerVersion:
		return fmt.Errorf("record format %d", tx.Version)
	case tx.Key == "" || len(tx.Key) > maxKey:
		return errors.New("no key, or too long a key")
	case tx.State == "":
		return errors.New("no state")
	case len(tx.Attempts) == 0 || len(tx.Attempts) > maxAttempts:
		return fmt.Errorf("%d attempts", len(tx.Attempts))
	case tx.Call.Value == nil || tx.Call.Value.Sign() < 0:
		return errors.New("no value")
	}
	for i, a := range tx.Attempts {
		t, err := a.transaction()
		if err != nil {
			return fmt.Errorf("attempt %d: %w", i+1, err)
		}
		if t.Nonce() != tx.Nonce || !t.ChainId().IsUint64() || t.ChainId().Uint64() != tx.Call.ChainID {
			return fmt.Errorf("attempt %d is of another nonce or chain", i+1)
		}
	}
	return nil
}

// encodeTx encodes tx, and refuses what decodeTx would not decode.
func encodeTx(tx *Tx) ([]byte, error) {
	tx.Version = ledgerVersion
	if err := tx.validate(); err != nil {
		return nil, err
	}
	return json.Marshal(tx)
}

// decodeTx decodes a record. Of one written by a newer version it returns what can be
// shown, in state TxUnknown.
func decodeTx(v []byte) (*Tx, error) {
	var stamp struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(v, &stamp); err != nil {
		return nil, err
	}
	if stamp.Version > ledgerVersion {
		return newerTx(v)
	}
	d := json.NewDecoder(bytes.NewReader(v))
	d.DisallowUnknownFields()
	tx := new(Tx)
	if err := d.Decode(tx); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one value")
	}
	if err := tx.validate(); err != nil {
		return nil, err
	}
	return tx, nil
}

func newerTx(v []byte) (*Tx, error) {
	var shown struct {
		Version int    `json:"v"`
		Key     string `json:"key"`
	}
	if err := json.Unmarshal(v, &shown); err != nil {
		return nil, err
	}
	return &Tx{
		Version: shown.Version, Key: shown.Key, State: TxUnknown,
		Reason: fmt.Sprintf("written by a newer version (record format %d)", shown.Version),
	}, nil
}
