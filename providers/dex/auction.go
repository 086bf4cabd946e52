package dex

import (
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// An auctionKind describes one supported kind of UniswapX auction order.
type auctionKind struct {
	routing  string // the API's routing value in a quote
	protocol string // the protocols value in a quote request
	listed   string // the type value in GET /orders
	order    string // the EIP-712 type's name
	types    apitypes.Types
	quoted   apitypes.Types // as the API lists them: without EIP712Domain
	hashed   map[string]hashedType
	read     func(values) dutchOrder // reads the members that are specific to this kind
	witness  func(dutchOrder) values // the inverse of read
	// cosigned are the members of the cosigner's data in the encoded order. namesChain says
	// whether the cosigner's digest includes the chain id.
	cosigned   []apitypes.Type
	namesChain bool
	encoded    *encoding
	// usual estimates how long it takes until an order is filled.
	usual func(o dutchOrder, block time.Duration) time.Duration
}

// An encoding is the ABI form of an order with the cosigner's data, and of those alone.
type encoding struct {
	types        apitypes.Types
	whole, added abi.Arguments
}

// Names of the structs that exist only in the encoding.
const (
	cosignedOrder = "CosignedOrder"
	cosignerData  = "CosignerData"
)

// encodingOf derives the ABI form from the EIP-712 types: UniswapX declares the members in
// the same order, and a static struct takes the same bytes as its members.
func encodingOf(k *auctionKind) *encoding {
	types := maps.Clone(k.types)
	types[cosignerData] = k.cosigned
	types[cosignedOrder] = append(slices.Clone(k.types[k.order]),
		apitypes.Type{Name: "cosignerData", Type: cosignerData}, apitypes.Type{Name: "cosignature", Type: "bytes"})
	return &encoding{types: types, whole: encodedForm(types, cosignedOrder), added: encodedForm(types, cosignerData)}
}

// members builds a struct's members from pairs of type and name, as in Solidity.
func members(list ...string) []apitypes.Type {
	out := make([]apitypes.Type, len(list)/2)
	for i := range out {
		out[i] = apitypes.Type{Type: list[2*i], Name: list[2*i+1]}
	}
	return out
}

// orderTypes returns an order's own types and those of Permit2 and UniswapX around it.
func orderTypes(order string, own apitypes.Types) apitypes.Types {
	types := apitypes.Types{
		"EIP712Domain":     permitTypes["EIP712Domain"],
		witnessPermit:      members("TokenPermissions", "permitted", "address", "spender", "uint256", "nonce", "uint256", "deadline", order, "witness"),
		"TokenPermissions": members("address", "token", "uint256", "amount"),
		"OrderInfo": members("address", "reactor", "address", "swapper", "uint256", "nonce", "uint256", "deadline",
			"address", "additionalValidationContract", "bytes", "additionalValidationData"),
	}
	maps.Copy(types, own)
	return types
}

// The supported kinds (UniswapX src/reactors/V2DutchOrderReactor.sol,
// V3DutchOrderReactor.sol).
var (
	dutchV2 = completed(&auctionKind{
		routing: "DUTCH_V2", protocol: "UNISWAPX_V2", listed: "Dutch_V2", order: "V2DutchOrder",
		types: orderTypes("V2DutchOrder", apitypes.Types{
			"V2DutchOrder": members("OrderInfo", "info", "address", "cosigner", "address", "baseInputToken",
				"uint256", "baseInputStartAmount", "uint256", "baseInputEndAmount", "DutchOutput[]", "baseOutputs"),
			"DutchOutput": members("address", "token", "uint256", "startAmount", "uint256", "endAmount", "address", "recipient"),
		}),
		read: readV2, witness: witnessV2,
		cosigned: members("uint256", "decayStartTime", "uint256", "decayEndTime", "address", "exclusiveFiller",
			"uint256", "exclusivityOverrideBps", "uint256", "inputAmount", "uint256[]", "outputAmounts"),
		usual: func(dutchOrder, time.Duration) time.Duration { return decayBeginsV2 + decayTakesV2 },
	})
	dutchV3 = completed(&auctionKind{
		routing: "DUTCH_V3", protocol: "UNISWAPX_V3", listed: "Dutch_V3", order: "V3DutchOrder",
		types: orderTypes("V3DutchOrder", apitypes.Types{
			"V3DutchOrder": members("OrderInfo", "info", "address", "cosigner", "uint256", "startingBaseFee",
				"V3DutchInput", "baseInput", "V3DutchOutput[]", "baseOutputs"),
			"V3DutchInput": members("address", "token", "uint256", "startAmount", "NonlinearDutchDecay", "curve",
				"uint256", "maxAmount", "uint256", "adjustmentPerGweiBaseFee"),
			"V3DutchOutput": members("address", "token", "uint256", "startAmount", "NonlinearDutchDecay", "curve",
				"address", "recipient", "uint256", "minAmount", "uint256", "adjustmentPerGweiBaseFee"),
			"NonlinearDutchDecay": members("uint256", "relativeBlocks", "int256[]", "relativeAmounts"),
		}),
		read: readV3, witness: witnessV3,
		cosigned: members("uint256", "decayStartBlock", "address", "exclusiveFiller", "uint256", "exclusivityOverrideBps",
			"uint256", "inputAmount", "uint256[]", "outputAmounts"),
		namesChain: true,
		usual: func(o dutchOrder, block time.Duration) time.Duration {
			return decayBeginsV3 + time.Duration(o.lastBlock())*block
		},
	})
)

func completed(k *auctionKind) *auctionKind {
	k.encoded, k.hashed, k.quoted = encodingOf(k), hashedTypes(k.types), maps.Clone(k.types)
	delete(k.quoted, "EIP712Domain")
	return k
}

// How UniswapX's cosigner service times auctions at present; used for estimates only.
const (
	decayBeginsV2 = 24 * time.Second
	decayTakesV2  = 36 * time.Second
	decayBeginsV3 = 5 * time.Second
)

func readV2(v values) dutchOrder {
	o := dutchOrder{input: dutchLine{
		token: v["baseInputToken"].(common.Address), start: v["baseInputStartAmount"].(*big.Int), end: v["baseInputEndAmount"].(*big.Int),
	}}
	for _, e := range v["baseOutputs"].([]any) {
		l := e.(values)
		o.outputs = append(o.outputs, dutchLine{
			token: l["token"].(common.Address), recipient: l["recipient"].(common.Address),
			start: l["startAmount"].(*big.Int), end: l["endAmount"].(*big.Int),
		})
	}
	return o
}

func witnessV2(o dutchOrder) values {
	outputs := make([]any, len(o.outputs))
	for i, l := range o.outputs {
		outputs[i] = values{"token": l.token, "startAmount": l.start, "endAmount": l.end, "recipient": l.recipient}
	}
	return values{
		"baseInputToken": o.input.token, "baseInputStartAmount": o.input.start, "baseInputEndAmount": o.input.end, "baseOutputs": outputs,
	}
}

func readV3(v values) dutchOrder {
	o := dutchOrder{baseFee: v["startingBaseFee"].(*big.Int), input: lineV3(v["baseInput"].(values), "maxAmount")}
	for _, e := range v["baseOutputs"].([]any) {
		l := lineV3(e.(values), "minAmount")
		l.recipient = e.(values)["recipient"].(common.Address)
		o.outputs = append(o.outputs, l)
	}
	return o
}

func lineV3(v values, bound string) dutchLine {
	decay := v["curve"].(values)
	c := &curve{blocks: decay["relativeBlocks"].(*big.Int)}
	for _, n := range decay["relativeAmounts"].([]any) {
		c.amounts = append(c.amounts, n.(*big.Int))
	}
	return dutchLine{
		token: v["token"].(common.Address), start: v["startAmount"].(*big.Int), end: v[bound].(*big.Int),
		curve: c, adjust: v["adjustmentPerGweiBaseFee"].(*big.Int),
	}
}

func witnessV3(o dutchOrder) values {
	outputs := make([]any, len(o.outputs))
	for i, l := range o.outputs {
		out := l.valuesV3("minAmount")
		out["recipient"] = l.recipient
		outputs[i] = out
	}
	return values{"startingBaseFee": o.baseFee, "baseInput": o.input.valuesV3("maxAmount"), "baseOutputs": outputs}
}

func (l dutchLine) valuesV3(bound string) values {
	amounts := make([]any, len(l.curve.amounts))
	for i, n := range l.curve.amounts {
		amounts[i] = n
	}
	return values{
		"token": l.token, "startAmount": l.start, bound: l.end, "adjustmentPerGweiBaseFee": l.adjust,
		"curve": values{"relativeBlocks": l.curve.blocks, "relativeAmounts": amounts},
	}
}
