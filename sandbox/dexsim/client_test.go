package dexsim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox"
)

var (
	native   = common.Address{}
	receiver = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
)

// ask sends a request as the wallet's adapter would.
func ask(t *testing.T, s *sandbox.Sandbox, method, path string, body any, header ...string) (int, []byte) {
	t.Helper()
	raw, isRaw := body.([]byte)
	if !isRaw && body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, s.DEXURL()+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, reply
}

// fields is a JSON object.
type fields = map[string]any

func mustAsk[T any](t *testing.T, s *sandbox.Sandbox, method, path string, body any) (T, []byte) {
	t.Helper()
	status, raw := ask(t, s, method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, status, raw)
	}
	var reply T
	if err := json.Unmarshal(raw, &reply); err != nil {
		t.Fatalf("%s: %v in %s", path, err, raw)
	}
	return reply, raw
}

type quoteReply struct {
	Routing string          `json:"routing"`
	Permit  json.RawMessage `json:"permitData"`
	Quote   json.RawMessage `json:"quote"`

	outputs []struct {
		Amount    string         `json:"amount"`
		Recipient common.Address `json:"recipient"`
	}
}

// quote asks for a quote of account 0.
func quote(t *testing.T, s *sandbox.Sandbox, chain uint64, in, out common.Address, amount *big.Int, more fields) quoteReply {
	t.Helper()
	reply, _ := mustAsk[quoteReply](t, s, http.MethodPost, "/quote", quoteRequest(s, chain, in, out, amount, more))
	var q struct {
		Outputs json.RawMessage `json:"aggregatedOutputs"`
	}
	if err := json.Unmarshal(reply.Quote, &q); err != nil {
		t.Fatal(err)
	}
	if q.Outputs != nil {
		if err := json.Unmarshal(q.Outputs, &reply.outputs); err != nil {
			t.Fatal(err)
		}
	}
	return reply
}

