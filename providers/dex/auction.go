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

// An auctionKind is one of the kinds of auction order that are understood.
type auctionKind struct {
	routing  string // the API's word for it in a quote
	protocol string // in a request for one
	listed   string // in the list of orders
	order    string // the EIP-712 type
	types    apitypes.Types
	quoted   apitypes.Types // as the API lists them: without the domain's own
	hashed   map[string]hashedType
	read     func(values) dutchOrder // what the kind's own members say
	witness  func(dutchOrder) values // and back
	// cosigned is what the cosigner adds to the order in its encoding; its digest
	// names the chain or not.
	cosigned   []apitypes.Type
	namesChain bool
	encoded    *encoding
	// usual is how long it takes until an order is filled, about.
	usual func(o dutchOrder, block time.Duration) time.Duration
}

// An encoding is an order's ABI form with what the cosigner adds.
type encoding struct {
	types        apitypes.Types
	whole, added abi.Arguments
}

// Names of the encoding's own structs.
const (
	cosignedOrder = "CosignedOrder"
	cosignerData  = "CosignerData"
)

// encodingOf derives the ABI form from the EIP-712 types: UniswapX has the members
// in the same order, and a static struct takes the same bytes as its members.
func encodingOf(k *auctionKind) *encoding {
	types := maps.Clone(k.types)
	types[cosignerData] = k.cosigned
	types[cosignedOrder] = append(slices.Clone(k.types[k.order]),
		apitypes.Type{Name: "cosignerData", Type: cosignerData}, apitypes.Type{Name: "cosignature", Type: "bytes"})
	return &encoding{types: types, whole: encodedForm(types, cosignedOrder), added: encodedForm(types, cosignerData)}
}

// members are a struct's, written as in Solidity: type and name.
func members(list ...string) []apitypes.Type {
	out := make([]apitypes.Type, len(list)/2)
	for i := range out {
		out[i] = apitypes.Type{Type: list[2*i], Name: list[2*i+1]}
	}
	return out
}

// orderTypes are Permit2's and UniswapX's structs around an order of one kind.
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

// The kinds (UniswapX src/reactors/V2DutchOrderReactor.sol, V3DutchOrderReactor.sol).
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

// How the cosigner times auctions, as its service does at present.
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
