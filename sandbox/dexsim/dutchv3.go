package dexsim

import (
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox/eip55"
)

// A v3Order is an order whose price decays with blocks, along a curve, in the reactor's
// layout.
type v3Order struct {
	Info            orderInfo
	Cosigner        common.Address
	StartingBaseFee *big.Int
	BaseInput       v3Input
	BaseOutputs     []v3Output
	CosignerData    v3CosignerData
	Cosignature     []byte

	chain uint64
}

// A curve says how much is taken off an amount at points in blocks after the decay start;
// at block zero nothing is. The blocks are packed, 16 bits each.
type curve struct {
	RelativeBlocks  *big.Int
	RelativeAmounts []*big.Int
}

type v3Input struct {
	Token                    common.Address
	StartAmount              *big.Int
	Curve                    curve
	MaxAmount                *big.Int
	AdjustmentPerGweiBaseFee *big.Int
}

type v3Output struct {
	Token                    common.Address
	StartAmount              *big.Int
	Curve                    curve
	Recipient                common.Address
	MinAmount                *big.Int
	AdjustmentPerGweiBaseFee *big.Int
}

type v3CosignerData struct {
	DecayStartBlock        *big.Int
	ExclusiveFiller        common.Address
	ExclusivityOverrideBps *big.Int
	InputAmount            *big.Int
	OutputAmounts          []*big.Int
}

// v3Info is the order as quotes show it.
type v3Info struct {
	infoHead
	StartingBaseFee string         `json:"startingBaseFee"`
	Input           v3InputInfo    `json:"input"`
	Outputs         []v3OutputInfo `json:"outputs"`
}

// curveInfo is a curve with its blocks unpacked.
type curveInfo struct {
	RelativeBlocks  []uint16 `json:"relativeBlocks"`
	RelativeAmounts []string `json:"relativeAmounts"`
}

type v3InputInfo struct {
	Token                    eip55.Address `json:"token"`
	StartAmount              string        `json:"startAmount"`
	Curve                    curveInfo     `json:"curve"`
	MaxAmount                string        `json:"maxAmount"`
	AdjustmentPerGweiBaseFee string        `json:"adjustmentPerGweiBaseFee"`
}

type v3OutputInfo struct {
	Token                    eip55.Address `json:"token"`
	StartAmount              string        `json:"startAmount"`
	Curve                    curveInfo     `json:"curve"`
	Recipient                eip55.Address `json:"recipient"`
	MinAmount                string        `json:"minAmount"`
	AdjustmentPerGweiBaseFee string        `json:"adjustmentPerGweiBaseFee"`
}

var v3Types = witnessTypes("V3DutchOrder", apitypes.Types{
	"V3DutchOrder": {
		{Name: "info", Type: "OrderInfo"}, {Name: "cosigner", Type: "address"}, {Name: "startingBaseFee", Type: "uint256"},
		{Name: "baseInput", Type: "V3DutchInput"}, {Name: "baseOutputs", Type: "V3DutchOutput[]"},
	},
	"V3DutchInput": {
		{Name: "token", Type: "address"}, {Name: "startAmount", Type: "uint256"}, {Name: "curve", Type: "NonlinearDutchDecay"},
		{Name: "maxAmount", Type: "uint256"}, {Name: "adjustmentPerGweiBaseFee", Type: "uint256"},
	},
	"V3DutchOutput": {
		{Name: "token", Type: "address"}, {Name: "startAmount", Type: "uint256"}, {Name: "curve", Type: "NonlinearDutchDecay"},
		{Name: "recipient", Type: "address"}, {Name: "minAmount", Type: "uint256"}, {Name: "adjustmentPerGweiBaseFee", Type: "uint256"},
	},
	"NonlinearDutchDecay": {{Name: "relativeBlocks", Type: "uint256"}, {Name: "relativeAmounts", Type: "int256[]"}},
})

