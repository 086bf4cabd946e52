package dexsim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"

	"swapkeep/sandbox/eip55"
)

// native is the token address of a chain's native coin.
var native common.Address

// quoteFields is the schema of POST /quote.
var quoteFields = []field{
	{"type", true, oneOf("EXACT_INPUT", "EXACT_OUTPUT")},
	{"amount", true, isPositive},
	{"tokenInChainId", true, isInteger},
	{"tokenOutChainId", true, isInteger},
	{"tokenIn", true, text(address)},
	{"tokenOut", true, text(address)},
	{"swapper", true, text(address)},
	{"slippageTolerance", false, between(0, 100, 2)},
	{"autoSlippage", false, oneOf("DEFAULT")},
	{"routingPreference", false, oneOf("BEST_PRICE", "FASTEST")},
	{"protocols", false, isProtocols},
	{"integratorFees", false, isFees},
	{"permitAmount", false, oneOf("FULL", "EXACT")},
	{"generatePermitAsTransaction", false, isBoolean},
	{"urgency", false, either(isObject, oneOf("normal", "fast", "urgent"))},
	{"recipient", false, text(address)},
	{"hooksOptions", false, oneOf("V4_HOOKS_INCLUSIVE", "V4_HOOKS_ONLY", "V4_NO_HOOKS")},
	{"spreadOptimization", false, oneOf("EXECUTION", "PRICE")},
	{"walletExecutionContext", false, anything},
	{"earnIntent", false, anything},
	{"includeRouteCandidates", false, anything},
}

var protocols = []string{"V2", "V3", "V4", "UNISWAPX_V2", "UNISWAPX_V3", "UNISWAPX", "UNISWAPX_LATEST"}

func isUniswapX(protocol string) bool { return strings.HasPrefix(protocol, "UNISWAPX") }

func isProtocols(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return "must be an array"
	}
	auctions := 0
	for i, p := range list {
		if !slices.Contains(protocols, p) {
			return fmt.Sprintf("[%d] must be one of [%s]", i, strings.Join(protocols, ", "))
		}
		if isUniswapX(p) {
			auctions++
		}
	}
	if auctions > 1 {
		return "contains more than one UniswapX protocol"
	}
	return ""
}

func isFees(raw json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return "must be an array"
	}
	if len(list) != 1 {
		return "must contain 1 items"
	}
	err := check(list[0], []field{{"bips", true, between(0, 500, 2)}, {"recipient", true, text(address)}})
	if err != nil {
		return "[0] " + err.(failure).detail
	}
	var fee integratorFee
	if json.Unmarshal(list[0], &fee) != nil || fee.Bips == 0 {
		// The router pays whole basis points only.
		return "[0].bips must be an integer greater than 0"
	}
	return ""
}

type integratorFee struct {
	Bips      int64          `json:"bips"`
	Recipient common.Address `json:"recipient"`
}

// A quoteRequest has passed the schema.
type quoteRequest struct {
	Type              string          `json:"type"`
	Amount            string          `json:"amount"`
	TokenInChainID    uint64          `json:"tokenInChainId"`
	TokenOutChainID   uint64          `json:"tokenOutChainId"`
	TokenIn           common.Address  `json:"tokenIn"`
	TokenOut          common.Address  `json:"tokenOut"`
	Swapper           common.Address  `json:"swapper"`
	SlippageTolerance *json.Number    `json:"slippageTolerance"`
	AutoSlippage      string          `json:"autoSlippage"`
	RoutingPreference string          `json:"routingPreference"`
	Protocols         []string        `json:"protocols"`
	IntegratorFees    []integratorFee `json:"integratorFees"`
	PermitAmount      string          `json:"permitAmount"`
	Recipient         *common.Address `json:"recipient"`

	amount *big.Int
}

// autoSlippage is the slippage for "DEFAULT", in percent.
const autoSlippage = "0.5"

// slippage returns the tolerance in basis points, and in percent as text.
func (q quoteRequest) slippage() (int64, json.Number) {
	percent := json.Number(autoSlippage)
	if q.SlippageTolerance != nil {
		percent = *q.SlippageTolerance
	}
	bips, _ := new(big.Rat).SetString(percent.String()) // the schema has checked the format
	bips.Mul(bips, big.NewRat(100, 1))
	return bips.Num().Int64(), percent
}

