package dex

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"swapkeep/rest"
	"swapkeep/swap"
)

// upstreamTimeout is the one 404 of the API that an unchanged repetition can mend.
const upstreamTimeout = "UpstreamTimeoutError"

// A failure is how one reply of the API is put to the user.
type failure struct {
	status int    // 0 = any
	code   string // the API's errorCode; "" = any, known or not
	is     swap.Code
	says   string
}

// failures is read from the top; the first row that fits counts. Codes are the
// API's stable names, unknown ones go by status.
var failures = []failure{
	{404, "QuoteAmountTooLowError", swap.AmountTooSmall, "the amount is below what the dex provider quotes; enter a larger one"},
	{404, "NoRouteFoundError", swap.NoRoute, "the dex provider found no route for this pair and amount; try another provider"},
	{404, "UnsupportedTokenError", swap.NoRoute, "the dex provider does not trade one of these tokens; try another provider"},
	{404, "UnsupportedChainError", swap.UnsupportedNetwork, "the dex provider does not serve this chain; choose another provider or network"},
	{404, "UniswapXNotSupportedOnChainError", swap.UnsupportedRoute, "the dex provider has no auction route on this chain"},
	{404, upstreamTimeout, swap.ProviderDown, "the dex provider was too slow; try again"},
	{404, "TokenBalanceNotAvailable", swap.InsufficientFunds, "the dex provider could not see the account's balance; check it and try again"},
	{404, "InsufficientBalance", swap.InsufficientFunds, "the amount is above the balance; enter a smaller one"},
	{404, "ResourceNotFound", swap.NoRoute, "the dex provider has no quote for this pair and amount; try another provider"},
	{400, "", swap.ProviderRefused, "the dex provider refused the request"},
	{401, "ProxyUnauthorized", swap.ProviderKey, "the key proxy of the dex provider does not know this installation's token; set the one that its operator gave you"},
	{401, "", swap.ProviderKey, "the dex provider wants a valid api key; check that its base url is a key proxy's"},
	{403, "ProxyFeeRefused", swap.ProviderRefused, "the key proxy of the dex provider takes another wallet fee than the one configured here; check fees.receiver"},
	{403, "ProxyEndpointRefused", swap.ProviderRefused, "the key proxy of the dex provider does not serve this call; it or this wallet needs an update"},
	{403, "", swap.ProviderKey, "the dex provider refused access; check the key proxy and the token"},
	{408, "", swap.ProviderDown, "the dex provider was too slow; try again"},
	{421, "", swap.ProviderGarbage, "the key proxy of the dex provider does not answer to that name; check its base url"},
	{429, "", swap.ProviderBusy, "the dex provider is busy; try again shortly"},
	{500, "", swap.ProviderDown, "the dex provider has a fault; try again"},
	{502, "ProxyUpstreamKeyRefused", swap.ProviderKey, "the dex provider refuses the key of its key proxy; tell the proxy's operator"},
	{502, "", swap.ProviderDown, "the dex provider is down; try again later"},
	{503, "", swap.ProviderDown, "the dex provider is down; try again later"},
	{504, "", swap.ProviderDown, "the dex provider did not answer in time; try again"},
}

// kinds puts failures without a telling status.
var kinds = map[rest.Kind]failure{
	rest.Unreachable: {is: swap.ProviderDown, says: "the dex provider cannot be reached; check the connection"},
	rest.TimedOut:    {is: swap.ProviderDown, says: "the dex provider did not answer in time; try again"},
	rest.Suspended:   {is: swap.ProviderDown, says: "the dex provider failed too often just now; try again in a few seconds"},
	rest.Throttled:   {is: swap.ProviderBusy, says: "too many requests to the dex provider; try again shortly"},
	rest.NoSecret:    {is: swap.ProviderKey, says: "this installation's token for the dex provider's key proxy could not be read"},
	rest.Redirected:  {is: swap.ProviderGarbage, says: "the dex provider redirects, which is not followed; check its base url"},
	rest.TooLarge:    {is: swap.ProviderGarbage, says: "the dex provider's reply is too large"},
	rest.NotJSON:     {is: swap.ProviderGarbage, says: "the dex provider's reply is not json; check its base url"},
}

// refusal gives a failed call its reason. The caller's own cancellation stays
// what it is.
func refusal(err error) error {
	var e *rest.Error
	if !errors.As(err, &e) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	f := failureOf(e)
	r := &swap.Refusal{Code: f.is, Reason: f.says, Err: e, Data: map[string]string{}}
	if e.Detail != "" && (f.is == swap.ProviderRefused || f.is == swap.ProviderGarbage) {
		r.Reason += fmt.Sprintf(": %q", e.Detail)
	}
	if e.Status != 0 {
		r.Data["status"] = strconv.Itoa(e.Status)
	}
	if e.RetryAfter > 0 {
		r.Data["retryAfterSeconds"] = strconv.Itoa(int(e.RetryAfter.Seconds() + 0.999))
	}
	return r
}

func failureOf(e *rest.Error) failure {
	if e.Kind != rest.Answered {
		if f, ok := kinds[e.Kind]; ok {
			return f
		}
		return failure{is: swap.ProviderDown, says: "the dex provider failed"}
	}
	for _, f := range failures {
		if f.status == e.Status && (f.code == "" || f.code == e.Code) {
			return f
		}
	}
	switch {
	case e.Status == http.StatusNotFound && e.Code != "": // as ResourceNotFound
		return failure{is: swap.NoRoute, says: "the dex provider has no quote for this pair and amount; try another provider"}
	case !e.JSON && e.Status < http.StatusInternalServerError:
		return failure{is: swap.ProviderGarbage, says: "the dex provider's reply is not of the agreed form; check its base url"}
	case e.Status >= http.StatusInternalServerError:
		return failure{is: swap.ProviderDown, says: "the dex provider has a fault; try again"}
	}
	return failure{is: swap.ProviderRefused, says: "the dex provider refused the request"}
}

// refuse makes a refusal that names a field.
func refuse(c swap.Code, field, format string, args ...any) *swap.Refusal {
	r := swap.Refuse(c, format, args...)
	r.Field = field
	return r
}
