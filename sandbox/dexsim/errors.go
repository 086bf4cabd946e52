package dexsim

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"swapkeep/sandbox/form"
)

// A failure is an error answer. Code is the stable part, detail free text.
type failure struct {
	status int
	code   string
	detail string
}

func (f failure) Error() string { return fmt.Sprintf("%d %s: %s", f.status, f.code, f.detail) }

// The business errors of the API: a 404 each, with a request id.
var (
	errNoRoute       = failure{http.StatusNotFound, "NoRouteFoundError", "No route found for this pair and amount"}
	errToken         = failure{http.StatusNotFound, "UnsupportedTokenError", "Token not routable (unknown / blocklisted / wrong chain)"}
	errChain         = failure{http.StatusNotFound, "UnsupportedChainError", "Chain not supported"}
	errNoUniswapX    = failure{http.StatusNotFound, "UniswapXNotSupportedOnChainError", "UniswapX is not supported on this chain"}
	errNoResource    = failure{http.StatusNotFound, "ResourceNotFound", "No such resource"}
	errUnauthorized  = failure{http.StatusUnauthorized, "Unauthorized", "Unauthenticated api key or session"}
	errContentType   = failure{http.StatusUnauthorized, "Unauthorized", "accept and content-type must be application/json"}
	errRate          = failure{http.StatusTooManyRequests, "Ratelimited", "Too many requests"}
	errQuoteMismatch = invalid(`"quote" does not match any of the allowed types`)
)

// refused is an answer to an order that the order service does not take. How the
// API words these, and with what status, is not known; the codes are the service's.
func refused(code, detail string) failure { return failure{http.StatusBadRequest, code, detail} }

// invalid is an answer to a request that the schema refuses.
func invalid(detail string) failure {
	return failure{http.StatusBadRequest, "RequestValidationError", detail}
}

// answers is how the API writes every answer.
var answers = form.Answer{ContentType: "application/json"}

// writeError answers with err. Whatever is no failure is the simulator's own
// trouble and shown as such.
func writeError(w http.ResponseWriter, err error) {
	var f failure
	if !errors.As(err, &f) {
		f = failure{http.StatusInternalServerError, "InternalServerError", err.Error()}
	}
	body := struct {
		Code      string `json:"errorCode"`
		Detail    string `json:"detail"`
		RequestID string `json:"requestId,omitempty"`
	}{Code: f.code, Detail: f.detail}
	if f.status != http.StatusBadRequest && f.status != http.StatusUnauthorized {
		body.RequestID = uuid.NewString()
	}
	answers.Write(w, f.status, body)
}
