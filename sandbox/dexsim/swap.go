package dexsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"reflect"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
)

// transaction is a TransactionRequest of the API. Value is hex, the other numbers are
// decimal.
type transaction struct {
	To                   eip55.Address `json:"to"`
	From                 eip55.Address `json:"from"`
	Data                 hexutil.Bytes `json:"data"`
	Value                string        `json:"value"`
	ChainID              uint64        `json:"chainId"`
	GasLimit             string        `json:"gasLimit"`
	MaxFeePerGas         string        `json:"maxFeePerGas"`
	MaxPriorityFeePerGas string        `json:"maxPriorityFeePerGas"`
}

// swapFields is the schema of POST /swap.
var swapFields = []field{
	{"quote", true, isObject},
	{"permitData", false, isObject},
	{"signature", false, isString},
	{"refreshGasPrice", false, isBoolean},
	{"simulateTransaction", false, isBoolean},
	{"safetyMode", false, oneOf("SAFE")},
	{"deadline", false, isInteger},
	{"urgency", false, either(isObject, oneOf("normal", "fast", "urgent"))},
	{"includeGasInfo", false, isBoolean},
}

type swapRequest struct {
	Quote     json.RawMessage `json:"quote"`
	Permit    *permitData     `json:"permitData"`
	Signature string          `json:"signature"`
	Deadline  int64           `json:"deadline"`

	classic *classicQuote
	wrap    *wrapQuote
}

func checkSwap(body []byte, _ *http.Request) error {
	if err := check(body, swapFields); err != nil {
		return err
	}
	_, err := parseSwap(body)
	return err
}

// parseSwap decodes a request and its quote. The quote must still have the shape in which
// it was issued, else it returns errQuoteMismatch.
func parseSwap(body []byte) (*swapRequest, error) {
	var r swapRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, invalid(err.Error())
	}
	if (r.Permit == nil) != (r.Signature == "") {
		return nil, invalid(`"value" contains [permitData] without its required peers [signature]`)
	}
	if decodeExact(r.Quote, &r.classic) == nil && r.classic.valid() {
		return &r, nil
	}
	r.classic = nil
	if decodeExact(r.Quote, &r.wrap) == nil && r.wrap.valid() {
		return &r, nil
	}
	return nil, errQuoteMismatch
}

// decodeExact decodes a value that must have exactly the members of to, with numbers and
// strings as to marshals them.
func decodeExact(raw []byte, to any) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return err
	}
	again, err := json.Marshal(to)
	if err != nil {
		return err
	}
	if !sameJSON(raw, again) {
		return errQuoteMismatch
	}
	return nil
}

