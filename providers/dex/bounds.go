package dex

import (
	"math/big"
	"slices"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const (
	// maxOrderLife is the longest lifetime of an order that UniswapX's order service accepts.
	maxOrderLife = 24 * time.Hour
	// minOrderLife is the least remaining lifetime in which an order can be submitted and filled.
	minOrderLife = 30 * time.Second
	// maxRounding is how many base units a fee may differ from its rate: it is rounded down
	// when it is taken, and again when its minimum is computed.
	maxRounding = 2
)

// An orderRule is one bound on what the provider may choose in an order.
type orderRule struct {
	field string
	code  swap.Code
	says  string
	ok    func(o dutchOrder, d orderTerms) bool
}

// orderRules are all bounds on an order except those on its fees ([deal.split]) and times
// ([dutchOrder.checkLifetime]). Any nonce is accepted, and any base fee, since adjustments must be
// zero. Fields that the provider may not choose at all are listed so that the refusal has a
// reason; the order is rebuilt from the terms afterwards.
var orderRules = []orderRule{
	{"reactor", swap.NotPinned, "the order's reactor is not the built-in one",
		func(o dutchOrder, d orderTerms) bool { return o.reactor == d.reactor }},
	{"cosigner", swap.NotPinned, "the order's cosigner is not the built-in one",
		func(o dutchOrder, d orderTerms) bool { return o.cosigner == d.cosigner && d.cosigner != nativeCoin }},
	{"swapper", swap.NotAsAccepted, "the order's swapper is another account",
		func(o dutchOrder, d orderTerms) bool { return o.swapper == d.account }},
	{"additionalValidationContract", swap.NotAsAccepted, "the order has an additional validation contract",
		func(o dutchOrder, _ orderTerms) bool { return o.validator == nativeCoin && len(o.validation) == 0 }},
	{"deadline", swap.Undecodable, "the order's deadline is not a valid time",
		func(o dutchOrder, _ orderTerms) bool { return o.deadline.IsInt64() && o.deadline.Sign() > 0 }},
	{"tokenIn", swap.NotAsAccepted, "the order spends another token",
		func(o dutchOrder, d orderTerms) bool { return o.input.token == d.in }},
	{"amountIn", swap.NotAsAccepted, "the order does not spend exactly the amount throughout the auction",
		func(o dutchOrder, d orderTerms) bool {
			return o.input.start.Cmp(d.amount) == 0 && o.input.end.Cmp(d.amount) == 0
		}},
	{"curve", swap.NotAsAccepted, "the input amount changes during the auction",
		func(o dutchOrder, _ orderTerms) bool { return o.input.curve.valid(new(big.Int), new(big.Int)) }},
	{"adjustmentPerGweiBaseFee", swap.NotAsAccepted, "the order's amounts depend on the base fee",
		func(o dutchOrder, _ orderTerms) bool {
			return !slices.ContainsFunc(append(slices.Clone(o.outputs), o.input), func(l dutchLine) bool { return l.adjust != nil && l.adjust.Sign() != 0 })
		}},
	{"outputs", swap.Undecodable, "the order has no outputs, or more than three",
		func(o dutchOrder, _ orderTerms) bool { return len(o.outputs) > 0 && len(o.outputs) <= maxLines }},
	{"tokenOut", swap.NotAsAccepted, "the order pays another token",
		each(func(_ dutchOrder, l dutchLine, d orderTerms) bool { return l.token == d.out })},
	{"outputs.amount", swap.NotAsAccepted, "an output rises or falls to zero by the end of the auction",
		each(func(_ dutchOrder, l dutchLine, _ orderTerms) bool { return l.end.Sign() > 0 && l.end.Cmp(l.start) <= 0 })},
	{"outputs.curve", swap.Undecodable, "an output's curve is invalid",
		each(func(o dutchOrder, l dutchLine, d orderTerms) bool {
			maximum := new(big.Int)
			if l.recipient == d.recipient { // the recipient's may rise first, fees may not
				maximum = l.start
			}
			return l.curve.valid(maximum, l.start) && l.curve.sameBlocks(o.outputs[0].curve)
		})},
	{"recipient", swap.NotAsAccepted, "the order must pay the recipient exactly once, and anybody else at most once",
		func(o dutchOrder, d orderTerms) bool {
			paid := map[common.Address]bool{}
			for _, l := range o.outputs {
				if paid[l.recipient] || l.recipient != d.recipient && (d.reserved(l.recipient) || l.recipient == d.account) {
					return false
				}
				paid[l.recipient] = true
			}
			return paid[d.recipient]
		}},
}

func each(ok func(dutchOrder, dutchLine, orderTerms) bool) func(dutchOrder, orderTerms) bool {
	return func(o dutchOrder, d orderTerms) bool {
		return !slices.ContainsFunc(o.outputs, func(l dutchLine) bool { return !ok(o, l, d) })
	}
}

// valid reports whether a curve has at most sixteen points, at rising blocks, each at most
// up above and at most down below the start amount. A nil curve is valid.
func (c *curve) valid(up, down *big.Int) bool {
	if c == nil {
		return true
	}
	if len(c.amounts) > maxElements || c.blocks.BitLen() > len(c.amounts)*blockBits {
		return false
	}
	last := new(big.Int)
	for i, n := range c.amounts {
		p := c.point(i)
		if p.Cmp(last) <= 0 || new(big.Int).Neg(n).Cmp(up) > 0 || n.Cmp(down) > 0 {
			return false
		}
		last = p
	}
	return true
}

// sameBlocks reports whether two curves have their points at the same blocks.
func (c *curve) sameBlocks(d *curve) bool {
	return c == nil || c.blocks.Cmp(d.blocks) == 0 && len(c.amounts) == len(d.amounts)
}

// checkBounds refuses an order outside its bounds. It returns the recipient's output and the
// payments to everybody else.
func (o dutchOrder) checkBounds(d orderTerms) (dutchLine, []swap.Payment, error) {
	for _, r := range orderRules {
		if !r.ok(o, d) {
			return dutchLine{}, nil, refuse(r.code, r.field, "%s", r.says)
		}
	}
	return d.split(o)
}

// split divides the output into the recipient's line, the wallet's fee at its rate, and the
// provider's fees within their bound at every point of the auction.
func (d orderTerms) split(o dutchOrder) (got dutchLine, fees []swap.Payment, err error) {
	moments, ours, theirs := o.outputsAtPoints(), 0, 0
	for i, l := range o.outputs {
		switch {
		case l.recipient == d.recipient:
			got = l
			continue
		case d.feeBps > 0 && l.recipient == d.feeReceiver:
			if !atRate(moments, i, d.feeBps) {
				return got, nil, refuse(swap.NotAsAccepted, "feeBps", "the wallet's fee in the order is not %d bps", d.feeBps)
			}
			ours += d.feeBps
			fees = append(fees, swap.Payment{Token: d.out, To: l.recipient, Bps: d.feeBps})
			continue
		}
		bps := rateOf(moments, i)
		theirs += bps
		fees = append(fees, swap.Payment{Token: d.out, To: l.recipient, Bps: bps})
	}
	switch {
	case ours != d.feeBps:
		return got, nil, refuse(swap.NotAsAccepted, "feeBps", "the order does not include the wallet's fee")
	case theirs > d.makerBps:
		return got, nil, refuse(swap.NotAsAccepted, "makerFeeBps", "the dex provider's fee is %d bps; at most %d are allowed", theirs, d.makerBps)
	}
	sortFees(fees, d.feeReceiver)
	return got, fees, nil
}

const wholeBps = 10_000

// atRate reports whether a line is bps of the total at the beginning and never more later,
// give or take [maxRounding].
func atRate(moments [][]*big.Int, line, bps int) bool {
	for i, amounts := range moments {
		off := new(big.Int).Mul(amounts[line], big.NewInt(wholeBps))
		off.Sub(off, new(big.Int).Mul(total(amounts), big.NewInt(int64(bps))))
		if off.CmpAbs(big.NewInt(maxRounding*wholeBps)) > 0 && (i == 0 || off.Sign() > 0) {
			return false
		}
	}
	return true
}

// rateOf returns a line's highest share of the total at any moment, in basis points rounded
// up, at least 1. A rounding error of one base unit does not count.
func rateOf(moments [][]*big.Int, line int) int {
	maximum := int64(1)
	for _, amounts := range moments {
		n := new(big.Int).Sub(amounts[line], big.NewInt(1))
		n.Mul(n, big.NewInt(wholeBps))
		all := total(amounts)
		n.Add(n, new(big.Int).Sub(all, big.NewInt(1)))
		maximum = max(maximum, n.Div(n, all).Int64()) // at most wholeBps: a line is a part of the total
	}
	return int(maximum)
}

func total(amounts []*big.Int) *big.Int {
	sum := new(big.Int)
	for _, n := range amounts {
		sum.Add(sum, n)
	}
	return sum
}

// checkLifetime refuses an order that ends too soon to be filled, or later than the API accepts.
func (o *dutchOrder) checkLifetime(now time.Time) error {
	switch {
	case o == nil:
		return nil
	case o.ends().After(now.Add(maxOrderLife)):
		return refuse(swap.NotAsAccepted, "deadline", "the order is valid for more than a day")
	case o.ends().Before(now.Add(minOrderLife)):
		return refuse(swap.QuoteExpired, "deadline", "the order in the quote expires in less than %d seconds; get a new quote, and check this machine's clock", int(minOrderLife.Seconds()))
	}
	return nil
}

// checkEndsBy refuses an order that can be filled after the accepted deadline.
func (o dutchOrder) checkEndsBy(consent time.Time) error {
	if o.ends().After(consent) {
		return refuse(swap.NotAsAccepted, "deadline", "the order can be filled after the accepted deadline %s", consent.UTC().Format(time.RFC3339))
	}
	return nil
}

// ends returns the last second at which the order can be filled. orderRules have checked
// that the deadline is a valid time.
func (o dutchOrder) ends() time.Time { return time.Unix(o.deadline.Int64(), 0).UTC() }
