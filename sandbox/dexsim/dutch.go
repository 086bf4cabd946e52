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

// A dutchKind is one of the two kinds of auction that UniswapX offers here.
type dutchKind struct {
	routing   string // in quotes
	orderType string // in orders
	protocol  string // in requests
	witness   string // EIP-712 type of the order
	types     apitypes.Types
	reactor   func(network.UniswapX) common.Address
	contract  string // the reactor's, among the contracts
	// lifetime is how long a quote's order can be filled, in seconds.
	lifetime int64
	// exclusivity is what others than the exclusive filler pay on top while the
	// price does not fall yet, in basis points.
	exclusivity int64
	// chainInCosignature says whether the cosigner's digest names the chain.
	chainInCosignature bool
	// least is the smallest output for a slippage in basis points.
	least func(amount *big.Int, slippage int64) *big.Int
	// make is the order of a quote: legs that fall by the slippage, in basis points.
	make func(chain uint64, info orderInfo, cosigner, token common.Address, in *big.Int, legs []leg, slippage int64) dutchOrder
	// open reads an order as quotes show it, in the shape that they have.
	open func(quote []byte) (*dutchQuote, dutchOrder, error)
}

var v2Kind = &dutchKind{
	routing: "DUTCH_V2", orderType: "Dutch_V2", protocol: "UNISWAPX_V2", witness: "V2DutchOrder", types: v2Types,
	reactor:  func(x network.UniswapX) common.Address { return x.V2Reactor },
	contract: "V2DutchOrderReactor", lifetime: 300, exclusivity: 100, least: floor, make: newV2, open: openQuote[v2Info],
}

var v3Kind = &dutchKind{
	routing: "DUTCH_V3", orderType: "Dutch_V3", protocol: "UNISWAPX_V3", witness: "V3DutchOrder", types: v3Types,
	reactor:  func(x network.UniswapX) common.Address { return x.V3Reactor },
	contract: "V3DutchOrderReactor", lifetime: 120, exclusivity: 25, chainInCosignature: true, least: ceiling, make: newV3, open: openQuote[v3Info],
}

var dutchKinds = []*dutchKind{v2Kind, v3Kind}

// ceiling is an amount less the slippage, in basis points, rounded up.
func ceiling(amount *big.Int, slippage int64) *big.Int {
	less := new(big.Int).Mul(amount, big.NewInt(slippage))
	return less.Sub(amount, less.Div(less, big.NewInt(allBips)))
}

// A dutchOrder is what the user of an auction signs.
type dutchOrder interface {
	kind() *dutchKind
	common() orderInfo
	// spends is the token and the most of it that the order can take.
	spends() (common.Address, *big.Int)
	// message is the order as its EIP-712 type has it.
	message() apitypes.TypedDataMessage
	// shown is the order as quotes show it.
	shown() dutchInfo
	// encoded is the order as the reactor takes it.
	encoded(data cosignerData, cosignature []byte) ([]byte, error)
	// cosigned encodes the cosigner's part alone, which the cosigner signs.
	cosigned(data cosignerData) ([]byte, error)
	// at is what the order takes and pays at a place of the chain.
	at(data cosignerData, when moment) (in *big.Int, outs []*big.Int)
	// outputs are what it pays, before the price falls.
	outputs() []leg
	// sound says what the order service has against it, "" for nothing.
	sound() string
}

// A leg is one output of an order.
type leg struct {
	token, recipient common.Address
	start            *big.Int
}

// A moment is a place of the chain.
type moment struct {
	block uint64
	time  uint64
}

// cosignerData is what the cosigner adds to an order. Decay begins at start, a
// time or, for V3, a block; end is a time and V2's alone. Zero amounts leave the
// order's own.
type cosignerData struct {
	start, end  *big.Int
	filler      common.Address
	exclusivity *big.Int // basis points
	input       *big.Int
	outputs     []*big.Int
}

// unsigned is the cosigner's part of an order that nobody has cosigned.
func unsigned() cosignerData {
	return cosignerData{new(big.Int), new(big.Int), common.Address{}, new(big.Int), new(big.Int), []*big.Int{new(big.Int)}}
}

// orderInfo begins every order.
type orderInfo struct {
	Reactor                      common.Address
	Swapper                      common.Address
	Nonce                        *big.Int
	Deadline                     *big.Int
	AdditionalValidationContract common.Address
	AdditionalValidationData     []byte
}

// infoHead is the same as quotes show it.
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

// message has the deadline as a number, as the API does.
func (i orderInfo) message() apitypes.TypedDataMessage {
	return apitypes.TypedDataMessage{
		"reactor": i.Reactor.Hex(), "swapper": i.Swapper.Hex(), "nonce": i.Nonce.String(), "deadline": i.Deadline,
		"additionalValidationContract": i.AdditionalValidationContract.Hex(),
		"additionalValidationData":     hexutil.Encode(i.AdditionalValidationData),
	}
}

// typedData is what the user of an auction signs: as a permit of the AMM route,
// but the domain's contract in lower case.
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

// permitWitness is the EIP-712 type that an order is signed within.
const permitWitness = "PermitWitnessTransferFrom"

// witnessTypes are the types of an order's signature: those around the order and
// the order's own.
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

// typed is the order as the user of a chain signs it.
func typed(o dutchOrder, chain uint64, permit2 common.Address) *typedData {
	info := o.common()
	token, most := o.spends()
	return &typedData{
		Domain: typedDomain{"Permit2", chain, hexutil.Encode(permit2[:])},
		Types:  o.kind().types,
		Values: apitypes.TypedDataMessage{
			"permitted": apitypes.TypedDataMessage{"token": token.Hex(), "amount": most.String()},
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

// digest is what the user's key signs.
func (t *typedData) digest() ([]byte, error) {
	digest, _, err := apitypes.TypedDataAndHash(t.full())
	return digest, err
}

// orderHash names the order, at the API and on the chain.
func orderHash(o dutchOrder) (common.Hash, error) {
	data := typed(o, 0, common.Address{}).full() // the hash has no part of the domain
	hash, err := data.HashStruct(o.kind().witness, o.message())
	return common.BytesToHash(hash), err
}

// tupleOf is the ABI type of one struct, or panics: its descriptions are
// literals of this package.
func tupleOf(components []abi.ArgumentMarshaling) abi.Arguments {
	t, err := abi.NewType("tuple", "", components)
	if err != nil {
		panic(fmt.Sprintf("abi type: %v", err))
	}
	return abi.Arguments{{Type: t}}
}

// members describes a struct's members, given as name and type by turns.
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
