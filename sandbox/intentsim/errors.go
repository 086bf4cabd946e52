package intentsim

import (
	"errors"
	"fmt"
	"net/http"

	"swapkeep/sandbox/form"
)

// A failure is an error answer. Name is the stable part, message free text.
type failure struct {
	status  int
	name    string
	message string
	details any
}

func (f failure) Error() string { return fmt.Sprintf("%d %s: %s", f.status, f.name, f.message) }

// An exception is one of the API's named errors. Where no status is published,
// it is the likely one.
type exception struct {
	status  int
	message string
}

// exceptions are all that are documented, so that a test can have any of them
// answered; see Settings.Errors.
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

// fail is one of the exceptions, with a message and details of its own if they
// are not empty.
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

// errQuote says that a quote is unknown, has run out or was used.
func errQuote(quoteID, routeID string) error {
	return fail("QuoteNotFoundException", fmt.Sprintf("Quote(quoteId: %s, routeId: %s) not found", quoteID, routeID), struct {
		QuoteID string `json:"quoteId"`
		RouteID string `json:"routeId"`
		Code    int    `json:"code"`
	}{quoteID, routeID, 2})
}

// errConflict says that an order has another deposit's hash.
func errConflict(orderID string) error {
	return fail("BadRequestException", "Deposit already submitted with a different transaction hash", struct {
		Code    string `json:"errorCode"`
		OrderID string `json:"orderId"`
	}{"DEPOSIT_TX_HASH_CONFLICT", orderID})
}

// errNotFound is the answer to a path, or an order, that does not exist. It is
// text, as the live API's.
var errNotFound = errors.New("404 Not Found")

// answers is how the API writes every answer.
var answers = form.Answer{ContentType: "application/json; charset=utf-8", Bare: true}

// writeError answers with err. Whatever is no failure is the simulator's own
// trouble and shown as such.
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