var (
	v3CosignerMembers = members("decayStartBlock", "uint256", "exclusiveFiller", "address",
		"exclusivityOverrideBps", "uint256", "inputAmount", "uint256", "outputAmounts", "uint256[]")
	abiCurve = tuple("curve", "tuple", members("relativeBlocks", "uint256", "relativeAmounts", "int256[]"))
)

var v3Arguments = tupleOf([]abi.ArgumentMarshaling{
	abiInfo,
	{Name: "cosigner", Type: "address"},
	{Name: "startingBaseFee", Type: "uint256"},
	tuple("baseInput", "tuple", []abi.ArgumentMarshaling{
		{Name: "token", Type: "address"}, {Name: "startAmount", Type: "uint256"}, abiCurve,
		{Name: "maxAmount", Type: "uint256"}, {Name: "adjustmentPerGweiBaseFee", Type: "uint256"},
	}),
	tuple("baseOutputs", "tuple[]", []abi.ArgumentMarshaling{
		{Name: "token", Type: "address"}, {Name: "startAmount", Type: "uint256"}, abiCurve, {Name: "recipient", Type: "address"},
		{Name: "minAmount", Type: "uint256"}, {Name: "adjustmentPerGweiBaseFee", Type: "uint256"},
	}),
	tuple("cosignerData", "tuple", v3CosignerMembers),
	{Name: "cosignature", Type: "bytes"},
})

var v3CosignerArguments = tupleOf(v3CosignerMembers)

// decayBlocks is the number of blocks over which a price decays, by chain.
var decayBlocks = map[uint64]uint16{arbitrum: 8}

const (
	arbitrum         = 42161
	usualDecayBlocks = 4
)

// newV3 returns the order of a quote. Its legs decay by the slippage. The input does not
// change, but its curve has the outputs' blocks, as in the API.
func newV3(chain uint64, info orderInfo, cosigner, token common.Address, in *big.Int, legs []leg, slippage int64) dutchOrder {
	last := uint16(usualDecayBlocks)
	if b, ok := decayBlocks[chain]; ok {
		last = b
	}
	fall := func(by *big.Int) curve { return curve{pack([]uint16{last}), []*big.Int{by}} }
	o := &v3Order{
		Info: info, Cosigner: cosigner, StartingBaseFee: new(big.Int), chain: chain,
		BaseInput: v3Input{token, in, fall(new(big.Int)), in, new(big.Int)},
	}
	for _, l := range legs {
		minimum := minAmountCeil(l.start, slippage)
		o.BaseOutputs = append(o.BaseOutputs, v3Output{l.token, l.start, fall(new(big.Int).Sub(l.start, minimum)), l.recipient, minimum, new(big.Int)})
	}
	return o
}

// pack packs blocks into one number, the first in the lowest bits.
func pack(blocks []uint16) *big.Int {
	packed := new(big.Int)
	for i, b := range blocks {
		packed.Or(packed, new(big.Int).Lsh(big.NewInt(int64(b)), uint(16*i)))
	}
	return packed
}

// blocks unpacks the curve's blocks.
func (c curve) blocks() []uint16 {
	blocks := make([]uint16, len(c.RelativeAmounts))
	for i := range blocks {
		blocks[i] = uint16(new(big.Int).Rsh(c.RelativeBlocks, uint(16*i)).Uint64())
	}
	return blocks
}

func (o *v3Order) kind() *dutchKind  { return v3Kind }
func (o *v3Order) common() orderInfo { return o.Info }

func (o *v3Order) maxInput() (common.Address, *big.Int) {
	return o.BaseInput.Token, o.BaseInput.MaxAmount
}

func (o *v3Order) outputs() []leg {
	legs := make([]leg, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		legs[i] = leg{out.Token, out.Recipient, out.StartAmount}
	}
	return legs
}

func (c curve) message() apitypes.TypedDataMessage {
	amounts := make([]any, len(c.RelativeAmounts))
	for i, a := range c.RelativeAmounts {
		amounts[i] = a.String()
	}
	return apitypes.TypedDataMessage{"relativeBlocks": c.RelativeBlocks.String(), "relativeAmounts": amounts}
}

