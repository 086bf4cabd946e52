package onchain

import (
	"context"
	"errors"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// Aave's oracle gives a price without its age. The age is derived from the feeds that the
// asset's source reads, which are found through the getters of Aave's price adapters (CAPO
// and synchronicity adapters, aave-capo and cl-synchronicity).

// aaveDigits is the number of decimals of Aave's prices in US dollars.
const aaveDigits = 8

// A getter returns a feed that an adapter reads. Ratio feeds, such as WBTC to BTC, are
// updated daily.
type getter struct {
	signature string
	ratio     bool
}

var getters = []getter{{"BASE_TO_USD_AGGREGATOR()", false}, {"ASSET_TO_USD_AGGREGATOR()", false}, {"PEG_TO_BASE()", false}, {"ASSET_TO_PEG()", true}}

// maxAdapters is the largest number of adapters on the way to a feed.
const maxAdapters = 3

// A sourceFeed is a feed that an asset's price depends on.
type sourceFeed struct {
	at    common.Address
	ratio bool
}

// An aaveSource is the contract that Aave's oracle reads for an asset.
type aaveSource struct {
	at      common.Address
	changed bool         // it differs from the list
	feeds   []sourceFeed // none = the age is unknown
}

// An aavePrice is what Aave's oracle answered for an asset.
type aavePrice struct {
	source aaveSource
	price  []byte
	capped []byte
	rounds []round
	of     blockStamp
}

// Why Aave's price is not used by itself, or at all.
var (
	errNoAge  = errors.New("its age cannot be known")
	errCapped = errors.New("the price is held down by a cap")
)

// findSources finds the feeds that the assets' prices come from.
func (s *Source) findSources(ctx context.Context, id uint64, w *readPlan) error {
	m, oracle := s.caches[id], chainConfigs[id].aave
	found := map[common.Address]*aaveSource{}
	q := &batch{}
	for asset, listed := range w.aave {
		if _, ok := m.sources.get(asset, s.now()); ok {
			continue
		}
		q.add(func(answers [][]byte, _ blockStamp) {
			at, err := addressOf(answers[0])
			if err != nil || at == (common.Address{}) {
				at = listed.source
			}
			found[asset] = &aaveSource{at: at, changed: at != listed.source}
		}, ask(oracle, "getSourceOfAsset(address)", asset))
	}
	if err := s.send(ctx, id, q); err != nil {
		return err
	}
	if err := s.findSourceFeeds(ctx, id, found); err != nil {
		return err
	}
	for asset, source := range found {
		m.sources.put(asset, *source, s.now())
	}
	return nil
}

// findSourceFeeds follows each source's getters to the feeds.
func (s *Source) findSourceFeeds(ctx context.Context, id uint64, found map[common.Address]*aaveSource) error {
	type visit struct {
		sourceFeed
		of *aaveSource
	}
	var next []visit
	for _, source := range found {
		next = append(next, visit{sourceFeed{source.at, false}, source})
	}
	for range maxAdapters {
		visits := next
		next = nil
		q := &batch{}
		for _, v := range visits {
			qs := []chain.Question{ask(v.at, latestRound)}
			for _, g := range getters {
				qs = append(qs, ask(v.at, g.signature))
			}
			q.add(func(answers [][]byte, _ blockStamp) {
				if _, err := roundOf(answers[0]); err == nil {
					v.of.feeds = append(v.of.feeds, v.sourceFeed)
					return
				}
				for i, g := range getters {
					if at, err := addressOf(answers[1+i]); err == nil && at != (common.Address{}) {
						next = append(next, visit{sourceFeed{at, v.ratio || g.ratio}, v.of})
					}
				}
			}, qs...)
		}
		if err := s.send(ctx, id, q); err != nil {
			return err
		}
	}
	for _, v := range next { // too deep: the age is not fully known
		v.of.feeds = nil
	}
	return nil
}

// askAave asks for each asset separately, because the oracle reverts for a whole list if
// one asset is unknown to it, and together with each for the feeds behind its price.
func (s *Source) askAave(q *batch, id uint64, w *readPlan, h *chainData) {
	m, oracle := s.caches[id], chainConfigs[id].aave
	for asset := range w.aave {
		source, ok := m.sources.get(asset, s.now())
		if !ok {
			continue
		}
		list := chain.Question{To: oracle, Data: calldata(selector("getAssetsPrices(address[])"), int64(word), int64(1), asset)}
		qs := []chain.Question{list, ask(source.at, "isCapped()")}
		for _, f := range source.feeds {
			qs = append(qs, ask(f.at, latestRound))
		}
		q.add(func(answers [][]byte, of blockStamp) {
			p := aavePrice{source: source, price: answers[0], capped: answers[1], of: of}
			for _, out := range answers[2:] {
				r, err := roundOf(out)
				r.of, r.err = of, err
				p.rounds = append(p.rounds, r)
			}
			h.aave[asset] = p
		}, qs...)
	}
}

// sample returns the price in US dollars. With errNoAge the sample is returned too, and can
// be used if another price confirms it.
func (p aavePrice) sample(listed aaveListing, now time.Time) (price.Sample, error) {
	if p.price == nil {
		return price.Sample{}, errNoAnswer
	}
	ws, err := arrayOf(p.price, 1)
	if err != nil {
		return price.Sample{}, err
	}
	v, err := price.FromRatio(ws[0], pow10(aaveDigits))
	switch {
	case err != nil:
		return price.Sample{}, err
	case v.IsZero():
		return price.Sample{}, errNegative
	}
	if w, err := wordWithin(p.capped, 1); err == nil && w.Sign() != 0 {
		return price.Sample{}, errCapped
	}
	for i, r := range p.rounds {
		lasts := listed.maxAge
		if p.source.feeds[i].ratio {
			lasts = daily
		}
		if err := r.fresh(lasts, false, now); err != nil {
			return price.Sample{}, err
		}
	}
	sample := price.Sample{Value: v, At: p.of.at, Source: price.AaveOracle}
	if len(p.rounds) == 0 {
		return sample, errNoAge
	}
	return sample, nil
}
