package source

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// Blockscout reads Blockscout explorers, one per chain, without a key. They have the best
// holder counts and are the last resort for prices on Superseed. Each token takes a call;
// native coins have no record.
type Blockscout struct {
	explorers map[uint64]*service
	timeout   time.Duration
}

// NewBlockscout prepares one client for each of c.Hosts.
func NewBlockscout(c Config) (*Blockscout, error) {
	hosts := c.Hosts
	if hosts == nil {
		hosts = make(map[uint64]string)
		for _, id := range Explorers() {
			hosts[id] = networks[id].explorer
		}
	}
	b := &Blockscout{make(map[uint64]*service, len(hosts)), cmp.Or(c.Timeout, defaultTimeout)}
	for id, host := range hosts {
		c.Base = host
		s, err := c.open(price.Blockscout, defaults{perMinute: 300, burst: 60})
		if err != nil {
			return nil, fmt.Errorf("chain %d: %w", id, err)
		}
		b.explorers[id] = s
	}
	return b, nil
}

// Name is the source's name in the API and on the command line.
func (b *Blockscout) Name() string { return price.Blockscout.String() }

// Close drops idle connections.
func (b *Blockscout) Close() {
	for _, s := range b.explorers {
		s.Close()
	}
}

// ask requests each token on the chains that have an explorer. After a failure that
// explorer is not asked again; the others are.
func (b *Blockscout) ask(ctx context.Context, ts []tokens.Token, within time.Duration) (*results, error) {
	host := func(id uint64) string {
		if b.explorers[id] == nil {
			return ""
		}
		return "explorer"
	}
	var qs []query
	for _, chain := range byChain(ts, host, tokenKey) {
		for _, a := range chain.batches(1) {
			qs = append(qs, query{
				from: b.explorers[chain.chain], keySet: a, read: readExplorer, path: "/api/v2/tokens/{address}", unknown: true,
				call: rest.Call{Method: http.MethodGet, Path: "/api/v2/tokens/" + a.keys[0]},
			})
		}
	}
	return ask(ctx, within, qs)
}

// Now implements poll.Source, for tokens of Superseed only, because other sources are
// better elsewhere.
func (b *Blockscout) Now(ctx context.Context, ts []tokens.Token) ([]price.Reading, error) {
	elsewhere := func(t tokens.Token) bool { return t.Chain != superseed }
	all, err := b.ask(ctx, slices.DeleteFunc(slices.Clone(ts), elsewhere), b.timeout)
	return all.readings, err
}

// MarketCaps implements poll.MetadataSource.
func (b *Blockscout) MarketCaps(ctx context.Context, ts []tokens.Token) (map[price.ID]price.Value, error) {
	all, err := b.ask(ctx, ts, slowFactor*b.timeout)
	return all.marketCaps, err
}

// Holders implements poll.MetadataSource.
func (b *Blockscout) Holders(ctx context.Context, ts []tokens.Token) (map[price.ID]uint64, error) {
	all, err := b.ask(ctx, ts, slowFactor*b.timeout)
	return all.holders, err
}

// A record is an explorer's data of one token. All numbers are strings, or null. Address
// and Holders are the names in older explorers.
type record struct {
	AddressHash  string   `json:"address_hash"`
	Address      string   `json:"address"`
	HoldersCount decimal  `json:"holders_count"`
	Holders      decimal  `json:"holders"`
	MarketCap    decimal  `json:"circulating_market_cap"`
	ExchangeRate decimal  `json:"exchange_rate"`
	Volume       *decimal `json:"volume_24h"`
}

// readExplorer reads one token's record. Its rate has no time: the explorer fetches it from
// elsewhere every few minutes. It counts as current unless the record shows no trades for a
// day.
func readExplorer(r *rest.Reply, asks *keySet, to *results) error {
	var doc record
	if decodeDocument(r.Body, &doc) != nil {
		return ErrReply
	}
	key := asks.keys[0]
	if !strings.EqualFold(cmp.Or(doc.AddressHash, doc.Address), key) {
		return ErrReply
	}
	ids := asks.ids[key]
	if n, ok := cmp.Or(doc.HoldersCount, doc.Holders).count(); ok {
		setIfAbsent(to.holders, ids, n)
	}
	if marketCap, ok := doc.MarketCap.value(); ok {
		setIfAbsent(to.marketCaps, ids, marketCap)
	}
	rate, priced := doc.ExchangeRate.value()
	if at, timed := replyTime(r); priced && timed && doc.traded() {
		to.addReading(ids, price.Reading{Sample: price.Sample{Value: rate, At: at, Source: price.Blockscout}})
	}
	return nil
}

// traded returns false for a volume of zero, and true if the record has no volume.
func (d *record) traded() bool {
	if d.Volume == nil {
		return true
	}
	_, ok := d.Volume.value()
	return ok
}
