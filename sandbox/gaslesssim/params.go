package gaslesssim

import (
	"errors"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// native is the token address of a chain's native coin.
var native = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// indicative is the taker address of quotes that are not meant to be signed.
var indicative = common.BigToAddress(big.NewInt(1))

// quoteParams holds the parameters of a quote request.
type quoteParams struct {
	sell, buy             common.Address
	sellAmount, buyAmount *big.Int // exactly one is given
	taker, receiver       common.Address
	approval              string
	selfExecuted          bool // gasless=false
	skipValidation        bool
	short                 bool
	slippageBps           int64 // JAM only
	feeBps                int64
	feeRecipient          common.Address // JAM only
}

// approvals are the values of approval_type.
var approvals = []string{"Standard", "Permit", "Permit2"}

// A param is a parameter of GET quote. set stores the value; its error is a problem if
// the value is malformed, else the text of a failure.
type param struct {
	name     string
	of       *protocol // nil = both
	required bool
	set      func(a *quoteParams, value string) error
}

// params are checked in this order. Other names are refused, while the real API ignores
// them, so that a client's spelling mistakes show.
var params = []param{
	{"sell_tokens", nil, true, func(a *quoteParams, v string) error { return setAddress(&a.sell, v) }},
	{"buy_tokens", nil, true, func(a *quoteParams, v string) error { return setAddress(&a.buy, v) }},
	{"taker_address", nil, true, func(a *quoteParams, v string) error { return setAddress(&a.taker, v) }},
	{"receiver_address", nil, false, func(a *quoteParams, v string) error { return setAddress(&a.receiver, v) }},
	{"sell_amounts", nil, false, func(a *quoteParams, v string) error { return setAmount(&a.sellAmount, v) }},
	{"buy_amounts", nil, false, func(a *quoteParams, v string) error { return setAmount(&a.buyAmount, v) }},
	{"sell_tokens_ratios", nil, false, func(_ *quoteParams, v string) error { return checkRatio(v) }},
	{"buy_tokens_ratios", nil, false, func(_ *quoteParams, v string) error { return checkRatio(v) }},
	{"source", nil, false, anything},
	{"source-auth", nil, false, anything},
	{"approval_type", nil, false, func(a *quoteParams, v string) error { return setChoice(&a.approval, v, approvals) }},
	{"gasless", nil, false, func(a *quoteParams, v string) error { return setBool(&a.selfExecuted, v, "false", "true") }},
	{"skip_validation", nil, false, func(a *quoteParams, v string) error { return setBool(&a.skipValidation, v, "true", "false") }},
	{"fee", nil, false, func(a *quoteParams, v string) error { return setHundredths(&a.feeBps, v, 500, 0) }},
	{"slippage", jam, false, func(a *quoteParams, v string) error { return setHundredths(&a.slippageBps, v, 50, 2) }},
	{"fee_recipient", jam, false, func(a *quoteParams, v string) error { return setAddress(&a.feeRecipient, v) }},
	{"include_solvers", jam, false, anything},
	{"skip_taker_checks", jam, false, func(a *quoteParams, v string) error { return setBool(&a.skipValidation, v, "true", "false") }},
	{"include_makers", rfq, false, anything},
	{"origin_address", rfq, false, func(_ *quoteParams, v string) error { return setAddress(new(common.Address), v) }},
	{"expiry_type", rfq, false, func(a *quoteParams, v string) error { return setBool(&a.short, v, "short", "standard") }},
}

// defaultSlippage applies to JAM if the request has no slippage, in hundredths of a
// percent.
const defaultSlippage = 50

// parseQuote parses the parameters of GET quote. The error is problems or a failure.
func parseQuote(p *protocol, query url.Values) (quoteParams, error) {
	a := quoteParams{approval: "Standard", slippageBps: defaultSlippage}
	var shape problems
	var first error
	for _, known := range paramsOf(p) {
		values, present := query[known.name]
		if !present {
			if known.required {
				shape = append(shape, problem{[]string{"query", known.name}, "Field required", "missing"})
			}
			continue
		}
		if len(values) != 1 {
			shape = append(shape, problem{[]string{"query", known.name}, "Input should be a single value", "value_error"})
			continue
		}
		err := known.set(&a, values[0])
		var wrong problem
		if errors.As(err, &wrong) {
			wrong.Loc = []string{"query", known.name}
			shape = append(shape, wrong)
		} else if err != nil && first == nil {
			first = invalid(known.name + ": " + err.Error())
		}
	}
	shape = append(shape, unknownParams(p, query)...)
	switch {
	case len(shape) > 0:
		return quoteParams{}, shape
	case first != nil:
		return quoteParams{}, first
	}
	return a, a.check(p)
}

func paramsOf(p *protocol) []param {
	return slices.DeleteFunc(slices.Clone(params), func(known param) bool { return known.of != nil && known.of != p })
}

func unknownParams(p *protocol, query url.Values) problems {
	var all problems
	known := paramsOf(p)
	for name := range query {
		if !slices.ContainsFunc(known, func(k param) bool { return k.name == name }) {
			all = append(all, problem{[]string{"query", name}, "Extra inputs are not permitted", "extra_forbidden"})
		}
	}
	return all
}

// check refuses invalid combinations of parameters and sets the default receiver.
func (a *quoteParams) check(p *protocol) error {
	for _, rule := range []struct {
		broken bool
		err    failure
	}{
		{(a.sellAmount == nil) == (a.buyAmount == nil), invalid("exactly one of sell_amounts and buy_amounts is required")},
		{a.sell == a.buy, invalid("sell_tokens and buy_tokens are the same")},
		{a.sell == native, invalid("the native token cannot be sold gasless, wrap it first")},
		{a.approval == "Permit", failure{p.onPermit, "approval_type Permit is not simulated"}},
		{a.approval == "Permit2" && a.selfExecuted, invalid("approval_type Permit2 is for gasless orders")},
		{a.short && !a.selfExecuted, invalid("expiry_type short is for self-executed orders")},
		{p == jam && a.selfExecuted, invalid("gasless=false of JAM is not simulated")},
		{p == jam && a.feeBps > 0 && a.feeRecipient == (common.Address{}), invalid("fee_recipient is required with fee")},
	} {
		if rule.broken {
			return rule.err
		}
	}
	if a.receiver == (common.Address{}) {
		a.receiver = a.taker
	}
	return nil
}

func (p problem) Error() string { return p.Msg }

func anything(*quoteParams, string) error { return nil }

var address = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// setAddress parses a checksummed address. Lists of several tokens are not simulated.
func setAddress(to *common.Address, v string) error {
	if strings.Contains(v, ",") {
		return errors.New("only one-to-one trades are simulated")
	}
	if !address.MatchString(v) {
		return errors.New("not an address")
	}
	if *to = common.HexToAddress(v); to.Hex() != v {
		return errors.New("not checksummed")
	}
	return nil
}

var digits = regexp.MustCompile(`^[0-9]{1,77}$`) // always fits into a uint256

func setAmount(to **big.Int, v string) error {
	if !digits.MatchString(v) {
		return errors.New("want a whole number of base units")
	}
	n, _ := new(big.Int).SetString(v, 10)
	if n.Sign() == 0 {
		return errors.New("must be more than zero")
	}
	*to = n
	return nil
}

func checkRatio(v string) error {
	if ratio, err := strconv.ParseFloat(v, 64); err != nil || ratio != 1 {
		return problem{Msg: "one token has the ratio 1", Type: "value_error"}
	}
	return nil
}

func setChoice(to *string, v string, choices []string) error {
	if !slices.Contains(choices, v) {
		return problem{Msg: "Input should be '" + strings.Join(choices, "', '") + "'", Type: "enum"}
	}
	*to = v
	return nil
}

// setBool parses one word for true and one for false.
func setBool(to *bool, v, yes, no string) error {
	if v != yes && v != no {
		return problem{Msg: "Input should be '" + yes + "' or '" + no + "'", Type: "bool_parsing"}
	}
	*to = v == yes
	return nil
}

var decimal = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,2})?$`)

// setHundredths parses a number up to most with at most the given decimals, and stores it
// as an integer, scaled by 10^decimals.
func setHundredths(to *int64, v string, maximum, decimals int64) error {
	whole, fraction, _ := strings.Cut(v, ".")
	if !decimal.MatchString(v) || int64(len(fraction)) > decimals {
		return problem{Msg: "Input should be a number with at most " + strconv.FormatInt(decimals, 10) + " decimals", Type: "decimal_parsing"}
	}
	padded := whole + fraction + strings.Repeat("0", int(decimals)-len(fraction))
	n, _ := strconv.ParseInt(padded, 10, 64)
	for range decimals {
		maximum *= 10
	}
	if n > maximum {
		return problem{Msg: "Input is too large", Type: "less_than_equal"}
	}
	*to = n
	return nil
}
