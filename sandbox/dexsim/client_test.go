package dexsim_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
)

var (
	native   = common.Address{}
	receiver = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
)

// ask sends a request as the wallet's adapter would.
func ask(t *testing.T, s *sandbox.Sandbox, method, path string, body any, header ...string) (int, []byte) {
	t.Helper()
	return sandboxtest.Ask(t, method, s.DEXURL()+path, body, header...)
}

// fields is a JSON object.
type fields = map[string]any

func mustAsk[T any](t *testing.T, s *sandbox.Sandbox, method, path string, body any) (T, []byte) {
	t.Helper()
	status, raw := ask(t, s, method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %s", method, path, status, raw)
	}
	return sandboxtest.Decode[T](t, raw), raw
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

// quote requests a quote for account 0.
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

// swap requests the transaction of a quote, and signs its permit if it has one.
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

// execute signs and sends a transaction from account 0 and waits for its receipt.
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
	return sandboxtest.Transact(t, c, a, operator.Call{To: tx.To, Value: value, Data: tx.Data, Gas: gas.Uint64()})
}

// mustExecute is execute, and fails the test if the transaction reverted.
func mustExecute(t *testing.T, s *sandbox.Sandbox, tx transaction) *types.Receipt {
	t.Helper()
	receipt := execute(t, s, tx)
	if receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("transaction %s reverted", receipt.TxHash)
	}
	return receipt
}

// example reads a part of a recorded exchange.
func example(t *testing.T, file string, path ...string) any {
	t.Helper()
	at := sandboxtest.Example(t, "testdata/"+file)
	for _, p := range path {
		at = at.(fields)[p]
	}
	return at
}

// receiptOf returns a receipt; nil if there is none.
func receiptOf(t *testing.T, c *sandbox.Chain, tx common.Hash) *types.Receipt {
	t.Helper()
	r, err := c.Client().TransactionReceipt(t.Context(), tx)
	if err != nil && !errors.Is(err, ethereum.NotFound) {
		t.Fatal(err)
	}
	return r
}
