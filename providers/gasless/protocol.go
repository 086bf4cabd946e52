package gasless

import (
	"net/url"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A protocol is one of the provider's two ways to settle an order.
type protocol struct {
	name    string // the offer's routing
	root    string // its paths, around the chain's name
	version string
	domain  string // the EIP-712 domain's name; its version is domainVersion
	primary string // the one order type that is signed
	success string // the status of a quote that can be signed
	// leastLife is how long before an order's end its offer ends. Package swap signs none
	// that ends within five seconds, which is the time to settle it, so that RFQ's least is
	// small: keyless quotes live 10 s in all.
	leastLife time.Duration
	// nativeOut: what proves a fill also proves it where the native coin is bought,
	// which leaves no log of its arrival.
	nativeOut bool
	// charges: the signed order can hold the wallet's fee. Of another it is not asked for:
	// what such a provider owes its partners in other ways, no byte shows.
	charges bool
	// blank is a message of this protocol to be read into.
	blank func() message
	// ask adds the parameters that only this protocol has.
	ask func(q url.Values, r swap.QuoteRequest)
	// contracts are the one that settles and the one to be allowed the input.
	contracts func(d deployment) (settlement, spender common.Address)
}

// domainVersion is both contracts' own; it has nothing to do with the versions of
// the paths.
const domainVersion = "2"

// protocols are asked at once; the order decides between equal offers.
var protocols = []protocol{
	{
		name: "JAM", root: "/jam/", version: "/v2", domain: "JamSettlement", primary: "JamOrder",
		success: "Success", leastLife: 15 * time.Second, nativeOut: true, charges: true,
		blank: func() message { return &jamMessage{} },
		ask: func(q url.Values, r swap.QuoteRequest) {
			q.Set("slippage", percent(r.SlippageBps))
			if r.FeeBps > 0 {
				q.Set("fee_recipient", r.FeeReceiver.Hex())
			}
		},
		contracts: func(d deployment) (settlement, spender common.Address) { return d.jamSettlement, d.balanceManager },
	},
	{
		name: "RFQ", root: "/pmm/", version: "/v3", domain: "BebopSettlement", primary: "SingleOrder",
		success: "QUOTE_SUCCESS", leastLife: time.Second, nativeOut: false,
		blank:     func() message { return &rfqMessage{} },
		ask:       func(url.Values, swap.QuoteRequest) {},
		contracts: func(d deployment) (settlement, spender common.Address) { return d.rfqSettlement, d.rfqSettlement },
	},
}

// A venue is a protocol on a chain.
type venue struct {
	protocol
	deployment
	settlement, spender common.Address
}

// path is an endpoint's.
func (v venue) path(endpoint string) string { return v.root + v.deployment.name + v.version + endpoint }

// venues are the protocols that a chain has.
func (d deployment) venues() []venue {
	var out []venue
	for _, p := range protocols {
		settlement, spender := p.contracts(d)
		if settlement != (common.Address{}) && spender != (common.Address{}) {
			out = append(out, venue{p, d, settlement, spender})
		}
	}
	return out
}

// venueOf finds a chain's venue.
func venueOf(chainID uint64, is func(venue) bool) (venue, error) {
	d, err := deploymentOn(chainID)
	if err != nil {
		return venue{}, err
	}
	for _, v := range d.venues() {
		if is(v) {
			return v, nil
		}
	}
	return venue{}, refuse(swap.NotUnderstood, "routing", "has no such order on chain %d", chainID)
}
