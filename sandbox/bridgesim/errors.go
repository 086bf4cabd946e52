package bridgesim

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/form"
)

// A failure is an error response. Its body depends on who answers: the API sends an
// errorCode, the framework in front of it a code and the status.
type failure struct {
	status    int
	errorCode string // of the API
	code      string // of the framework
	message   string
	plain     bool // the body has only the message, as "error"
	request   common.Hash
	block     *uint64 // origin block at which the error was found
}

func (f failure) Error() string {
	return fmt.Sprintf("%d %s%s: %s", f.status, f.errorCode, f.code, f.message)
}

// Errors of quotes. The codes are the API's; the wording is this simulator's, and callers
// must not depend on it.
var (
	errNoRoute        = refused("NO_SWAP_ROUTES_FOUND", "No routes found")
	errNoQuotes       = refused("NO_QUOTES", "Only EXACT_INPUT is quoted")
	errTooLow         = refused("AMOUNT_TOO_LOW", "Swap output amount is too small to cover fees required to execute swap")
	errTooHigh        = refused("AMOUNT_TOO_HIGH", "Amount is higher than the available liquidity")
	errLiquidity      = refused("INSUFFICIENT_LIQUIDITY", "Insufficient liquidity on the destination")
	errAddress        = refused("INVALID_ADDRESS", "Invalid address")
	errRecipient      = refused("INVALID_RECIPIENT", "Recipient is a token contract")
	errCurrencyIn     = refused("INVALID_INPUT_CURRENCY", "Invalid input or output currency")
	errCurrencyOut    = refused("INVALID_OUTPUT_CURRENCY", "Invalid input or output currency")
	errSlippage       = refused("INVALID_SLIPPAGE_TOLERANCE", "Invalid slippage tolerance")
	errChain          = refused("UNSUPPORTED_CHAIN", "Chain is not supported")
	errDisabled       = refused("CHAIN_DISABLED", "Chain is disabled")
	errExtraTxs       = refused("EXTRA_TXS_NOT_SUPPORTED", "Destination calls are not supported")
	errExecution      = refused("UNSUPPORTED_EXECUTION_TYPE", "This way of execution is not simulated")
	errAppFees        = refused("INVALID_ADDRESS", "App fees need an EVM recipient and basis points")
	errUnauthorized   = failure{status: http.StatusUnauthorized, errorCode: "UNAUTHORIZED_QUOTE", message: "Please provide an api key"}
	errRate           = failure{status: http.StatusTooManyRequests, message: "Too many requests"}
	errPrice          = failure{status: http.StatusBadRequest, plain: true, message: "Invalid currency"}
	errTooLarge       = failure{status: http.StatusRequestEntityTooLarge, code: "FST_ERR_CTP_BODY_TOO_LARGE", message: "Request body is too large"}
	errMediaType      = failure{status: http.StatusUnsupportedMediaType, code: "FST_ERR_CTP_INVALID_MEDIA_TYPE", message: "Unsupported Media Type"}
	errUnknownRequest = failure{status: http.StatusNotFound, message: "Request not found"}
)

// refused returns an error of the API for a quote.
func refused(errorCode, message string) failure {
	return failure{status: http.StatusBadRequest, errorCode: errorCode, message: message}
}

// noRoute is the response to an unknown path.
func noRoute(r *http.Request) failure {
	return failure{status: http.StatusNotFound, code: "FST_ERR_NOT_FOUND", message: "Route " + r.Method + ":" + r.URL.Path + " not found"}
}

// invalid is the response to a request that violates the schema.
func invalid(message string) failure {
	return failure{status: http.StatusBadRequest, code: "FST_ERR_VALIDATION", message: message}
}

// bad is an error of the endpoints that have no codes.
func bad(message string) failure { return failure{status: http.StatusBadRequest, message: message} }

// errRouter refuses settings and is never sent as a response.
var errRouter = errors.New("router: there are v2, v2.1, v3 and v3.2")

// withRequest adds the request id to an error and, if the swap was tried and its output was too
// low, the block.
func (s *Server) withRequest(ctx context.Context, f failure, request common.Hash, origin uint64) failure {
	f.request = request
	if m := s.markets[origin]; m != nil && f.errorCode == errTooLow.errorCode {
		if block, err := m.Client.BlockNumber(ctx); err == nil {
			f.block = &block
		}
	}
	return f
}

// body returns the response body of the failure.
func (f failure) body() any {
	if f.code != "" {
		return struct {
			Status  int    `json:"statusCode"`
			Code    string `json:"code"`
			Error   string `json:"error"`
			Message string `json:"message"`
		}{f.status, f.code, http.StatusText(f.status), f.message}
	}
	if f.plain {
		return map[string]string{"error": f.message}
	}
	body := struct {
		Message   string       `json:"message"`
		ErrorCode string       `json:"errorCode,omitempty"`
		RequestID *common.Hash `json:"requestId,omitempty"`
		Block     *uint64      `json:"approxSimulatedBlock,omitempty"`
	}{Message: f.message, ErrorCode: f.errorCode, Block: f.block}
	if f.request != (common.Hash{}) {
		body.RequestID = &f.request
	}
	return body
}

// answers is the format of all of the API's responses.
var answers = form.Answer{ContentType: "application/json; charset=utf-8"}

// writeError responds with err. An error that is not a failure is a bug in the simulator
// and becomes a 500.
func writeError(w http.ResponseWriter, err error) {
	var f failure
	if !errors.As(err, &f) {
		f = failure{status: http.StatusInternalServerError, errorCode: "UNKNOWN_ERROR", message: err.Error()}
	}
	answers.Write(w, f.status, f.body())
}
