package gasless

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A message is the order struct of one protocol, as parsed from JSON.
type message interface {
	// read returns the fields that orders of both protocols have. ok is false if a field is
	// missing or a side does not have exactly one token.
	read() (c core, ok bool)
	// checkChoices refuses harmful values of the fields that only this protocol has and that the
	// provider may choose.
	checkChoices(d expectedOrder) error
	// values are the fields to be hashed: those of c, so that the deal's own values are
	// signed, and the others from the message.
	values(c core) apitypes.TypedDataMessage
	// fees are the fees that the order takes from the output.
	fees(d expectedOrder) []swap.Payment
	// fill returns the logs of a fill of the whole order, trace those that any fill
	// leaves, also a partial one.
	fill(d expectedOrder, c core) []swap.LogPattern
	trace(d expectedOrder, c core) []swap.LogPattern
	// quotedOutput returns the output that the provider expects to pay. It refuses a quote whose
	// amounts do not agree with the order's.
	quotedOutput(b bought, c core, slippageBps int) (out *big.Int, err error)
}

// core is the exchange that one signature authorizes.
type core struct {
	taker, receiver    common.Address
	sell, buy          common.Address
	sellAmount, minBuy *big.Int
	expiry             *big.Int
}

// checkAgainst checks the order against a deal. minimum is the minimum received, nil if none has been
// accepted yet.
func (c core) checkAgainst(d expectedOrder, minimum *big.Int) error {
	err := service.CheckEchoes([]wire.Echo{
		{Field: "taker", Present: true, Matches: c.taker == d.taker},
		{Field: "receiver", Present: true, Matches: c.receiver == d.receiver},
		{Field: "sellToken", Present: true, Matches: c.sell == d.sellToken},
		{Field: "buyToken", Present: true, Matches: c.buy == d.buyToken()},
		{Field: "sellAmount", Present: true, Matches: c.sellAmount.Cmp(d.amountIn) == 0},
	})
	switch {
	case err != nil:
		return err
	case c.minBuy.Sign() <= 0:
		return refuse(swap.NotAsAccepted, "buyAmount", "would have nothing paid for the order")
	case minimum != nil && c.minBuy.Cmp(minimum) < 0:
		return refuse(swap.NotAsAccepted, "minOut", "enforces less than the accepted minimum").WithAmounts(swap.OfOutput, c.minBuy, minimum)
	case !c.expiry.IsInt64() || c.expiry.Int64() > maxTime:
		return refuse(swap.NotAsAccepted, "expiry", "would let the order live for ever")
	}
	return nil
}

// maxTime is the last second that an expiry may name, in the year 2200. The API writes
// 9999999999 for an order without end.
const maxTime = 7_258_118_400

// expiresAt is the order's expiry, which [core.checkAgainst] has bounded.
func (c core) expiresAt() time.Time { return time.Unix(c.expiry.Int64(), 0).UTC() }

// An order is a message that was checked against a deal.
type order struct {
	expected expectedOrder
	core     core
	message
}

// read parses a message and checks it against the deal. Unknown JSON fields are refused.
func (d expectedOrder) read(raw []byte, minimum *big.Int) (order, error) {
	m := d.newMessage()
	if err := wire.ReadStrict(raw, m); err != nil {
		return order{}, refuse(swap.Undecodable, "toSign", "wants something signed that is no %s: %v", d.primaryType, err)
	}
	c, ok := m.read()
	if !ok {
		return order{}, refuse(swap.Undecodable, "toSign", "wants something signed that is no %s with one token on each side", d.primaryType)
	}
	if err := c.checkAgainst(d, minimum); err != nil {
		return order{}, err
	}
	return order{d, c, m}, m.checkChoices(d)
}

// typedData is the order as its contract hashes it: the deal's own values, and the provider's
// choices that passed the checks.
func (o order) typedData() apitypes.TypedData {
	d := o.expected
	return d.typedDataOf(o.values(core{d.taker, d.receiver, d.sellToken, d.buyToken(), d.amountIn, o.core.minBuy, o.core.expiry}))
}

// typedDataOf puts values into the venue's domain and types.
func (v venue) typedDataOf(m apitypes.TypedDataMessage) apitypes.TypedData {
	return apitypes.TypedData{
		Types:       apitypes.Types{domainType: orderTypes[domainType], v.primaryType: orderTypes[v.primaryType]},
		PrimaryType: v.primaryType,
		Domain: apitypes.TypedDataDomain{
			Name: v.domain, Version: domainVersion, VerifyingContract: v.settlement.Hex(),
			ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(v.chain)),
		},
		Message: m,
	}
}

// matches checks that the provider's own message has the same hash as the order built here,
// which shows that no field was overlooked.
func (o order) matches(raw []byte) error {
	var m apitypes.TypedDataMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return refuse(swap.Undecodable, "toSign", "wants something signed that cannot be read: %v", err)
	}
	if !sameHash(o.expected.typedDataOf(inDecimal(m)), o.typedData()) {
		return refuse(swap.NotAsAccepted, "toSign", "wants another order signed than the terms make")
	}
	return nil
}

// inDecimal turns numbers into strings, which are hashed without loss.
func inDecimal(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for k, v := range out {
		if n, ok := v.(json.Number); ok {
			out[k] = n.String()
		}
	}
	return out
}

func sameHash(a, b apitypes.TypedData) bool {
	x, _, errA := apitypes.TypedDataAndHash(a)
	y, _, errB := apitypes.TypedDataAndHash(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

const domainType = "EIP712Domain"

// orderTypes are the contracts' types, with members in the order in which they are hashed.
var orderTypes = apitypes.Types{
	domainType: {{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
	"JamOrder": {
		{Name: "taker", Type: "address"}, {Name: "receiver", Type: "address"}, {Name: "expiry", Type: "uint256"}, {Name: "exclusivityDeadline", Type: "uint256"},
		{Name: "nonce", Type: "uint256"}, {Name: "executor", Type: "address"}, {Name: "partnerInfo", Type: "uint256"},
		{Name: "sellTokens", Type: "address[]"}, {Name: "buyTokens", Type: "address[]"}, {Name: "sellAmounts", Type: "uint256[]"}, {Name: "buyAmounts", Type: "uint256[]"},
		{Name: "hooksHash", Type: "bytes32"},
	},
	"SingleOrder": {
		{Name: "partner_id", Type: "uint64"}, {Name: "expiry", Type: "uint256"}, {Name: "taker_address", Type: "address"}, {Name: "maker_address", Type: "address"},
		{Name: "maker_nonce", Type: "uint256"}, {Name: "taker_token", Type: "address"}, {Name: "maker_token", Type: "address"},
		{Name: "taker_amount", Type: "uint256"}, {Name: "maker_amount", Type: "uint256"}, {Name: "receiver", Type: "address"}, {Name: "packed_commands", Type: "uint256"},
	},
}
