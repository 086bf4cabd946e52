package poll

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// Rules for accepting a price (reference of the price sources, sanity rules).
const (
	minConfidence = 0.8
	agreement     = 0.03 // two sources within this agree
	maxJump       = 0.30 // a larger change from the last price needs a second source
	referenceTTL  = 30 * time.Minute
	confirmEvery  = 10 * time.Minute // after this time, a price that only one source gives needs a further source again
	maxAhead      = pricetable.Ahead // how far a source's clock may be ahead of ours
	stableWithin  = 0.03             // of a dollar
)

// An ageLimit is how old a source's price may be. An oracle writes when the price moves or
// at its heartbeat, so its last price stays valid until then.
type ageLimit struct{ stable, others time.Duration }

var (
	marketAges = ageLimit{time.Hour, 30 * time.Minute}
	oracleAges = ageLimit{25 * time.Hour, 90 * time.Minute}
	ageLimits  = map[price.Source]ageLimit{
		price.Chainlink: oracleAges, price.AaveOracle: oracleAges, price.DIA: {25 * time.Hour, 25 * time.Hour},
	}
)

// A dependency is something a price depends on. Two sources with a common ground are wrong
// together: moving a pool moves every source that reads it, and a lying node lies about
// oracles and pools alike.
type dependency uint8

const (
	node    dependency = 1 << iota // the network's own node, for both oracles and pools
	oracle                         // an oracle feed's reporters
	pool                           // trades in a chain's pools
	listing                        // one market data service
)

// dependencies of the sources; a source that is absent shares no ground with others. DefiLlama
// takes some prices from a listing and some from pools, and another price API takes them
// from any source. Neither says which, so both count as listing and pool.
var dependencies = map[price.Source]dependency{
	price.Chainlink: node | oracle, price.AaveOracle: node | oracle, price.DIA: node | oracle,
	price.UniswapV3: node | pool, price.UniswapV2: node | pool, price.Velodrome: node | pool,
	price.GeckoTerminal: pool, price.DexScreener: pool,
	price.DefiLlama: pool | listing, price.Hosted: pool | listing,
	price.CoinGecko: listing, price.Blockscout: listing,
}

func related(a, b price.Source) bool { return a == b || dependencies[a]&dependencies[b] != 0 }

// isOracle reports whether no pool trade can move a source's price, which is true of oracles
// only. A listing does not qualify: for a token that is traded only in pools it gives the
// pools' price.
//
// Many oracles write only when the price moves, or once a day. An oracle price that is too
// old to be accepted by itself is therefore still firm while it agrees with the accepted
// price.
func isOracle(s price.Source) bool { return dependencies[s]&oracle != 0 }

var oneDollar, _ = price.Parse("1")

// checkReading rejects readings that cannot be right: no price, low confidence, or a wrong time.
func checkReading(r price.Reading, now time.Time) error {
	limits, ok := ageLimits[r.Source]
	if !ok {
		limits = marketAges
	}
	oldest := limits.others
	if r.Value.RelativeDiff(oneDollar) <= stableWithin {
		oldest = limits.stable
	}
	switch age := now.Sub(r.At); {
	case r.Value.IsZero() || r.Source == price.Unknown:
		return fmt.Errorf("%s tells no price", r.Source)
	case r.Confidence != nil && !(*r.Confidence >= minConfidence): // NaN fails too
		return fmt.Errorf("%s is not sure of its price (confidence %.2f)", r.Source, *r.Confidence)
	case age < -maxAhead:
		return fmt.Errorf("%s tells a price of the future", r.Source)
	case age > oldest:
		return fmt.Errorf("the price of %s is %s old", r.Source, age.Round(time.Second))
	}
	return nil
}

// A lastAccepted is the last accepted price of a token, and when it was accepted.
type lastAccepted struct {
	sample     price.Sample
	acceptedAt time.Time
	// reference is the last price that was corroborated, or that no source contradicted after
	// all had been asked; surely is when. The next price is compared with it, so that a
	// series of small steps cannot drift away.
	reference   price.Value
	referenceAt time.Time
	// oracle is the last oracle price that agreed with the accepted price, and firmly is
	// when; unknown = none yet.
	oracle   price.Sample
	oracleAt time.Time
	// market and marketAt are the same of the price that two hands gave.
	market   price.Sample
	marketAt time.Time
}

// newAccepted returns a belief that nothing contradicts.
func newAccepted(s price.Sample, at time.Time) lastAccepted {
	return lastAccepted{sample: s, acceptedAt: at, reference: s.Value, referenceAt: at}
}

// next returns the belief after a verdict.
func (b lastAccepted) next(v verdict, now time.Time) lastAccepted {
	n := newAccepted(v.sample, now)
	if n.oracle, n.oracleAt = b.oracle, b.oracleAt; v.oracle.Known() {
		n.oracle, n.oracleAt = v.oracle, now
	}
	if n.market, n.marketAt = b.market, b.marketAt; v.market.Known() {
		n.market, n.marketAt = v.market, now
	}
	if !v.corroborated && (v.contested || !v.provisional) { // no other source was asked, or one disagrees
		n.reference, n.referenceAt = b.reference, b.referenceAt
	}
	return n
}

