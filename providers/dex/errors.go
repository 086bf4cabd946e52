package dex

import (
	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
)

// upstreamTimeout is the only 404 of the API that repeating the same request can cure.
const upstreamTimeout = "UpstreamTimeoutError"

// service maps the API's failures by its stable names, and unknown ones by status.
var service = wire.Service{
	Name: "dex",
	Whole: []wire.Failure{
		{Status: 404, Code: "QuoteAmountTooLowError", Is: swap.AmountTooSmall, Says: "the amount is below what the dex provider quotes; enter a larger one"},
		{Status: 404, Code: "InsufficientBalance", Is: swap.InsufficientFunds, Says: "insufficient balance; enter a smaller amount"},
		{Status: 401, Code: "ProxyUnauthorized", Is: swap.ProviderKey, Says: "the key proxy of the dex provider does not know this installation's token; set the one that its operator gave you"},
		{Status: 403, Code: "ProxyFeeRefused", Is: swap.ProviderRefused, Says: "the key proxy of the dex provider expects a different wallet fee than configured here; check fees.receiver"},
		{Status: 403, Code: "ProxyEndpointRefused", Is: swap.ProviderRefused, Says: "the key proxy of the dex provider does not serve this call; update the proxy or this wallet"},
		{Status: 421, Is: swap.ProviderInvalidResponse, Says: "the key proxy of the dex provider does not answer to that name; check its base url"},
	},
	Failures: []wire.Failure{
		{Status: 404, Code: "NoRouteFoundError", Is: swap.NoRoute, Says: "found no route for this pair and amount; try another provider"},
		{Status: 404, Code: "UnsupportedTokenError", Is: swap.NoRoute, Says: "does not trade one of these tokens; try another provider"},
		{Status: 404, Code: "UnsupportedChainError", Is: swap.UnsupportedNetwork, Says: "does not serve this chain; choose another provider or network"},
		{Status: 404, Code: "UniswapXNotSupportedOnChainError", Is: swap.UnsupportedRoute, Says: "has no auction route on this chain"},
		{Status: 404, Code: upstreamTimeout, Is: swap.ProviderDown, Says: "was too slow; try again"},
		{Status: 404, Code: "TokenBalanceNotAvailable", Is: swap.InsufficientFunds, Says: "could not see the account's balance; check it and try again"},
		{Status: 404, Code: wire.AnyCode, Is: swap.NoRoute, Says: "has no quote for this pair and amount; try another provider"},
		{Status: 401, Is: swap.ProviderKey, Says: "needs a valid API key; check that its base URL points to a key proxy"},
		{Status: 403, Is: swap.ProviderKey, Says: "refused access; check the key proxy and the token"},
		{Status: 502, Code: "ProxyUpstreamKeyRefused", Is: swap.ProviderKey, Says: "refuses the key of its key proxy; tell the proxy's operator"},
	},
	NoAnswer: map[rest.Kind]string{
		rest.Throttled:     "too many requests to the dex provider; try again shortly",
		rest.NoCredentials: "this installation's token for the dex provider's key proxy could not be read",
		rest.TooLarge:      "the dex provider's response is too large",
		rest.NotJSON:       "the dex provider's response is not JSON; check its base url",
		rest.BadStatus:     "invalid response from the dex provider; check its base url",
	},
}

// refuse makes a refusal that names a field. Its reason does not begin with the provider,
// as not every refusal is about it.
func refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	r := swap.Refuse(c, format, args...)
	r.Field = field
	return r
}

func garbage(field string, err error) error {
	r := refuse(swap.ProviderInvalidResponse, field, "invalid response from the dex provider: %v", err)
	r.Err = err
	return r
}
