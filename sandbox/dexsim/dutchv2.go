package dexsim

import (
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox/eip55"
)

// A v2Order is an order whose price decays with time, in the reactor's layout.
type v2Order struct {
	Info         orderInfo
	Cosigner     common.Address
	BaseInput    v2Input
	BaseOutputs  []v2Output
	CosignerData v2CosignerData
	Cosignature  []byte

	chain uint64
}

type v2Input struct {
	Token       common.Address
	StartAmount *big.Int
	EndAmount   *big.Int
}

type v2Output struct {
	Token       common.Address
	StartAmount *big.Int
	EndAmount   *big.Int
	Recipient   common.Address
}

type v2CosignerData struct {
	DecayStartTime         *big.Int
	DecayEndTime           *big.Int
	ExclusiveFiller        common.Address
	ExclusivityOverrideBps *big.Int
	InputAmount            *big.Int
	OutputAmounts          []*big.Int
}

// v2Info is the order as quotes show it.
type v2Info struct {
	infoHead
	Input   v2InputInfo    `json:"input"`
	Outputs []v2OutputInfo `json:"outputs"`
}

type v2InputInfo struct {
	Token       eip55.Address `json:"token"`
	StartAmount string        `json:"startAmount"`
	EndAmount   string        `json:"endAmount"`
}

type v2OutputInfo struct {
	v2InputInfo
	Recipient eip55.Address `json:"recipient"`
}

var v2Types = witnessTypes("V2DutchOrder", apitypes.Types{
	"V2DutchOrder": {
		{Name: "info", Type: "OrderInfo"}, {Name: "cosigner", Type: "address"}, {Name: "baseInputToken", Type: "address"},
		{Name: "baseInputStartAmount", Type: "uint256"}, {Name: "baseInputEndAmount", Type: "uint256"}, {Name: "baseOutputs", Type: "DutchOutput[]"},
	},
	"DutchOutput": {
		{Name: "token", Type: "address"}, {Name: "startAmount", Type: "uint256"}, {Name: "endAmount", Type: "uint256"}, {Name: "recipient", Type: "address"},
	},
})

var v2CosignerMembers = members("decayStartTime", "uint256", "decayEndTime", "uint256", "exclusiveFiller", "address",
	"exclusivityOverrideBps", "uint256", "inputAmount", "uint256", "outputAmounts", "uint256[]")

var v2Arguments = tupleOf([]abi.ArgumentMarshaling{
	abiInfo,
	{Name: "cosigner", Type: "address"},
	tuple("baseInput", "tuple", members("token", "address", "startAmount", "uint256", "endAmount", "uint256")),
	tuple("baseOutputs", "tuple[]", members("token", "address", "startAmount", "uint256", "endAmount", "uint256", "recipient", "address")),
	tuple("cosignerData", "tuple", v2CosignerMembers),
	{Name: "cosignature", Type: "bytes"},
})

var v2CosignerArguments = tupleOf(v2CosignerMembers)

// newV2 returns the order of a quote. Its legs decay by the slippage.
func newV2(chain uint64, info orderInfo, cosigner, token common.Address, in *big.Int, legs []leg, slippage int64) dutchOrder {
	o := &v2Order{Info: info, Cosigner: cosigner, BaseInput: v2Input{token, in, in}, chain: chain}
	for _, l := range legs {
		o.BaseOutputs = append(o.BaseOutputs, v2Output{l.token, l.start, minAmountFloor(l.start, slippage), l.recipient})
	}
	return o
}

func (o *v2Order) kind() *dutchKind  { return v2Kind }
func (o *v2Order) common() orderInfo { return o.Info }

func (o *v2Order) maxInput() (common.Address, *big.Int) {
	return o.BaseInput.Token, o.BaseInput.EndAmount
}

func (o *v2Order) outputs() []leg {
	legs := make([]leg, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		legs[i] = leg{out.Token, out.Recipient, out.StartAmount}
	}
	return legs
}

