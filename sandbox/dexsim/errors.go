package dexsim

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"swapkeep/sandbox/form"
)

// A failure is an error response. Code is stable, detail is free text.
type failure struct {
	status int
	code   string
	detail string
}

func (f failure) Error() string { return fmt.Sprintf("%d %s: %s", f.status, f.code, f.detail) }

// Errors of the API. Those with status 404 carry a request id.
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

// refused returns a refusal by the order service. The codes are the service's; the API's
// wording and status are not known.
func refused(code, detail string) failure { return failure{http.StatusBadRequest, code, detail} }

// invalid returns a refusal by the schema.
func invalid(detail string) failure {
	return failure{http.StatusBadRequest, "RequestValidationError", detail}
}

// answers is the format of all of the API's responses.
var answers = form.Answer{ContentType: "application/json"}

// writeError responds with err. An error that is not a failure is a bug in the simulator
// and becomes a 500.
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