// within reports whether then is at most long ago.
func within(then time.Time, long time.Duration, now time.Time) bool {
	age := now.Sub(then)
	return !then.IsZero() && age <= long && age >= -maxAhead
}

// canCompare reports whether the next price can be compared with this belief.
func (b lastAccepted) canCompare(now time.Time) bool {
	return b.sample.Known() && !b.reference.IsZero() && within(b.referenceAt, referenceTTL, now)
}

// A verdict is the accepted reading, or why there is none.
type verdict struct {
	sample price.Sample // unknown = none accepted
	dayAgo price.Value
	oracle price.Sample // an oracle's price that agrees with sample; unknown = none does
	market price.Sample // the lower of two hands' prices that agree with each other and sample; unknown = none do
	// provisional: sample is accepted unless further sources decide otherwise.
	provisional  bool
	corroborated bool // an unrelated source agrees
	contested    bool // another source disagrees, and no third decides
	doubt        error
}

// judge decides which reading of a token is accepted. Readings come in order of preference.
// It prefers one that two unrelated sources agree on, then one near the last price, and
// without a last price one that nothing contradicts.
func judge(last lastAccepted, readings []price.Reading, now time.Time) verdict {
	sane, doubt := saneReadings(readings, now)
	v := chooseReading(last, sane, now)
	v.doubt = cmp.Or(v.doubt, doubt)
	v.market = marketOf(v.sample, sane)
	for _, r := range readings {
		if v.sample.Known() && isOracle(r.Source) && within(r.At, oracleAges.stable, now) && r.Value.RelativeDiff(v.sample.Value) <= agreement {
			v.oracle = r.Sample
			break
		}
	}
	return v
}

// saneReadings returns the readings that pass sane, and the last error of the others.
func saneReadings(readings []price.Reading, now time.Time) (sane []price.Reading, doubt error) {
	for _, r := range readings {
		if err := checkReading(r, now); err != nil {
			doubt = err
			continue
		}
		if r.At.After(now) {
			r.At = now
		}
		sane = append(sane, r)
	}
	return sane, doubt
}

// chooseReading returns judge's verdict on sound readings, without firm.
func chooseReading(last lastAccepted, readings []price.Reading, now time.Time) (v verdict) {
	if len(readings) == 0 {
		return v
	}
	known := last.canCompare(now)
	near := func(r price.Reading) bool { return known && r.Value.RelativeDiff(last.reference) <= maxJump }
	if i := firstCorroborated(readings, near); i >= 0 {
		return verdict{sample: readings[i].Sample, dayAgo: readings[i].DayAgo, corroborated: true}
	}
	switch i, contested := nearestToReference(readings, last.reference, near); {
	case i >= 0:
		settled := !contested && readings[i].Value.RelativeDiff(last.reference) <= agreement && now.Sub(last.referenceAt) < confirmEvery
		return verdict{sample: readings[i].Sample, dayAgo: readings[i].DayAgo, provisional: !settled, contested: contested}
	case known:
		v.doubt = fmt.Errorf("%s says %s after %s, and no other source agrees", readings[0].Source, readings[0].Value.Fixed(6), last.reference.Fixed(6))
	case !contradicted(readings, 0):
		return verdict{sample: readings[0].Sample, dayAgo: readings[0].DayAgo, provisional: true}
	default:
		v.doubt = fmt.Errorf("sources differ, %s says %s, and no other decides", readings[0].Source, readings[0].Value.Fixed(6))
	}
	return v
}

// contradicted reports whether any source disagrees with the ith reading.
func contradicted(readings []price.Reading, i int) bool {
	return slices.ContainsFunc(readings, func(r price.Reading) bool { return r.Value.RelativeDiff(readings[i].Value) > agreement })
}

// firstCorroborated returns the first corroborated reading, preferring one near the last price; -1 =
// none.
func firstCorroborated(readings []price.Reading, near func(price.Reading) bool) int {
	best := -1
	for i, r := range readings {
		if !isCorroborated(readings, i) {
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

// isCorroborated reports whether an unrelated source agrees with the ith reading.
func isCorroborated(readings []price.Reading, i int) bool {
	for j, other := range readings {
		if j != i && !related(other.Source, readings[i].Source) && readings[i].Value.RelativeDiff(other.Value) <= agreement {
			return true
		}
	}
	return false
}

// nearestToReference returns the first reading near the last price that nothing contradicts; failing
// that, the one closest to the last price, as contested. -1 = none.
func nearestToReference(readings []price.Reading, last price.Value, near func(price.Reading) bool) (best int, contested bool) {
	best = -1
	for i, r := range readings {
		switch {
		case !near(r):
		case !contradicted(readings, i):
			return i, false
		case best < 0 || r.Value.RelativeDiff(last) < readings[best].Value.RelativeDiff(last):
			best = i
		}
	}
	return best, true
}