func (o *v2Order) message() apitypes.TypedDataMessage {
	outputs := make([]any, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		outputs[i] = apitypes.TypedDataMessage{
			"token": out.Token.Hex(), "startAmount": out.StartAmount.String(), "endAmount": out.EndAmount.String(), "recipient": out.Recipient.Hex(),
		}
	}
	return apitypes.TypedDataMessage{
		"info": o.Info.message(), "cosigner": o.Cosigner.Hex(), "baseInputToken": o.BaseInput.Token.Hex(),
		"baseInputStartAmount": o.BaseInput.StartAmount.String(), "baseInputEndAmount": o.BaseInput.EndAmount.String(), "baseOutputs": outputs,
	}
}

func (o *v2Order) shown() dutchInfo {
	info := v2Info{infoHead: o.Info.shown(o.chain, o.Cosigner), Input: v2InputInfo{eip55.Address(o.BaseInput.Token), o.BaseInput.StartAmount.String(), o.BaseInput.EndAmount.String()}}
	for _, out := range o.BaseOutputs {
		info.Outputs = append(info.Outputs, v2OutputInfo{v2InputInfo{eip55.Address(out.Token), out.StartAmount.String(), out.EndAmount.String()}, eip55.Address(out.Recipient)})
	}
	return info
}

func (i v2Info) ok() bool { return true }

func (i v2Info) legs() (any, any) { return i.Input, i.Outputs }

func (i v2Info) amounts() []string {
	texts := []string{i.Nonce, i.Input.StartAmount, i.Input.EndAmount}
	for _, out := range i.Outputs {
		texts = append(texts, out.StartAmount, out.EndAmount)
	}
	return texts
}

func (i v2Info) order() dutchOrder {
	o := &v2Order{
		Info: i.info(), Cosigner: common.Address(i.Cosigner), chain: i.ChainID,
		BaseInput: v2Input{common.Address(i.Input.Token), amount(i.Input.StartAmount), amount(i.Input.EndAmount)},
	}
	for _, out := range i.Outputs {
		o.BaseOutputs = append(o.BaseOutputs, v2Output{common.Address(out.Token), amount(out.StartAmount), amount(out.EndAmount), common.Address(out.Recipient)})
	}
	return o
}

func (d cosignerData) v2() v2CosignerData {
	return v2CosignerData{d.start, d.end, d.filler, d.exclusivity, d.input, d.outputs}
}

func (o *v2Order) encoded(data cosignerData, cosignature []byte) ([]byte, error) {
	full := *o
	full.CosignerData, full.Cosignature = data.v2(), cosignature
	return v2Arguments.Pack(full)
}

func (o *v2Order) cosigned(data cosignerData) ([]byte, error) {
	return v2CosignerArguments.Pack(data.v2())
}

func (o *v2Order) invalidReason() string {
	if o.BaseInput.StartAmount.Cmp(o.BaseInput.EndAmount) > 0 {
		return "input endAmount is below startAmount"
	}
	for _, out := range o.BaseOutputs {
		if out.EndAmount.Cmp(out.StartAmount) > 0 {
			return "output endAmount is above startAmount"
		}
	}
	return ""
}

func (o *v2Order) at(data cosignerData, when blockTime) (*big.Int, []*big.Int) {
	in := o.BaseInput.StartAmount
	if data.input.Sign() > 0 {
		in = data.input
	}
	outs := make([]*big.Int, len(o.BaseOutputs))
	for i, out := range o.BaseOutputs {
		start := out.StartAmount
		if i < len(data.outputs) && data.outputs[i].Sign() > 0 {
			start = data.outputs[i]
		}
		outs[i] = decayed(start, out.EndAmount, data, when)
	}
	return decayed(in, o.BaseInput.EndAmount, data, when), outs
}

// decayed interpolates linearly between start and end. The change is rounded down if the
// amount decreases and up if it increases.
func decayed(start, end *big.Int, data cosignerData, when blockTime) *big.Int {
	now := new(big.Int).SetUint64(when.time)
	switch {
	case now.Cmp(data.end) >= 0:
		return end
	case now.Cmp(data.start) <= 0:
		return start
	}
	elapsed, duration := now.Sub(now, data.start), new(big.Int).Sub(data.end, data.start)
	decay := new(big.Int).Sub(start, end)
	decay.Mul(decay, elapsed).Div(decay, duration) // towards minus infinity
	return decay.Sub(start, decay)
}
