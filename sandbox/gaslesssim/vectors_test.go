package gaslesssim_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
)

// A vector is typed data with the hashes and signature that several libraries computed.
type vector struct {
	ID              string
	TypedData       json.RawMessage
	TypeHash        common.Hash
	DomainSeparator common.Hash
	StructHash      common.Hash
	Digest          common.Hash
	Signature       hexutil.Bytes

	data apitypes.TypedData
}

// vectors returns the vectors by name and their signer, whose key is public.
func vectors(t *testing.T) (map[string]vector, sandbox.Account) {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Key     hexutil.Bytes `json:"private_key"`
		Address common.Address
		Vectors []vector
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]vector{}
	for _, v := range file.Vectors {
		if err := json.Unmarshal(v.TypedData, &v.data); err != nil {
			t.Fatal(err)
		}
		v.data.Message = stringified(t, v.TypedData)
		all[v.ID] = v
	}
	key, err := crypto.ToECDSA(file.Key)
	if err != nil {
		t.Fatal(err)
	}
	return all, sandbox.Account{Address: file.Address, Key: key}
}

func stringified(t *testing.T, typedData []byte) fields {
	t.Helper()
	var file struct{ Message json.RawMessage }
	dec := json.NewDecoder(bytes.NewReader(typedData))
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return quote{ToSign: file.Message}.message(t)
}

// TestTypedDataMatchesVectors checks that the tests hash and sign exactly as the
// libraries.
func TestTypedDataMatchesVectors(t *testing.T) {
	all, signer := vectors(t)
	if len(all) != 8 {
		t.Fatalf("%d vectors", len(all))
	}
	for id, v := range all {
		t.Run(id, func(t *testing.T) {
			digest, _, err := apitypes.TypedDataAndHash(v.data)
			if err != nil {
				t.Fatal(err)
			}
			separator, err := v.data.HashStruct("EIP712Domain", v.data.Domain.Map())
			if err != nil {
				t.Fatal(err)
			}
			structHash, err := v.data.HashStruct(v.data.PrimaryType, v.data.Message)
			if err != nil {
				t.Fatal(err)
			}
			for name, pair := range map[string][2]common.Hash{
				"digest": {common.BytesToHash(digest), v.Digest}, "domain": {common.BytesToHash(separator), v.DomainSeparator},
				"struct": {common.BytesToHash(structHash), v.StructHash}, "type": {common.BytesToHash(v.data.TypeHash(v.data.PrimaryType)), v.TypeHash},
			} {
				if pair[0] != pair[1] {
					t.Errorf("%s: got %s, want %s", name, pair[0], pair[1])
				}
			}
			if got := signHash(t, signer, digest); got != v.Signature.String() {
				t.Errorf("signature %s", got)
			}
		})
	}
}

// A golden is a vector that a contract accepts.
type golden struct {
	id       string
	chain    uint64
	from     common.Address // the settler
	contract string
	at       common.Address
	value    *big.Int
	call     func(t *testing.T, v vector, contract abi.ABI) []byte
	hash     func(t *testing.T, v vector, contract abi.ABI) []byte // call for the digest; nil = none
}

var (
	vectorExecutor = common.HexToAddress("0x1111111111111111111111111111111111111111")
	vectorMaker    = common.HexToAddress("0xA8020EcBC321e0C8cEA26B3507f207482d0100c2")
)

var goldens = []golden{
	{"jam_v2_standard_5330", 5330, vectorExecutor, "JamSettlement", jamSettlement, nil, jamVectorCall(false), jamVectorHash(false)},
	{"jam_v2_standard_1_native_out", 1, vectorMaker, "JamSettlement", jamSettlement, jamPaid, jamVectorCall(false), jamVectorHash(false)},
	{"jam_v2_permit2_witness_10", 10, vectorExecutor, "JamSettlement", jamSettlement, nil, jamVectorCall(true), jamVectorHash(true)},
	{"pmm_v3_single_1", 1, vectorMaker, "RfqSettlement", rfqSettlement, nil, rfqVectorCall, rfqVectorHash},
	{"permit2_allowance_batch_1", 1, vectorMaker, "Permit2", permit2, nil, permitVectorCall, nil},
}

// vectorTime is before the vectors expire.
const vectorTime = 1772813400

