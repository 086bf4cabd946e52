package gasless

import (
	"net/url"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A protocol is one of the provider's two ways to settle an order.
type protocol struct {
	name          string // the offer's routing
	pathPrefix    string // start of its API paths, before the chain's name
	version       string
	domain        string // name of the EIP-712 domain; its version is domainVersion
	primaryType   string // the only order type that is signed
	successStatus string // status of a quote that can be signed
	// settleMargin is how long before its order an offer expires. Package swap signs no offer
	// that expires within five seconds, which is the time for settlement, so RFQ's value
	// can be small: keyless quotes live only 10 s.
	settleMargin time.Duration
	// provesNativeOut says that the proof of a fill also holds for native output, whose arrival
	// leaves no log.
	provesNativeOut bool
	// holdsFee says that the signed order can hold the wallet's fee. If it cannot, no fee is
	// requested, since nothing signed would show that the provider owes it.
	holdsFee bool
	// newMessage is an empty message of this protocol, for parsing.
	newMessage func() message
	// addQuery adds the query parameters that only this protocol has.
	addQuery func(q url.Values, r swap.QuoteRequest)
	// contracts returns the contract that settles and the one to be approved.
	contracts func(d deployment) (settlement, spender common.Address)
}

// domainVersion is the same for both contracts. It is unrelated to the versions in API
// paths.
const domainVersion = "2"

// protocols are queried in parallel. If both fail, their reasons are listed in this order.
var protocols = []protocol{
	{
		name: "JAM", pathPrefix: "/jam/", version: "/v2", domain: "JamSettlement", primaryType: "JamOrder",
		successStatus: "Success", settleMargin: 15 * time.Second, provesNativeOut: true, holdsFee: true,
		newMessage: func() message { return &jamMessage{} },
		addQuery: func(q url.Values, r swap.QuoteRequest) {
			q.Set("slippage", percent(r.SlippageBps))
			if r.FeeBps > 0 {
				q.Set("fee_recipient", r.FeeReceiver.Hex())
			}
		},
		contracts: func(d deployment) (settlement, spender common.Address) { return d.jamSettlement, d.balanceManager },
	},
	{
		name: "RFQ", pathPrefix: "/pmm/", version: "/v3", domain: "BebopSettlement", primaryType: "SingleOrder",
		successStatus: "QUOTE_SUCCESS", settleMargin: time.Second, provesNativeOut: false,
		newMessage: func() message { return &rfqMessage{} },
		addQuery:   func(url.Values, swap.QuoteRequest) {},
		contracts:  func(d deployment) (settlement, spender common.Address) { return d.rfqSettlement, d.rfqSettlement },
	},
}

// A venue is a protocol on a chain.
type venue struct {
	protocol
	deployment
	settlement, spender common.Address
}

func (v venue) path(endpoint string) string {
	return v.pathPrefix + v.deployment.name + v.version + endpoint
}

// venues are the protocols that the chain has.
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

// venueOf finds the chain's venue that satisfies is.
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
	return venue{}, refuse(swap.Undecodable, "routing", "has no such order on chain %d", chainID)
}
