package chain

import (
	"cmp"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A Tier is how soon a transaction should be mined, at a price to match.
type Tier string

// The tiers. An empty one is Normal.
const (
	Slow   Tier = "slow"   // when the network is quiet
	Normal Tier = "normal" // in one of the next blocks
	Fast   Tier = "fast"   // in the next one, even when others hurry
)

// tiers says what each of them offers, cheapest first. The tip is the median, over the
// last blocks, of the tip paid at that percentile of the gas; where a node gives only one
// suggestion, it is so many eighths of that. The fee cap leaves room for the base fee to
// rise to headroom eighths of the next block's; doubling takes six full blocks
// (EIP-1559).
var tiers = [...]struct {
	tier       Tier
	percentile float64
	suggestion int64
	headroom   int64
}{
	{Slow, 20, 8, 10},
	{Normal, 50, 9, 16},
	{Fast, 80, 12, 16},
}

// A GasPrice is the price of gas on a network at its latest block, in wei per unit.
// Without a fee market both base fees are zero.
type GasPrice struct {
	Chain       uint64
	Block       uint64
	Time        time.Time // of the block
	BaseFee     *big.Int
	NextBaseFee *big.Int // of the next block
	Slow        Fees
	Normal      Fees
	Fast        Fees
	L1          L1FeeKind
	L1Fee       *big.Int // L1 fee for the data of a plain transfer; nil = none, or unknown

	hash common.Hash // of the block
}

func (t Tier) orNormal() Tier { return cmp.Or(t, Normal) }

// At returns the fees of tier t.
func (g GasPrice) At(t Tier) Fees {
	switch t {
	case Slow:
		return g.Slow
	case Fast:
		return g.Fast
	}
	return g.Normal
}

// eighths returns n eighths of x, rounded up.
func eighths(x *big.Int, n int64) *big.Int {
	y := new(big.Int).Mul(x, big.NewInt(n))
	y.Add(y, big.NewInt(7))
	return y.Rsh(y, 3)
}

// setFees sets the tiers' fees from their tips, which it keeps within the network's MinTip
// and MaxTip, and in order.
func (g *GasPrice) setFees(n Network, tips [len(tiers)]*big.Int) {
	minimum := n.MinTip
	for i, fees := range []*Fees{&g.Slow, &g.Normal, &g.Fast} {
		tip := tips[i]
		if tip.Cmp(n.MaxTip) > 0 {
			tip = n.MaxTip
		}
		if tip.Cmp(minimum) < 0 {
			tip = minimum
		}
		minimum = tip
		tip = new(big.Int).Set(tip)
		*fees = Fees{BaseFee: g.NextBaseFee, GasFeeCap: tip, GasTipCap: tip, Legacy: true}
		if n.Fee == FeeMarket {
			feeCap := eighths(g.NextBaseFee, tiers[i].headroom)
			*fees = Fees{BaseFee: g.NextBaseFee, GasFeeCap: feeCap.Add(feeCap, tip), GasTipCap: tip}
		}
	}
}

// suggestedTips returns the tiers' tips, or gas prices, for a node's single suggestion.
func suggestedTips(price *big.Int) (tips [len(tiers)]*big.Int) {
	for i, t := range tiers {
		tips[i] = eighths(price, t.suggestion)
	}
	return tips
}

const (
	historyBlocks = 20  // blocks that the tips are taken from
	maxPriceBits  = 128 // size of the highest price per gas that is believed
)

// A feeHistory is the answer to eth_feeHistory for the percentiles of tiers.
type feeHistory struct {
	BaseFee []*hexutil.Big   `json:"baseFeePerGas"` // one more than blocks: ends with the next block's
	Used    []float64        `json:"gasUsedRatio"`
	Reward  [][]*hexutil.Big `json:"reward"` // by block, then by percentile
}

// errNoHistory means that a fee history gives no tips: it is malformed, as from gateways
// that do not know percentiles, or nobody paid any.
var errNoHistory = errors.New("no fee history")

func readFeeHistory(raw json.RawMessage) (h feeHistory, err error) {
	if err := json.Unmarshal(raw, &h); err != nil {
		return h, errNoHistory
	}
	blocks := len(h.Used)
	if blocks == 0 || blocks > historyBlocks || len(h.Reward) != blocks || len(h.BaseFee) != blocks+1 {
		return h, errNoHistory
	}
	for _, row := range append(h.Reward, h.BaseFee) {
		if slices.ContainsFunc(row, func(x *hexutil.Big) bool { return x == nil || x.ToInt().BitLen() > maxPriceBits }) {
			return h, errNoHistory
		}
	}
	if slices.ContainsFunc(h.Reward, func(row []*hexutil.Big) bool { return len(row) != len(tiers) }) {
		return h, errNoHistory
	}
	return h, nil
}

// tips returns the tiers' medians over the blocks that used gas; empty blocks show zeros.
func (h feeHistory) tips() (tips [len(tiers)]*big.Int, err error) {
	paid := false
	for i := range tiers {
		var seen []*big.Int
		for block, row := range h.Reward {
			if h.Used[block] > 0 {
				seen = append(seen, row[i].ToInt())
			}
		}
		if len(seen) == 0 {
			return tips, errNoHistory
		}
		slices.SortFunc(seen, (*big.Int).Cmp)
		tips[i] = seen[len(seen)/2]
		paid = paid || tips[i].Sign() > 0
	}
	if !paid {
		return tips, errNoHistory
	}
	return tips, nil
}

// next returns the base fee of the block after the latest one. A node's value is believed
// between an eighth below the latest base fee and its double: on most networks it cannot
// fall further (EIP-1559), and where it can, the unused room costs nothing.
func (h feeHistory) next(base *big.Int) *big.Int {
	next := h.BaseFee[len(h.BaseFee)-1].ToInt()
	if double := new(big.Int).Lsh(base, 1); next.Cmp(double) > 0 && base.Sign() > 0 {
		return double
	}
	if minimum := eighths(base, 7); next.Cmp(minimum) < 0 {
		return minimum
	}
	return next
}
