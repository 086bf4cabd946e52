package intent

import (
	"math/big"

	"swapkeep/providers/wire"
	"swapkeep/swap"
)

// A statedFee is what a route says of the referrer's fee, by the request's own field names.
// Neither the API's types (@tokenflight/api 0.4.10) nor any recorded route has them.
// Without them it is unknown whether the route takes the fee.
type statedFee struct {
	Referrer *wire.Address `json:"referrer"`
	Bps      *wire.Number  `json:"referrerFeeBps"`
}

// read refuses a stated fee that is higher than requested or goes to another receiver, and
// otherwise records it in f.
func (s statedFee) read(f *parsedRoute, r swap.QuoteRequest) error {
	switch {
	case s.Bps == nil:
		return nil
	case s.Bps.Cmp(big.NewInt(int64(r.FeeBps))) > 0:
		return refuse(swap.NotAsAccepted, "feeBps", "takes a referrer's fee of %s bps, more than the %d that were asked for", s.Bps, r.FeeBps)
	case s.Bps.Sign() > 0 && s.Referrer != nil && !s.Referrer.Is(r.FeeReceiver):
		return refuse(swap.NotAsAccepted, "feeReceiver", "would pay the wallet's fee to somebody else")
	}
	f.feeStated, f.feeBps = true, int(s.Bps.Int64())
	return nil
}

// setFee sets the offer's fee if the route states one. If it states nothing, the requested
// fee goes to FeeRequested and Fees stays empty.
func (f parsedRoute) setFee(o *swap.Offer, r swap.QuoteRequest) {
	switch {
	case !f.feeStated:
		o.FeeRequested = r.FeeBps
	case f.feeBps > 0:
		o.Fees = []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: f.feeBps}}
	}
}
