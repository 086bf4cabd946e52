package onchain

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"testing"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// vectors are recorded calls and price math, computed independently of this package.
type vectors struct {
	Selectors []struct {
		Signature string        `json:"signature"`
		Selector  hexutil.Bytes `json:"selector"`
	} `json:"selectors"`
	Aggregate struct {
		Returned hexutil.Bytes `json:"returndata"`
		Decoded  struct {
			Answer    string `json:"answer"`
			Decimals  uint8  `json:"decimals"`
			UpdatedAt int64  `json:"updatedAt"`
			Price     string `json:"price_1e18"`
		} `json:"decoded"`
	} `json:"aggregate3_example"`
	V3 []mathVector `json:"uniswap_v3_math"`
	V2 []mathVector `json:"uniswap_v2_math"`
}

type mathVector struct {
	Name      string `json:"name"`
	Decimals0 uint8  `json:"decimals0"`
	Decimals1 uint8  `json:"decimals1"`
	Sqrt      string `json:"sqrtPriceX96"`
	Reserve0  string `json:"reserve0"`
	Reserve1  string `json:"reserve1"`
	Per0      string `json:"price_token1_per_token0_1e18"`
	Per1      string `json:"price_token0_per_token1_1e18"`
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func number(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return n
}

func TestSelectors(t *testing.T) {
	for _, v := range readVectors(t).Selectors {
		if got := selector(v.Signature); !bytes.Equal(got[:], v.Selector) {
			t.Errorf("%s is %x, want %x", v.Signature, got, v.Selector)
		}
	}
	for signature, q := range map[string]string{"getCurrentBlockTimestamp()": "0x0f28c97d", "getBlockNumber()": "0x42cbb15c"} {
		if got := selector(signature); hexutil.Encode(got[:]) != q {
			t.Errorf("%s is %x, want %s", signature, got, q)
		}
	}
}

// TestRoundVector decodes the recorded answers of a feed and its decimals.
func TestRoundVector(t *testing.T) {
	v := readVectors(t).Aggregate
	// Two answers, of five words and of one, follow aggregate3's offsets and lengths.
	out := v.Returned
	r, err := roundOf(out[7*word : 12*word])
	if err != nil {
		t.Fatal(err)
	}
	d, err := feedDecimals(out[len(out)-word:])
	if err != nil {
		t.Fatal(err)
	}
	if r.answer.String() != v.Decoded.Answer || d != v.Decoded.Decimals || r.updated.Unix() != v.Decoded.UpdatedAt {
		t.Fatalf("%+v, %d decimals", r, d)
	}
	r.decimals, r.of = d, blockStamp{1, r.updated}
	x, err := r.price(feed{source: price.Chainlink, maxAge: hourly}, r.updated)
	if err != nil || x.Value.Int().String() != v.Decoded.Price || !x.At.Equal(r.updated) {
		t.Fatalf("price = %+v, %v; want %s", x, err, v.Decoded.Price)
	}
}

// TestPoolVectors checks pool prices against the vectors, with a coin worth a dollar.
func TestPoolVectors(t *testing.T) {
	low, high := hex("0x01"), hex("0x02")
	v := readVectors(t)
	check := func(x mathVector, assetFirst bool, fill func(*state) error, want string) {
		t.Helper()
		s := state{pool: pool{coin: coin{high, x.Decimals1}}, source: price.UniswapV3}
		asset := x.Decimals0
		if !assetFirst {
			s.coin, asset = coin{low, x.Decimals0}, x.Decimals1
		}
		if err := fill(&s); err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		got, err := dollars(s.num, s.den, asset, s.coin.decimals, oneDollar(t))
		if err != nil || got.Int().String() != want {
			t.Errorf("%s, asset first %t: %s, %v; want %s", x.Name, assetFirst, got.Int(), err, want)
		}
	}
	for _, x := range v.V3 {
		answers := [][]byte{enc(number(t, x.Sqrt), 0, 0, 0, 0, 0, 1), enc(1 << 40), nil}
		for assetFirst, want := range map[bool]string{true: x.Per0, false: x.Per1} {
			check(x, assetFirst, func(s *state) error { return s.concentrated(answers, slotOfV3, big.NewInt(1), assetFirst) }, want)
		}
	}
	for _, x := range v.V2 {
		out := enc(number(t, x.Reserve0), number(t, x.Reserve1), 7)
		for assetFirst, want := range map[bool]string{true: x.Per0, false: x.Per1} {
			check(x, assetFirst, func(s *state) error { return s.pair(out, big.NewInt(1), assetFirst) }, want)
		}
	}
}

func oneDollar(t testing.TB) price.Value { return value(t, "1") }

func value(t testing.TB, s string) price.Value {
	t.Helper()
	v, err := price.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tickOf returns the mean tick of a fake pool.
func tickOf(p fakePool, decimals uint8, asset common.Address) int64 {
	ratio := float64(p.mean) / 1e6 * math.Pow(10, float64(p.coin.decimals)-float64(decimals))
	if !isToken0(asset, p.coin.address) {
		ratio = 1 / ratio
	}
	return int64(math.Round(math.Log(ratio) / math.Log(perTick)))
}

func TestSigned(t *testing.T) {
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if got, err := signed(new(big.Int).SetBytes(enc(n)), 64); err != nil || got.Int64() != n {
			t.Errorf("%d is %s, %v", n, got, err)
		}
	}
	for _, n := range []*big.Int{big.NewInt(1 << 55), big.NewInt(-1<<55 - 1)} {
		if got, err := signed(new(big.Int).SetBytes(enc(n)), 56); err == nil {
			t.Errorf("%s is taken as an int56: %s", n, got)
		}
	}
}

// FuzzAnswers checks that no decoder accepts an answer of the wrong type, whatever a
// contract or node returns, and that decoded values are within bounds.
func FuzzAnswers(f *testing.F) {
	v := readVectors(f)
	f.Add([]byte(v.Aggregate.Returned[7*word : 12*word]))
	f.Add(enc(3000, 1, 7))
	f.Add(observed(-201_000))
	f.Add(enc(32, 1, 99_990_000))
	f.Add(enc(number(f, v.V3[0].Sqrt), 0, 0, 0, 0, 0, 1))
	f.Add(enc(number(f, v.V3[0].Sqrt), 0, 0, 0, 0, 1))
	f.Add(enc(-1, -1, -1, -1, -1))
	f.Add(enc(hex("0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419")))
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 8*word))
	of := blockStamp{1, noon}
	f.Fuzz(func(t *testing.T, out []byte) {
		if r, err := roundOf(out); err == nil {
			if len(out) != 5*word {
				t.Fatalf("a round of %d bytes", len(out))
			}
			r.of = of
			if x, err := r.price(feed{source: price.Chainlink, maxAge: hourly}, noon); err == nil && (x.Value.IsZero() || x.At.After(noon) || r.answer.Sign() <= 0) {
				t.Fatalf("%+v of %x", x, out)
			}
			if sequencerOf(out, of, noon) == nil && !r.started.Before(noon.Add(-sequencerGrace+1)) {
				t.Fatalf("up since %s", r.started)
			}
		}
		p := aavePrice{price: out, of: of}
		if x, err := p.sample(aaveListing{maxAge: hourly}, noon); err == nil || !x.Value.IsZero() && len(out) != 3*word {
			t.Fatalf("%+v, %v of %x", x, err, out)
		}
		if tick, ok := meanTick(out); ok && (len(out) != 8*word || !(math.Abs(tick) <= maxTick)) {
			t.Fatalf("a mean tick of %g", tick)
		}
		if a, err := addressOf(out); err == nil && !bytes.Equal(common.LeftPadBytes(a[:], word), out) {
			t.Fatalf("%s of %x", a, out)
		}
		if d, err := feedDecimals(out); err == nil && (len(out) != word || d > 36) {
			t.Fatalf("%d decimals", d)
		}
		if _, err := stampOf([][]byte{enc(1), out}, noon); err == nil && len(out) != word {
			t.Fatalf("a time of %d bytes", len(out))
		}
		fuzzState(t, out)
	})
}

