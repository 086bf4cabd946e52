package main

import (
	"bytes"
	"embed"
	"net/http"
	"strconv"
	"time"
)

// recorded are the providers' replies to quoteAsked, in the forms of their APIs.
//
//go:embed testdata/*.json
var recorded embed.FS

const (
	dexPath     = "/v1"
	bridgePath  = "/bridge"
	intentPath  = "/intent"
	gaslessPath = "/gasless"

	// slowest is the path that answers last.
	slowest = intentPath + "/v1/quotes"
)

// An upstream answers requests to one path with a reply, after a fixed delay.
type upstream struct {
	reply string
	after time.Duration
}

var upstreams = map[string]upstream{
	dexPath + "/quote":                     {"quote.json", 0},
	bridgePath + "/chains":                 {"bridge_chains.json", 0},
	bridgePath + "/quote/v2":               {"bridge.json", 80 * time.Millisecond},
	gaslessPath + "/jam/arbitrum/v2/quote": {"jam.json", 60 * time.Millisecond},
	gaslessPath + "/pmm/arbitrum/v3/quote": {"rfq.json", 40 * time.Millisecond},
	slowest:                                {"intent.json", 100 * time.Millisecond},
}

// recordedEnd is the expiry of every recorded quote, in Unix seconds. In answers it is
// replaced by the time of the request plus quoteLife.
const (
	recordedEnd = 1795193641
	quoteLife   = time.Minute
)

// answer reports whether there is an upstream at the path; if so it has answered.
func answer(w http.ResponseWriter, path string) bool {
	u, ok := upstreams[path]
	if !ok {
		return false
	}
	time.Sleep(u.after)
	_, _ = w.Write(u.at(time.Now().Add(quoteLife)))
	return true
}

// at returns the reply with quotes that expire at ends.
func (u upstream) at(ends time.Time) []byte {
	reply, err := recorded.ReadFile("testdata/" + u.reply)
	if err != nil {
		panic(err) // it is embedded
	}
	return bytes.ReplaceAll(reply, []byte(strconv.Itoa(recordedEnd)), strconv.AppendInt(nil, ends.Unix(), 10))
}
