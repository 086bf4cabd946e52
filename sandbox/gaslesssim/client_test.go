package gaslesssim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/sandbox"
	"swapkeep/sandbox/gaslesssim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
)

// The contracts at the addresses that the provider publishes.
var (
	native         = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
	jamSettlement  = common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6")
	balanceManager = common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a")
	rfqSettlement  = common.HexToAddress("0xbbbbbBB520d69a9775E85b458C58c648259FAD5F")
	permit2        = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	partner        = common.HexToAddress("0x000000000000000000000000000000000000bEEF")
)

// names are the chains' names in paths.
var names = map[uint64]string{1: "ethereum", 10: "optimism", 8453: "base", 42161: "arbitrum", 5330: "superseed"}

// fields is a JSON object.
type fields = map[string]any

// A world is a sandbox that mines blocks on request only, and its first user.
type world struct {
	*testing.T
	*sandbox.Sandbox
	user sandbox.Account
}

func start(t *testing.T, chains ...uint64) *world {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: chains, Period: -1})
	return &world{t, s, s.Accounts()[0]}
}

// in returns the same world for a sub-test.
func (w *world) in(t *testing.T) *world { return &world{t, w.Sandbox, w.user} }

func (w *world) set(change func(*gaslesssim.Settings)) {
	w.Helper()
	settings := w.Gasless().Settings()
	change(&settings)
	if err := w.Gasless().Set(settings); err != nil {
		w.Fatal(err)
	}
}

// at returns the path of a protocol's endpoint; the protocol is jam or pmm.
func at(protocol string, chain uint64, endpoint string) string {
	version := map[string]string{"jam": "v2", "pmm": "v3"}[protocol]
	return fmt.Sprintf("/%s/%s/%s/%s", protocol, names[chain], version, endpoint)
}

// call sends a request and returns the status and body of the response.
func (w *world) call(method, path string, body any, header ...string) (int, []byte) {
	w.Helper()
	return sandboxtest.Ask(w, method, w.BaseURL("gasless")+path, body, header...)
}