// fuzzState checks that a pool's answers never give a zero price or a price with too little
// depth.
func fuzzState(t *testing.T, out []byte) {
	for _, mk := range []market{v2("0x01"), v3("0x02"), slipstream("0x03")} {
		for _, asset := range []common.Address{hex("0x01"), hex("0x03")} {
			p := pool{coin: coin{hex("0x02"), 6}}
			good := [][]byte{enc(big10(50_000, 6)), enc(1 << 40), enc(1 << 40), observed(1)}
			for i := range good {
				answers := append([][]byte(nil), good...)
				answers[i] = out
				s := stateOf(p, mk, asset, answers, blockStamp{1, noon})
				q, err := s.quote(18, oneDollar(t))
				if err == nil && (q.Value.IsZero() || q.depth.Cmp(value(t, "10000")) < 0) {
					t.Fatalf("%+v of %x", q, out)
				}
			}
		}
	}
}

// FuzzFeeds checks that a table of oracles is either rejected or has valid feeds with a
// limited lifetime.
func FuzzFeeds(f *testing.F) {
	f.Add(feedsJSON[:min(len(feedsJSON), 4096)])
	for _, s := range []string{
		`{"feeds":[{"chain":1,"token":"0x4200000000000000000000000000000000000006","kind":"chainlink","feed":"0x4200000000000000000000000000000000000007","stable":true}]}`,
		`{"feeds":[{"chain":1,"kind":"canonical","on":10,"feed":"0x4200000000000000000000000000000000000007","of":"x"}],"aave":[{"chain":1,"source":"0x4200000000000000000000000000000000000007"}]}`,
		`{"feeds":[{"chain":1,"kind":"oracle"}]}`, `{"feeds":[{"kind":"dia","feed":"0x"}]}`, `{"feeds":{}}`, `null`, `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := tableOf(raw)
		if err != nil {
			return
		}
		for id, feeds := range table.feeds {
			for _, x := range feeds {
				if x.address == (common.Address{}) || x.maxAge < hourly || x.maxAge > daily || x.source == price.Unknown || x.on == 0 && id.Chain != 0 || x.quoteOnly && x.source != price.Chainlink {
					t.Fatalf("%v has %+v", id, x)
				}
			}
		}
		for id, x := range table.aave {
			if x.maxAge < hourly || x.maxAge > daily {
				t.Fatalf("%v has %+v", id, x)
			}
		}
	})
}
