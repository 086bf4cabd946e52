package intentsim

import (
	"errors"
	"fmt"
	"net/http"

	"swapkeep/sandbox/form"
)

// A failure is an error response. Name is stable, message is free text.
type failure struct {
	status  int
	name    string
	message string
	details any
}

func (f failure) Error() string { return fmt.Sprintf("%d %s: %s", f.status, f.name, f.message) }

// An exception is a named error of the API. Where no status is published, it is the
// likely one.
type exception struct {
	status  int
	message string
}

// exceptions are all documented errors. Tests can make the server answer with any of
// them; see Settings.Errors.
var exceptions = map[string]exception{
	"ValidationException":                       {http.StatusBadRequest, "Validation failed"},
	"ZodValidationException":                    {http.StatusBadRequest, "Validation failed"},
	"BadRequestException":                       {http.StatusBadRequest, "Bad Request"},
	"CannotFillException":                       {http.StatusBadRequest, "Cannot fill the quote"},
	"UnexpectedFromAddressException":            {http.StatusBadRequest, "Unexpected from address"},
	"NotSupportedContractException":             {http.StatusBadRequest, "Not contract"},
	"NotSupportedDepositMethodException":        {http.StatusBadRequest, "Deposit method is not supported"},
	"BuildDepositParsingException":              {http.StatusBadRequest, "Parsing failed"},
	"NotSupportedTokenException":                {http.StatusNotFound, "Token is not supported"},
	"NotSupportedChainException":                {http.StatusNotFound, "Chain is not supported"},
	"NotSupportedAssetReverseContractException": {http.StatusNotFound, "AssetReverse is not supported"},
	"IntentNotFoundException":                   {http.StatusNotFound, "Intent not found"},
	"QuoteNotFoundException":                    {http.StatusNotFound, "Quote not found"},
	"QuoteExpiredException":                     {http.StatusGone, "Quote expired"},
	"BroadcastException":                        {http.StatusBadRequest, "Broadcast failed"},
	"DuplicateRecordException":                  {http.StatusConflict, "Duplicate record"},
	"InternalErrorException":                    {http.StatusInternalServerError, "Internal Error"},
	"ThrottlerException":                        {http.StatusTooManyRequests, "Too Many Requests"},
}

// fail returns an exception. An empty message means the default one; nil details are
// omitted.
func fail(name, message string, details any) failure {
	e := exceptions[name]
	if message == "" {
		message = e.message
	}
	return failure{e.status, name, message, details}
}

func errChain(id uint64) error {
	return fail("NotSupportedChainException", fmt.Sprintf("Chain %d is not supported", id), nil)
}

func errToken(token string) error {
	return fail("NotSupportedTokenException", fmt.Sprintf("Token %s is not supported", token), nil)
}

// errQuote means that a quote is unknown, expired or used.
func errQuote(quoteID, routeID string) error {
	return fail("QuoteNotFoundException", fmt.Sprintf("Quote(quoteId: %s, routeId: %s) not found", quoteID, routeID), struct {
		QuoteID string `json:"quoteId"`
		RouteID string `json:"routeId"`
		Code    int    `json:"code"`
	}{quoteID, routeID, 2})
}

// errConflict means that the order was submitted with another deposit hash.
func errConflict(orderID string) error {
	return fail("BadRequestException", "Deposit already submitted with a different transaction hash", struct {
		Code    string `json:"errorCode"`
		OrderID string `json:"orderId"`
	}{"DEPOSIT_TX_HASH_CONFLICT", orderID})
}

// errNotFound is the response to an unknown path or order. Like the live API's, it is
// plain text.
var errNotFound = errors.New("404 Not Found")

// answers is the format of all of the API's JSON responses.
var answers = form.Answer{ContentType: "application/json; charset=utf-8", NoEscapeHTML: true}

// writeError responds with err. An error that is not a failure is a bug in the simulator
// and becomes a 500.
func writeError(w http.ResponseWriter, err error) {
	if errors.Is(err, errNotFound) {
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(errNotFound.Error()))
		return
	}
	var f failure
	if !errors.As(err, &f) {
		f = fail("InternalErrorException", "", err.Error())
	}
	if f.status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	answers.Write(w, f.status, struct {
		Message string `json:"message"`
		Name    string `json:"name"`
		Details any    `json:"details,omitempty"`
	}{f.message, f.name, f.details})
}
