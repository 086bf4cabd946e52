package gaslesssim

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"swapkeep/sandbox/form"
)

// A failure is an error response of the API, which is sent with HTTP 200.
type failure struct {
	code   int
	detail string
}

func (f failure) Error() string { return fmt.Sprintf("%d %s: %s", f.code, codes[f.code], f.detail) }

// codes names all errors of the API.
var codes = map[int]string{
	101: "InvalidApiRequest",
	102: "InsufficientLiquidity",
	103: "GasCalculationError",
	104: "MinSize",
	105: "TokenNotSupported",
	106: "GasExceedsSize",
	107: "UnexpectedPermitsError",
	108: "RouteNotFound",
	111: "RateLimited",
	112: "DenyListed",
	201: "OrderInvalidContract",
	202: "LastLook",
	203: "OrderExpired",
	204: "InsufficientTakerBalance",
	205: "InsufficientTakerApproval",
	206: "InsufficientMakerBalance",
	207: "InsufficientMakerApproval",
	208: "TransactionExecutionError",
	210: "InvalidQuoteId",
	211: "InvalidPermitsInfo",
	212: "InvalidOrderInput",
	500: "UnknownError",
	522: "TimedOut",
}

// invalid refuses a well-formed request with invalid values.
func invalid(detail string) failure { return failure{101, detail} }

// A problem is one violation of a request's schema, in FastAPI's format.
type problem struct {
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
	Type string   `json:"type"`
}

// problems are the body of a 422 response.
type problems []problem

func (p problems) Error() string { return fmt.Sprintf("422 %v", []problem(p)) }

// A refusal is an error response of the web framework.
type refusal struct {
	status int
	detail string
}

func (r refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.detail) }

var (
	errNoPath   = refusal{http.StatusNotFound, "Not Found"}
	errNoMethod = refusal{http.StatusMethodNotAllowed, "Method Not Allowed"}
	errKey      = refusal{http.StatusUnauthorized, "Unauthorized"}
)

// detailed is the framework's error body.
type detailed struct {
	Detail any `json:"detail"`
}

// answers is the format of all of the API's responses.
var answers = form.Answer{ContentType: "application/json"}

// writeError responds with err. Any other error is a bug in the simulator and becomes an
// API error with status 500.
func writeError(w http.ResponseWriter, err error) {
	var shape problems
	var plain refusal
	if errors.As(err, &shape) {
		answers.Write(w, http.StatusUnprocessableEntity, detailed{shape})
		return
	}
	if errors.As(err, &plain) {
		answers.Write(w, plain.status, detailed{plain.detail})
		return
	}
	f, status := failure{}, http.StatusOK
	if !errors.As(err, &f) {
		f, status = failure{500, err.Error()}, http.StatusInternalServerError
	}
	type body struct {
		Code      int    `json:"errorCode"`
		Message   string `json:"message"`
		RequestID string `json:"requestId"`
	}
	answers.Write(w, status, map[string]body{"error": {f.code, codes[f.code] + ": " + f.detail, uuid.NewString()}})
}
