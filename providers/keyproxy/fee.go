package keyproxy

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A Fee is what the wallet's vendor takes of every swap. nil means that no fee is requested
// and none is allowed.
type Fee struct {
	Bips      int // bps of the output, 1 to 500
	Recipient common.Address
}

// maxBips is the API's limit for integratorFees, in bps.
const maxBips = 500

func (f *Fee) check() error {
	switch {
	case f == nil:
		return nil
	case f.Bips < 1 || f.Bips > maxBips:
		return fmt.Errorf("fee: bips is %d: must be 1 to %d", f.Bips, maxBips)
	case f.Recipient == common.Address{}:
		return fmt.Errorf("fee: recipient is the zero address; name the wallet's own")
	}
	return nil
}

// feeField names the fee's receiver in the API: a list of exactly one entry.
const feeField = "integratorFees"

func (f *Fee) encoded() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`[{"bips":%d,"recipient":%q}]`, f.Bips, f.Recipient.Hex()))
}

// forceQuote makes a quote request carry exactly the configured fee.
func (f *Fee) forceQuote(o object) (object, error) {
	asked := o.get(feeField)
	switch {
	case asked != nil && (f == nil || !f.isConfigured(asked)):
		return nil, refuse(feeRefused, "%s is not the fee of this wallet; leave it out", feeField)
	case f == nil, asked == nil && wraps(o.get("tokenInChainId"), o.get("tokenOutChainId"), o.get("tokenIn"), o.get("tokenOut")):
		return o, nil
	}
	return o.set(feeField, f.encoded()), nil
}

// isConfigured reports whether raw is one entry with exactly the configured fee.
func (f *Fee) isConfigured(raw json.RawMessage) bool {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil || len(entries) != 1 {
		return false
	}
	o, err := parseObject(entries[0])
	return err == nil && len(o) == 2 && number(o.get("bips")) == float64(f.Bips) && f.isRecipient(o.get("recipient"))
}

// checkReturnedQuote refuses a returned quote that pays the fee to someone else. The quote is not
// changed: the provider wants it unmodified.
func (f *Fee) checkReturnedQuote(o object) (object, error) {
	q, err := parseObject(o.get("quote"))
	if err != nil {
		return nil, refuse(bodyRefused, "quote must be an object with every name once")
	}
	outputs, known := entries(q.get("aggregatedOutputs"))
	order, err := parseOptional(q.get("orderInfo"))
	made, knownOrder := entries(order.get("outputs"))
	if err != nil || !known || !knownOrder {
		return nil, refuse(bodyRefused, "the quote's outputs are not lists of objects with every name once")
	}
	if isWrap(q) && len(outputs) == 0 {
		return o, nil
	}
	switch {
	case !f.checkPortion(q), !f.checkOutputs(outputs):
	case f != nil && q.has("encodedOrder") && !f.paysInOrder(text(q.get("encodedOrder"))):
	case f != nil && order != nil && !anyOf(made, func(e object) bool { return f.isRecipient(e.get("recipient")) }):
	default:
		return o, nil
	}
	return nil, refuse(feeRefused, "the quote does not pay exactly the fee of this wallet; ask for a new quote through this proxy")
}

// checkPortion checks the API's older fee fields if the quote has them.
func (f *Fee) checkPortion(q object) bool {
	bips, recipient := q.get("portionBips"), q.get("portionRecipient")
	if f == nil {
		return (isNull(bips) || number(bips) == 0) && isNull(recipient)
	}
	return (isNull(bips) || number(bips) == float64(f.Bips)) && (isNull(recipient) || f.isRecipient(recipient))
}

// checkOutputs checks the quote's outputs: the fee must be among them, and no other output may be
// a fee.
func (f *Fee) checkOutputs(outputs []object) bool {
	marked := func(e object) bool { return text(e.get("fee")) == "INTEGRATOR" }
	if f == nil {
		return !anyOf(outputs, marked)
	}
	ours := func(e object) bool {
		return f.isRecipient(e.get("recipient")) && math.Abs(number(e.get("bps"))-float64(f.Bips)) < 1 // the API rounds
	}
	return anyOf(outputs, ours) && !anyOf(outputs, func(e object) bool { return marked(e) && !ours(e) })
}

// isRecipient compares the address as the API does: in any case, with or without 0x.
func (f *Fee) isRecipient(raw json.RawMessage) bool {
	s := text(raw)
	return common.IsHexAddress(s) && common.HexToAddress(s) == f.Recipient
}

// paysInOrder reports whether the encoded order has the recipient as one of its words. The
// encoded order is what is settled; the JSON next to it only describes it.
func (f *Fee) paysInOrder(encoded string) bool {
	return strings.Contains(strings.ToLower(encoded), hex.EncodeToString(common.LeftPadBytes(f.Recipient[:], 32)))
}

// isWrap reports whether a quote only wraps or unwraps the native coin: it has no route and
// no order.
func isWrap(q object) bool {
	for _, name := range []string{"route", "orderInfo", "encodedOrder"} {
		if q.has(name) {
			return false
		}
	}
	in, errIn := parseOptional(q.get("input"))
	out, errOut := parseOptional(q.get("output"))
	id := q.get("chainId")
	return errIn == nil && errOut == nil && wraps(id, id, in.get("token"), out.get("token"))
}

// wraps reports whether the tokens are the native coin and its wrapped form on one chain,
// where the API takes no fee.
func wraps(chainIn, chainOut, tokenIn, tokenOut json.RawMessage) bool {
	id := number(chainIn)
	if !(id >= 1 && id < 1<<53) || id != math.Trunc(id) || id != number(chainOut) {
		return false
	}
	n, ok := chain.NetworkByID(uint64(id))
	in, out := text(tokenIn), text(tokenOut)
	if !ok || n.WrappedNative == (common.Address{}) || !common.IsHexAddress(in) || !common.IsHexAddress(out) {
		return false
	}
	a, b, native := common.HexToAddress(in), common.HexToAddress(out), common.Address{}
	return a == native && b == n.WrappedNative || a == n.WrappedNative && b == native
}

// entries parses a list of objects. An absent list is empty.
func entries(raw json.RawMessage) (out []object, ok bool) {
	if raw == nil {
		return nil, true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	for _, e := range list {
		o, err := parseObject(e)
		if err != nil {
			return nil, false
		}
		out = append(out, o)
	}
	return out, true
}

func parseOptional(raw json.RawMessage) (object, error) {
	if raw == nil {
		return nil, nil
	}
	return parseObject(raw)
}

func anyOf(list []object, is func(object) bool) bool {
	for _, e := range list {
		if is(e) {
			return true
		}
	}
	return false
}

func isNull(raw json.RawMessage) bool {
	return raw == nil || strings.TrimSpace(string(raw)) == "null"
}

// number is a JSON number, or NaN, which equals nothing.
func number(raw json.RawMessage) float64 {
	var n *float64
	if json.Unmarshal(raw, &n) != nil || n == nil {
		return math.NaN()
	}
	return *n
}

// text is a JSON string, or "" for any other value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
