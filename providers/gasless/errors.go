package gasless

import (
	"encoding/json"
	"errors"
	"strings"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// invalidQuoteID is the API's error number for an unknown or already used quote.
const invalidQuoteID = "210"

// failures is the API's error table. Most errors come with status 200. A code that is not
// in the table counts as a refusal of the request.
//
// A temporary code leaves open what became of an order that was being submitted: its status
// is queried before it is sent again.
var failures = []wire.Failure{
	{Code: "101", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "102", Is: swap.NoRoute, Says: "does not have enough liquidity for this pair and amount; try another provider"},
	{Code: "103", Is: swap.ProviderDown, Says: "could not estimate its gas; try again"},
	{Code: "104", Is: swap.AmountTooSmall, Says: "accepts only larger amounts; enter a larger one"},
	{Code: "105", Is: swap.NoRoute, Says: "does not trade one of these tokens; try another provider"},
	{Code: "106", Is: swap.AmountTooSmall, Says: "pays the gas, which costs more than this amount allows; enter a larger one"},
	{Code: "107", Is: swap.ProviderRefused, Says: "did not expect a permit"},
	{Code: "108", Is: swap.NoRoute, Says: "found no route for this pair and amount; try another provider"},
	{Code: "111", Is: swap.ProviderBusy, Says: "is busy; try again shortly"},
	{Code: "112", Is: swap.ProviderRefused, Says: "refuses this account; try another provider"},
	{Code: "201", Is: swap.ProviderRefused, Says: "found that the order would fail on the chain; get a new quote"},
	{Code: "202", Is: swap.ProviderRefused, Says: "reports that the maker declined the order; get a new quote"},
	{Code: "203", Is: swap.ProviderRefused, Says: "reports that the order has expired; get a new quote"},
	{Code: "204", Is: swap.InsufficientFunds, Says: "reports an insufficient balance; enter a smaller amount"},
	{Code: "205", Is: swap.ProviderDown, Says: "does not see the approval yet; try again"},
	{Code: "206", Is: swap.NoRoute, Says: "reports that the maker cannot pay; get a new quote"},
	{Code: "207", Is: swap.NoRoute, Says: "reports that the maker cannot pay; get a new quote"},
	{Code: "208", Is: swap.ProviderRefused, Says: "could not carry out the order"},
	{Code: invalidQuoteID, Is: swap.QuoteExpired, Says: "does not know the quote, or already has its order"},
	{Code: "211", Is: swap.ProviderRefused, Says: "does not accept the permit"},
	{Code: "212", Is: swap.ProviderRefused, Says: "does not accept the form of the order"},
	{Code: "500", Is: swap.ProviderDown, Says: "has an internal error; try again"},
	{Code: "522", Is: swap.ProviderDown, Says: "was too slow; try again"},
}

// failed converts an error that came with status 200 into the refusal that the same error
// with another status would give. The error's name, which starts the message, is cut off.
func failed(raw json.RawMessage) error {
	var e struct {
		Code    *wire.Number `json:"errorCode"`
		Message string       `json:"message"`
	}
	if err := service.Read("error", raw, &e); err != nil {
		return garbage("error", err)
	}
	if e.Code == nil {
		return refuse(swap.ProviderInvalidResponse, "error", "sent an error without a code")
	}
	_, text, named := strings.Cut(e.Message, ": ")
	if !named {
		text = e.Message
	}
	return service.Refusal(&rest.Error{
		Service: string(swap.Gasless), Kind: rest.BadStatus, Code: e.Code.String(), Detail: wire.Printable(text), JSON: true,
	})
}

// isCode reports whether a refusal came with that API error number.
func isCode(err error, code string) bool {
	var e *rest.Error
	return errors.As(err, &e) && e.Code == code
}

func refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	return service.Refuse(c, field, format, args...)
}
