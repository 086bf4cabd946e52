package gasless

import (
	"math/big"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// An rfqMessage is a SingleOrder: one maker pays maker_amount to the receiver for
// taker_amount. The contract lets the maker pay more, and proportionally less only for less
// of the input.
type rfqMessage struct {
	PartnerID      *wire.Number  `json:"partner_id"`
	Expiry         *wire.Number  `json:"expiry"`
	TakerAddress   *wire.Address `json:"taker_address"`
	MakerAddress   *wire.Address `json:"maker_address"`
	MakerNonce     *wire.Number  `json:"maker_nonce"`
	TakerToken     *wire.Address `json:"taker_token"`
	MakerToken     *wire.Address `json:"maker_token"`
	TakerAmount    *wire.Amount  `json:"taker_amount"`
	MakerAmount    *wire.Amount  `json:"maker_amount"`
	Receiver       *wire.Address `json:"receiver"`
	PackedCommands *wire.Number  `json:"packed_commands"`
}

func (m *rfqMessage) read() (core, bool) {
	there := m.TakerAddress != nil && m.MakerAddress != nil && m.Receiver != nil && m.TakerToken != nil && m.MakerToken != nil &&
		m.TakerAmount != nil && m.MakerAmount != nil && m.PartnerID != nil && m.Expiry != nil && m.MakerNonce != nil && m.PackedCommands != nil
	if !there {
		return core{}, false
	}
	return core{
		m.TakerAddress.Address, m.Receiver.Address, m.TakerToken.Address, m.MakerToken.Address,
		m.TakerAmount.Int, m.MakerAmount.Int, m.Expiry.Int,
	}, true
}

// checkChoices refuses partner ids: with one the contract sends part of maker_amount to whoever
// registered it, at a rate that the order does not show. It refuses a maker that is a party
// to the swap, with whom a fill could prove, or pay, nothing, and commands other than 0,
// which pull through Permit2 or unwrap.
func (m *rfqMessage) checkChoices(d expectedOrder) error {
	maker := m.MakerAddress.Address
	switch {
	case d.feeBps != 0:
		return refuse(swap.NotAsAccepted, "feeBps", "has an order that can hold no fee, and one of %d bps was accepted", d.feeBps)
	case m.PartnerID.Sign() != 0:
		return refuse(swap.NotAsAccepted, "partner_id", "names partner %s, who would take a share of the output that the order does not show", m.PartnerID)
	case maker == (common.Address{}) || maker == d.taker || maker == d.receiver || maker == d.sellToken || maker == d.tokenOut || maker == d.wrapped() || d.isReserved(maker):
		return refuse(swap.NotAsAccepted, "maker_address", "names %s as the maker, who is a party to the swap", maker)
	case m.MakerNonce.Sign() == 0:
		return refuse(swap.Undecodable, "maker_nonce", "wants an order signed with nonce 0, which is never settled")
	case m.PackedCommands.Sign() != 0:
		return refuse(swap.Undecodable, "packed_commands", "wants tokens moved in another way than by plain transfers")
	}
	return nil
}

func (m *rfqMessage) values(c core) apitypes.TypedDataMessage {
	return apitypes.TypedDataMessage{
		"partner_id": "0", "expiry": c.expiry.String(), "taker_address": c.taker.Hex(),
		"maker_address": m.MakerAddress.Hex(), "maker_nonce": m.MakerNonce.String(),
		"taker_token": c.sell.Hex(), "maker_token": c.buy.Hex(), "taker_amount": c.sellAmount.String(), "maker_amount": c.minBuy.String(),
		"receiver": c.receiver.Hex(), "packed_commands": "0",
	}
}

// fees is nil: the order can hold a fee only through a partner, which is refused. Bebop
// pays partners by a monthly invoice, off the chain (docs.bebop.xyz,
// core-concepts/monetization): nothing that is signed would pay the receiver.
func (m *rfqMessage) fees(expectedOrder) []swap.Payment { return nil }

// rfqFilledTopic is the topic of BebopOrder(uint128 indexed eventId). The id is not signed.
var rfqFilledTopic = crypto.Keccak256Hash([]byte("BebopOrder(uint128)"))

// fill needs exactly the input to go to the maker, at least the signed output to come from
// it, and the settlement's event in the same transaction. The maker may have improved the
// price since, so the output is a lower bound.
func (m *rfqMessage) fill(d expectedOrder, c core) []swap.LogPattern {
	maker := addressTopic(m.MakerAddress.Address)
	return []swap.LogPattern{
		{Address: c.sell, Topics: []common.Hash{chain.TransferTopic, addressTopic(c.taker), maker}, Amount: c.sellAmount},
		{Address: c.buy, Topics: []common.Hash{chain.TransferTopic, maker, addressTopic(c.receiver)}, Amount: c.minBuy, AtLeast: true},
		{Address: d.settlement, Topics: []common.Hash{rfqFilledTopic, {}}},
	}
}

// trace needs some of the input to reach the maker, since whoever settles may fill a part at
// the signed price. A transfer of 0 does not count: anyone can make a token log that.
func (m *rfqMessage) trace(d expectedOrder, c core) []swap.LogPattern {
	return []swap.LogPattern{
		{Address: c.sell, Topics: []common.Hash{chain.TransferTopic, addressTopic(c.taker), addressTopic(m.MakerAddress.Address)}, Amount: big.NewInt(1), AtLeast: true},
		{Address: d.settlement, Topics: []common.Hash{rfqFilledTopic, {}}},
	}
}

// quotedOutput requires the quoted amount to equal the signed one: the price is firm.
func (m *rfqMessage) quotedOutput(b bought, c core, _ int) (*big.Int, error) {
	switch {
	case b.Amount.Cmp(c.minBuy) != 0:
		return nil, refuse(swap.NotAsAccepted, "buyAmount", "shows another amount than the order has")
	case b.MinimumAmount != nil && b.MinimumAmount.Cmp(c.minBuy) > 0:
		return nil, refuse(swap.NotAsAccepted, "minimumAmount", "shows a higher minimum than the order has")
	}
	return c.minBuy, nil
}
