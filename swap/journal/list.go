package journal

import (
	"errors"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// Open returns the ids of the orders that are watched: not final, and not closed for good.
func (j *Journal) Open() (ids []string, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(openBucket).ForEach(func(id, _ []byte) error {
			if isID(id) {
				ids = append(ids, string(id))
			}
			return nil
		})
	})
	return ids, err
}

// CountActive counts the orders among ids that are more than watched. An order that is closed, or
// whose provider reported an end that nothing proves, must not keep others from starting; nor
// must one that cannot be read, for which nothing is done.
func (j *Journal) CountActive(ids []string) (n int, err error) {
	err = j.db.View(func(tx *bolt.Tx) error {
		for _, id := range ids {
			if o, err := read(tx, id); err == nil && !o.Unproven() && !o.Ended() {
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
	ids := orderBucket
	if openOnly {
		ids = openBucket
	}
	err = j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(ids).Cursor()
		for k := lastBefore(c, cursor); k != nil; k, _ = c.Prev() {
			if !isID(k) {
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
