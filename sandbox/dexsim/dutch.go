package dexsim

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
)

// A dutchKind is one of the two kinds of UniswapX auction that are offered.
type dutchKind struct {
	routing   string // in quotes
	orderType string // in orders
	protocol  string // in requests
	witness   string // EIP-712 type of the order
	types     apitypes.Types
	reactor   func(network.UniswapX) common.Address
	contract  string // name of the reactor in the set of contracts
	// lifetime is how long a quoted order can be filled, in seconds.
	lifetime int64
	// exclusivity is what any other filler must pay on top before the price decays, in
	// basis points.
	exclusivity int64
	// chainInCosignature says whether the cosigner's digest includes the chain id.
	chainInCosignature bool
	// minAmount returns the minimum output for a slippage in basis points.
	minAmount func(amount *big.Int, slippage int64) *big.Int
	// make returns the order of a quote. Its legs decay by the slippage, in basis points.
	make func(chain uint64, info orderInfo, cosigner, token common.Address, in *big.Int, legs []leg, slippage int64) dutchOrder
	// decode decodes a quote and its order; see decodeQuote.
	decode func(quote []byte) (*dutchQuote, dutchOrder, error)
}

var v2Kind = &dutchKind{
	routing: "DUTCH_V2", orderType: "Dutch_V2", protocol: "UNISWAPX_V2", witness: "V2DutchOrder", types: v2Types,
	reactor:  func(x network.UniswapX) common.Address { return x.V2Reactor },
	contract: "V2DutchOrderReactor", lifetime: 300, exclusivity: 100, minAmount: minAmountFloor, make: newV2, decode: decodeQuote[v2Info],
}

var v3Kind = &dutchKind{
	routing: "DUTCH_V3", orderType: "Dutch_V3", protocol: "UNISWAPX_V3", witness: "V3DutchOrder", types: v3Types,
	reactor:  func(x network.UniswapX) common.Address { return x.V3Reactor },
	contract: "V3DutchOrderReactor", lifetime: 120, exclusivity: 25, chainInCosignature: true, minAmount: minAmountCeil, make: newV3, decode: decodeQuote[v3Info],
}

var dutchKinds = []*dutchKind{v2Kind, v3Kind}

// minAmountCeil returns an amount less the slippage, in basis points, rounded up.
func minAmountCeil(amount *big.Int, slippage int64) *big.Int {
	less := new(big.Int).Mul(amount, big.NewInt(slippage))
	return less.Sub(amount, less.Div(less, big.NewInt(allBips)))
}

// A dutchOrder is the order that the user of an auction signs.
type dutchOrder interface {
	kind() *dutchKind
	common() orderInfo
	// maxInput returns the token and the maximum amount that the order can take.
	maxInput() (common.Address, *big.Int)
	// message returns the order as an EIP-712 message.
	message() apitypes.TypedDataMessage
	// shown returns the order as quotes show it.
	shown() dutchInfo
	// encoded returns the order in the reactor's encoding.
	encoded(data cosignerData, cosignature []byte) ([]byte, error)
	// cosigned encodes the part that the cosigner signs.
	cosigned(data cosignerData) ([]byte, error)
	// at returns the order's input and outputs at a block.
	at(data cosignerData, when blockTime) (in *big.Int, outs []*big.Int)
	// outputs returns the outputs before the price decays.
	outputs() []leg
	// invalidReason returns why the order service refuses the order; "" if it does not.
	invalidReason() string
}

// A leg is one output of an order.
type leg struct {
	token, recipient common.Address
	start            *big.Int
}

// A blockTime is a block by number and time.
type blockTime struct {
	block uint64
	time  uint64
}

// cosignerData is what the cosigner adds to an order. Decay begins at start, which is a
// time for V2 and a block for V3; end is a time and used by V2 only. Zero amounts keep
// the order's own.
type cosignerData struct {
	start, end  *big.Int
	filler      common.Address
	exclusivity *big.Int // basis points
	input       *big.Int
	outputs     []*big.Int
}

// unsigned returns the cosigner's part of an order that is not cosigned.
func unsigned() cosignerData {
	return cosignerData{new(big.Int), new(big.Int), common.Address{}, new(big.Int), new(big.Int), []*big.Int{new(big.Int)}}
}

// orderInfo is the first member of every order.
type orderInfo struct {
	Reactor                      common.Address
	Swapper                      common.Address
	Nonce                        *big.Int
	Deadline                     *big.Int
	AdditionalValidationContract common.Address
	AdditionalValidationData     []byte
}

// infoHead is the orderInfo as quotes show it.
type infoHead struct {
	ChainID                      uint64        `json:"chainId"`
	Reactor                      eip55.Address `json:"reactor"`
	Swapper                      eip55.Address `json:"swapper"`
	Nonce                        string        `json:"nonce"`
	Deadline                     int64         `json:"deadline"`
	AdditionalValidationContract eip55.Address `json:"additionalValidationContract"`
	AdditionalValidationData     hexutil.Bytes `json:"additionalValidationData"`
	Cosigner                     eip55.Address `json:"cosigner"`
}

func (i orderInfo) shown(chain uint64, cosigner common.Address) infoHead {
	return infoHead{
		ChainID: chain, Reactor: eip55.Address(i.Reactor), Swapper: eip55.Address(i.Swapper), Nonce: i.Nonce.String(), Deadline: i.Deadline.Int64(),
		AdditionalValidationContract: eip55.Address(i.AdditionalValidationContract), AdditionalValidationData: i.AdditionalValidationData,
		Cosigner: eip55.Address(cosigner),
	}
}