func quoteRequest(s *sandbox.Sandbox, chain uint64, in, out common.Address, amount *big.Int, more fields) fields {
	body := fields{
		"type": "EXACT_INPUT", "amount": amount.String(), "tokenIn": in, "tokenOut": out,
		"tokenInChainId": chain, "tokenOutChainId": chain, "swapper": s.Accounts()[0].Address, "slippageTolerance": 0.5,
		"protocols": []string{"V2", "V3", "V4"},
	}
	for name, value := range more {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	return body
}

type transaction struct {
	To      common.Address `json:"to"`
	From    common.Address `json:"from"`
	Data    hexutil.Bytes  `json:"data"`
	Value   string         `json:"value"`
	ChainID uint64         `json:"chainId"`
	Gas     string         `json:"gasLimit"`
}

type swapReply struct {
	Swap   transaction `json:"swap"`
	GasFee string      `json:"gasFee"`
}

// swap asks for the transaction of a quote, signing its permit if it has one.
func swap(t *testing.T, s *sandbox.Sandbox, q quoteReply) transaction {
	t.Helper()
	body := fields{"quote": q.Quote}
	if string(q.Permit) != "null" {
		body["permitData"], body["signature"] = q.Permit, sign(t, s.Accounts()[0], q.Permit)
	}
	reply, _ := mustAsk[swapReply](t, s, http.MethodPost, "/swap", body)
	return reply.Swap
}

// sign signs permitData as a wallet does.
func sign(t *testing.T, a sandbox.Account, permit json.RawMessage) string {
	t.Helper()
	var data struct {
		Domain struct {
			Name              string      `json:"name"`
			ChainID           json.Number `json:"chainId"`
			VerifyingContract string      `json:"verifyingContract"`
		} `json:"domain"`
		Types  apitypes.Types            `json:"types"`
		Values apitypes.TypedDataMessage `json:"values"`
	}
	if err := json.Unmarshal(permit, &data); err != nil {
		t.Fatal(err)
	}
	data.Types["EIP712Domain"] = []apitypes.Type{{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}
	var domain apitypes.TypedDataDomain
	domain.Name, domain.VerifyingContract = data.Domain.Name, data.Domain.VerifyingContract
	if err := json.Unmarshal([]byte(`"`+data.Domain.ChainID.String()+`"`), &domain.ChainId); err != nil {
		t.Fatal(err)
	}
	primary := "PermitSingle"
	if _, auction := data.Types["PermitWitnessTransferFrom"]; auction {
		primary = "PermitWitnessTransferFrom"
	}
	digest, _, err := apitypes.TypedDataAndHash(apitypes.TypedData{Types: data.Types, PrimaryType: primary, Domain: domain, Message: data.Values})
	if err != nil {
		t.Fatal(err)
	}
	signature, err := crypto.Sign(digest, a.Key)
	if err != nil {
		t.Fatal(err)
	}
	signature[64] += 27
	return hexutil.Encode(signature)
}

// execute signs and sends a transaction of account 0 and waits for its receipt.
func execute(t *testing.T, s *sandbox.Sandbox, tx transaction) *types.Receipt {
	t.Helper()
	c := s.Chain(tx.ChainID)
	a := s.Accounts()[0]
	if tx.From != a.Address {
		t.Fatalf("transaction from %s", tx.From)
	}
	gas, ok := new(big.Int).SetString(tx.Gas, 10)
	if !ok {
		t.Fatalf("gasLimit %q", tx.Gas)
	}
	value, ok := new(big.Int).SetString(strings.TrimPrefix(tx.Value, "0x"), 16)
	if !ok {
		t.Fatalf("value %q", tx.Value)
	}
	nonce, err := c.Client().PendingNonceAt(t.Context(), a.Address)
	if err != nil {
		t.Fatal(err)
	}
	id := new(big.Int).SetUint64(tx.ChainID)
	signed, err := types.SignNewTx(a.Key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(100e9), Gas: gas.Uint64(), To: &tx.To, Value: value, Data: tx.Data,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Client().SendTransaction(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	receipt, err := c.Settle(ctx, signed.Hash())
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// mustExecute also wants success.
func mustExecute(t *testing.T, s *sandbox.Sandbox, tx transaction) *types.Receipt {
	t.Helper()
	receipt := execute(t, s, tx)
	if receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("transaction %s reverted", receipt.TxHash)
	}
	return receipt
}

// read calls a view method with one result, given by signature.
func read(t *testing.T, c *sandbox.Chain, at common.Address, signature string, args ...common.Address) *big.Int {
	t.Helper()
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, a := range args {
		data = append(data, common.LeftPadBytes(a[:], 32)...)
	}
	out, err := c.Client().CallContract(t.Context(), callMsg(at, data), nil)
	if err != nil {
		t.Fatalf("%s of %s: %v", signature, at, err)
	}
	if len(out) < 32 {
		t.Fatalf("%s of %s: %d bytes", signature, at, len(out))
	}
	return new(big.Int).SetBytes(out[:32])
}

// balance is in base units; for the native coin, in wei.
func balance(t *testing.T, c *sandbox.Chain, of, token common.Address) *big.Int {
	t.Helper()
	if token == native {
		wei, err := c.Client().BalanceAt(t.Context(), of, nil)
		if err != nil {
			t.Fatal(err)
		}
		return wei
	}
	return read(t, c, token, "balanceOf(address)", of)
}

func token(t *testing.T, c *sandbox.Chain, symbol string) common.Address {
	t.Helper()
	tok, ok := c.Network.Token(symbol)
	if !ok {
		t.Fatalf("chain %d has no %s", c.ID, symbol)
	}
	return tok.Address
}

// example reads a recorded reply.
func example(t *testing.T, file string, path ...string) any {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	at := decode(t, raw)
	for _, p := range path {
		at = at.(fields)[p]
	}
	return at
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// words packs a call of the method with that signature.
func words(t *testing.T, signature string, values ...any) []byte {
	t.Helper()
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	var args abi.Arguments
	for _, name := range strings.Split(list, ",") {
		typ, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abi.Argument{Type: typ})
	}
	packed, err := args.Pack(values...)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(crypto.Keccak256([]byte(signature))[:4], packed)
}

// receiptOf is nil where there is none.
func receiptOf(t *testing.T, c *sandbox.Chain, tx common.Hash) *types.Receipt {
	t.Helper()
	r, err := c.Client().TransactionReceipt(t.Context(), tx)
	if err != nil && !errors.Is(err, ethereum.NotFound) {
		t.Fatal(err)
	}
	return r
}