func (q quoteRequest) recipient() common.Address {
	if q.Recipient != nil {
		return *q.Recipient
	}
	return q.Swapper
}

func checkQuote(body []byte, r *http.Request) error {
	if disabled, _ := strconv.ParseBool(r.Header.Get("x-permit2-disabled")); disabled {
		return invalid(`"x-permit2-disabled" is not simulated`)
	}
	if err := check(body, quoteFields); err != nil {
		return err
	}
	var q quoteRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return invalid(err.Error())
	}
	const peers = "[slippageTolerance, autoSlippage]"
	if q.SlippageTolerance == nil && q.AutoSlippage == "" {
		return invalid(`"value" must contain at least one of ` + peers)
	}
	if q.SlippageTolerance != nil && q.AutoSlippage != "" {
		return invalid(`"value" contains a conflict between exclusive peers ` + peers)
	}
	return nil
}

// envelope is the response of POST /quote.
type envelope struct {
	RequestID    string `json:"requestId"`
	Routing      string `json:"routing"`
	Approval     bool   `json:"isTokenApprovalApplicable"`
	PermitTx     any    `json:"permitTransaction"`
	Permit       any    `json:"permitData"` // nil = none
	Quote        any    `json:"quote"`
	PermitGasFee string `json:"permitGasFee,omitempty"`
	// For pool quotes that need no permit: a summary of the swap.
	SwapTx     *swapTarget `json:"swapTransaction,omitempty"`
	SwapGasFee string      `json:"swapGasFee,omitempty"`
}

type swapTarget struct {
	To eip55.Address `json:"to"`
}

// A routing is one way to carry out a swap. The first in the table that fits a request
// answers it.
type routing struct {
	name  string
	fits  func(s *Server, m *market, q quoteRequest) bool
	quote func(s *Server, ctx context.Context, m *market, q quoteRequest) (*envelope, error)
}

var routings = []routing{
	{"WRAP", func(_ *Server, m *market, q quoteRequest) bool {
		return q.TokenIn == native && q.TokenOut == m.Wrapped.Address
	}, (*Server).quoteWrap},
	{"UNWRAP", func(_ *Server, m *market, q quoteRequest) bool {
		return q.TokenIn == m.Wrapped.Address && q.TokenOut == native
	}, (*Server).quoteWrap},
	auction(v2Kind),
	auction(v3Kind),
	{"CLASSIC", func(*Server, *market, quoteRequest) bool { return true }, (*Server).quoteClassic},
}

func auction(kind *dutchKind) routing {
	return routing{
		kind.routing,
		func(s *Server, m *market, q quoteRequest) bool { return s.usesAuction(m, q, kind) },
		func(s *Server, ctx context.Context, m *market, q quoteRequest) (*envelope, error) {
			return s.quoteDutch(ctx, m, q, kind)
		},
	}
}

// quote answers POST /quote.
func (s *Server) quote(ctx context.Context, body []byte, _ *http.Request) (any, error) {
	var q quoteRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	q.amount, _ = new(big.Int).SetString(q.Amount, 10)
	m, err := s.market(q.TokenInChainID)
	if err != nil {
		return nil, err
	}
	if err := m.accepts(q); err != nil {
		return nil, err
	}
	for _, r := range routings {
		if r.fits(s, m, q) {
			reply, err := r.quote(s, ctx, m, q)
			if err != nil {
				return nil, err
			}
			reply.RequestID, reply.Routing = uuid.NewString(), r.name
			return reply, nil
		}
	}
	return nil, errNoRoute
}

// accepts refuses requests that no routing of the chain can serve.
func (m *market) accepts(q quoteRequest) error {
	for _, p := range q.Protocols {
		alias := p == "UNISWAPX" || p == "UNISWAPX_LATEST"
		if offered := m.UniswapX().Protocol; isUniswapX(p) && (offered == "" || (p != offered && !alias)) {
			return errNoUniswapX
		}
	}
	if q.TokenOutChainID != q.TokenInChainID || q.Type != "EXACT_INPUT" {
		return errNoRoute // bridges and exact output are not simulated
	}
	for _, a := range []common.Address{q.TokenIn, q.TokenOut} {
		if _, known := m.TokenAt(a); !known {
			return errToken
		}
	}
	if q.TokenIn == q.TokenOut {
		return errNoRoute
	}
	return nil
}