func sameJSON(a, b []byte) bool {
	values := make([]any, 2)
	for i, raw := range [][]byte{a, b} {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

func (q *classicQuote) valid() bool {
	texts := []string{q.Input.Amount, q.Output.Amount, q.Output.MinimumAmount, q.GasFee, q.GasUseEstimate, q.MaxFeePerGas}
	if q.ChainID == 0 || len(q.Route) != 1 || len(q.Route[0]) == 0 || len(q.AggregatedOutputs) == 0 || q.QuoteID == "" {
		return false
	}
	for _, o := range q.AggregatedOutputs {
		texts = append(texts, o.Amount, o.MinAmount)
	}
	return allDigits(texts)
}

func (q *wrapQuote) valid() bool {
	return q.ChainID != 0 && allDigits([]string{q.Input.Amount, q.Output.Amount, q.GasFee, q.MaxFeePerGas})
}

func allDigits(texts []string) bool {
	for _, s := range texts {
		if !digits.MatchString(s) {
			return false
		}
	}
	return true
}

// swapDeadline applies if the request has no deadline.
const swapDeadline = 10 * time.Minute

type swapReply struct {
	RequestID string       `json:"requestId"`
	Swap      *transaction `json:"swap"`
	GasFee    string       `json:"gasFee"`
	// How the service signs its response is not documented; the recorded values are
	// short.
	Signature   string `json:"signature"`
	PublicKeyID string `json:"publicKeyId"`
}

// swap answers POST /swap.
func (s *Server) swap(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	r, err := parseSwap(body)
	if err != nil {
		return nil, err
	}
	if r.classic == nil {
		return s.swapWrap(ctx, r.wrap)
	}
	m, err := s.market(r.classic.ChainID)
	if err != nil {
		return nil, err
	}
	if r.Deadline == 0 {
		now, err := m.Now(ctx)
		if err != nil {
			return nil, err
		}
		r.Deadline = now.Add(swapDeadline).Unix()
	}
	program, err := m.program(r)
	if err != nil {
		return nil, err
	}
	data, err := program.calldata(r.Deadline)
	if err != nil {
		return nil, err
	}
	value := new(big.Int)
	if common.Address(r.classic.Input.Token) == native {
		value = amount(r.classic.Input.Amount)
	}
	data = append(data, s.tag(r.classic.QuoteID)...)
	return m.reply(ctx, call{common.Address(r.classic.Swapper), m.Contracts.UniversalRouter, value, data}, routerGas)
}

// routerGas is the gas limit if the transaction cannot be estimated yet.
const routerGas = 420_000

// amount decodes a decimal string that has passed the schema.
func amount(s string) *big.Int {
	n, _ := new(big.Int).SetString(s, 10)
	return n
}

// program encodes a classic quote: permit, wrap, swap, fees, and the rest to the
// recipient, who gets at least the quoted minimum.
func (m *market) program(r *swapRequest) (*program, error) {
	q := r.classic
	user, fees := q.AggregatedOutputs[0], q.AggregatedOutputs[1:]
	out, known := m.TokenAt(common.Address(q.Output.Token))
	if !known {
		return nil, errQuoteMismatch
	}
	var p program
	if r.Permit != nil {
		permit, err := r.Permit.Values.abi()
		if err != nil {
			return nil, invalid(fmt.Sprintf(`"permitData" %v`, err))
		}
		signature, err := hexutil.Decode(r.Signature)
		if err != nil {
			return nil, invalid(`"signature" is no hex string`)
		}
		p.add(permit2Permit, permit, signature)
	}
	fromRouter := common.Address(q.Input.Token) == native
	if fromRouter {
		p.add(wrapETH, routerItself, amount(q.Input.Amount))
	}
	recipient := common.Address(q.Output.Recipient)
	unwrap := common.Address(q.Output.Token) == native
	if direct := len(fees) == 0 && !unwrap; direct {
		return &p, m.addSwap(&p, q, recipient, amount(user.MinAmount), !fromRouter)
	}
	if err := m.addSwap(&p, q, routerItself, new(big.Int), !fromRouter); err != nil {
		return nil, err
	}
	for _, fee := range fees {
		p.add(payPortion, out.Address, common.Address(fee.Recipient), big.NewInt(fee.Bps))
	}
	if unwrap {
		p.add(unwrapWETH, recipient, amount(user.MinAmount))
	} else {
		p.add(sweep, out.Address, recipient, amount(user.MinAmount))
	}
	return &p, nil
}

// addSwap adds the swap over the quote's route.
func (m *market) addSwap(p *program, q *classicQuote, recipient common.Address, minimum *big.Int, payerIsUser bool) error {
	route := path{tokens: []common.Address{common.Address(q.Route[0][0].TokenIn.Address)}}
	for _, h := range q.Route[0] {
		fee := amount("0" + h.Fee)
		if fee == nil || fee.BitLen() > 24 {
			return errQuoteMismatch
		}
		spacing := amount("0" + h.Spacing)
		if spacing == nil || spacing.BitLen() > 15 {
			return errQuoteMismatch
		}
		route.pools = append(route.pools, pool{v2: h.Type == "v2-pool", v4: h.Type == "v4-pool", address: common.HexToAddress(h.Address), fee: fee.Int64(), spacing: spacing.Int64()})
		route.tokens = append(route.tokens, common.Address(h.TokenOut.Address))
	}
	in := amount(q.Input.Amount)
	if route.v4() {
		return p.addV4(route, recipient, in, minimum, payerIsUser)
	}
	if route.mixed() { // the V3 pool pays the pair, which swaps what it received (universal-router-sdk 5.13.0, addMixedSwap)
		v3, v2 := route.halves()
		p.add(v3SwapExactIn, route.pools[1].address, in, new(big.Int), v3.bytes(), payerIsUser, []*big.Int{})
		p.add(v2SwapExactIn, recipient, contractBalance, minimum, v2.tokens, false, []*big.Int{})
		return nil
	}
	if route.v2() {
		p.add(v2SwapExactIn, recipient, in, minimum, route.tokens, payerIsUser, []*big.Int{})
	} else {
		p.add(v3SwapExactIn, recipient, in, minimum, route.bytes(), payerIsUser, []*big.Int{})
	}
	return nil
}

var (
	depositSelector  = hexutil.MustDecode("0xd0e30db0")
	withdrawSelector = hexutil.MustDecode("0x2e1a7d4d")
)

// swapWrap returns a call of the wrapped coin's contract.
func (s *Server) swapWrap(ctx context.Context, q *wrapQuote) (any, error) {
	m, err := s.market(q.ChainID)
	if err != nil {
		return nil, err
	}
	c := call{from: common.Address(q.Swapper), to: m.Wrapped.Address, value: new(big.Int)}
	in := amount(q.Input.Amount)
	if common.Address(q.Input.Token) == native {
		c.value, c.data = in, bytes.Clone(depositSelector)
	} else {
		c.data = append(bytes.Clone(withdrawSelector), common.BigToHash(in).Bytes()...)
	}
	c.data = append(c.data, s.tag("")...)
	return m.reply(ctx, c, wrapGas)
}

// tag returns the API's suffix of calldata: a mark and the quote's id or, without an id,
// four bytes of the integrator's.
func (s *Server) tag(quoteID string) []byte {
	if s.Settings().Untagged {
		return nil
	}
	mark := []byte("unix\x00\x00")
	id, err := uuid.Parse(quoteID)
	if err != nil {
		return append(mark, 0, 0, 0, 0x0c)
	}
	return append(mark, id[:]...)
}

// A call is a transaction without gas.
type call struct {
	from, to common.Address
	value    *big.Int
	data     []byte
}

// reply adds gas to a call. gas is the limit if the call cannot be estimated.
func (m *market) reply(ctx context.Context, c call, gas uint64) (*swapReply, error) {
	tx, fee, err := m.transaction(ctx, c, gas)
	if err != nil {
		return nil, err
	}
	return &swapReply{RequestID: uuid.NewString(), Swap: tx, GasFee: fee.String(), Signature: "0xf905", PublicKeyID: "1"}, nil
}

// transaction returns the call with gas, and its maximum fee in wei.
func (m *market) transaction(ctx context.Context, c call, gas uint64) (*transaction, *big.Int, error) {
	price, err := m.gasPrice(ctx)
	if err != nil {
		return nil, nil, err
	}
	estimate, err := m.Client.EstimateGas(ctx, ethereum.CallMsg{From: c.from, To: &c.to, Value: c.value, Data: c.data})
	if err == nil {
		gas = max(gas, estimate+estimate/5)
	}
	return &transaction{
		To: eip55.Address(c.to), From: eip55.Address(c.from), Data: c.data, Value: evenHex(c.value), ChainID: m.ID,
		GasLimit: fmt.Sprint(gas), MaxFeePerGas: price.MaxFeePerGas, MaxPriorityFeePerGas: price.MaxPriorityFeePerGas,
	}, price.fee(gas), nil
}

// evenHex encodes whole bytes in hex, as the API writes values.
func evenHex(n *big.Int) string {
	if n.Sign() == 0 {
		return "0x00"
	}
	return hexutil.Encode(n.Bytes())
}
