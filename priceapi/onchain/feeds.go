package onchain

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// feedsJSON lists which oracle measures which token, with the native coin listed as the
// wrapped one. "of" names what is measured if it is not the token itself but an asset that
// the token represents. A "canonical" feed is on another chain, measures the token that this
// one is redeemable for, and is used only for coins that pools are quoted in. The lists that
// the file is drawn from do not give the feeds' heartbeats.
//
//go:embed feeds.json
var feedsJSON []byte

// How old a feed's last price may be: its heartbeat plus some minutes. DIA writes when the
// price has moved by half a percent, and every 24 hours.
const (
	daily  = 25 * time.Hour
	hourly = 90 * time.Minute
)

// A feed measures one token.
type feed struct {
	source    price.Source
	quoteOnly bool   // used only to price the coins that pools are quoted in
	on        uint64 // the chain that the feed is on
	address   common.Address
	measures  string        // the asset measured if it is not the token; "" = the token
	name      string        // in the address book
	maxAge    time.Duration // how long a price is valid
	noRoundID bool          // its rounds have no numbers
}

// An aaveListing is an asset of Aave's oracle.
type aaveListing struct {
	source   common.Address // that the oracle reads, according to the list
	measures string         // as in feed
	maxAge   time.Duration
}

// A table lists the oracles, in order of preference.
type table struct {
	feeds map[price.ID][]feed
	aave  map[price.ID]aaveListing
}

// kinds are the kinds in feeds.json.
var kinds = map[string]feed{
	"chainlink": {source: price.Chainlink},
	"dia":       {source: price.DIA, maxAge: daily, noRoundID: true},
	"canonical": {source: price.Chainlink, quoteOnly: true},
}

var oracles = sync.OnceValue(func() *table {
	t, err := tableOf(feedsJSON)
	if err != nil {
		panic(err) // the file is embedded in the program
	}
	return t
})

func tableOf(raw []byte) (*table, error) {
	type row struct {
		Chain        uint64
		Token        common.Address
		Kind         string
		On           uint64
		Feed, Source common.Address
		Of, Name     string
		Stable       bool
	}
	var file struct{ Feeds, Aave []row }
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("feeds.json: %w", err)
	}
	lasts := map[bool]time.Duration{true: daily, false: hourly}
	t := &table{map[price.ID][]feed{}, map[price.ID]aaveListing{}}
	for _, r := range file.Feeds {
		f, ok := kinds[r.Kind]
		if !ok || r.Feed == (common.Address{}) {
			return nil, fmt.Errorf("feeds.json: %s on chain %d: no such kind or no feed", r.Token, r.Chain)
		}
		if f.on = r.On; f.on == 0 {
			f.on = r.Chain
		}
		f.address, f.measures, f.name, f.maxAge = r.Feed, r.Of, r.Name, max(f.maxAge, lasts[r.Stable])
		id := price.ID{Chain: r.Chain, Address: r.Token}
		t.feeds[id] = append(t.feeds[id], f)
	}
	for _, r := range file.Aave {
		t.aave[price.ID{Chain: r.Chain, Address: r.Token}] = aaveListing{r.Source, r.Of, lasts[r.Stable]}
	}
	return t, nil
}

// An Oracle is one of the table. The contract must describe itself by Name as in an address
// book, such as ETH__USD.
type Oracle struct {
	Chain   uint64 // that the oracle is on
	Address common.Address
	Name    string
}

// Oracles returns the feeds of the table, each once.
func Oracles() (all []Oracle) {
	seen := map[Oracle]bool{}
	for _, feeds := range oracles().feeds {
		for _, f := range feeds {
			o := Oracle{f.on, f.address, f.name}
			if !seen[o] {
				seen[o] = true
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b Oracle) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), a.Address.Cmp(b.Address), cmp.Compare(a.Name, b.Name))
	})
	return all
}
