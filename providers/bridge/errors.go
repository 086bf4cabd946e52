package bridge

import (
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

const needsKey = "needs a valid API key"

// failures maps the API's error codes. Any other code goes by its status.
var failures = []wire.Failure{
	{Code: "AMOUNT_TOO_LOW", Is: swap.AmountTooSmall, Says: "accepts only larger amounts; enter a larger one"},
	{Code: "AMOUNT_TOO_HIGH", Is: swap.NoRoute, Says: "cannot bridge this much at once; enter a smaller amount"},
	{Code: "INSUFFICIENT_FUNDS", Is: swap.InsufficientFunds, Says: "reports an insufficient balance; enter a smaller amount"},
	{Code: "INSUFFICIENT_LIQUIDITY", Is: swap.NoRoute, Says: "does not have enough liquidity for this pair and amount; enter a smaller amount, or try another provider"},
	{Code: "SWAP_IMPACT_TOO_HIGH", Is: swap.NoRoute, Says: "has too high a price impact for this amount; enter a smaller amount, or try another provider"},
	{Code: "NO_SWAP_ROUTES_FOUND", Is: swap.NoRoute, Says: "found no route for this pair and amount; try another provider"},
	{Code: "NO_INTERNAL_SWAP_ROUTES_FOUND", Is: swap.NoRoute, Says: "found no route for this pair and amount; try another provider"},
	{Code: "NO_QUOTES", Is: swap.NoRoute, Says: "has no quote for this pair and amount; try another provider"},
	{Code: "UNSUPPORTED_ROUTE", Is: swap.NoRoute, Says: "does not serve this route; try another provider"},
	{Code: "UNSUPPORTED_CURRENCY", Is: swap.NoRoute, Says: "does not trade one of these tokens; try another provider"},
	{Code: "UNSUPPORTED_CHAIN", Is: swap.UnsupportedNetwork, Says: "does not serve one of these networks; choose another provider or network"},
	{Code: "CHAIN_DISABLED", Is: swap.UnsupportedNetwork, Says: "has temporarily disabled one of these networks; choose another provider or network"},
	{Code: "ROUTE_TEMPORARILY_RESTRICTED", Is: swap.NoRoute, Says: "has temporarily disabled this route; try another provider"},

	{Code: "INVALID_ADDRESS", Is: swap.ProviderRefused, Says: "does not accept one of the addresses"},
	{Code: "INVALID_RECIPIENT", Is: swap.ProviderRefused, Says: "does not pay that recipient; choose another"},
	{Code: "INVALID_INPUT_CURRENCY", Is: swap.NoRoute, Says: "does not know the input token; try another provider"},
	{Code: "INVALID_OUTPUT_CURRENCY", Is: swap.NoRoute, Says: "does not know the output token; try another provider"},
	{Code: "INVALID_SLIPPAGE_TOLERANCE", Is: swap.ProviderRefused, Says: "does not accept the slippage; choose another"},
	{Code: "INVALID_EXTRA_TXS", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "EXTRA_TXS_NOT_SUPPORTED", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "UNSUPPORTED_EXECUTION_TYPE", Is: swap.ProviderRefused, Says: "does not accept the request"},
	{Code: "USER_RECIPIENT_MISMATCH", Is: swap.ProviderRefused, Says: "pays only the account itself on this route; choose no other recipient"},
	{Code: "SOLANA_TX_TOO_LARGE", Is: swap.ProviderRefused, Says: "does not accept the request"},

	{Code: "UNAUTHORIZED_QUOTE", Is: swap.ProviderKey, Says: needsKey},
	{Code: "UNAUTHORIZED", Is: swap.ProviderKey, Says: needsKey},
	{Code: "FORBIDDEN", Is: swap.ProviderKey, Says: "refused access; check its API key"},
	{Code: "SANCTIONED_CURRENCY", Is: swap.ProviderRefused, Says: "does not trade one of these tokens, which is under sanctions"},
	{Code: "SANCTIONED_WALLET_ADDRESS", Is: swap.ProviderRefused, Says: "does not serve one of the addresses, which is under sanctions"},

	{Code: "SERVICE_UNAVAILABLE", Is: swap.ProviderDown, Says: "is down; try again later"},
	{Code: "PRICE_FETCH_FAILED", Is: swap.ProviderDown, Says: "could not find prices; try again"},
	{Code: "REQUEST_TIMED_OUT", Is: swap.ProviderDown, Says: "did not answer in time; try again"},
	{Code: "RPC_HTTP_ERROR", Is: swap.ProviderDown, Says: "could not read a network; try again"},

	{Code: "DESTINATION_TX_FAILED", Is: swap.NoRoute, Says: "found that the payment would fail; try another route or provider"},
	{Code: "ERC20_ROUTER_ADDRESS_NOT_FOUND", Is: swap.NoRoute, Says: "has no router there; try another provider"},
	{Code: "SWAP_QUOTE_FAILED", Is: swap.ProviderDown, Says: "could not make a quote; try again"},
	{Code: "PERMIT_FAILED", Is: swap.ProviderRefused, Says: "does not accept the permit"},
	{Code: "UNKNOWN_ERROR", Is: swap.ProviderDown, Says: "has an internal error; try again"},
	{Status: 401, Is: swap.ProviderKey, Says: needsKey},
}

// transientErrors are the errors after which a request is worth repeating, whatever the status.
var transientErrors = []string{"SERVICE_UNAVAILABLE", "PRICE_FETCH_FAILED", "REQUEST_TIMED_OUT", "RPC_HTTP_ERROR"}

func isTransient(e *rest.Error) bool {
	return e.Kind == rest.BadStatus && slices.Contains(transientErrors, e.Code)
}

func refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	return service.Refuse(c, field, format, args...)
}

func garbage(field string, err error) error {
	r := refuse(swap.ProviderInvalidResponse, field, "sent an invalid response: %v", err)
	r.Err = err
	return r
}
