package intent

import (
	"errors"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// Error names of the API that the code acts on.
const (
	quoteNotFound   = "QuoteNotFoundException"
	duplicateRecord = "DuplicateRecordException"
	badRequest      = "BadRequestException"
	intentNotFound  = "IntentNotFoundException"
)

// failures is the API's error table, by error name.
var failures = []wire.Failure{
	{Code: "CannotFillException", Is: swap.NoRoute, Says: "found no filler for this pair and amount; try another provider"},
	{Code: quoteNotFound, Is: swap.QuoteExpired, Says: "no longer knows the quote; get a new one"},
	{Code: "QuoteExpiredException", Is: swap.QuoteExpired, Says: "reports that the quote has expired; get a new one"},
	{Code: "BuildDepositParsingException", Is: swap.QuoteExpired, Says: "could not build the deposit; get a new quote"},
	{Code: "NotSupportedTokenException", Is: swap.NoRoute, Says: "does not trade one of these tokens; try another provider"},
	{Code: "NotSupportedChainException", Is: swap.UnsupportedNetwork, Says: "does not serve one of these networks; choose another provider or network"},
	{Code: "NotSupportedContractException", Is: swap.NoRoute, Says: "cannot use this route; choose another"},
	{Code: "NotSupportedDepositMethodException", Is: swap.NoRoute, Says: "does not accept this deposit as a contract call; choose another route"},
	{Code: "NotSupportedAssetReverseContractException", Is: swap.NoRoute, Says: "cannot use this route; choose another"},
	{Code: "UnexpectedFromAddressException", Is: swap.NotAsAccepted, Says: "has the quote for another account"},
	{Code: "ValidationException", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "ZodValidationException", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: badRequest, Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: intentNotFound, Is: swap.OrderUnknown, Says: "has no such order"},
	{Code: duplicateRecord, Is: swap.ProviderDown, Says: "is already recording the order"},
	{Code: "InternalErrorException", Is: swap.ProviderDown, Says: "has an internal error; try again"},
	{Status: 410, Is: swap.QuoteExpired, Says: "reports that the quote has expired; get a new one"},
}

// mayExist reports whether the order may exist although submit failed: it was submitted
// twice at the same moment, the quote is used up or lost, or another transaction hash is
// registered in its place, which the provider may correct later.
func mayExist(err error) bool {
	var e *rest.Error
	return errors.As(err, &e) && (slices.Contains([]string{quoteNotFound, duplicateRecord, badRequest}, e.Code) || isStatus(err, 404) || isStatus(err, 409))
}

func isStatus(err error, status int) bool {
	var e *rest.Error
	return errors.As(err, &e) && e.Kind == rest.BadStatus && e.Status == status
}

// failure is the refusal for an error that came with a success status.
func failure(name string) error {
	return service.Refusal(&rest.Error{Service: string(swap.Intent), Kind: rest.BadStatus, Code: wire.Printable(name), JSON: true})
}

func refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	return service.Refuse(c, field, format, args...)
}

func garbage(field string, err error) *swap.Refusal {
	r := refuse(swap.ProviderInvalidResponse, field, "sent an invalid response")
	r.Err = err
	return r
}

var errNotQuantity = errors.New("not a quantity")

// notUnderstood refuses a malformed plan. Plans move money, so every field must be
// understood.
func notUnderstood(field string, err error) *swap.Refusal {
	r := refuse(swap.Undecodable, field, "built an invalid plan")
	r.Err = err
	return r
}
