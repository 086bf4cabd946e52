package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// useBucket has an entry for every open order that needs an allowance: key ‖ order id ->
// Use. It changes in the same commit as the order.
var useBucket = []byte("allowance")

// ErrAllowanceLocked means that another order is between its approval and its pull of the same
// allowance.
var ErrAllowanceLocked = errors.New("another order holds the allowance")

// An AllowanceKey names one ERC-20 allowance.
type AllowanceKey struct {
	Chain   uint64
	Account common.Address
	Token   common.Address
	Spender common.Address
}

// Bytes returns a key that begins with chain, account and token, so that all spenders of
// a token are adjacent.
func (k AllowanceKey) Bytes() []byte {
	b := binary.BigEndian.AppendUint64(nil, k.Chain)
	b = append(b, k.Account[:]...)
	b = append(b, k.Token[:]...)
	return append(b, k.Spender[:]...)
}

const (
	balanceKeyLen   = 8 + 2*common.AddressLength // chain, account, token
	allowanceKeyLen = balanceKeyLen + common.AddressLength
)

// allowanceKeyOf returns the allowance that o needs.
func allowanceKeyOf(o swap.Order) AllowanceKey {
	return AllowanceKey{Chain: o.Terms.SrcChain, Account: o.Terms.From(), Token: o.Terms.Input(), Spender: o.Plan.Spender}
}

// A Use is what one open order needs of an allowance. Of the orders that are not signed,
// at most one holds the allowance, and only that one may change or pull it.
type Use struct {
	Order           string   `json:"order"`
	Amount          *big.Int `json:"amount"`
	AllowanceLocked bool     `json:"allowanceLocked,omitempty"` // between approval and pull
	Signed          bool     `json:"signed,omitempty"`          // a signed order: other orders count its amount as spent
}

// needOf returns what o needs of its allowance. ok is false once the input was pulled, or
// for a signed order once it has ended.
func needOf(o swap.Order) (u Use, ok bool) {
	if o.Plan.Spender == (common.Address{}) || o.Terms.AmountIn == nil || len(o.Plan.Steps) == 0 || o.State.Final() {
		return u, false
	}
	u = Use{Order: o.ID, Amount: o.Terms.AmountIn, AllowanceLocked: o.AllowanceLocked}
	if o.Step < len(o.Plan.Steps) {
		return u, true
	}
	u.AllowanceLocked, u.Signed = false, o.OrderSigned()
	return u, u.Signed
}

// writeUse updates o's entry; was is o as stored. It fails with ErrAllowanceLocked if o holds an
// allowance that another order holds.
func writeUse(tx *bolt.Tx, was swap.Order, o *swap.Order) error {
	b := tx.Bucket(useBucket)
	if was.Plan.Spender != (common.Address{}) && allowanceKeyOf(was) != allowanceKeyOf(*o) {
		if err := b.Delete(append(allowanceKeyOf(was).Bytes(), o.ID...)); err != nil {
			return err
		}
	}
	if o.Plan.Spender == (common.Address{}) {
		return nil
	}
	key := append(allowanceKeyOf(*o).Bytes(), o.ID...)
	u, ok := needOf(*o)
	o.AllowanceLocked = ok && u.AllowanceLocked
	if !ok {
		return b.Delete(key)
	}
	if u.AllowanceLocked {
		if err := checkAllowanceFree(tx, was, *o); err != nil {
			return err
		}
	}
	return b.Put(key, swap.MustJSON(u))
}

// checkAllowanceFree fails with ErrAllowanceLocked if another order holds o's allowance. The order record wins
// over the index entry; an order whose record cannot be read holds it if either says so.
// If two orders hold it already, after damage to the file, they must not block each other
// for ever: the older one goes on.
func checkAllowanceFree(tx *bolt.Tx, was, o swap.Order) error {
	k := allowanceKeyOf(o)
	held := was.AllowanceLocked && allowanceKeyOf(was) == k
	lines, err := readLines(tx, k.Bytes())
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.Order == o.ID || !l.AllowanceLocked && !recordSaysLocked(tx, l.Order) {
			continue
		}
		holder, err := read(tx, l.Order)
		if errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrAllowanceLocked, err)
		}
		if u, ok := UseOf(holder, k); ok && u.AllowanceLocked && !(held && o.ID < holder.ID) {
			return ErrAllowanceLocked
		}
	}
	return nil
}

// recordSaysLocked reports whether an order's record contains that it holds its allowance.
// Decoding every record would take too long where a thousand orders wait.
func recordSaysLocked(tx *bolt.Tx, id string) bool {
	return bytes.Contains(tx.Bucket(orderBucket).Get([]byte(id)), []byte(`"allowanceLocked":true`))
}

// UseOf returns what o needs of allowance k; ok is false if nothing.
func UseOf(o swap.Order, k AllowanceKey) (u Use, ok bool) {
	if allowanceKeyOf(o) != k {
		return u, false
	}
	return needOf(o)
}

// A storedUse is a stored use with its key.
type storedUse struct {
	Use
	key AllowanceKey
}

// readLines returns the entries whose key begins with prefix. An entry stored under
// another order's id is skipped, so that no order counts twice. It fails with ErrIndex if
// an entry cannot be read.
func readLines(tx *bolt.Tx, prefix []byte) (lines []storedUse, err error) {
	c := tx.Bucket(useBucket).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		u, err := decodeUse(v)
		if err != nil {
			return nil, ErrIndex
		}
		if len(k) > allowanceKeyLen && string(k[allowanceKeyLen:]) == u.Order {
			lines = append(lines, storedUse{u, readKey(k)})
		}
	}
	return lines, nil
}

// readKey decodes what [AllowanceKey.Bytes] wrote.
func readKey(b []byte) (k AllowanceKey) {
	k.Chain = binary.BigEndian.Uint64(b)
	for i, part := range []*common.Address{&k.Account, &k.Token, &k.Spender} {
		copy(part[:], b[8+i*common.AddressLength:])
	}
	return k
}

// decodeUse reads a stored line.
func decodeUse(b []byte) (u Use, err error) {
	if err := json.Unmarshal(b, &u); err != nil {
		return u, err
	}
	if u.Order == "" || u.Amount == nil || u.Amount.Sign() < 0 {
		return u, errors.New("no sound line")
	}
	return u, nil
}

// Uses returns what open orders need of an allowance, by the index alone.
func (j *Journal) Uses(k AllowanceKey) (uses []Use, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		lines, err := readLines(tx, k.Bytes())
		for _, l := range lines {
			uses = append(uses, l.Use)
		}
		return err
	})
	return uses, err
}

// Promised returns how much of a token, in base units, the account's signed open orders
// may still take at now, whoever pulls it. Others count it as spent.
func (j *Journal) Promised(chainID uint64, account, token common.Address, now time.Time) (*big.Int, error) {
	sum := new(big.Int)
	err := j.db.View(func(tx *bolt.Tx) error {
		lines, err := readLines(tx, AllowanceKey{Chain: chainID, Account: account, Token: token}.Bytes()[:balanceKeyLen])
		for _, l := range lines {
			u := l.Use
			o, unread := read(tx, u.Order)
			if unread == nil { // the entry may date from when the record could not be read
				u, _ = UseOf(o, l.key)
			}
			if u.Signed && (unread != nil || o.MayPull(now)) {
				sum.Add(sum, u.Amount)
			}
		}
		return err
	})
	return sum, err
}