// TestContractsTakeVectors checks that the contracts compute the vectors' digests and
// accept their signatures, and no others.
func TestContractsTakeVectors(t *testing.T) {
	all, signer := vectors(t)
	w := start(t, 1, 10, 5330)
	for _, g := range goldens {
		t.Run(g.id, func(t *testing.T) {
			w := &world{t, w.Sandbox, signer}
			v, contract := all[g.id], *contractABI(w, g.contract)
			w.prepare(g)
			if g.hash != nil {
				var digest hexutil.Bytes
				free := g
				free.value = nil
				if err := w.rawCall(free, g.hash(t, v, contract), &digest); err != nil || common.BytesToHash(digest) != v.Digest {
					t.Fatalf("digest %s, %v; want %s", digest, err, v.Digest)
				}
			}
			var nothing hexutil.Bytes
			if err := w.rawCall(g, g.call(t, v, contract), &nothing); err != nil {
				t.Errorf("not taken: %v %x", err, revertData(err))
			}
			v.Signature = append(hexutil.Bytes{}, v.Signature...)
			v.Signature[10] ^= 1
			err := w.rawCall(g, g.call(t, v, contract), &nothing)
			if !slices.Contains(refusals, errorName(contract, err)) {
				t.Errorf("another signature: %v %x", err, revertData(err))
			}
		})
	}
}

// refusals are the contracts' errors for bad signatures.
var refusals = []string{"InvalidSigner", "InvalidSignature", "InvalidEIP712Signature"}

// errorName returns the contract's name for the error of a reverted call.
func errorName(contract abi.ABI, err error) string {
	data := revertData(err)
	for name, e := range contract.Errors {
		if len(data) >= 4 && bytes.Equal(e.ID[:4], data[:4]) {
			return name
		}
	}
	return ""
}

// prepare funds both sides of a vector and sets the signer's approvals.
func (w *world) prepare(g golden) {
	w.Helper()
	fund := func(to, token common.Address, amount *big.Int) {
		w.Helper()
		if err := w.Chain(g.chain).Fund(w.Context(), to, token, amount); err != nil {
			w.Fatal(err)
		}
	}
	usdc, weth := w.token(g.chain, "USDC"), w.token(g.chain, "WETH")
	fund(w.user.Address, common.Address{}, sandboxtest.Units(1, 18))
	fund(w.user.Address, usdc, sandboxtest.Units(1000, 6))
	fund(g.from, common.Address{}, sandboxtest.Units(1, 18))
	fund(g.from, weth, sandboxtest.Units(1, 18))
	for _, spender := range []common.Address{balanceManager, rfqSettlement, permit2} {
		w.approve(g.chain, usdc, spender, sandboxtest.Units(1000, 6))
	}
}

// rawCall calls at the vectors' time. The settler's WETH approvals are set by a state
// override, as nobody has its key.
func (w *world) rawCall(g golden, data []byte, result *hexutil.Bytes) error {
	slots := map[common.Hash]common.Hash{}
	for _, spender := range []common.Address{balanceManager, rfqSettlement} {
		slots[wethAllowance(g.from, spender)] = common.MaxHash
	}
	args := fields{"from": g.from, "to": g.at, "data": hexutil.Bytes(data)}
	if g.value != nil {
		args["value"] = (*hexutil.Big)(g.value)
	}
	return w.Chain(g.chain).Client().Client().CallContext(w.Context(), result, "eth_call", args, "latest",
		fields{w.token(g.chain, "WETH").Hex(): fields{"stateDiff": slots}},
		fields{"time": hexutil.Uint64(vectorTime)})
}

// wethAllowance returns the storage slot of an allowance in WETH9: the mapping is at slot
// 4.
func wethAllowance(owner, spender common.Address) common.Hash {
	outer := crypto.Keccak256(common.LeftPadBytes(owner[:], 32), common.LeftPadBytes([]byte{4}, 32))
	return crypto.Keccak256Hash(common.LeftPadBytes(spender[:], 32), outer)
}

// A message is a vector's message with typed access to its members.
type message struct{ fields }

func (m message) number(name string) *big.Int { return number(m.fields[name].(string)) }
func (m message) address(name string) common.Address {
	return common.HexToAddress(m.fields[name].(string))
}

func (m message) numbers(name string) (all []*big.Int) {
	for _, v := range m.fields[name].([]any) {
		all = append(all, number(v.(string)))
	}
	return all
}

