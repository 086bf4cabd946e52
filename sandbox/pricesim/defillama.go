package pricesim

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/sandbox/form"
	"swapkeep/sandbox/market"
)

var defillama = kind{
	name: "defillama",
	endpoints: []endpoint{
		{"GET /prices/current/{coins}", "/prices/current", (*Server).llamaCurrent},
		{"GET /prices/historical/{time}/{coins}", "/prices/historical", (*Server).llamaHistorical},
		{"GET /prices/first/{coins}", "/prices/first", (*Server).llamaFirst},
		{"GET /batchHistorical", "/batchHistorical", (*Server).llamaBatch},
		{"GET /chart/{coins}", "/chart", (*Server).llamaChart},
		{"GET /percentage/{coins}", "/percentage", (*Server).llamaPercentage},
		{"POST /mcaps", "/mcaps", (*Server).llamaCaps},
	},
	refuse:        func(e refusal) any { return map[string]string{"message": e.what} },
	head:          llamaExpiry,
	hasConfidence: true,
}

// llamaExpiry makes responses expire 20 s after the next five-minute boundary.
func llamaExpiry(h http.Header, now time.Time) {
	next := now.Truncate(llamaGrain).Add(llamaGrain + 20*time.Second)
	h.Set("Expires", next.UTC().Format(http.TimeFormat))
}

const (
	// llamaGrain is the time between samples of the past.
	llamaGrain = 5 * time.Minute
	// llamaWidth is the default maximum distance of a sample from the requested time.
	llamaWidth = 6 * time.Hour
	// Limits of a request.
	maxCoins  = 100
	maxPoints = 1000
)

// llamaChains are DefiLlama's names of chains.
var llamaChains = map[string]uint64{
	"ethereum": 1, "optimism": 10, "bsc": 56, "monad": 143, "sseed": 5330, "base": 8453, "arbitrum": 42161, "avax": 43114, "u2u": 39,
}

// llamaNatives are the chains where it accepts the zero address for the native coin.
var llamaNatives = []string{"ethereum", "optimism", "bsc", "arbitrum"}

// llamaSeed are the tokens of chain 5330 whose prices it has.
var llamaSeed = []string{"WETH", "USDC", "SUPR"}

// A llamaCoin is the subject of a key: a token of a chain, or an asset.
type llamaCoin struct {
	symbol   string
	decimals *uint8 // nil = the key names no chain
	asset    market.Asset
}

// llamaCoinOf parses a key such as base:0x… or coingecko:ethereum.
func llamaCoinOf(key string) (llamaCoin, bool) {
	chain, name, ok := strings.Cut(key, ":")
	if !ok {
		return llamaCoin{}, false
	}
	if chain == "coingecko" {
		a, ok := market.ByCoinGeckoID(name)
		return llamaCoin{symbol: a.Symbol, asset: a}, ok
	}
	id, ok := llamaChains[chain]
	if !ok || !strings.HasPrefix(name, "0x") {
		return llamaCoin{}, false
	}
	t, ok := tokenAt(id, name)
	if !ok || (t.native() && !slices.Contains(llamaNatives, chain)) || (id == 5330 && !slices.Contains(llamaSeed, t.Symbol)) {
		return llamaCoin{}, false
	}
	return llamaCoin{t.Symbol, &t.Decimals, t.asset}, true
}