func (h infoHead) chain() uint64           { return h.ChainID }
func (h infoHead) cosigner() eip55.Address { return h.Cosigner }

func (h infoHead) info() orderInfo {
	return orderInfo{
		common.Address(h.Reactor), common.Address(h.Swapper), amount(h.Nonce), big.NewInt(h.Deadline),
		common.Address(h.AdditionalValidationContract), h.AdditionalValidationData,
	}
}

// message has the deadline as a number, as in the API.
func (i orderInfo) message() apitypes.TypedDataMessage {
	return apitypes.TypedDataMessage{
		"reactor": i.Reactor.Hex(), "swapper": i.Swapper.Hex(), "nonce": i.Nonce.String(), "deadline": i.Deadline,
		"additionalValidationContract": i.AdditionalValidationContract.Hex(),
		"additionalValidationData":     hexutil.Encode(i.AdditionalValidationData),
	}
}

// typedData is what the user of an auction signs. Unlike in the permits of the AMM route,
// the domain's contract is in lower case.
type typedData struct {
	Domain typedDomain               `json:"domain"`
	Types  apitypes.Types            `json:"types"`
	Values apitypes.TypedDataMessage `json:"values"`
}

type typedDomain struct {
	Name              string `json:"name"`
	ChainID           uint64 `json:"chainId"`
	VerifyingContract string `json:"verifyingContract"`
}

// permitWitness is the primary EIP-712 type that contains an order.
const permitWitness = "PermitWitnessTransferFrom"

// witnessTypes returns the types of an order's signature: the common ones and the order's
// own.
func witnessTypes(witness string, own apitypes.Types) apitypes.Types {
	types := apitypes.Types{
		permitWitness: {
			{Name: "permitted", Type: "TokenPermissions"}, {Name: "spender", Type: "address"},
			{Name: "nonce", Type: "uint256"}, {Name: "deadline", Type: "uint256"}, {Name: "witness", Type: witness},
		},
		"TokenPermissions": {{Name: "token", Type: "address"}, {Name: "amount", Type: "uint256"}},
		"OrderInfo": {
			{Name: "reactor", Type: "address"}, {Name: "swapper", Type: "address"}, {Name: "nonce", Type: "uint256"}, {Name: "deadline", Type: "uint256"},
			{Name: "additionalValidationContract", Type: "address"}, {Name: "additionalValidationData", Type: "bytes"},
		},
	}
	for name, fields := range own {
		types[name] = fields
	}
	return types
}

// typed returns the typed data that the user signs for an order.
func typed(o dutchOrder, chain uint64, permit2 common.Address) *typedData {
	info := o.common()
	token, maximum := o.maxInput()
	return &typedData{
		Domain: typedDomain{"Permit2", chain, hexutil.Encode(permit2[:])},
		Types:  o.kind().types,
		Values: apitypes.TypedDataMessage{
			"permitted": apitypes.TypedDataMessage{"token": token.Hex(), "amount": maximum.String()},
			"spender":   info.Reactor.Hex(), "nonce": info.Nonce.String(), "deadline": info.Deadline, "witness": o.message(),
		},
	}
}

func (t *typedData) full() apitypes.TypedData {
	types := apitypes.Types{"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}}
	for name, fields := range t.Types {
		types[name] = fields
	}
	chain := math.HexOrDecimal256(*new(big.Int).SetUint64(t.Domain.ChainID))
	domain := apitypes.TypedDataDomain{Name: t.Domain.Name, ChainId: &chain, VerifyingContract: t.Domain.VerifyingContract}
	return apitypes.TypedData{Types: types, PrimaryType: permitWitness, Domain: domain, Message: t.Values}
}

// digest returns the hash that the user signs.
func (t *typedData) digest() ([]byte, error) {
	digest, _, err := apitypes.TypedDataAndHash(t.full())
	return digest, err
}

// orderHash returns the order's id in the API and on the chain.
func orderHash(o dutchOrder) (common.Hash, error) {
	data := typed(o, 0, common.Address{}).full() // the hash does not include the domain
	hash, err := data.HashStruct(o.kind().witness, o.message())
	return common.BytesToHash(hash), err
}

// tupleOf returns the ABI type of a struct. It panics on a bad description, as these are
// literals in this package.
func tupleOf(components []abi.ArgumentMarshaling) abi.Arguments {
	t, err := abi.NewType("tuple", "", components)
	if err != nil {
		panic(fmt.Sprintf("abi type: %v", err))
	}
	return abi.Arguments{{Type: t}}
}

// members describes a struct's members, given as alternating names and types.
func members(pairs ...string) []abi.ArgumentMarshaling {
	var all []abi.ArgumentMarshaling
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, abi.ArgumentMarshaling{Name: pair[0], Type: pair[1]})
	}
	return all
}

func tuple(name, kind string, components []abi.ArgumentMarshaling) abi.ArgumentMarshaling {
	return abi.ArgumentMarshaling{Name: name, Type: kind, Components: components}
}

var abiInfo = tuple("info", "tuple", members(
	"reactor", "address", "swapper", "address", "nonce", "uint256", "deadline", "uint256",
	"additionalValidationContract", "address", "additionalValidationData", "bytes"))
