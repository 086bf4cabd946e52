package poll

import (
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// A hand is who writes a price down. One hand alone cannot make two sources say the same.
// Several may still follow the same pool, so this is less than to be unrelated.
type hand uint8

const (
	coinGecko   hand = iota + 1 // CoinGecko itself, its GeckoTerminal, and those that repeat its listings
	dexScreener                 // reads pools by nodes of its own
	ownNode                     // reads deep pools only
)

var hands = map[price.Source]hand{
	price.CoinGecko: coinGecko, price.GeckoTerminal: coinGecko, price.DefiLlama: coinGecko, price.Blockscout: coinGecko, price.Hosted: coinGecko,
	price.DexScreener: dexScreener,
	price.UniswapV3:   ownNode, price.UniswapV2: ownNode, price.Velodrome: ownNode,
}

// marketOf returns the lower of two hands' readings that agree with each other and with the
// accepted price; unknown if none do. No single hand can raise it beyond the agreement.
func marketOf(accepted price.Sample, sane []price.Reading) price.Sample {
	for i, a := range sane {
		for _, b := range sane[:i] {
			ha, hb := hands[a.Source], hands[b.Source]
			if ha == 0 || hb == 0 || ha == hb || a.Value.RelativeDiff(b.Value) > agreement ||
				max(a.Value.RelativeDiff(accepted.Value), b.Value.RelativeDiff(accepted.Value)) > agreement {
				continue
			}
			if b.Value.Cmp(a.Value) < 0 {
				a = b
			}
			return a.Sample
		}
	}
	return price.Sample{}
}

// marketEvery is after how long a second hand is asked about a stable coin again. It is well
// within pricetable.StaleAfter even for slow tokens.
const marketEvery = pricetable.StaleAfter / 2

// wantsSecondHand reports whether further sources are to be asked about a token whose price is
// accepted: a stable coin that no oracle measures, so that gas can be weighed against it.
func (r *round) wantsSecondHand(id price.ID, last lastAccepted, v verdict, now time.Time) bool {
	return r.stable[id] && !v.oracle.Known() && !v.market.Known() && !within(last.marketAt, marketEvery, now)
}
