package poll

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/price"
)

// What is believed (reference of the price sources, sanity rules).
const (
	leastConfidence = 0.8
	agreement       = 0.03 // two sources within so much say the same
	jump            = 0.30 // a change from the last price that one source alone is not believed
	holdsFor        = 30 * time.Minute
	confirmEvery    = 10 * time.Minute // until a further source is asked about what one alone says
	ahead           = pricetable.Ahead      // by which a source's clock may be ahead of ours
	stableWithin    = 0.03             // of a dollar
)

// ageLimit is how old a source's price may be. Oracles write when the price has moved,
// or at their heartbeat: until then the last one holds.
type ageLimit struct{ stable, others time.Duration }

var (
	marketAges = ageLimit{time.Hour, 30 * time.Minute}
	oracleAges = ageLimit{25 * time.Hour, 90 * time.Minute}
	ageLimits  = map[price.Source]ageLimit{
		price.Chainlink: oracleAges, price.AaveOracle: oracleAges, price.DIA: {25 * time.Hour, 25 * time.Hour},
	}
)

// What a price rests on. Two that rest on the same are wrong together: whoever moves a
// pool moves all who read it, and a node that lies does so about oracles and pools.
type ground uint8

const (
	node    ground = 1 << iota // the network's own, asked for both
	oracle                     // a feed's reporters
	pool                       // trades in a chain's pools
	listing                    // one market data service
)

// grounds of the sources; one that is not here rests on nothing that others do.
// DefiLlama takes some prices from a listing and some from pools, and another price API
// from any of them; neither says from which, so that they count as both.
var grounds = map[price.Source]ground{
	price.Chainlink: node | oracle, price.AaveOracle: node | oracle, price.DIA: node | oracle,
	price.UniswapV3: node | pool, price.UniswapV2: node | pool, price.Velodrome: node | pool,
	price.GeckoTerminal: pool, price.DexScreener: pool,
	price.DefiLlama: pool | listing, price.Hosted: pool | listing,
	price.CoinGecko: listing, price.Blockscout: listing,
}

func related(a, b price.Source) bool { return a == b || grounds[a]&grounds[b] != 0 }

// firm reports whether a source is one that no trade in a pool moves: an oracle. A
// listing is none, since of a token that is traded in pools alone it tells their price.
//
// Many speak only when the price has moved, or once a day. So one that is too old to be
// believed alone is firm all the same while what is believed is in keeping with it.
func firm(s price.Source) bool { return grounds[s]&oracle != 0 }

var oneDollar, _ = price.Parse("1")

// sane refuses what no source can mean.
func sane(r price.Reading, now time.Time) error {
	limits, ok := ageLimits[r.Source]
	if !ok {
		limits = marketAges
	}
	oldest := limits.others
	if r.Value.Off(oneDollar) <= stableWithin {
		oldest = limits.stable
	}
	switch age := now.Sub(r.At); {
	case r.Value.IsZero() || r.Source == price.Unknown:
		return fmt.Errorf("%s tells no price", r.Source)
	case r.Confidence != nil && !(*r.Confidence >= leastConfidence): // not a number is no confidence
		return fmt.Errorf("%s is not sure of its price (confidence %.2f)", r.Source, *r.Confidence)
	case age < -ahead:
		return fmt.Errorf("%s tells a price of the future", r.Source)
	case age > oldest:
		return fmt.Errorf("the price of %s is %s old", r.Source, age.Round(time.Second))
	}
	return nil
}

// A belief is the last price of a token that was believed, and when.
type belief struct {
	sample price.Sample
	taken  time.Time
	// sure is the last price that every source that could be asked let stand, and
	// surely when. The next one is measured by it: small steps lead nowhere.
	sure   price.Value
	surely time.Time
	// firm is the last price of an oracle that was in keeping with what was believed, and
	// firmly when; unknown = not yet.
	firm   price.Sample
	firmly time.Time
}

// believed is a belief that nobody contradicts.
func believed(s price.Sample, at time.Time) belief {
	return belief{sample: s, taken: at, sure: s.Value, surely: at}
}

// next is the belief after a verdict.
func (b belief) next(v verdict, now time.Time) belief {
	n := believed(v.sample, now)
	if n.firm, n.firmly = b.firm, b.firmly; v.firm.Known() {
		n.firm, n.firmly = v.firm, now
	}
	if !v.borne && (v.contested || !v.open) { // nobody else was asked, or somebody says otherwise
		n.sure, n.surely = b.sure, b.surely
	}
	return n
}