// apiError returns the API's error code in a body; 0 if there is none.
func apiError(raw []byte) int {
	var reply struct {
		Error struct {
			Code int `json:"errorCode"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &reply)
	return reply.Error.Code
}

// must sends a request, fails the test unless it succeeds, and decodes the response.
func must[T any](w *world, method, path string, body any, header ...string) T {
	w.Helper()
	status, raw := w.call(method, path, body, header...)
	var reply T
	if err := json.Unmarshal(raw, &reply); err != nil || status != http.StatusOK || apiError(raw) != 0 {
		w.Fatalf("%s %s: %d %s (%v)", method, path, status, raw, err)
	}
	return reply
}

// quote holds what tests read of a quote.
type quote struct {
	Status         string
	QuoteID        string
	Expiry         int64
	ApprovalTarget common.Address
	Settlement     common.Address `json:"settlementAddress"`
	Signatures     []string       `json:"requiredSignatures"`
	BuyTokens      map[string]struct{ Amount, MinimumAmount, AmountBeforeFee string }
	SellTokens     map[string]struct{ Amount string }
	PartnerFee     map[string]string
	ProtocolFee    map[string]string
	Tx             struct {
		To    common.Address
		Value string
		Data  hexutil.Bytes
		Gas   uint64
	}
	ToSign json.RawMessage

	protocol string
	chain    uint64
	user     sandbox.Account
	permit2  bool
	sell     common.Address
}

func (q quote) buy() (amount, minimum *big.Int) {
	for _, t := range q.BuyTokens {
		return number(t.Amount), number(t.MinimumAmount)
	}
	return nil, nil
}

func (q quote) sold() *big.Int {
	for _, t := range q.SellTokens {
		return number(t.Amount)
	}
	return nil
}

func number(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return new(big.Int).SetInt64(-1)
	}
	return n
}

// query returns the parameters of a quote request by the user. more adds parameters, or
// removes them if nil.
func (w *world) query(sell, buy common.Address, amount *big.Int, more fields) string {
	params := fields{
		"sell_tokens": sell.Hex(), "buy_tokens": buy.Hex(), "sell_amounts": amount.String(), "taker_address": w.user.Address.Hex(),
		"skip_validation": "true",
	}
	values := url.Values{}
	for name, value := range more {
		params[name] = value
	}
	for name, value := range params {
		if value != nil {
			values.Set(name, fmt.Sprint(value))
		}
	}
	return "?" + values.Encode()
}

func (w *world) quote(protocol string, chain uint64, sell, buy common.Address, amount *big.Int, more fields) quote {
	w.Helper()
	q := must[quote](w, http.MethodGet, at(protocol, chain, "quote")+w.query(sell, buy, amount, more), nil)
	q.protocol, q.chain, q.user, q.sell, q.permit2 = protocol, chain, w.user, sell, more["approval_type"] == "Permit2"
	return q
}

// typesOf are the types that takers sign, as the provider publishes them.
var typesOf = map[string]apitypes.Types{
	"JamOrder": typed("JamOrder", "address taker,address receiver,uint256 expiry,uint256 exclusivityDeadline,uint256 nonce,address executor,uint256 partnerInfo,"+
		"address[] sellTokens,address[] buyTokens,uint256[] sellAmounts,uint256[] buyAmounts,bytes32 hooksHash"),
	"SingleOrder": typed("SingleOrder", "uint64 partner_id,uint256 expiry,address taker_address,address maker_address,uint256 maker_nonce,"+
		"address taker_token,address maker_token,uint256 taker_amount,uint256 maker_amount,address receiver,uint256 packed_commands"),
	"TokenPermissions": typed("TokenPermissions", "address token,uint256 amount"),
	"PermitBatchWitnessTransferFrom": typed("PermitBatchWitnessTransferFrom",
		"TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,JamOrder witness"),
	"PermitDetails": typed("PermitDetails", "address token,uint160 amount,uint48 expiration,uint48 nonce"),
	"PermitBatch":   typed("PermitBatch", "PermitDetails[] details,address spender,uint256 sigDeadline"),
	"versioned":     typed("EIP712Domain", "string name,string version,uint256 chainId,address verifyingContract"),
	"plain":         typed("EIP712Domain", "string name,uint256 chainId,address verifyingContract"),
}

func typed(name, members string) apitypes.Types {
	var list []apitypes.Type
	for _, m := range strings.Split(members, ",") {
		kind, name, _ := strings.Cut(m, " ")
		list = append(list, apitypes.Type{Name: name, Type: kind})
	}
	return apitypes.Types{name: list}
}

// sign signs a message of the primary type for the domain of the named contract.
func (w *world) sign(by sandbox.Account, chain uint64, name string, contract common.Address, primary string, message fields) string {
	w.Helper()
	data := apitypes.TypedData{Types: apitypes.Types{}, PrimaryType: primary, Message: message}
	data.Domain = apitypes.TypedDataDomain{Name: name, ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chain)), VerifyingContract: contract.Hex()}
	domain := "plain"
	if contract != permit2 {
		data.Domain.Version, domain = "2", "versioned"
	}
	for _, part := range []string{domain, primary, "JamOrder", "TokenPermissions", "PermitDetails"} {
		for name, members := range typesOf[part] {
			data.Types[name] = members
		}
	}
	digest, _, err := apitypes.TypedDataAndHash(data)
	if err != nil {
		w.Fatal(err)
	}
	return signHash(w.T, by, digest)
}

func signHash(t *testing.T, by sandbox.Account, digest []byte) string {
	t.Helper()
	signature, err := crypto.Sign(digest, by.Key)
	if err != nil {
		t.Fatal(err)
	}
	signature[64] += 27
	return hexutil.Encode(signature)
}

// message decodes toSign with all numbers as strings, as apitypes requires.
func (q quote) message(t *testing.T) fields {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(q.ToSign))
	dec.UseNumber()
	var m fields
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for name, value := range m {
		if n, ok := value.(json.Number); ok {
			m[name] = n.String()
		}
	}
	return m
}

// signature signs the quote as a wallet does.
func (w *world) signature(q quote) string {
	w.Helper()
	m := q.message(w.T)
	switch {
	case q.protocol == "pmm":
		return w.sign(q.user, q.chain, "BebopSettlement", rfqSettlement, "SingleOrder", m)
	case q.permit2:
		return w.sign(q.user, q.chain, "Permit2", permit2, "PermitBatchWitnessTransferFrom", fields{
			"permitted": []any{fields{"token": q.sell.Hex(), "amount": q.sold().String()}},
			"spender":   balanceManager.Hex(), "nonce": m["nonce"], "deadline": m["expiry"], "witness": m,
		})
	}
	return w.sign(q.user, q.chain, "JamSettlement", jamSettlement, "JamOrder", m)
}

// order returns the body of an order for a quote.
func (w *world) order(q quote) fields {
	w.Helper()
	body := fields{"quote_id": q.QuoteID, "signature": w.signature(q), "sign_scheme": "EIP712"}
	if len(q.Signatures) == 0 {
		return body
	}
	nonce := w.view(q.chain, permit2, "allowance(address,address,address)", 2, q.user.Address, q.sell, rfqSettlement)
	deadline := fmt.Sprint(q.Expiry + 3600)
	body["permit2"] = fields{
		"approvals_deadline": q.Expiry + 3600, "token_addresses": q.Signatures, "token_nonces": []uint64{nonce.Uint64()},
		"signature": w.sign(q.user, q.chain, "Permit2", permit2, "PermitBatch", fields{
			"spender": rfqSettlement.Hex(), "sigDeadline": deadline,
			"details": []any{fields{
				"token": q.sell.Hex(), "amount": "1461501637330902918203684832716283019655932542975", "expiration": deadline, "nonce": nonce.String(),
			}},
		}),
	}
	return body
}

type orderReply struct {
	Status string
	Expiry int64
	TxHash *common.Hash
}

func (w *world) post(q quote) orderReply {
	w.Helper()
	return must[orderReply](w, http.MethodPost, at(q.protocol, q.chain, "order"), w.order(q))
}

// refused posts an order and returns the API's error code.
func (w *world) refused(q quote, body any) int {
	w.Helper()
	_, raw := w.call(http.MethodPost, at(q.protocol, q.chain, "order"), body)
	return apiError(raw)
}

type status struct {
	Status  string
	TxHash  *common.Hash
	Amounts map[string]string
}

func (w *world) status(q quote) status {
	w.Helper()
	return must[status](w, http.MethodGet, at(q.protocol, q.chain, "order-status")+"?quote_id="+url.QueryEscape(q.QuoteID), nil)
}

// mine mines blocks.
func (w *world) mine(chain uint64, blocks int) {
	w.Helper()
	for range blocks {
		if err := w.Chain(chain).Mine(1); err != nil {
			w.Fatal(err)
		}
	}
}

func (w *world) token(chain uint64, symbol string) common.Address {
	w.Helper()
	if symbol == "" {
		return native
	}
	return sandboxtest.Token(w, w.Chain(chain), symbol)
}

// send calls a contract from an account and fails the test if that reverts.
func (w *world) send(chain uint64, from sandbox.Account, to common.Address, data []byte) *types.Receipt {
	w.Helper()
	return sandboxtest.MustTransact(w, w.Chain(chain), from, operator.Call{To: to, Data: data})
}

// approve approves the spender for exactly the amount of the user's token.
func (w *world) approve(chain uint64, token, spender common.Address, amount *big.Int) {
	w.Helper()
	w.send(chain, w.user, token, sandboxtest.Calldata(w.T, "approve(address,uint256)", spender, amount))
}

// view calls a view method and returns the n-th word of its result.
func (w *world) view(chain uint64, to common.Address, signature string, n int, args ...any) *big.Int {
	w.Helper()
	return sandboxtest.View(w, w.Chain(chain), to, signature, n, args...)
}

func (w *world) balance(chain uint64, of, token common.Address) *big.Int {
	w.Helper()
	if token == native {
		token = common.Address{}
	}
	return sandboxtest.Balance(w, w.Chain(chain), of, token)
}

// revertData returns the data of a reverted call; nil if it did not revert.
func revertData(err error) []byte {
	var data interface{ ErrorData() any }
	if !errors.As(err, &data) {
		return nil
	}
	text, _ := data.ErrorData().(string)
	return common.FromHex(text)
}
