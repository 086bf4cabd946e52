package tokens

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"

	"swapkeep/internal/clock"

	"swapkeep/internal/failpoint"
)

// bucket holds one record per imported token, keyed by chain id (8 bytes, big endian) and
// address.
var bucket = []byte("tokens")

// A record is an imported token on disk.
type record struct {
	Symbol   string    `json:"symbol"`
	Name     string    `json:"name"`
	Decimals uint8     `json:"decimals"`
	Imported time.Time `json:"imported"`
	Hosts    int       `json:"hosts,omitempty"` // that agree on the decimals; absent = one
}

func (a id) key() []byte {
	return append(binary.BigEndian.AppendUint64(nil, a.chain), a.address[:]...)
}

// keepImported stores a token in one commit.
func keepImported(db *bolt.DB, t Token) error {
	r := record{Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals, Imported: clock.Now().UTC(), Hosts: 1}
	if t.DecimalsFrom == FromHosts {
		r.Hosts = 2
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return commit(db, func(kept *bolt.Bucket) error { return kept.Put(t.id().key(), b) })
}

// dropImported removes a token in one commit.
func dropImported(db *bolt.DB, a id) error {
	return commit(db, func(kept *bolt.Bucket) error { return kept.Delete(a.key()) })
}

func commit(db *bolt.DB, change func(*bolt.Bucket) error) error {
	failpoint.Point("tokens.before_commit")
	err := db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket(bucket)) })
	failpoint.Point("tokens.after_commit")
	if err != nil {
		return fmt.Errorf("imported tokens: %w", err)
	}
	return nil
}

// readImported returns the imported tokens, oldest first, and how many records are
// damaged.
func readImported(db *bolt.DB) (all []Token, damaged int, err error) {
	type dated struct {
		Token
		at time.Time
	}
	var kept []dated
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		return b.ForEach(func(key, value []byte) error {
			t, at, err := decodeRecord(key, value)
			if err != nil {
				damaged++
				return nil
			}
			kept = append(kept, dated{t, at})
			return nil
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("imported tokens: %w", err)
	}
	slices.SortFunc(kept, func(a, b dated) int {
		return cmp.Or(a.at.Compare(b.at), a.id().compare(b.id()))
	})
	for _, d := range kept {
		all = append(all, d.Token)
	}
	return all, damaged, nil
}

var errRecord = errors.New("damaged record")

// decodeRecord decodes a record that keepImported could have written, and no other.
func decodeRecord(key, value []byte) (t Token, at time.Time, err error) {
	if len(key) != 8+common.AddressLength {
		return t, at, errRecord
	}
	var r record
	if err := json.Unmarshal(value, &r); err != nil {
		return t, at, fmt.Errorf("%w: %w", errRecord, err)
	}
	t = Token{
		Chain: binary.BigEndian.Uint64(key), Address: common.BytesToAddress(key[8:]),
		Symbol: r.Symbol, Name: r.Name, Decimals: r.Decimals, DecimalsFrom: sourceOfHosts(r.Hosts), Imported: true,
	}
	switch {
	case t.Chain == 0 || t.Address == Native || r.Decimals > MaxDecimals:
		return t, at, errRecord
	case r.Symbol == "" || clean(r.Symbol, maxSymbol) != r.Symbol || r.Name == "" || clean(r.Name, maxName) != r.Name || !utf8.ValidString(r.Symbol+r.Name):
		return t, at, errRecord
	}
	return t, r.Imported, nil
}
