package poll

import (
	"strings"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func value(s string) price.Value {
	v, err := price.Parse(s)
	if err != nil {
		panic(err)
	}
	return v
}

func reading(s price.Source, v string, age time.Duration) price.Reading {
	return price.Reading{Sample: price.Sample{Value: value(v), At: noon.Add(-age), Source: s}}
}

func unsure(r price.Reading, c float64) price.Reading {
	r.Confidence = &c
	return r
}

func TestJudge(t *testing.T) {
	before := func(v string, age time.Duration) lastAccepted {
		return newAccepted(price.Sample{Value: value(v), At: noon.Add(-age), Source: price.DefiLlama}, noon.Add(-age))
	}
	none := lastAccepted{}
	for name, c := range map[string]struct {
		last     lastAccepted
		readings []price.Reading
		want     string // the accepted source, with " open" if further sources are to be asked; "" = none
		doubt    string
	}{
		"the first price, of one source":                     {none, []price.Reading{reading(price.DefiLlama, "3000", 0)}, "defillama open", ""},
		"the first price, agreed":                            {none, []price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "3010", 0)}, "defillama", ""},
		"the first price, ten times as high from one source": {none, []price.Reading{reading(price.DefiLlama, "30000", 0), reading(price.Chainlink, "3010", 0)}, "", "differ"},
		"a third decides":                                    {none, []price.Reading{reading(price.DefiLlama, "30000", 0), reading(price.Chainlink, "3010", 0), reading(price.GeckoTerminal, "3000", 0)}, "chainlink", ""},
		"two readings of the same node agree":                {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "30000", 0), reading(price.UniswapV3, "30000", 0)}, "defillama open", ""},
		"two sources of pool prices agree":                   {none, []price.Reading{reading(price.UniswapV3, "9", 0), reading(price.GeckoTerminal, "9.01", 0)}, "uniswap-v3 open", ""},
		"moved pools against the last price":                 {before("3", time.Minute), []price.Reading{reading(price.UniswapV3, "9", 0), reading(price.DexScreener, "9", 0)}, "", "no other source agrees"},
		"close to the last price":                            {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "3080", 0)}, "defillama", ""},
		"close to a price not confirmed lately":              {before("3000", confirmEvery), []price.Reading{reading(price.DefiLlama, "3080", 0)}, "defillama open", ""},
		"near the last price":                                {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "3100", 0)}, "defillama open", ""},
		"close, and contradicted":                            {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "3080", 0), reading(price.Chainlink, "2980", 0)}, "chainlink open", ""},
		"tenfold after the last price":                       {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "30000", 0)}, "", "no other source agrees"},
		"a tenth of the last price":                          {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "300", 0)}, "", "no other source agrees"},
		"ten times as high, another source near":             {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "30000", 0), reading(price.UniswapV3, "3050", 0)}, "uniswap-v3 open", ""},
		"a crash that two families saw":                      {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "1500", 0), reading(price.Chainlink, "1510", 0)}, "defillama", ""},
		"a crash, and one that has not moved":                {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "1500", 0), reading(price.Chainlink, "3000", 0), reading(price.GeckoTerminal, "1502", 0), reading(price.CoinGecko, "1505", 0)}, "geckoterminal", ""},
		"DefiLlama repeats a listing":                        {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "1500", 0), reading(price.Chainlink, "3000", 0), reading(price.CoinGecko, "1505", 0)}, "chainlink open", ""},
		"DefiLlama repeats a pool":                           {none, []price.Reading{reading(price.DefiLlama, "9", 0), reading(price.GeckoTerminal, "9", 0), reading(price.DexScreener, "9", 0)}, "defillama open", ""},
		"another API repeats a pool":                         {before("3", time.Minute), []price.Reading{reading(price.Hosted, "9", 0), reading(price.DefiLlama, "9", 0)}, "", "no other source agrees"},
		"two agreeing pairs, one near the last price":        {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "9000", 0), reading(price.CoinGecko, "9000", 0), reading(price.Chainlink, "3000", 0), reading(price.DexScreener, "3010", 0)}, "chainlink", ""},
		"a quarter off goes behind what is close":            {before("3000", time.Minute), []price.Reading{reading(price.DefiLlama, "3700", 0), reading(price.UniswapV3, "3020", 0)}, "uniswap-v3 open", ""},
		"a last price of an hour ago is ignored":             {before("3000", time.Hour), []price.Reading{reading(price.DefiLlama, "300", 0)}, "defillama open", ""},
		"a last price of the future is ignored":              {before("3000", -time.Hour), []price.Reading{reading(price.DefiLlama, "300", 0)}, "defillama open", ""},
		"zero":                                               {none, []price.Reading{reading(price.DefiLlama, "0", 0)}, "", "no price"},
		"no source":                                          {none, []price.Reading{reading(price.Unknown, "1", 0)}, "", "no price"},
		"not sure":                                           {none, []price.Reading{unsure(reading(price.DefiLlama, "3", 0), 0.79)}, "", "not sure"},
		"sure enough":                                        {none, []price.Reading{unsure(reading(price.DefiLlama, "3", 0), 0.8)}, "defillama open", ""},
		"old":                                                {none, []price.Reading{reading(price.DefiLlama, "3000", 31*time.Minute)}, "", "old"},
		"old, of a dollar coin":                              {none, []price.Reading{reading(price.DefiLlama, "0.999", 59*time.Minute)}, "defillama open", ""},
		"too old for a dollar coin":                          {none, []price.Reading{reading(price.DefiLlama, "0.999", 61*time.Minute)}, "", "old"},
		"an oracle's heartbeat":                              {none, []price.Reading{reading(price.Chainlink, "3000", 89*time.Minute)}, "chainlink open", ""},
		"an oracle that has stopped":                         {none, []price.Reading{reading(price.Chainlink, "3000", 91*time.Minute)}, "", "old"},
		"an oracle of a dollar coin":                         {none, []price.Reading{reading(price.Chainlink, "1", 24*time.Hour)}, "chainlink open", ""},
		"a clock a minute ahead":                             {none, []price.Reading{reading(price.DefiLlama, "3", -time.Minute)}, "defillama open", ""},
		"the future":                                         {none, []price.Reading{reading(price.DefiLlama, "3", -3*time.Minute)}, "", "future"},
		"nobody":                                             {before("3", time.Minute), nil, "", ""},
	} {
		v := judge(c.last, c.readings, noon)
		got := ""
		if v.sample.Known() {
			got = v.sample.Source.String()
			if v.provisional {
				got += " open"
			}
			if v.sample.At.After(noon) {
				t.Errorf("%s: believed for a time to come", name)
			}
		}
		if got != c.want || c.doubt != "" && (v.doubt == nil || !strings.Contains(v.doubt.Error(), c.doubt)) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, v.doubt, c.want, c.doubt)
		}
	}
}

