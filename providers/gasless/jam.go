package gasless

import (
	"math/big"
	"strings"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A jamMessage is a JamOrder. The settlement pays the receiver at least the buy amount,
// after the fees of partnerInfo, or reverts.
type jamMessage struct {
	Taker               *wire.Address  `json:"taker"`
	Receiver            *wire.Address  `json:"receiver"`
	Expiry              *wire.Number   `json:"expiry"`
	ExclusivityDeadline *wire.Number   `json:"exclusivityDeadline"`
	Nonce               *wire.Number   `json:"nonce"`
	Executor            *wire.Address  `json:"executor"`
	PartnerInfo         *wire.Number   `json:"partnerInfo"`
	SellTokens          []wire.Address `json:"sellTokens"`
	BuyTokens           []wire.Address `json:"buyTokens"`
	SellAmounts         []*wire.Amount `json:"sellAmounts"`
	BuyAmounts          []*wire.Amount `json:"buyAmounts"`
	HooksHash           *string        `json:"hooksHash"`
}

func (m *jamMessage) read() (core, bool) {
	there := m.Taker != nil && m.Receiver != nil && m.Executor != nil && m.HooksHash != nil &&
		m.Expiry != nil && m.ExclusivityDeadline != nil && m.Nonce != nil && m.PartnerInfo != nil &&
		len(m.SellTokens) == 1 && len(m.BuyTokens) == 1 && one(m.SellAmounts) && one(m.BuyAmounts)
	if !there {
		return core{}, false
	}
	return core{
		m.Taker.Address, m.Receiver.Address, m.SellTokens[0].Address, m.BuyTokens[0].Address,
		m.SellAmounts[0].Int, m.BuyAmounts[0].Int, m.Expiry.Int,
	}, true
}

func one(list []*wire.Amount) bool { return len(list) == 1 && list[0] != nil }

// noHooks is the hooksHash of an order without calls around its settlement.
var noHooks = "0x" + strings.Repeat("0", 64)

// checkChoices accepts any nonce but 0, since the contract takes each once, and any executor,
// which alone may settle until the exclusivity deadline but pays the same as anyone else.
func (m *jamMessage) checkChoices(d expectedOrder) error {
	fee := unpack(m.PartnerInfo.Int)
	switch {
	case m.Nonce.Sign() == 0:
		return refuse(swap.Undecodable, "nonce", "wants an order signed with nonce 0, which is never settled")
	case m.ExclusivityDeadline.Cmp(m.Expiry.Int) > 0:
		return refuse(swap.NotAsAccepted, "exclusivityDeadline", "keeps the order to one solver beyond its expiry")
	case *m.HooksHash != noHooks:
		return refuse(swap.NotAsAccepted, "hooksHash", "wants calls made around the settlement that nobody has seen")
	case fee.rest.Sign() != 0:
		return refuse(swap.Undecodable, "partnerInfo", "has packed fees with more than an address and two rates")
	case fee.partnerBps != d.feeBps || fee.partner != d.feeReceiver:
		return refuse(swap.NotAsAccepted, "feeBps", "takes a fee of %d bps for %s, not of %d bps for %s", fee.partnerBps, fee.partner, d.feeBps, d.feeReceiver)
	case fee.protocolBps > d.makerBps:
		return refuse(swap.NotAsAccepted, "makerFeeBps", "takes %d bps for itself, more than %d", fee.protocolBps, d.makerBps)
	}
	return nil
}

func (m *jamMessage) values(c core) apitypes.TypedDataMessage {
	return apitypes.TypedDataMessage{
		"taker": c.taker.Hex(), "receiver": c.receiver.Hex(), "expiry": c.expiry.String(),
		"exclusivityDeadline": m.ExclusivityDeadline.String(), "nonce": m.Nonce.String(), "executor": m.Executor.Hex(), "partnerInfo": m.PartnerInfo.String(),
		"sellTokens": []any{c.sell.Hex()}, "buyTokens": []any{c.buy.Hex()},
		"sellAmounts": []any{c.sellAmount.String()}, "buyAmounts": []any{c.minBuy.String()}, "hooksHash": noHooks,
	}
}

// fees shows the protocol's own fee as paid to the settlement, which passes it on to an
// address that only the contract knows.
func (m *jamMessage) fees(d expectedOrder) []swap.Payment {
	fee := unpack(m.PartnerInfo.Int)
	var out []swap.Payment
	if fee.partnerBps > 0 {
		out = append(out, swap.Payment{Token: d.tokenOut, To: fee.partner, Bps: fee.partnerBps})
	}
	if fee.protocolBps > 0 {
		out = append(out, swap.Payment{Token: d.tokenOut, To: d.settlement, Bps: fee.protocolBps})
	}
	return out
}

// jamFilledTopic is the topic of BebopJamOrderFilled(uint256 indexed nonce, address indexed
// user, …).
var jamFilledTopic = crypto.Keccak256Hash([]byte("BebopJamOrderFilled(uint256,address,address[],address[],uint256[],uint256[])"))

// fill needs the settlement's event with the nonce and the taker; the contract accepts each
// nonce of a taker once. The exact input must also leave the taker, so that an order with
// the same nonce and another input is not taken for this one.
func (m *jamMessage) fill(d expectedOrder, c core) []swap.LogPattern {
	return append(m.trace(d, c), swap.LogPattern{Address: c.sell, Topics: []common.Hash{chain.TransferTopic, addressTopic(c.taker), {}}, Amount: c.sellAmount})
}

// trace has no amount: with a fee-on-transfer token the transferred amount differs.
func (m *jamMessage) trace(d expectedOrder, c core) []swap.LogPattern {
	return []swap.LogPattern{{Address: d.settlement, Topics: []common.Hash{jamFilledTopic, common.BigToHash(m.Nonce.Int), addressTopic(c.taker)}}}
}

// quotedOutput allows an output above the signed minimum, since solvers may pay more. The
// minimum must follow from that output and the slippage.
func (m *jamMessage) quotedOutput(b bought, c core, slippageBps int) (*big.Int, error) {
	switch {
	case !b.MinimumAmount.Is(c.minBuy):
		return nil, refuse(swap.NotAsAccepted, "minimumAmount", "shows another minimum than the order has")
	case c.minBuy.Cmp(b.Amount.Int) > 0 || c.minBuy.Cmp(minAfterSlippage(b.Amount.Int, slippageBps)) < 0:
		return nil, refuse(swap.NotAsAccepted, "minimumAmount", "has a minimum that does not follow from the amount and the slippage that was asked for")
	}
	return b.Amount.Int, nil
}

// A partnerFee is what partnerInfo packs: the partner's address in bits 32 to 191, its rate
// in bits 16 to 31 and the protocol's rate in bits 0 to 15. Rates are in bps of the output.
type partnerFee struct {
	partner                 common.Address
	partnerBps, protocolBps int
	rest                    *big.Int // bits 192 and up; must be 0
}

func unpack(info *big.Int) partnerFee {
	rate := func(shift uint) int { return int(new(big.Int).Rsh(info, shift).Uint64() & 0xffff) }
	return partnerFee{
		partner:    common.BigToAddress(new(big.Int).Rsh(info, 32)),
		partnerBps: rate(16), protocolBps: rate(0), rest: new(big.Int).Rsh(info, 192),
	}
}

func addressTopic(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

// minAfterSlippage is the amount less the slippage, rounded down as the API does.
func minAfterSlippage(n *big.Int, slippageBps int) *big.Int {
	f := new(big.Int).Mul(n, big.NewInt(int64(10_000-slippageBps)))
	return f.Div(f, big.NewInt(10_000))
}