func (o *v3Order) message() apitypes.TypedDataMessage {
	outputs := make([]any, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		outputs[i] = apitypes.TypedDataMessage{
			"token": out.Token.Hex(), "startAmount": out.StartAmount.String(), "curve": out.Curve.message(), "recipient": out.Recipient.Hex(),
			"minAmount": out.MinAmount.String(), "adjustmentPerGweiBaseFee": out.AdjustmentPerGweiBaseFee.String(),
		}
	}
	in := o.BaseInput
	return apitypes.TypedDataMessage{
		"info": o.Info.message(), "cosigner": o.Cosigner.Hex(), "startingBaseFee": o.StartingBaseFee.String(), "baseOutputs": outputs,
		"baseInput": apitypes.TypedDataMessage{
			"token": in.Token.Hex(), "startAmount": in.StartAmount.String(), "curve": in.Curve.message(),
			"maxAmount": in.MaxAmount.String(), "adjustmentPerGweiBaseFee": in.AdjustmentPerGweiBaseFee.String(),
		},
	}
}

func (c curve) shown() curveInfo {
	info := curveInfo{RelativeBlocks: c.blocks(), RelativeAmounts: make([]string, len(c.RelativeAmounts))}
	for i, a := range c.RelativeAmounts {
		info.RelativeAmounts[i] = a.String()
	}
	return info
}

func (o *v3Order) shown() dutchInfo {
	in := o.BaseInput
	info := v3Info{
		infoHead: o.Info.shown(o.chain, o.Cosigner), StartingBaseFee: o.StartingBaseFee.String(),
		Input: v3InputInfo{eip55.Address(in.Token), in.StartAmount.String(), in.Curve.shown(), in.MaxAmount.String(), in.AdjustmentPerGweiBaseFee.String()},
	}
	for _, out := range o.BaseOutputs {
		info.Outputs = append(info.Outputs, v3OutputInfo{
			eip55.Address(out.Token), out.StartAmount.String(), out.Curve.shown(), eip55.Address(out.Recipient),
			out.MinAmount.String(), out.AdjustmentPerGweiBaseFee.String(),
		})
	}
	return info
}

func (i v3Info) legs() (any, any) { return i.Input, i.Outputs }

func (i v3Info) amounts() []string {
	texts := []string{i.Nonce, i.StartingBaseFee, i.Input.StartAmount, i.Input.MaxAmount, i.Input.AdjustmentPerGweiBaseFee}
	for _, out := range i.Outputs {
		texts = append(texts, out.StartAmount, out.MinAmount, out.AdjustmentPerGweiBaseFee)
	}
	return texts
}

// ok reports whether there are as many blocks as amounts, and the amounts are numbers.
func (c curveInfo) ok() bool {
	for _, a := range c.RelativeAmounts {
		if !digits.MatchString(strings.TrimPrefix(a, "-")) {
			return false
		}
	}
	return len(c.RelativeBlocks) == len(c.RelativeAmounts) && len(c.RelativeBlocks) <= maxPoints
}

func (i v3Info) ok() bool {
	return i.Input.Curve.ok() && !slices.ContainsFunc(i.Outputs, func(out v3OutputInfo) bool { return !out.Curve.ok() })
}

// maxPoints limits the points of a curve.
const maxPoints = 16

func (c curveInfo) curve() curve {
	amounts := make([]*big.Int, len(c.RelativeAmounts))
	for i, a := range c.RelativeAmounts {
		amounts[i] = amount(a)
	}
	return curve{pack(c.RelativeBlocks), amounts}
}

func (i v3Info) order() dutchOrder {
	in := i.Input
	o := &v3Order{
		Info: i.info(), Cosigner: common.Address(i.Cosigner), StartingBaseFee: amount(i.StartingBaseFee), chain: i.ChainID,
		BaseInput: v3Input{common.Address(in.Token), amount(in.StartAmount), in.Curve.curve(), amount(in.MaxAmount), amount(in.AdjustmentPerGweiBaseFee)},
	}
	for _, out := range i.Outputs {
		o.BaseOutputs = append(o.BaseOutputs, v3Output{
			common.Address(out.Token), amount(out.StartAmount), out.Curve.curve(), common.Address(out.Recipient),
			amount(out.MinAmount), amount(out.AdjustmentPerGweiBaseFee),
		})
	}
	return o
}

