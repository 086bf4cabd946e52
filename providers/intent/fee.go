package intent

import (
	"math/big"

	"swapkeep/providers/wire"
	"swapkeep/swap"
)

// A statedFee is what a route says of the referrer's fee, by the request's own names.
// Neither the API's types (@tokenflight/api 0.4.10) nor any recorded route has it: of a
// route without it nobody knows whether it takes the fee.
type statedFee struct {
	Referrer *wire.Address `json:"referrer"`
	Bps      *wire.Number  `json:"referrerFeeBps"`
}

// read takes over what a route says: no more than was asked for, and for the wallet's
// receiver alone.
func (s statedFee) read(f *found, r swap.QuoteRequest) error {
	switch {
	case s.Bps == nil:
		return nil
	case s.Bps.Cmp(big.NewInt(int64(r.FeeBps))) > 0:
		return refuse(swap.NotAsAccepted, "feeBps", "takes a referrer's fee of %s bps, more than the %d that were asked for", s.Bps, r.FeeBps)
	case s.Bps.Sign() > 0 && s.Referrer != nil && !s.Referrer.Is(r.FeeReceiver):
		return refuse(swap.NotAsAccepted, "feeReceiver", "would pay the wallet's fee to somebody else")
	}
	f.tellsFee, f.feeBps = true, int(s.Bps.Int64())
	return nil
}

// charge gives an offer the wallet's fee as far as its route says that it takes it. Of
// one that says nothing the offer has what was asked for, and no fee.
func (f found) charge(o *swap.Offer, r swap.QuoteRequest) {
	switch {
	case !f.tellsFee:
		o.FeeAsked = r.FeeBps
	case f.feeBps > 0:
		o.Fees = []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: f.feeBps}}
	}
}
