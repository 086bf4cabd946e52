package audit

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// checkCoins checks, block by block, that each account's native balance changed as its own
// transactions and its orders' ends explain.
func (r *Audit) checkCoins() {
	for _, h := range r.Histories {
		for _, a := range r.Accounts {
			for _, p := range h.blocks {
				came := new(big.Int).Sub(h.balance(a, p.number), h.balance(a, p.number-1))
				for _, x := range r.owns {
					if x.chain == h.ID && x.account == a && x.block == p.number {
						came.Add(came, x.cost())
					}
				}
				r.checkBlockCoins(h.ID, a, p, came)
			}
		}
	}
}

// checkBlockCoins checks that what came in a block is what its transactions brought to orders.
func (r *Audit) checkBlockCoins(chain uint64, a common.Address, p *blockRecord, came *big.Int) {
	least, most, names := new(big.Int), new(big.Int), []string{}
	for _, tx := range p.txs {
		low, high := r.coinRange(chain, a, tx.Hash())
		least.Add(least, low)
		most.Add(most, high)
		if high.Sign() > 0 {
			names = append(names, r.claimed[tx.Hash()])
		}
	}
	if came.Cmp(least) < 0 || came.Cmp(most) > 0 {
		r.Find("chain %d, block %d: %s of the coin came to %s, want %s to %s for %v", chain, p.number, came, a, least, most, names)
	}
}

// coinRange returns how much of the native coin a transaction can have brought an account:
// the amount of the verdict that names it; around the minimum received if the verdict has
// no amount; for an open order without proof, up to its payment; or a gift.
func (r *Audit) coinRange(chain uint64, a common.Address, tx common.Hash) (least, most *big.Int) {
	least, most = new(big.Int), new(big.Int)
	if g, given := r.strayPayments[tx]; given && g.chain == chain && g.to == a && g.token == native {
		return g.least, g.most
	}
	o := r.orders[r.claimed[tx]].Order
	if o.ID == "" || o.Terms.Account != a {
		return least, most
	}
	if !o.Final {
		if g, awaited := r.awaited[tx]; awaited && g.chain == chain && g.token == native {
			return least, g.most
		}
		return least, most
	}
	v := o.Verdict
	switch {
	case v.Evidence == nil || v.Evidence.Tx != tx:
	case v.Received != nil && v.Received.Token == native:
		return v.Received.Amount.Int(), v.Received.Amount.Int()
	case o.Terms.TokenOut == native && r.oneForOne(o.Terms):
		return o.Terms.AmountIn.Int(), o.Terms.AmountIn.Int()
	case v.State == "filled" && o.Terms.TokenOut == native && o.Terms.DstChainID == chain:
		return o.Terms.MinimumReceived.Int(), new(big.Int).Lsh(o.Terms.MinimumReceived.Int(), 1)
	}
	return least, most
}
