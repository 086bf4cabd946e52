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

	// slowest is who answers last.
	slowest = intentPath + "/v1/quotes"
)

// An upstream answers requests to one path with a reply, after a while that is the
// same every time.
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

// recordedEnd is when every recorded quote ended, in Unix seconds. It is told with
// the time at which it is asked for, and quoteLife.
const (
	recordedEnd = 1795193641
	quoteLife   = time.Minute
)

// answer reports whether there is an upstream at the path, which has answered then.
func answer(w http.ResponseWriter, path string) bool {
	u, ok := upstreams[path]
	if !ok {
		return false
	}
	time.Sleep(u.after)
	_, _ = w.Write(u.at(time.Now().Add(quoteLife)))
	return true
}

// at is the reply with quotes that end then.
func (u upstream) at(ends time.Time) []byte {
	reply, err := recorded.ReadFile("testdata/" + u.reply)
	if err != nil {
		panic(err) // it is embedded
	}
	return bytes.ReplaceAll(reply, []byte(strconv.Itoa(recordedEnd)), strconv.AppendInt(nil, ends.Unix(), 10))
}