// lasts reports whether what was so then is not older than long.
func lasts(then time.Time, long time.Duration, now time.Time) bool {
	age := now.Sub(then)
	return !then.IsZero() && age <= long && age >= -ahead
}

// fresh reports whether the belief still says anything about the next price.
func (b belief) fresh(now time.Time) bool {
	return b.sample.Known() && !b.sure.IsZero() && lasts(b.surely, holdsFor, now)
}

// A verdict is the reading that is believed, or why none is.
type verdict struct {
	sample price.Sample // unknown = none
	ago    price.Value
	firm   price.Sample // what an oracle says, where that is in keeping with sample; unknown = none does
	// open: it stands unless what further sources say decides otherwise.
	open      bool
	borne     bool // an unrelated source says the same
	contested bool // another source says otherwise, and none decides
	doubt     error
}

// judge decides what of the readings of one token, in the order of preference, is
// believed: what two unrelated ones agree on; else what is near the last price; and
// without a last price what nobody contradicts.
func judge(last belief, readings []price.Reading, now time.Time) verdict {
	told, doubt := sound(readings, now)
	v := decided(last, told, now)
	v.doubt = cmp.Or(v.doubt, doubt)
	for _, r := range readings {
		if v.sample.Known() && firm(r.Source) && lasts(r.At, oracleAges.stable, now) && r.Value.Off(v.sample.Value) <= agreement {
			v.firm = r.Sample
			break
		}
	}
	return v
}

// sound are the readings that a source can mean, and why the last of the others is none.
func sound(readings []price.Reading, now time.Time) (told []price.Reading, doubt error) {
	for _, r := range readings {
		if err := sane(r, now); err != nil {
			doubt = err
			continue
		}
		if r.At.After(now) {
			r.At = now
		}
		told = append(told, r)
	}
	return told, doubt
}

// decided is judge's verdict on sound readings.
func decided(last belief, told []price.Reading, now time.Time) (v verdict) {
	if len(told) == 0 {
		return v
	}
	known := last.fresh(now)
	near := func(r price.Reading) bool { return known && r.Value.Off(last.sure) <= jump }
	if i := agreed(told, near); i >= 0 {
		return verdict{sample: told[i].Sample, ago: told[i].Ago, borne: true}
	}
	switch i, contested := nearest(told, last.sure, near); {
	case i >= 0:
		settled := !contested && told[i].Value.Off(last.sure) <= agreement && now.Sub(last.surely) < confirmEvery
		return verdict{sample: told[i].Sample, ago: told[i].Ago, open: !settled, contested: contested}
	case known:
		v.doubt = fmt.Errorf("%s says %s after %s, and no other source agrees", told[0].Source, told[0].Value.Fixed(6), last.sure.Fixed(6))
	case !contradicted(told, 0):
		return verdict{sample: told[0].Sample, ago: told[0].Ago, open: true}
	default:
		v.doubt = fmt.Errorf("sources differ, %s says %s, and no other decides", told[0].Source, told[0].Value.Fixed(6))
	}
	return v
}

// contradicted reports whether somebody says otherwise than the ith reading.
func contradicted(told []price.Reading, i int) bool {
	return slices.ContainsFunc(told, func(r price.Reading) bool { return r.Value.Off(told[i].Value) > agreement })
}

// agreed is the first reading that an unrelated one bears out; one that is also near
// the last price goes before. -1 = none.
func agreed(told []price.Reading, near func(price.Reading) bool) int {
	best := -1
	for i, r := range told {
		if !borneOut(told, i) {
			continue
		}
		if near(r) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// borneOut reports whether an unrelated source says the same as the ith reading.
func borneOut(told []price.Reading, i int) bool {
	for j, other := range told {
		if j != i && !related(other.Source, told[i].Source) && told[i].Value.Off(other.Value) <= agreement {
			return true
		}
	}
	return false
}

// nearest is the first reading near the last price that nobody contradicts; else, as a
// contested one, that which is closest to it. -1 = none.
func nearest(told []price.Reading, last price.Value, near func(price.Reading) bool) (best int, contested bool) {
	best = -1
	for i, r := range told {
		switch {
		case !near(r):
		case !contradicted(told, i):
			return i, false
		case best < 0 || r.Value.Off(last) < told[best].Value.Off(last):
			best = i
		}
	}
	return best, true
}