// llamaKeys returns the distinct keys of a path.
func llamaKeys(list string) ([]string, error) {
	keys := strings.Split(list, ",")
	if len(keys) > maxCoins {
		return nil, refusal{http.StatusBadRequest, "too many coins"}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

type llamaPrice struct {
	Decimals   *uint8  `json:"decimals,omitempty"`
	Symbol     string  `json:"symbol"`
	Price      any     `json:"price"`
	Timestamp  int64   `json:"timestamp"`
	Confidence float64 `json:"confidence,omitempty"`
}

// llamaEach answers with the result of say for every known coin, by key.
func llamaEach(list string, describe func(llamaCoin) (any, bool)) (any, error) {
	keys, err := llamaKeys(list)
	if err != nil {
		return nil, err
	}
	coins := map[string]any{}
	for _, key := range keys {
		if c, ok := llamaCoinOf(key); ok {
			if described, ok := describe(c); ok {
				coins[key] = described
			}
		}
	}
	return map[string]any{"coins": coins}, nil
}

func (s *Server) llamaCurrent(r *http.Request) (any, error) {
	return llamaEach(r.PathValue("coins"), func(c llamaCoin) (any, bool) {
		q, ok := s.currentQuote(c.symbol)
		return llamaPrice{c.decimals, c.symbol, q.number(), q.at.Unix(), q.confidence}, ok
	})
}

// sample returns the price of the sample nearest to a time; false if there is none within
// the width.
func (s *Server) sample(symbol string, at time.Time, width time.Duration) (quote, bool) {
	near := at.Round(llamaGrain)
	if now := s.now(); near.After(now) {
		near = now
	}
	if near.Sub(at).Abs() > width {
		return quote{}, false
	}
	return s.quoteAt(symbol, near)
}

func (s *Server) llamaHistorical(r *http.Request) (any, error) {
	at, err := unix(r.PathValue("time"))
	if err != nil {
		return nil, err
	}
	width, err := span(r.URL.Query(), "searchWidth", llamaWidth)
	if err != nil {
		return nil, err
	}
	return llamaEach(r.PathValue("coins"), func(c llamaCoin) (any, bool) {
		q, ok := s.sample(c.symbol, at, width)
		return llamaPrice{c.decimals, c.symbol, q.number(), q.at.Unix(), q.confidence}, ok
	})
}

func (s *Server) llamaFirst(r *http.Request) (any, error) {
	return llamaEach(r.PathValue("coins"), func(c llamaCoin) (any, bool) {
		q, ok := s.quoteAt(c.symbol, s.now().Add(-historyDepth).Truncate(llamaGrain).Add(llamaGrain))
		return map[string]any{"price": q.number(), "symbol": c.symbol, "timestamp": q.at.Unix()}, ok
	})
}

// A llamaPoint is one price in a list.
type llamaPoint struct {
	Timestamp  int64   `json:"timestamp"`
	Price      any     `json:"price"`
	Confidence float64 `json:"confidence,omitempty"`
}

// parseBatch parses the coins and times of a batch.
func parseBatch(text string) (map[string][]int64, error) {
	var requested map[string][]int64
	if err := json.Unmarshal([]byte(text), &requested); err != nil || requested == nil {
		return nil, refusal{http.StatusBadRequest, "coins: want a JSON object of lists of timestamps"}
	}
	points := 0
	for _, times := range requested {
		points += len(times)
		for _, t := range times {
			if t < 0 || t > maxUnix {
				return nil, refusal{http.StatusBadRequest, "timestamp out of range"}
			}
		}
	}
	if len(requested) > maxCoins || points > maxPoints {
		return nil, refusal{http.StatusBadRequest, "too many coins or timestamps"}
	}
	return requested, nil
}

func (s *Server) llamaBatch(r *http.Request) (any, error) {
	requested, err := parseBatch(r.URL.Query().Get("coins"))
	if err != nil {
		return nil, err
	}
	width, err := span(r.URL.Query(), "searchWidth", llamaWidth)
	if err != nil {
		return nil, err
	}
	coins := map[string]any{}
	for key, times := range requested {
		c, ok := llamaCoinOf(key)
		if !ok {
			continue
		}
		points := []llamaPoint{}
		for _, t := range times {
			if q, ok := s.sample(c.symbol, time.Unix(t, 0), width); ok {
				points = append(points, llamaPoint{q.at.Unix(), q.number(), q.confidence})
			}
		}
		if len(points) > 0 {
			coins[key] = map[string]any{"symbol": c.symbol, "prices": points}
		}
	}
	return map[string]any{"coins": coins}, nil
}

// A llamaSpan holds the times of a chart.
type llamaSpan struct {
	first  time.Time
	period time.Duration
	points int
	width  time.Duration
}

// parseChart parses a chart's query.
func parseChart(query url.Values, now time.Time) (llamaSpan, error) {
	c := llamaSpan{points: 10}
	var err error
	if c.period, err = span(query, "period", 24*time.Hour); err != nil {
		return c, err
	}
	if c.width, err = span(query, "searchWidth", min(c.period/10, llamaWidth)+llamaGrain); err != nil {
		return c, err
	}
	if text := query.Get("span"); text != "" {
		if c.points, err = strconv.Atoi(text); err != nil || c.points < 0 || c.points > maxPoints {
			return c, refusal{http.StatusBadRequest, "span: want 0 to 1000"}
		}
	}
	start, end := query.Get("start"), query.Get("end")
	if start != "" && end != "" {
		return c, refusal{http.StatusBadRequest, "use either start or end"}
	}
	if start != "" {
		c.first, err = unix(start)
		return c, err
	}
	last := now
	if end != "" {
		if last, err = unix(end); err != nil {
			return c, err
		}
	}
	c.first = last.Add(-time.Duration(max(c.points-1, 0)) * c.period)
	return c, nil
}

func (s *Server) llamaChart(r *http.Request) (any, error) {
	chart, err := parseChart(r.URL.Query(), s.now())
	if err != nil {
		return nil, err
	}
	return llamaEach(r.PathValue("coins"), func(c llamaCoin) (any, bool) {
		points := []llamaPoint{}
		confidence := 0.0
		for i := range chart.points {
			at := chart.first.Add(time.Duration(i) * chart.period)
			if q, ok := s.sample(c.symbol, at, chart.width); ok {
				points, confidence = append(points, llamaPoint{Timestamp: q.at.Unix(), Price: q.number()}), q.confidence
			}
		}
		return struct {
			Symbol     string       `json:"symbol"`
			Decimals   *uint8       `json:"decimals,omitempty"`
			Confidence float64      `json:"confidence"`
			Prices     []llamaPoint `json:"prices"`
		}{c.symbol, c.decimals, confidence, points}, len(points) > 0
	})
}

func (s *Server) llamaPercentage(r *http.Request) (any, error) {
	query := r.URL.Query()
	at := s.now()
	period, err := span(query, "period", 24*time.Hour)
	if text := query.Get("timestamp"); err == nil && text != "" {
		at, err = unix(text)
	}
	if err != nil {
		return nil, err
	}
	if query.Get("lookForward") == "true" {
		at = at.Add(period)
	}
	return llamaEach(r.PathValue("coins"), func(c llamaCoin) (any, bool) {
		q, ok := s.quoteAt(c.symbol, at)
		return s.change(c.symbol, q, period), ok
	})
}

// parseCaps parses the keys of a request for market capitalisations.
func parseCaps(raw []byte) ([]string, error) {
	var body struct {
		Coins []string `json:"coins"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Coins == nil || len(body.Coins) > maxCoins {
		return nil, refusal{http.StatusBadRequest, "coins: want a list of up to 100"}
	}
	return body.Coins, nil
}

func (s *Server) llamaCaps(r *http.Request) (any, error) {
	raw, err := form.Read(nil, r)
	if err != nil {
		return nil, refusal{http.StatusRequestEntityTooLarge, "Request Entity Too Large"}
	}
	keys, err := parseCaps(raw)
	if err != nil {
		return nil, err
	}
	caps := map[string]any{}
	for _, key := range keys {
		if c, ok := llamaCoinOf(key); ok && s.Settings().knows(c.symbol) {
			q, _ := s.currentQuote(c.symbol)
			caps[key] = map[string]any{"mcap": c.asset.Cap(), "timestamp": q.at.Unix()}
		}
	}
	return caps, nil
}

// maxUnix is the last second of the year 9999.
const maxUnix = 253402300799

// unix parses a time in Unix seconds.
func unix(text string) (time.Time, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > maxUnix {
		return time.Time{}, refusal{http.StatusBadRequest, "timestamp: want Unix seconds"}
	}
	return time.Unix(n, 0), nil
}

// spanUnits are the units of time spans; M is a minute.
var spanUnits = map[byte]time.Duration{'W': 7 * 24 * time.Hour, 'D': 24 * time.Hour, 'H': time.Hour, 'M': time.Minute}

// maxSpan limits a time span.
const maxSpan = 10 * 365 * 24 * time.Hour

// span parses a span such as 4h or 15m, in either letter case. A number without a unit is
// seconds.
func span(query url.Values, name string, fallback time.Duration) (time.Duration, error) {
	text := strings.ToUpper(query.Get(name))
	if text == "" {
		return fallback, nil
	}
	unit, digits := time.Second, text
	if u, ok := spanUnits[text[len(text)-1]]; ok {
		unit, digits = u, text[:len(text)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 1 || float64(n)*float64(unit) > math.Min(float64(maxSpan), math.MaxInt64) {
		return 0, refusal{http.StatusBadRequest, name + ": want a span such as 4h"}
	}
	return time.Duration(n) * unit, nil
}