// TestFirm checks that guards get an oracle's price if it agrees with the accepted price,
// and that no number of sources that read pools or listings can replace an oracle.
func TestFirm(t *testing.T) {
	others := []price.Source{price.DefiLlama, price.Hosted, price.UniswapV3, price.UniswapV2, price.Velodrome, price.GeckoTerminal, price.DexScreener, price.CoinGecko, price.Blockscout, price.Canonical, price.Derived}
	var crowd []price.Reading
	for _, s := range others {
		crowd = append(crowd, reading(s, "3000", 0))
	}
	last := newAccepted(price.Sample{Value: value("3000"), At: noon, Source: price.DefiLlama}, noon)
	for name, c := range map[string]struct {
		readings []price.Reading
		want     string // "" = none
	}{
		"everybody but oracles":       {crowd, ""},
		"pools and an oracle":         {append(crowd[:len(crowd):len(crowd)], reading(price.Chainlink, "3010", 0)), "3010"},
		"an oracle alone":             {[]price.Reading{reading(price.AaveOracle, "3010", 0)}, "3010"},
		"an oracle of DIA":            {[]price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.DIA, "2990", 0)}, "2990"},
		"an oracle that is contested": {[]price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "3500", 0)}, ""},
		"pools against an oracle":     {[]price.Reading{reading(price.DefiLlama, "6000", 0), reading(price.GeckoTerminal, "6000", 0), reading(price.Chainlink, "3010", 0)}, "3010"},
		"an oracle that is quiet":     {[]price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "3010", 24*time.Hour)}, "3010"},
		"quiet, and the price moved":  {[]price.Reading{reading(price.DefiLlama, "3100", 0), reading(price.Chainlink, "3000", 2*time.Hour)}, ""},
		"a quiet oracle alone":        {[]price.Reading{reading(price.Chainlink, "3000", 2*time.Hour)}, ""},
		"an oracle that has stopped":  {[]price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "3000", 26*time.Hour)}, ""},
		"an oracle of the future":     {[]price.Reading{reading(price.DefiLlama, "3000", 0), reading(price.Chainlink, "3000", -time.Hour)}, ""},
	} {
		v := judge(last, c.readings, noon)
		if c.want == "" && v.oracle.Known() || c.want != "" && v.oracle.Value != value(c.want) {
			t.Errorf("%s: %s of %s; want %q", name, v.oracle.Value, v.oracle.Source, c.want)
		}
	}
	// The oracle's price keeps its own time while other sources move the shown price.
	b := last.next(judge(last, []price.Reading{reading(price.Chainlink, "3010", 0)}, noon), noon)
	b = b.next(judge(b, []price.Reading{reading(price.DefiLlama, "3600", 0)}, noon), noon.Add(time.Minute))
	if b.sample.Value != value("3600") || b.oracle.Value != value("3010") || !b.oracleAt.Equal(noon) {
		t.Errorf("after a move of pools %s is shown, and %s of %s is for guards", b.sample.Value, b.oracle.Value, b.oracleAt)
	}
	for s := range price.GoPlus + 1 {
		if want := s == price.Chainlink || s == price.AaveOracle || s == price.DIA; isOracle(s) != want {
			t.Errorf("%s is firm: %t", s, isOracle(s))
		}
	}
}

func TestCircuit(t *testing.T) {
	var c circuitBreaker
	now := noon
	fail := func() { c.record(now, errTest, false) }
	for range failuresAllowed - 1 {
		fail()
	}
	if !c.allows(now) {
		t.Fatal("open before the third failure")
	}
	for _, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		fail()
		if c.allows(now.Add(pause-time.Second)) || !c.allows(now.Add(pause)) {
			t.Errorf("the pause is not %s", pause)
		}
		if !c.allows(now.Add(-time.Second)) {
			t.Error("a clock that jumped back keeps it open")
		}
		now = now.Add(pause)
	}
	c.record(now, nil, true)
	if fail(); !c.allows(now) || c.lastError() == nil {
		t.Error("a success does not close it")
	}
	for range 2 * failuresAllowed {
		c.record(now, errTest, true)
	}
	if !c.allows(now) || c.lastError() == nil {
		t.Error("a source that answers in part is left alone, or its failure is not told")
	}
}
