package audit

import (
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// sweepKey begins the keys of the sender's records of what was moved back from isolated accounts.
const sweepKey = "sweep/"

// readIsolated draws from the chains' history what isolated accounts sent, each for one order.
func (r *Audit) readIsolated() error {
	r.isolated, r.isolatedTxs = map[common.Address]Order{}, nil
	for _, o := range r.orders {
		at := o.Order.Terms.Isolated
		switch other, twice := r.isolated[at]; {
		case at == native:
			continue
		case twice || slices.Contains(r.Accounts, at):
			r.Find("%s: its isolated account %s is of %s too", r.orderLabel(o.Order), at, other.ID)
		}
		r.isolated[at] = o.Order
	}
	for _, h := range r.Histories {
		signer := types.LatestSignerForChainID(new(big.Int).SetUint64(h.ID))
		for _, p := range h.blocks {
			for i, tx := range p.txs {
				from, err := types.Sender(signer, tx)
				if err != nil {
					return err
				}
				if _, is := r.isolated[from]; is {
					r.isolatedTxs = append(r.isolatedTxs, ownTx{h.ID, from, p.number, tx, p.found[i]})
				}
			}
		}
	}
	return nil
}

// checkIsolated checks that the journal has what isolated accounts sent, as steps of their
// order or to move what is left to its account, and claims it for the order.
func (r *Audit) checkIsolated() {
	for _, x := range r.isolatedTxs {
		o, hash := r.isolated[x.account], x.tx.Hash()
		rec, kept := r.records[hash]
		r.claimed[hash] = o.ID
		switch sweeps := strings.HasPrefix(rec.Key, sweepKey); {
		case !kept:
			r.Find("%s: transaction %s was mined and is not in the journal", r.orderLabel(o), hash)
		case sweeps && sweptTo(x.tx) != o.Terms.Account:
			r.Find("%s: what was left went to %s in %s", r.orderLabel(o), sweptTo(x.tx), hash)
		case !sweeps && orderOf(rec) != o.ID:
			r.Find("%s: its isolated account made %s of the record %s", r.orderLabel(o), hash, rec.Key)
		}
	}
	r.Count("transactions of isolated accounts", len(r.isolatedTxs))
}

// sweptTo returns who gets the coin or the token that a transaction moves.
func sweptTo(tx *types.Transaction) common.Address {
	switch data := tx.Data(); {
	case tx.To() == nil:
		return native
	case len(data) == 0:
		return *tx.To()
	case len(data) == 68 && common.Bytes2Hex(data[:4]) == "a9059cbb": // transfer(address,uint256)
		return common.BytesToAddress(data[4:36])
	}
	return native
}

// handedOver returns the coin that an order's isolated account sent elsewhere than back.
func (r *Audit) handedOver(o Order) *big.Int {
	sum := new(big.Int)
	for _, x := range r.isolatedTxs {
		if x.account == o.Terms.Isolated && x.receipt.Status == types.ReceiptStatusSuccessful && !strings.HasPrefix(r.records[x.tx.Hash()].Key, sweepKey) {
			sum.Add(sum, x.tx.Value())
		}
	}
	return sum
}

// sweptCoin returns the coin that a transaction of an isolated account moved to a; nil if it
// is none.
func (r *Audit) sweptCoin(chain uint64, a common.Address, tx common.Hash) *big.Int {
	for _, x := range r.isolatedTxs {
		if x.chain == chain && x.tx.Hash() == tx && x.tx.To() != nil && *x.tx.To() == a && x.receipt.Status == types.ReceiptStatusSuccessful {
			return x.tx.Value()
		}
	}
	return nil
}
