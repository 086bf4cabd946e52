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
				received := new(big.Int).Sub(h.balance(a, p.number), h.balance(a, p.number-1))
				for _, x := range r.owns {
					if x.chain == h.ID && x.account == a && x.block == p.number {
						received.Add(received, x.cost())
					}
				}
				r.checkBlockCoins(h.ID, a, p, received)
			}
		}
	}
}

// checkBlockCoins checks that what came in a block is what its transactions brought to orders.
func (r *Audit) checkBlockCoins(chain uint64, a common.Address, p *blockRecord, received *big.Int) {
	minimum, maximum, names := new(big.Int), new(big.Int), []string{}
	for _, tx := range p.txs {
		low, high := r.coinRange(chain, a, tx.Hash())
		minimum.Add(minimum, low)
		maximum.Add(maximum, high)
		if high.Sign() > 0 {
			names = append(names, r.claimed[tx.Hash()])
		}
	}
	if received.Cmp(minimum) < 0 || received.Cmp(maximum) > 0 {
		r.Find("chain %d, block %d: %s of the coin came to %s, want %s to %s for %v", chain, p.number, received, a, minimum, maximum, names)
	}
}

// coinRange returns how much of the native coin a transaction can have brought an account:
// the amount of the verdict that names it; around the minimum received if the verdict has
// no amount; for an open order without proof, up to its payment; or a gift.
func (r *Audit) coinRange(chain uint64, a common.Address, tx common.Hash) (minimum, maximum *big.Int) {
	minimum, maximum = new(big.Int), new(big.Int)
	if g, given := r.strayPayments[tx]; given && g.chain == chain && g.to == a && g.token == native {
		return g.minimum, g.maximum
	}
	if swept := r.sweptCoin(chain, a, tx); swept != nil {
		return swept, swept
	}
	o := r.orders[r.claimed[tx]].Order
	if o.ID == "" || o.Terms.Account != a {
		return minimum, maximum
	}
	if !o.Final {
		if g, awaited := r.awaited[tx]; awaited && g.chain == chain && g.token == native {
			return minimum, g.maximum
		}
		return minimum, maximum
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
	return minimum, maximum
}