func (d cosignerData) v3() v3CosignerData {
	return v3CosignerData{d.start, d.filler, d.exclusivity, d.input, d.outputs}
}

func (o *v3Order) encoded(data cosignerData, cosignature []byte) ([]byte, error) {
	full := *o
	full.CosignerData, full.Cosignature = data.v3(), cosignature
	return v3Arguments.Pack(full)
}

func (o *v3Order) cosigned(data cosignerData) ([]byte, error) {
	return v3CosignerArguments.Pack(data.v3())
}

func (o *v3Order) invalidReason() string {
	if o.BaseInput.AdjustmentPerGweiBaseFee.Sign() != 0 {
		return "adjustmentPerGweiBaseFee is not simulated"
	}
	curves := []curve{o.BaseInput.Curve}
	for _, out := range o.BaseOutputs {
		if out.MinAmount.Cmp(out.StartAmount) > 0 {
			return "output minAmount is above startAmount"
		}
		if out.AdjustmentPerGweiBaseFee.Sign() != 0 {
			return "adjustmentPerGweiBaseFee is not simulated"
		}
		curves = append(curves, out.Curve)
	}
	for _, c := range curves {
		last := uint16(0)
		for _, b := range c.blocks() {
			if b <= last {
				return "relativeBlocks must be strictly increasing"
			}
			last = b
		}
	}
	return ""
}

func (o *v3Order) at(data cosignerData, when blockTime) (*big.Int, []*big.Int) {
	in := o.BaseInput.StartAmount
	if data.input.Sign() > 0 {
		in = data.input
	}
	in = new(big.Int).Sub(in, o.BaseInput.Curve.at(data.start, when.block, up))
	if in.Cmp(o.BaseInput.MaxAmount) > 0 {
		in = o.BaseInput.MaxAmount
	}
	outs := make([]*big.Int, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		start := out.StartAmount
		if i < len(data.outputs) && data.outputs[i].Sign() > 0 {
			start = data.outputs[i]
		}
		if outs[i] = new(big.Int).Sub(start, out.Curve.at(data.start, when.block, down)); outs[i].Cmp(out.MinAmount) < 0 {
			outs[i] = out.MinAmount
		}
	}
	return in, outs
}

// A rounding is towards plus or minus infinity.
type rounding bool

const (
	down rounding = false
	up   rounding = true
)

// maxDecay limits the blocks of a curve.
const maxDecay = 1<<16 - 1

// at returns how much is taken off an amount at a block. Rounding down favours the
// recipient, rounding up the payer.
func (c curve) at(start *big.Int, block uint64, to rounding) *big.Int {
	passed := new(big.Int).SetUint64(block)
	passed.Sub(passed, start)
	if passed.Sign() <= 0 || len(c.RelativeAmounts) == 0 {
		return new(big.Int)
	}
	if passed.Cmp(big.NewInt(maxDecay)) > 0 {
		passed.SetInt64(maxDecay)
	}
	fromBlock, fromAmount := int64(0), new(big.Int)
	for i, b := range c.blocks() {
		point, reached := big.NewInt(int64(b)), c.RelativeAmounts[i]
		if passed.Cmp(point) < 0 {
			return interpolate(fromBlock, point.Int64(), passed.Int64(), fromAmount, reached, to)
		}
		fromBlock, fromAmount = point.Int64(), reached
	}
	return fromAmount
}

// interpolate interpolates linearly between two points.
func interpolate(from, until, now int64, start, end *big.Int, to rounding) *big.Int {
	part := new(big.Int).Sub(end, start)
	part.Mul(part, big.NewInt(now-from))
	if to == up {
		part.Add(part, big.NewInt(until-from-1))
	}
	part.Div(part, big.NewInt(until-from)) // towards minus infinity
	return part.Add(part, start)
}