func (m message) addresses(name string) (all []common.Address) {
	for _, v := range m.fields[name].([]any) {
		all = append(all, common.HexToAddress(v.(string)))
	}
	return all
}

func (v vector) jam(onPermit bool) any {
	m := message{v.data.Message}
	if onPermit {
		m = message{m.fields["witness"].(fields)}
	}
	return struct {
		Taker, Receiver                    common.Address
		Expiry, ExclusivityDeadline, Nonce *big.Int
		Executor                           common.Address
		PartnerInfo                        *big.Int
		SellTokens, BuyTokens              []common.Address
		SellAmounts, BuyAmounts            []*big.Int
		UsingPermit2                       bool
	}{
		m.address("taker"), m.address("receiver"), m.number("expiry"), m.number("exclusivityDeadline"), m.number("nonce"),
		m.address("executor"), m.number("partnerInfo"), m.addresses("sellTokens"), m.addresses("buyTokens"),
		m.numbers("sellAmounts"), m.numbers("buyAmounts"), onPermit,
	}
}

func jamVectorHash(onPermit bool) func(*testing.T, vector, abi.ABI) []byte {
	return func(t *testing.T, v vector, contract abi.ABI) []byte {
		return pack(t, contract, "hashJamOrder", v.jam(onPermit), common.Hash{})
	}
}

// jamPaid is what the vectors' solver pays: enough for each of them.
var jamPaid = number("506973589694696809")

func jamVectorCall(onPermit bool) func(*testing.T, vector, abi.ABI) []byte {
	return func(t *testing.T, v vector, contract abi.ABI) []byte {
		return pack(t, contract, "settleInternal", v.jam(onPermit), []byte(v.Signature), []*big.Int{jamPaid}, []byte{})
	}
}

func (v vector) single() any {
	m := message{v.data.Message}
	return struct {
		Expiry                     *big.Int
		TakerAddress, MakerAddress common.Address
		MakerNonce                 *big.Int
		TakerToken, MakerToken     common.Address
		TakerAmount, MakerAmount   *big.Int
		Receiver                   common.Address
		PackedCommands, Flags      *big.Int
	}{
		m.number("expiry"), m.address("taker_address"), m.address("maker_address"), m.number("maker_nonce"),
		m.address("taker_token"), m.address("maker_token"), m.number("taker_amount"), m.number("maker_amount"),
		m.address("receiver"), m.number("packed_commands"), new(big.Int),
	}
}

func rfqVectorHash(t *testing.T, v vector, contract abi.ABI) []byte {
	return pack(t, contract, "hashSingleOrder", v.single(), uint64(0), new(big.Int), new(big.Int))
}

func rfqVectorCall(t *testing.T, v vector, contract abi.ABI) []byte {
	m := message{v.data.Message}
	byMaker := struct {
		SignatureBytes []byte
		Flags          *big.Int
	}{nil, new(big.Int)}
	quoted := struct {
		UseOldAmount            bool
		MakerAmount, MakerNonce *big.Int
	}{false, m.number("maker_amount"), m.number("maker_nonce")}
	return pack(t, contract, "settleSingle", v.single(), byMaker, new(big.Int), quoted, []byte(v.Signature))
}

func permitVectorCall(t *testing.T, v vector, contract abi.ABI) []byte {
	type details struct {
		Token                     common.Address
		Amount, Expiration, Nonce *big.Int
	}
	m := message{v.data.Message}
	d := message{m.fields["details"].([]any)[0].(fields)}
	batch := struct {
		Details     []details
		Spender     common.Address
		SigDeadline *big.Int
	}{
		[]details{{d.address("token"), d.number("amount"), d.number("expiration"), d.number("nonce")}},
		m.address("spender"), m.number("sigDeadline"),
	}
	for name, method := range contract.Methods {
		if method.RawName == "permit" && method.Inputs[1].Type.TupleElems[0].T == abi.SliceTy {
			return pack(t, contract, name, common.HexToAddress("0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"), batch, []byte(v.Signature))
		}
	}
	t.Fatal("no permit of several tokens")
	return nil
}

func pack(t *testing.T, contract abi.ABI, method string, args ...any) []byte {
	t.Helper()
	data, err := contract.Pack(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
