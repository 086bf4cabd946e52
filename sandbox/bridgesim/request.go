package bridgesim

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// quoteFields is the schema of POST /quote/v2, for the members that are read.
var quoteFields = []field{
	{"user", true, isString},
	{"originChainId", true, isCount},
	{"destinationChainId", true, isCount},
	{"originCurrency", true, isString},
	{"destinationCurrency", true, isString},
	{"amount", true, text(digits)},
	{"tradeType", true, oneOf("EXACT_INPUT", "EXACT_OUTPUT", "EXPECTED_OUTPUT")},
	{"recipient", false, isString},
	{"refundTo", false, isString},
	{"slippageTolerance", false, isString},
	{"appFees", false, each(10, object(field{"recipient", true, isString}, field{"fee", true, isString}))},
	{"referrer", false, isString},
	{"ttl", false, isCount},
	{"indicativeQuote", false, isBoolean},
	{"txs", false, isArray},
	{"authorizationList", false, isArray},
	{"usePermit", false, isBoolean},
	{"explicitDeposit", false, isBoolean},
	{"useDepositAddress", false, isBoolean},
	{"topupGas", false, isBoolean},
	{"useExternalLiquidity", false, isBoolean},
	{"fixedRate", false, isString},
	{"includeProtocolData", false, isBoolean},
}

type appFee struct {
	Recipient string `json:"recipient"`
	Fee       string `json:"fee"` // basis points of the input
}

// A quoteRequest has passed the schema.
type quoteRequest struct {
	User                string            `json:"user"`
	Recipient           string            `json:"recipient"`
	RefundTo            string            `json:"refundTo"`
	OriginChainID       uint64            `json:"originChainId"`
	DestinationChainID  uint64            `json:"destinationChainId"`
	OriginCurrency      string            `json:"originCurrency"`
	DestinationCurrency string            `json:"destinationCurrency"`
	Amount              string            `json:"amount"`
	TradeType           string            `json:"tradeType"`
	SlippageTolerance   *string           `json:"slippageTolerance"`
	AppFees             []appFee          `json:"appFees"`
	Referrer            string            `json:"referrer"`
	TTL                 uint64            `json:"ttl"` // seconds
	Indicative          bool              `json:"indicativeQuote"`
	Txs                 []json.RawMessage `json:"txs"`
	Authorizations      []json.RawMessage `json:"authorizationList"`
	UsePermit           bool              `json:"usePermit"`
	Explicit            *bool             `json:"explicitDeposit"`
	DepositAddress      bool              `json:"useDepositAddress"`
	TopupGas            bool              `json:"topupGas"`
	External            bool              `json:"useExternalLiquidity"`
	FixedRate           string            `json:"fixedRate"`
	ProtocolData        bool              `json:"includeProtocolData"`
}

// forceRefund is the referrer with which the API, for testing, refunds the deposit instead
// of filling it.
const forceRefund = "debug-force-refund"

// defaultSlippage applies if the request has no tolerance, in basis points.
const defaultSlippage = 50

// parties are the addresses of a request. RefundTo is zero if none is given; a failed
// deposit is then not refunded automatically.
type parties struct {
	user, recipient, refundTo common.Address
}

var hexAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

// address parses an address in lower or upper case, or with a valid checksum.
func address(s string) (common.Address, bool) {
	if !hexAddress.MatchString(s) {
		return common.Address{}, false
	}
	a, digits := common.HexToAddress(s), s[2:]
	plain := digits == strings.ToLower(digits) || digits == strings.ToUpper(digits)
	return a, plain || s == a.Hex()
}

// parties parses the addresses. The error is errAddress.
func (q quoteRequest) parties() (parties, error) {
	var p parties
	for _, a := range []struct {
		to       *common.Address
		text     string
		fallback *common.Address // used if text is empty; nil = required
	}{{&p.user, q.User, nil}, {&p.recipient, q.Recipient, &p.user}, {&p.refundTo, q.RefundTo, &common.Address{}}} {
		if a.text == "" && a.fallback != nil {
			*a.to = *a.fallback
			continue
		}
		var ok bool
		if *a.to, ok = address(a.text); !ok || *a.to == (common.Address{}) {
			return parties{}, errAddress
		}
	}
	return p, nil
}

// slippage returns the tolerance in basis points.
func (q quoteRequest) slippage() (int64, error) {
	if q.SlippageTolerance == nil {
		return defaultSlippage, nil
	}
	if !slippage.MatchString(*q.SlippageTolerance) {
		return 0, errSlippage
	}
	return strconv.ParseInt(*q.SlippageTolerance, 10, 64)
}

// appBips returns the sum of the app fees, in basis points.
func (q quoteRequest) appBips() (int64, error) {
	var sum int64
	for _, f := range q.AppFees {
		recipient, ok := address(f.Recipient)
		if !ok || recipient == (common.Address{}) || !slippage.MatchString(f.Fee) {
			return 0, errAppFees
		}
		bips, _ := strconv.ParseInt(f.Fee, 10, 64) // the pattern has checked the format
		sum += bips
	}
	if sum >= allBips {
		return 0, errAppFees
	}
	return sum, nil
}

// amount returns the input in base units.
func (q quoteRequest) amount() (*big.Int, error) {
	if len(q.Amount) > 78 {
		return nil, errTooHigh
	}
	n, ok := new(big.Int).SetString(q.Amount, 10)
	if !ok || n.BitLen() > 256 {
		return nil, errTooHigh
	}
	return n, nil
}

// supported refuses the features that are not simulated, with the API's codes.
func (q quoteRequest) supported() error {
	switch {
	case q.TradeType != "EXACT_INPUT":
		return errNoQuotes
	case len(q.Txs) > 0:
		return errExtraTxs
	case q.UsePermit, q.Explicit != nil && !*q.Explicit, q.DepositAddress, q.TopupGas, q.External,
		q.FixedRate != "", len(q.Authorizations) > 0:
		return errExecution
	}
	return nil
}

// maxTTL limits the lifetime of an order.
const maxTTL = 365 * 24 * time.Hour

func (q quoteRequest) ttl() time.Duration {
	return time.Duration(min(q.TTL, uint64(maxTTL/time.Second))) * time.Second
}
